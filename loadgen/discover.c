#include "loadgen/discover.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/apis.h"
#include "common/buf.h"
#include "common/err.h"
#include "common/log.h"
#include "common/settings.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "loadgen/fetch.h"

#define MAX_NAMES 400

static bool needs_model(const struct target_settings *t)
{
    switch (t->api) {
    case API_OPENAI_CHAT:
    case API_OPENAI_COMPLETIONS:
    case API_OPENAI_EMBEDDINGS:
    case API_RERANK:
        return !t->model && !t->body;
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
    err_set(err, ERR_CONFIG, "target.model: the server has several: %s",
            buf_text(&names));
    buf_fini(&names);
    return -1;
}

static int choose_model(struct target_settings *t, const json_t *answer,
                        struct err *err)
{
    const json_t *models = json_object_get(answer, "data");
    const char *id =
        json_string_value(json_object_get(json_array_get(models, 0), "id"));

    if (!id)
        return err_set(err, ERR_IO,
                       "GET /v1/models: no model there; name one (--model)");
    if (json_array_size(models) > 1)
        return refuse_several(models, err);
    t->model = xstrdup(id);
    log_note("model      %s, the one that the server has", id);
    return 0;
}

static int find_model(struct target_settings *t, struct err *err)
{
    json_t *answer = NULL;
    int rc;

    if (fetch_json(t, "/v1/models", &answer, err))
        return -1;
    rc = choose_model(t, answer, err);
    json_decref(answer);
    return rc;
}

/* ---- KServe v2 ---- */

/* "x FP32 1x16", with 1 for what the client may choose. */
static int add_tensor(struct strlist *tensors, const json_t *input,
                      struct err *err)
{
    const char *name = json_string_value(json_object_get(input, "name"));
    const char *type = json_string_value(json_object_get(input, "datatype"));
    const json_t *dim;
    struct buf text;
    size_t i;

    if (!name || !type)
        return err_set(err, ERR_IO, "an input without name or datatype");
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

/* The path of the model's metadata: that of the request without its verb. */
static char *metadata_path(const char *url)
{
    const char *path = strstr(url, "://") + 3;
    const char *end;

    path += strcspn(path, "/");
    end = strstr(path, "/infer");
    return end ? xstrndup(path, (size_t)(end - path)) : xstrdup(path);
}

static int find_tensors(struct settings *s, struct err *err)
{
    char *path = metadata_path(settings_url(s));
    json_t *answer = NULL;
    const json_t *input;
    size_t i;
    int rc = fetch_json(&s->target, path, &answer, err);

    json_array_foreach(json_object_get(answer, "inputs"), i, input)
    {
        if (rc == 0 && add_tensor(&s->data.tensors, input, err))
            rc = err_context(err, "GET %s", path);
    }
    json_decref(answer);
    free(path);
    return rc;
}

static bool needs_tensors(const struct settings *s)
{
    return s->target.api == API_KSERVE_HTTP && !s->target.body &&
           s->data.tensors.len == 0;
}

/* ---- all of it ---- */

/* Not 0, which asks for one; small enough for a JSON number. */
static int draw_nonce(uint64_t *nonce, struct err *err)
{
    uint64_t drawn;

    if (getrandom(&drawn, sizeof(drawn), 0) != sizeof(drawn))
        return err_set(err, ERR_IO, "data.nonce: the kernel gives none");
    *nonce = (drawn >> 12) + 1;
    return 0;
}

int discover(struct settings *s, struct err *err)
{
    if (s->data.nonce == 0 && draw_nonce(&s->data.nonce, err))
        return -1;
    if (needs_model(&s->target) && find_model(&s->target, err))
        return -1;
    return needs_tensors(s) ? find_tensors(s, err) : 0;
}
