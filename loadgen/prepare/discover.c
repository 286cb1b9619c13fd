#include "loadgen/prepare/discover.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "common/wire/api_names.h"
#include "loadgen/api/api.h"
#include "loadgen/api/body_template.h"
#include "loadgen/prepare/fetch.h"
#include "loadgen/prepare/grpc_ask.h"
#include "loadgen/prepare/target.h"

#define MAX_NAMES 400

/* The path of the first URL, without query; the caller frees it. */
static char *path_of(const struct target_settings *t)
{
    const char *path = strstr(t->urls.items[0], "://") + 3;

    path += strcspn(path, "/?#");
    return xstrndup(path, strcspn(path, "?#"));
}

/* ---- the model ---- */

/* Errors of the template are reported by api_init(). */
static bool body_has_model(const char *body, const struct dataset *data)
{
    struct template t = {0};
    struct err ignored = {0};
    struct buf text;
    bool has_model;

    buf_init(&text, TARGET_MAX_REQUEST);
    has_model = target_read_body(body, &text, &ignored) == 0 &&
                template_init(&t, &text, data, &ignored) == 0 &&
                template_has(&t, "model");
    template_fini(&t);
    buf_fini(&text);
    return has_model;
}

static bool needs_model(const struct settings *s)
{
    const struct target_settings *t = &s->target;

    switch (t->api) {
    case API_OPENAI_CHAT:
    case API_OPENAI_COMPLETIONS:
    case API_OPENAI_EMBEDDINGS:
    case API_RERANK:
        return !t->model &&
               (!t->body || body_has_model(t->body, s->data.loaded));
    default:
        return false;
    }
}

static int refuse_several(const json_t *models, struct err *err)
{
    struct buf names;
    const json_t *model;
    size_t i;

    buf_init(&names, MAX_NAMES);
    json_array_foreach(models, i, model)
    {
        const char *id = json_string_value(json_object_get(model, "id"));

        buf_addf(&names, "%s%s", i ? ", " : "", id ? id : "?");
    }
    err_set(err, ERR_CONFIG,
            "target.model is required (--model), because the server has "
            "several: %s",
            buf_text(&names));
    buf_fini(&names);
    return -1;
}

/* A gateway may have a prefix: whatever comes before the last /v1/ of the URL.
 */
static int find_model(struct target_settings *t, struct err *err)
{
    char *of_request = path_of(t);
    const char *end = of_request;
    json_t *answer = NULL;
    const json_t *models;
    const char *id;
    char *path;
    int rc;

    for (const char *at = of_request; (at = strstr(at, "/v1/")); at++)
        end = at;
    path = xasprintf("%.*s/v1/models", (int)(end - of_request), of_request);
    rc = fetch_json(t, path, "no --model is given", &answer, err);
    models = json_object_get(answer, "data");
    id = json_string_value(json_object_get(json_array_get(models, 0), "id"));
    if (rc == 0 && !id) {
        rc = err_set(err, ERR_IO,
                     "GET %s: it lists no model (called because no --model is "
                     "given)",
                     path);
    } else if (rc == 0 && json_array_size(models) > 1) {
        rc = refuse_several(models, err);
    } else if (rc == 0) {
        t->model = xstrdup(id);
        log_note("model      %s, the only model of the server", id);
    }
    json_decref(answer);
    free(path);
    free(of_request);
    return rc;
}

/* ---- KServe v2 ---- */

/* "x FP32 1x16"; dimensions of variable size become 1. */
static int add_tensor(struct strlist *tensors, const json_t *input,
                      struct err *err)
{
    const char *name = json_string_value(json_object_get(input, "name"));
    const char *type = json_string_value(json_object_get(input, "datatype"));
    const json_t *dim;
    struct buf text;
    size_t i;

    if (!name || !type)
        return err_set(err, ERR_IO, "an input without a name or datatype");
    buf_init(&text, MAX_NAMES);
    buf_addf(&text, "%s %s ", name, type);
    json_array_foreach(json_object_get(input, "shape"), i, dim)
    {
        json_int_t n = json_integer_value(dim);

        buf_addf(&text, "%s%lld", i ? "x" : "", n > 0 ? (long long)n : 1LL);
    }
    strlist_add(tensors, buf_text(&text));
    buf_fini(&text);
    return 0;
}

