#include "server-stub/stub_page.h"

#include <stddef.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/config.h"
#include "common/settings/settings.h"
#include "server-stub/front/wire.h"
#include "server-stub/sim/sim.h"

#define JSON_TYPE    "application/json"
#define METRICS_TYPE "text/plain; version=0.0.4"

static void put_ready(const struct page_view *view, struct buf *out)
{
    (void)view;
    buf_adds(out, "{\"status\":\"ok\"}");
}

static void put_models(const struct page_view *view, struct buf *out)
{
    buf_addf(out,
             "{\"object\":\"list\",\"data\":[{\"id\":\"%s\",\"object\":"
             "\"model\",\"created\":0,\"owned_by\":\"tailgate\"}]}",
             view->model);
}

/* TensorFlow Serving's. */
static void put_model_status(const struct page_view *view, struct buf *out)
{
    (void)view;
    buf_adds(out, "{\"model_version_status\":[{\"version\":\"1\",\"state\":"
                  "\"AVAILABLE\",\"status\":{\"error_code\":\"OK\","
                  "\"error_message\":\"\"}}]}");
}

/* KServe's and Triton's; there may be more tensors than the one. */
static void put_model_metadata(const struct page_view *view, struct buf *out)
{
    buf_addf(out,
             "{\"name\":\"%s\",\"versions\":[\"1\"],\"platform\":"
             "\"tailgate_stub\",\"inputs\":[{\"name\":\"input0\","
             "\"datatype\":\"FP32\",\"shape\":[-1]}],\"outputs\":[{\"name\":"
             "\"output0\",\"datatype\":\"FP32\",\"shape\":[-1]}]}",
             view->model);
}

static void put_server_metadata(const struct page_view *view, struct buf *out)
{
    (void)view;
    buf_adds(out, "{\"name\":\"tailgate_stub\",\"version\":\"" TAILGATE_VERSION
                  "\",\"extensions\":[\"binary_tensor_data\",\"generate\"]}");
}

/* TGI's. */
static void put_info(const struct page_view *view, struct buf *out)
{
    buf_addf(out,
             "{\"model_id\":\"%s\",\"model_pipeline_tag\":"
             "\"text-generation\",\"router\":\"tailgate_stub\","
             "\"version\":\"" TAILGATE_VERSION "\"}",
             view->model);
}

static const struct {
    const char *path;
    const char *type;
    void (*put)(const struct page_view *view, struct buf *out);
} pages[] = {
    {"/health", JSON_TYPE, put_ready},
    {"/v2/health/ready", JSON_TYPE, put_ready},
    {"/v2/health/live", JSON_TYPE, put_ready},
    {"/v2/models/*/ready", JSON_TYPE, put_ready},
    {"/v2/models/*/versions/*/ready", JSON_TYPE, put_ready},
    {"/v2", JSON_TYPE, put_server_metadata},
    {"/v2/models/*", JSON_TYPE, put_model_metadata},
    {"/v2/models/*/versions/*", JSON_TYPE, put_model_metadata},
    {"/v1/models", JSON_TYPE, put_models},
    {"/v1/models/*", JSON_TYPE, put_model_status},
    {"/v1/models/*/versions/*", JSON_TYPE, put_model_status},
    {"/v1/models/*/labels/*", JSON_TYPE, put_model_status},
    {"/info", JSON_TYPE, put_info},
    {"/metrics", METRICS_TYPE, metrics_write},
};

bool page_write(const char *path, const struct page_view *view, struct buf *out,
                const char **type)
{
    for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
        if (path_matches(pages[i].path, path)) {
            *type = pages[i].type;
            pages[i].put(view, out);
            return true;
        }
    }
    return false;
}

/* ---- our own ---- */

static void put_metric(struct buf *out, const char *name, const char *type,
                       const char *help, int64_t value)
{
    buf_addf(out,
             "# HELP tailgate_stub_%s %s\n# TYPE tailgate_stub_%s %s\n"
             "tailgate_stub_%s %lld\n",
             name, help, name, type, name, (long long)value);
}

