#include "loadgen/api/applies.h"

#include <string.h>

#include "common/base/err.h"
#include "common/base/url.h"
#include "common/settings/settings.h"
#include "common/wire/api_names.h"
#include "loadgen/api/api.h"

#define OF(kind) (1U << (kind))
#define OPENAI   (OF(API_OPENAI_CHAT) | OF(API_OPENAI_COMPLETIONS))
#define GENERATING                                                             \
    (OPENAI | OF(API_TGI) | OF(API_TRITON_GENERATE) | OF(API_SGLANG))
#define PROMPTED     (GENERATING | OF(API_OPENAI_EMBEDDINGS) | OF(API_RERANK))
#define TENSORS_HTTP (OF(API_TFSERVING_HTTP) | OF(API_KSERVE_HTTP))
#define TENSORS_GRPC                                                           \
    (OF(API_KSERVE_GRPC) | OF(API_TRITON_GRPC_STREAM) | OF(API_TFSERVING_GRPC))
#define TENSORS (TENSORS_HTTP | TENSORS_GRPC)

#define MAX_FIELDS 3

/* Who uses it: these APIs in bodies that are made, and one of the user's that
 * has one of these fields. */
static const struct rule {
    enum settings_block block;
    const char *key;
    unsigned apis;
    const char *fields[MAX_FIELDS];
} rules[] = {
    {BLOCK_TARGET, "temperature", GENERATING, {NULL}},
    {BLOCK_TARGET, "ignore_eos", GENERATING, {"output_tokens"}},
    {BLOCK_TARGET, "chunk_usage", OPENAI, {NULL}},
    {BLOCK_TARGET, "extra_body", PROMPTED | TENSORS_HTTP, {NULL}},
    {BLOCK_TARGET, "model_version", TENSORS_GRPC, {NULL}},
    {BLOCK_DATA,
     "input_tokens",
     PROMPTED,
     {"prompt", "prompt_ids", "input_tokens"}},
    {BLOCK_DATA, "output_tokens", GENERATING, {"output_tokens"}},
    {BLOCK_DATA, "documents", OF(API_RERANK), {NULL}},
    {BLOCK_DATA, "tensors", TENSORS, {NULL}},
    {BLOCK_DATA, "binary", OF(API_KSERVE_HTTP), {NULL}},
    {BLOCK_DATA, "typed", TENSORS_GRPC, {NULL}},
};

/* Checks of what other answers do not have. */
static const struct {
    const char *name;
    unsigned apis;
    const char *what;
} checks[] = {
    {"length", GENERATING, "count of output tokens"},
    {"tensor", OF(API_KSERVE_HTTP) | TENSORS_GRPC, "named tensors"},
};

static bool is_given(const struct settings *s, const struct opt *opt)
{
    const void *field = (const char *)s + opt->offset;
    const char *text;

    if (opt->type->kind == OPT_LIST)
        return ((const struct strlist *)field)->len > 0;
    if (opt->type->kind == OPT_SWITCH)
        return *(const bool *)field;
    text = *(const char *const *)field;
    return text && (!opt->initial || strcmp(text, opt->initial) != 0);
}

static bool is_used(const struct api *api, const struct rule *rule)
{
    if (!api->settings->target.body)
        return (rule->apis & OF(api->ops->kind)) != 0;
    for (size_t i = 0; i < MAX_FIELDS && rule->fields[i]; i++) {
        if (template_has(&api->body, rule->fields[i]))
            return true;
    }
    return false;
}

/* What the URL may mean, where that is not clear; or NULL. */
static const char *other_apis(const struct api *api)
{
    const char *hint = NULL;
    struct url url;

    if (api->ops->kind == API_HTTP &&
        url_parse(settings_url(api->settings), &url, &(struct err){0}) == 0)
        api_detect(url.path, &hint);
    return hint;
}

static int refuse(const struct api *api, const struct rule *rule,
                  const struct opt *opt, struct err *err)
{
    const char *block = settings_blocks[rule->block]->name;
    const char *hint = other_apis(api);

    if (api->settings->target.body)
        return err_set(err, ERR_CONFIG,
                       "%s.%s: of no use (--%s), the body (--body) says what "
                       "is asked for%s%s%s",
                       block, opt->key, opt->flag,
                       rule->fields[0] ? " and has no {{" : "",
                       rule->fields[0] ? rule->fields[0] : "",
                       rule->fields[0] ? "}}" : "");
    return err_set(err, ERR_CONFIG, "%s.%s: %s has no use for it (--%s)%s%s%s",
                   block, opt->key, api_names[api->ops->kind], opt->flag,
                   hint ? "; is this " : "", hint ? hint : "",
                   hint ? "? (--api)" : "");
}

static int check_one(const struct api *api, const char *text, struct err *err)
{
    size_t len = strcspn(text, " ");

    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
        if (strlen(checks[i].name) == len &&
            memcmp(checks[i].name, text, len) == 0 &&
            !(checks[i].apis & OF(api->ops->kind)))
            return err_set(err, ERR_CONFIG,
                           "checks: '%s' can never hold, an answer of %s has "
                           "no %s",
                           checks[i].name, api_names[api->ops->kind],
                           checks[i].what);
    }
    return 0;
}

int applies_check(const struct api *api, struct err *err)
{
    const struct settings *s = api->settings;

    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        const struct rule *rule = &rules[i];
        const struct opt *opt =
            opt_by_key(settings_blocks[rule->block], rule->key);

        if (is_given(s, opt) && settings_says(s, opt) && !is_used(api, rule))
            return refuse(api, rule, opt, err);
    }
    for (size_t i = 0; i < s->checks.len; i++) {
        if (check_one(api, s->checks.items[i], err))
            return -1;
    }
    return 0;
}
