#include "cli/starter.h"

#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/settings/settings.h"
#include "common/text/json.h"
#include "common/wire/api_names.h"

/* A comment ends with its line. */
static void put_why(const char *unknown, struct buf *out)
{
    buf_adds(out, "  # not known: ");
    printable_add(unknown, out);
    buf_adds(out, "\n");
}

static void put_model(const struct target_settings *t, const char *unknown,
                      struct buf *out)
{
    enum api_kind api = (enum api_kind)t->api;

    /* A gRPC server describes a model by its name, but does not list models. */
    if (api_takes_tensors(api) && api_is_grpc(api) && !t->model)
        buf_adds(out, "  model: NAME           # CHANGE THIS\n");
    if (api != API_OPENAI_CHAT && api != API_OPENAI_COMPLETIONS &&
        api != API_OPENAI_EMBEDDINGS && api != API_RERANK)
        return;
    if (t->model) {
        buf_adds(out, "  model: ");
        json_print_text(t->model, out);
        buf_adds(out, "\n");
        return;
    }
    buf_adds(out, "  # model: NAME         # default: the one that the "
                  "server has when the run starts\n");
    if (unknown)
        put_why(unknown, out);
}

static void put_target(const struct target_settings *t, const char *unknown,
                       struct buf *out)
{
    buf_adds(out, "target:\n  url: ");
    json_print_text(t->urls.items[0], out);
    buf_addf(out, "\n  api: %s\n", api_names[t->api]);
    put_model(t, unknown, out);
    if (t->auth_env) {
        buf_adds(out, "  auth_env: ");
        json_print_text(t->auth_env, out);
        buf_adds(out, "\n");
    } else {
        buf_adds(out, "  # auth_env: API_KEY   # variable that holds the API "
                      "key; the key itself does not belong here\n");
    }
    if (t->api == API_HTTP)
        buf_adds(out, "  # method: POST\n"
                      "  # body: '@body.json'\n"
                      "  # headers: {Content-Type: application/json}\n");
    if (t->api == API_GRPC)
        buf_adds(
            out,
            "  # body: '@message.bin'   # the bytes of a message; "
            "without it an empty one\n"
            "  # stream: on             # if there are several responses\n");
    buf_adds(out,
             "  timeout: 30s          # a request that takes longer fails\n");
}

static void put_tensors(const struct settings *s, const char *unknown,
                        struct buf *out)
{
    const struct strlist *tensors = &s->data.tensors;

    buf_adds(out, "data:\n");
    if (tensors->len == 0 && (s->target.api == API_TFSERVING_HTTP ||
                              s->target.api == API_TFSERVING_GRPC))
        buf_adds(out, "  tensors: [x FP32 1x4] # CHANGE THIS: name, type and "
                      "shape of each input\n");
    else if (tensors->len == 0)
        buf_adds(out, "  # tensors: [x FP32 1x16]   # default: what the "
                      "server says when the run starts\n");
    else
        buf_adds(out, "  tensors:              # name, type and shape of each "
                      "input\n");
    for (size_t i = 0; i < tensors->len; i++) {
        buf_adds(out, "    - ");
        json_print_text(tensors->items[i], out);
        buf_adds(out, "\n");
    }
    if (unknown)
        put_why(unknown, out);
    if (api_is_grpc((enum api_kind)s->target.api))
        buf_adds(out,
                 "  typed: false          # true: lists of numbers instead "
                 "of raw bytes\n");
    else
        buf_adds(out, "  binary: false         # true: raw bytes, which KServe "
                      "servers read faster\n");
}

static void put_data(const struct settings *s, const char *unknown,
                     struct buf *out)
{
    if (api_takes_tensors((enum api_kind)s->target.api)) {
        put_tensors(s, unknown, out);
        return;
    }
    if (s->target.api == API_HTTP || s->target.api == API_GRPC)
        return;
    buf_adds(out, "data:                   # prompts are made, all different\n"
                  "  input_tokens: 256     # or a distribution: lognormal 512 "
                  "256\n");
    if (api_generates((enum api_kind)s->target.api))
        buf_adds(out, "  output_tokens: 128\n");
}

static void put_slo(int api, struct buf *out)
{
    buf_adds(
        out,
        "slo:                    # what users need; exit status 0 if they get "
        "it, 1 if not\n");
    if (api_generates((enum api_kind)api))
        buf_adds(out, "  - ttft p99 < 1s       # until the first token\n"
                      "  - tpot p99 < 100ms    # from token to token\n");
    else
        buf_adds(out, "  - e2e p99 < 500ms\n");
    buf_adds(out, "  - errors < 1%\n");
}

void starter_view(const struct settings *s, const char *unknown,
                  struct buf *out)
{
    buf_adds(out, "# Does the server meet the SLO below at this rate?\n"
                  "#   tailgate validate FILE      what a run would do\n"
                  "#   tailgate run FILE --show    one request and its "
                  "response\n"
                  "#   tailgate run FILE           the run and its verdict\n"
                  "name: starter\n");
    put_target(&s->target, unknown, out);
    buf_adds(
        out,
        "load:\n"
        "  rate: 5/s             # in total, however slow the server is; start "
        "low\n"
        "  arrival: poisson      # independent users\n"
        "  warmup: 10s           # before the window, not measured\n"
        "  duration: 2m          # p99 needs at least 299 requests, better "
        "more\n"
        "  seed: 1               # same seed, same arrivals\n"
        "  # shape: spike 5/s 50/s at 1m for 10s   # instead of rate and "
        "duration\n");
    put_data(s, unknown, out);
    put_slo(s->target.api, out);
    buf_adds(out, "conditions: {}          # what a comparison needs to know: "
                  "{hardware: 1xL4, precision: fp16}\n");
}