/* Prometheus wants each bucket to hold those below it as well. */
static void put_batch_sizes(const struct sim_counts *c, struct buf *out)
{
    int64_t sum = 0;

    buf_adds(out, "# HELP tailgate_stub_batch_size Requests in a batch when "
                  "one joined.\n"
                  "# TYPE tailgate_stub_batch_size histogram\n");
    for (int i = 0; i < SIM_BATCH_SIZES - 1; i++) {
        sum += c->batch_sizes[i];
        buf_addf(out, "tailgate_stub_batch_size_bucket{le=\"%d\"} %lld\n",
                 1 << i, (long long)sum);
    }
    buf_addf(out,
             "tailgate_stub_batch_size_bucket{le=\"+Inf\"} %lld\n"
             "tailgate_stub_batch_size_sum %lld\n"
             "tailgate_stub_batch_size_count %lld\n",
             (long long)c->batches, (long long)c->batched,
             (long long)c->batches);
}

static void put_own(const struct page_view *view, struct buf *out)
{
    const struct sim_counts *c = view->counts;

    put_metric(out, "requests_total", "counter", "Requests that arrived.",
               c->arrived);
    put_metric(out, "served_total", "counter", "Requests that were served.",
               c->served);
    put_metric(out, "refused_total", "counter", "Requests that were refused.",
               c->refused);
    put_metric(out, "tokens_total", "counter", "Output tokens.", c->tokens);
    put_metric(out, "prompt_tokens_total", "counter",
               "Tokens of prompts that left the queue.", c->prompt_tokens);
    put_metric(out, "queue_depth", "gauge", "Requests that wait.", c->waiting);
    put_metric(out, "running", "gauge", "Requests that are served.",
               c->running);
    put_metric(out, "kv_tokens", "gauge", "KV cache in use, in tokens.",
               c->kv_used);
    put_batch_sizes(c, out);
}

/* ---- in the way of other servers ---- */

enum what {
    WHAT_RUNNING,
    WHAT_WAITING,
    WHAT_KV_SHARE, /* 0 to 1 */
    WHAT_PROMPT,
    WHAT_TOKENS,
    WHAT_ARRIVED,
    WHAT_STARTED,
    WHAT_SERVED,
    WHAT_REFUSED,
    WHAT_BATCHES,
    WHAT_QUEUE_S, /* time in the queue, summed */
    WHAT_QUEUE_US,
};

/* Of a histogram there are its sum, its count, and one bucket for all. */
struct series {
    const char *name; /* NULL: that was the last */
    const char *type;
    enum what what;  /* the value, or the sum */
    enum what count; /* of a histogram */
};

#define MAX_SERIES 8

/* Labels around the model's name; NULL: there are none. */
static const struct {
    const char *labels[2];
    struct series series[MAX_SERIES];
} styles[] = {
    [METRICS_OWN] = {{NULL},
                     {{"tailgate_stub_queue_seconds", "histogram", WHAT_QUEUE_S,
                       WHAT_STARTED},
                      {"tailgate_stub_kv_share", "gauge", WHAT_KV_SHARE, 0}}},
    [METRICS_VLLM] =
        {{"engine=\"0\",model_name=\"", "\""},
         {{"vllm:num_requests_running", "gauge", WHAT_RUNNING, 0},
          {"vllm:num_requests_waiting", "gauge", WHAT_WAITING, 0},
          {"vllm:kv_cache_usage_perc", "gauge", WHAT_KV_SHARE, 0},
          {"vllm:prompt_tokens_total", "counter", WHAT_PROMPT, 0},
          {"vllm:generation_tokens_total", "counter", WHAT_TOKENS, 0},
          {"vllm:request_success_total", "counter", WHAT_SERVED, 0},
          {"vllm:request_queue_time_seconds", "histogram", WHAT_QUEUE_S,
           WHAT_STARTED}}},
    [METRICS_SGLANG] =
        {{"model_name=\"", "\""},
         {{"sglang:num_running_reqs", "gauge", WHAT_RUNNING, 0},
          {"sglang:num_queue_reqs", "gauge", WHAT_WAITING, 0},
          {"sglang:token_usage", "gauge", WHAT_KV_SHARE, 0},
          {"sglang:prompt_tokens_total", "counter", WHAT_PROMPT, 0},
          {"sglang:generation_tokens_total", "counter", WHAT_TOKENS, 0},
          {"sglang:num_requests_total", "counter", WHAT_SERVED, 0},
          {"sglang:queue_time_seconds", "histogram", WHAT_QUEUE_S,
           WHAT_STARTED}}},
    [METRICS_TGI] = {{NULL},
                     {{"tgi_batch_current_size", "gauge", WHAT_RUNNING, 0},
                      {"tgi_queue_size", "gauge", WHAT_WAITING, 0},
                      {"tgi_request_count", "counter", WHAT_ARRIVED, 0},
                      {"tgi_request_success", "counter", WHAT_SERVED, 0},
                      {"tgi_request_input_length", "histogram", WHAT_PROMPT,
                       WHAT_STARTED},
                      {"tgi_request_generated_tokens", "histogram", WHAT_TOKENS,
                       WHAT_SERVED},
                      {"tgi_request_queue_duration", "histogram", WHAT_QUEUE_S,
                       WHAT_STARTED}}},
    [METRICS_TRITON] =
        {{"model=\"", "\",version=\"1\""},
         {{"nv_inference_pending_request_count", "gauge", WHAT_WAITING, 0},
          {"nv_inference_request_success", "counter", WHAT_SERVED, 0},
          {"nv_inference_request_failure", "counter", WHAT_REFUSED, 0},
          {"nv_inference_count", "counter", WHAT_SERVED, 0},
          {"nv_inference_exec_count", "counter", WHAT_BATCHES, 0},
          {"nv_inference_queue_duration_us", "counter", WHAT_QUEUE_US, 0}}},
};