/* The metadata are at the path of the request without /infer. */
static int fetch_tensors(struct settings *s, struct err *err)
{
    static const char verb[] = "/infer";
    char *path = path_of(&s->target);
    size_t len = strlen(path);
    json_t *answer = NULL;
    const json_t *input;
    size_t i;
    int rc;

    while (len > 0 && path[len - 1] == '/')
        len--;
    if (len >= strlen(verb) &&
        memcmp(path + len - strlen(verb), verb, strlen(verb)) == 0)
        len -= strlen(verb);
    path[len] = '\0';
    rc = fetch_json(&s->target, path, "no --tensor is given", &answer, err);
    json_array_foreach(json_object_get(answer, "inputs"), i, input)
    {
        if (rc == 0 && add_tensor(&s->data.tensors, input, err))
            rc = err_context(err, "GET %s", path);
    }
    json_decref(answer);
    free(path);
    return rc;
}

/* The metadata of TensorFlow Serving is not supported. */
static bool needs_tensors(const struct settings *s)
{
    int api = s->target.api;

    return (api == API_KSERVE_HTTP || api == API_KSERVE_GRPC ||
            api == API_TRITON_GRPC_STREAM) &&
           !s->target.body && s->data.tensors.len == 0;
}

/* ---- everything ---- */

static int ask(struct settings *s, struct err *err)
{
    if (needs_model(s) && find_model(&s->target, err))
        return -1;
    if (!needs_tensors(s))
        return 0;
    return api_is_grpc((enum api_kind)s->target.api) ? grpc_ask_tensors(s, err)
                                                     : fetch_tensors(s, err);
}

/* Each class has a nonce of its own, so that they share no prefix.  Requests of
 * the warm-up have sequence numbers of their own, so that no two prompts are
 * equal; a shared prefix may be warm. */
int discover(struct settings *s, struct err *err)
{
    struct settings *warmup;
    uint64_t random;

    if (s->data.nonce == 0) { /* small enough for a JSON number, and not 0 */
        if (getrandom(&random, sizeof(random), 0) != sizeof(random))
            return err_set(err, ERR_IO, "data.nonce: cannot get random bytes");
        s->data.nonce = (random >> 12) + 1;
    }
    for (size_t i = 0; i < s->classes.len; i++) {
        const struct class_settings *c = &s->classes.items[i];
        struct data_settings *data = &c->settings->data;

        if (data->nonce == 0 || data->nonce == s->data.nonce)
            data->nonce = s->data.nonce + i;
        if (ask(c->settings, err))
            return err_context(err, "classes: %s", c->name);
    }
    if (s->classes.len > 0)
        return 0;
    if (ask(s, err))
        return -1;
    if (s->warmup.len == 0)
        return 0;
    warmup = s->warmup.items[0].settings;
    if (warmup->data.nonce == 0)
        warmup->data.nonce = s->data.nonce;
    if (!warmup->target.model && s->target.model)
        warmup->target.model = xstrdup(s->target.model); /* asked only once */
    return ask(warmup, err);
}

/* Placeholders stand for what the server will answer.  Prompts need an input of
 * texts; whether the model has one is checked later. */
int discover_check(const struct settings *s, struct err *err)
{
    static char model[] = "model";
    static char number[] = "x FP32 1";
    static char text[] = "x BYTES 1";
    static char *numbers[] = {number};
    static char *texts[] = {text};
    struct settings known = *s; /* everything is borrowed */
    struct api api;
    int rc;

    if (s->data.loaded && s->data.format == DATA_TENSORS && needs_tensors(s))
        return 0; /* the size of a sample is not known yet */
    if (needs_model(s))
        known.target.model = model;
    if (needs_tensors(s))
        known.data.tensors = (struct strlist){
            .items = s->data.loaded ? texts : numbers, .len = 1};
    rc = api_init(&api, &known, err);
    if (rc == 0)
        rc = api_check_settings(&api, err);
    api_fini(&api);
    return rc;
}
