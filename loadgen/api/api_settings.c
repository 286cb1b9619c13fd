/* Checks of the settings against the API and the body: which have an effect,
 * and whether target.extra_body repeats a member. */
#include <string.h>

#include "common/base/err.h"
#include "common/base/file.h"
#include "common/settings/settings.h"
#include "common/text/url.h"
#include "loadgen/api/api.h"
#include "loadgen/prepare/target.h"

/* ---- settings without effect ---- */

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

/* A setting, the APIs whose bodies use it, and the fields of target.body of
 * which one must be present for it to be used. */
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

/* Checks of something that only answers of these APIs have. */
static const struct {
    const char *name;
    unsigned apis;
    const char *what;
} checks[] = {
    {"length", GENERATING, "count of output tokens"},
    {"tensor", OF(API_KSERVE_HTTP) | TENSORS_GRPC, "named tensors"},
};

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

/* Without an API, the path of the URL may show which one is meant. */
static int refuse(const struct api *api, const struct rule *rule,
                  const struct opt *opt, struct err *err)
{
    const char *block = settings_blocks[rule->block]->name;
    const char *hint = NULL;
    struct url url;

    if (api->settings->target.body)
        return err_set(err, ERR_CONFIG,
                       "%s.%s (--%s) has no effect, because the body is set "
                       "with --body%s%s%s",
                       block, opt->key, opt->flag,
                       rule->fields[0] ? " and has no {{" : "",
                       rule->fields[0] ? rule->fields[0] : "",
                       rule->fields[0] ? "}}" : "");
    if (api->ops->kind == API_HTTP &&
        url_parse(settings_url(api->settings), &url, &(struct err){0}) == 0)
        api_detect(url.path, &hint);
    return err_set(err, ERR_CONFIG,
                   "%s.%s (--%s) has no effect with the API %s%s%s%s", block,
                   opt->key, opt->flag, api_names[api->ops->kind],
                   hint ? "; if the server's API is " : "", hint ? hint : "",
                   hint ? ", set it with --api" : "");
}

int api_check_settings(const struct api *api, struct err *err)
{
    const struct settings *s = api->settings;

    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        const struct rule *rule = &rules[i];
        const struct opt_set set =
            settings_set((struct settings *)s, rule->block); /* only read */
        const struct opt *opt = opt_by_key(set.block, rule->key);

        if (opt_is_given(&set, opt) && settings_says(s, opt) &&
            !is_used(api, rule))
            return refuse(api, rule, opt, err);
    }
    for (size_t i = 0; i < s->checks.len; i++) {
        const char *text = s->checks.items[i];

        for (size_t k = 0; k < sizeof(checks) / sizeof(checks[0]); k++) {
            size_t len = strlen(checks[k].name);

            if (len == strcspn(text, " ") &&
                memcmp(checks[k].name, text, len) == 0 &&
                !(checks[k].apis & OF(api->ops->kind)))
                return err_set(err, ERR_CONFIG,
                               "checks: '%s' can never pass, because answers "
                               "of %s have no %s",
                               checks[k].name, api_names[api->ops->kind],
                               checks[k].what);
        }
    }
    return 0;
}

/* ---- target.extra_body ---- */

/* Longest name of a member in a message. */
#define MAX_SHOWN 60

/* Append the members of an object, with a comma before each. */
static int add_members(const char *text, size_t len, struct buf *out,
                       struct err *err)
{
    struct jscan s;
    struct jtext key;
    const char *from = NULL;

    jscan_init(&s, text, len);
    if (!jscan_object(&s))
        return err_set(err, ERR_CONFIG, "must be a JSON object");
    while (jscan_key(&s, &key)) {
        if (!from)
            from = key.at - 1;
        jscan_skip(&s);
    }
    if (!jscan_end(&s))
        return err_set(err, ERR_CONFIG, "is not valid JSON");
    if (from) {
        const char *to = text + len;

        while (*--to != '}')
            continue;
        buf_adds(out, ",");
        buf_add(out, from, (size_t)(to - from));
    }
    return 0;
}

int extra_read(const char *extra, struct buf *out, struct err *err)
{
    struct buf text;
    int rc;

    if (!extra)
        return 0;
    buf_init(&text, TARGET_MAX_REQUEST);
    rc = extra[0] == '@' ? file_read(extra + 1, &text, err)
                         : buf_adds(&text, extra);
    buf_consume(&text, str_bom_len(text.data, text.len));
    if (rc == 0)
        rc = add_members(buf_text(&text), text.len, out, err);
    buf_fini(&text);
    return rc ? err_context(err, "target.extra_body") : 0;
}

/* The option that sets a member. */
static const char *option_for(struct jtext member)
{
    static const struct {
        const char *member;
        const char *flag;
    } options[] = {
        {"model", "--model"},
        {"stream", "--stream"},
        {"max_completion_tokens", "--output-len"},
        {"max_tokens", "--output-len"},
        {"min_tokens", "--ignore-eos"},
        {"ignore_eos", "--ignore-eos"},
        {"temperature", "--temperature"},
    };

    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        if (jtext_is(member, options[i].member))
            return options[i].flag;
    }
    return "--body";
}

/* Does the body have a member with this name before it? */
static bool occurs_before(const struct buf *body, struct jtext name)
{
    struct jscan s;
    struct jtext key;

    jscan_init(&s, buf_text(body), body->len);
    jscan_object(&s);
    while (jscan_key(&s, &key) && key.at < name.at) {
        if (key.len == name.len && memcmp(key.at, name.at, key.len) == 0)
            return true;
        jscan_skip(&s);
    }
    return false;
}

/* Raw tensors may follow the object, so its end is not checked. */
int extra_check(const struct api *api, struct err *err)
{
    const struct sample sample = sample_draw(&api->sampler, 0, NULL);
    struct buf body;
    struct jscan s;
    struct jtext key;
    int rc = 0;

    if (api->extra.len == 0 || !api->ops->write)
        return 0;
    buf_init(&body, TARGET_MAX_REQUEST);
    api->ops->write(api, &sample, &body);
    jscan_init(&s, buf_text(&body), body.len);
    jscan_object(&s);
    while (rc == 0 && jscan_key(&s, &key)) {
        size_t shown = key.len < MAX_SHOWN ? key.len : MAX_SHOWN;

        if (occurs_before(&body, key))
            rc = err_set(err, ERR_CONFIG,
                         "target.extra_body: the body already has a member "
                         "'%.*s'; use %s",
                         (int)shown, key.at, option_for(key));
        jscan_skip(&s);
    }
    buf_fini(&body);
    return rc;
}
