/* TensorFlow Serving's REST API.  Predict returns its input; classify and
 * regress return a constant for each example. */
#include <jansson.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/settings/settings.h"
#include "server-stub/api/stub_api.h"
#include "server-stub/front/call.h"
#include "server-stub/front/front.h"

static bool has_verb(const struct exchange *x, const char *verb)
{
    return strcmp(strrchr(x->path, ':') + 1, verb) == 0;
}

static bool read_request(const struct json_t *json, const struct exchange *x,
                         struct call *call)
{
    const json_t *instances = json_object_get(json, "instances");
    const json_t *inputs = json_object_get(json, "inputs");
    const json_t *examples = json_object_get(json, "examples");

    call->job.output_tokens = 1;
    if (!has_verb(x, "predict")) {
        if (json_array_size(examples) == 0)
            call->why = "no examples";
    } else if (!instances == !inputs) {
        call->why = "requires either instances or inputs";
    } else if (instances && json_array_size(instances) == 0) {
        call->why = "instances must be a list of at least one";
    }
    return !call->why;
}

static void put_results(const json_t *json, const char *result, struct buf *out)
{
    size_t n = json_array_size(json_object_get(json, "examples"));

    buf_adds(out, "{\"results\":[");
    for (size_t i = 0; i < n; i++)
        buf_addf(out, "%s%s", i > 0 ? "," : "", result);
    buf_adds(out, "]}");
}

static void put_whole(struct call *call, const struct stub_settings *s,
                      struct buf *out)
{
    json_t *json = api_json(call->x);
    const json_t *instances = json_object_get(json, "instances");

    (void)s;
    if (has_verb(call->x, "predict")) {
        buf_adds(out, instances ? "{\"predictions\":" : "{\"outputs\":");
        api_put_json(instances ? instances : json_object_get(json, "inputs"),
                     out);
        buf_adds(out, "}");
    } else if (has_verb(call->x, "classify")) {
        put_results(json, "[[\"a\",0.75],[\"b\",0.25]]", out);
    } else {
        put_results(json, "0.5", out);
    }
    json_decref(json);
}

#define VERBS(model) model ":predict", model ":classify", model ":regress"

const struct api_ops api_tfserving = {
    .name = "tfserving-http",
    .paths = (const char *const[]){VERBS("/v1/models/*"),
                                   VERBS("/v1/models/*/versions/*"),
                                   VERBS("/v1/models/*/labels/*"), NULL},
    .read = read_request,
    .whole = put_whole,
    .error = api_error_text,
};