static double value_of(const struct page_view *view, enum what what)
{
    const struct sim_counts *c = view->counts;

    switch (what) {
    case WHAT_RUNNING:
        return (double)c->running;
    case WHAT_WAITING:
        return (double)c->waiting;
    case WHAT_KV_SHARE:
        return view->kv_tokens > 0
                   ? (double)c->kv_used / (double)view->kv_tokens
                   : 0;
    case WHAT_PROMPT:
        return (double)c->prompt_tokens;
    case WHAT_TOKENS:
        return (double)c->tokens;
    case WHAT_ARRIVED:
        return (double)c->arrived;
    case WHAT_STARTED:
        return (double)c->started;
    case WHAT_SERVED:
        return (double)c->served;
    case WHAT_REFUSED:
        return (double)c->refused;
    case WHAT_BATCHES:
        return (double)c->batches;
    case WHAT_QUEUE_S:
        return (double)c->queued_ns / 1e9;
    case WHAT_QUEUE_US:
        return (double)c->queued_ns / 1e3;
    }
    return 0;
}

struct part {
    const char *suffix;
    const char *label; /* of its own, or "" */
    enum what what;
};

static void put_sample(const struct page_view *view, enum metrics_style style,
                       const char *name, struct part part, struct buf *out)
{
    const char *const *labels = styles[style].labels;

    buf_addf(out, "%s%s", name, part.suffix);
    if (labels[0])
        buf_addf(out, "{%s%s%s%s%s}", labels[0], view->model, labels[1],
                 part.label[0] ? "," : "", part.label);
    else if (part.label[0])
        buf_addf(out, "{%s}", part.label);
    buf_addf(out, " %.15g\n", value_of(view, part.what));
}

static void put_series(const struct page_view *view, enum metrics_style style,
                       const struct series *s, struct buf *out)
{
    const struct part value = {"", "", s->what};
    const struct part all = {"_bucket", "le=\"+Inf\"", s->count};
    const struct part sum = {"_sum", "", s->what};
    const struct part count = {"_count", "", s->count};

    buf_addf(out,
             "# HELP %s As the server of that name counts.\n# TYPE %s %s\n",
             s->name, s->name, s->type);
    if (strcmp(s->type, "histogram") != 0) {
        put_sample(view, style, s->name, value, out);
        return;
    }
    put_sample(view, style, s->name, all, out);
    put_sample(view, style, s->name, sum, out);
    put_sample(view, style, s->name, count, out);
}

/* Others show a share of nothing as 0. */
static bool is_left_out(const struct page_view *view, enum metrics_style style,
                        const struct series *s)
{
    return style == METRICS_OWN && s->what == WHAT_KV_SHARE &&
           view->kv_tokens == 0;
}

static void put_style(const struct page_view *view, enum metrics_style style,
                      struct buf *out)
{
    const struct series *series = styles[style].series;

    for (size_t i = 0; i < MAX_SERIES && series[i].name; i++) {
        if (!is_left_out(view, style, &series[i]))
            put_series(view, style, &series[i], out);
    }
}

void metrics_write(const struct page_view *view, struct buf *out)
{
    put_own(view, out);
    put_style(view, METRICS_OWN, out);
    if (view->metrics_style != METRICS_OWN)
        put_style(view, (enum metrics_style)view->metrics_style, out);
}
