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

/* As TensorFlow Serving answers. */
static void put_model_status(const struct page_view *view, struct buf *out)
{
    (void)view;
    buf_adds(out, "{\"model_version_status\":[{\"version\":\"1\",\"state\":"
                  "\"AVAILABLE\",\"status\":{\"error_code\":\"OK\","
                  "\"error_message\":\"\"}}]}");
}

/* As KServe and Triton answer; there may be more tensors than the one. */
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

/* As TGI answers. */
static void put_info(const struct page_view *view, struct buf *out)
{
    buf_addf(out,
             "{\"model_id\":\"%s\",\"model_pipeline_tag\":"
             "\"text-generation\",\"router\":\"tailgate_stub\","
             "\"version\":\"" TAILGATE_VERSION "\"}",
             view->model);
}

/* ---- metrics ---- */

#define OWN "tailgate_stub_"

enum what {
    WHAT_RUNNING,
    WHAT_WAITING,
    WHAT_KV_TOKENS,
    WHAT_KV_SHARE, /* 0 to 1 */
    WHAT_PROMPT,
    WHAT_TOKENS,
    WHAT_ARRIVED,
    WHAT_STARTED,
    WHAT_SERVED,
    WHAT_REFUSED,
    WHAT_BATCHES,
    WHAT_QUEUE_S, /* total time in the queue */
    WHAT_QUEUE_US,
};

/* A histogram has its sum, its count, and one bucket for everything. */
struct series {
    const char *name; /* NULL: end of the list */
    const char *type;
    enum what what;   /* the value, or the sum */
    enum what count;  /* histogram only */
    const char *help; /* NULL: as the server of that name */
};

#define MAX_SERIES 10

/* The labels are written around the model's name; NULL: no labels. */
static const struct {
    const char *labels[2];
    struct series series[MAX_SERIES];
} styles[] = {
    [METRICS_OWN] =
        {{NULL},
         {{OWN "requests_total", "counter", WHAT_ARRIVED, 0,
           "Requests that arrived."},
          {OWN "served_total", "counter", WHAT_SERVED, 0,
           "Requests that were served."},
          {OWN "refused_total", "counter", WHAT_REFUSED, 0,
           "Requests that were refused."},
          {OWN "tokens_total", "counter", WHAT_TOKENS, 0, "Output tokens."},
          {OWN "prompt_tokens_total", "counter", WHAT_PROMPT, 0,
           "Tokens of prompts that left the queue."},
          {OWN "queue_depth", "gauge", WHAT_WAITING, 0, "Queued requests."},
          {OWN "running", "gauge", WHAT_RUNNING, 0,
           "Requests that are being served."},
          {OWN "kv_tokens", "gauge", WHAT_KV_TOKENS, 0,
           "KV cache in use, in tokens."},
          {OWN "queue_seconds", "histogram", WHAT_QUEUE_S, WHAT_STARTED,
           "Time in the queue."},
          {OWN "kv_share", "gauge", WHAT_KV_SHARE, 0,
           "KV cache in use, as a share."}}},
    [METRICS_VLLM] =
        {{"engine=\"0\",model_name=\"", "\""},
         {{"vllm:num_requests_running", "gauge", WHAT_RUNNING, 0, NULL},
          {"vllm:num_requests_waiting", "gauge", WHAT_WAITING, 0, NULL},
          {"vllm:kv_cache_usage_perc", "gauge", WHAT_KV_SHARE, 0, NULL},
          {"vllm:prompt_tokens_total", "counter", WHAT_PROMPT, 0, NULL},
          {"vllm:generation_tokens_total", "counter", WHAT_TOKENS, 0, NULL},
          {"vllm:request_success_total", "counter", WHAT_SERVED, 0, NULL},
          {"vllm:request_queue_time_seconds", "histogram", WHAT_QUEUE_S,
           WHAT_STARTED, NULL}}},
    [METRICS_SGLANG] =
        {{"model_name=\"", "\""},
         {{"sglang:num_running_reqs", "gauge", WHAT_RUNNING, 0, NULL},
          {"sglang:num_queue_reqs", "gauge", WHAT_WAITING, 0, NULL},
          {"sglang:token_usage", "gauge", WHAT_KV_SHARE, 0, NULL},
          {"sglang:prompt_tokens_total", "counter", WHAT_PROMPT, 0, NULL},
          {"sglang:generation_tokens_total", "counter", WHAT_TOKENS, 0, NULL},
          {"sglang:num_requests_total", "counter", WHAT_SERVED, 0, NULL},
          {"sglang:queue_time_seconds", "histogram", WHAT_QUEUE_S, WHAT_STARTED,
           NULL}}},
    [METRICS_TGI] = {{NULL},
                     {{"tgi_batch_current_size", "gauge", WHAT_RUNNING, 0,
                       NULL},
                      {"tgi_queue_size", "gauge", WHAT_WAITING, 0, NULL},
                      {"tgi_request_count", "counter", WHAT_ARRIVED, 0, NULL},
                      {"tgi_request_success", "counter", WHAT_SERVED, 0, NULL},
                      {"tgi_request_input_length", "histogram", WHAT_PROMPT,
                       WHAT_STARTED, NULL},
                      {"tgi_request_generated_tokens", "histogram", WHAT_TOKENS,
                       WHAT_SERVED, NULL},
                      {"tgi_request_queue_duration", "histogram", WHAT_QUEUE_S,
                       WHAT_STARTED, NULL}}},
    [METRICS_TRITON] =
        {{"model=\"", "\",version=\"1\""},
         {{"nv_inference_pending_request_count", "gauge", WHAT_WAITING, 0,
           NULL},
          {"nv_inference_request_success", "counter", WHAT_SERVED, 0, NULL},
          {"nv_inference_request_failure", "counter", WHAT_REFUSED, 0, NULL},
          {"nv_inference_count", "counter", WHAT_SERVED, 0, NULL},
          {"nv_inference_exec_count", "counter", WHAT_BATCHES, 0, NULL},
          {"nv_inference_queue_duration_us", "counter", WHAT_QUEUE_US, 0,
           NULL}}},
};

static double value_of(const struct page_view *view, enum what what)
{
    const struct sim_counts *c = view->counts;
    double kv_share =
        view->kv_tokens > 0 ? (double)c->kv_used / (double)view->kv_tokens : 0;
    const double values[] = {
        [WHAT_RUNNING] = (double)c->running,
        [WHAT_WAITING] = (double)c->waiting,
        [WHAT_KV_TOKENS] = (double)c->kv_used,
        [WHAT_KV_SHARE] = kv_share,
        [WHAT_PROMPT] = (double)c->prompt_tokens,
        [WHAT_TOKENS] = (double)c->tokens,
        [WHAT_ARRIVED] = (double)c->arrived,
        [WHAT_STARTED] = (double)c->started,
        [WHAT_SERVED] = (double)c->served,
        [WHAT_REFUSED] = (double)c->refused,
        [WHAT_BATCHES] = (double)c->batches,
        [WHAT_QUEUE_S] = (double)c->queued_ns / 1e9,
        [WHAT_QUEUE_US] = (double)c->queued_ns / 1e3,
    };

    return values[what];
}

static void put_series(const struct page_view *view, const char *const *labels,
                       const struct series *s, struct buf *out)
{
    const struct {
        const char *suffix;
        const char *label; /* of its own, or "" */
        enum what what;
    } parts[] = {{"", "", s->what},
                 {"_bucket", "le=\"+Inf\"", s->count},
                 {"_sum", "", s->what},
                 {"_count", "", s->count}};
    bool is_histogram = strcmp(s->type, "histogram") == 0;

    buf_addf(out, "# HELP %s %s\n# TYPE %s %s\n", s->name,
             s->help ? s->help : "As defined by that server.", s->name,
             s->type);
    for (size_t i = is_histogram ? 1 : 0; i < (is_histogram ? 4 : 1); i++) {
        const char *own = parts[i].label;

        buf_addf(out, "%s%s", s->name, parts[i].suffix);
        if (labels[0])
            buf_addf(out, "{%s%s%s%s%s}", labels[0], view->model, labels[1],
                     own[0] ? "," : "", own);
        else if (own[0])
            buf_addf(out, "{%s}", own);
        buf_addf(out, " %.15g\n", value_of(view, parts[i].what));
    }
}

static void put_style(const struct page_view *view, enum metrics_style style,
                      struct buf *out)
{
    const struct series *s = styles[style].series;

    for (size_t i = 0; i < MAX_SERIES && s[i].name; i++) {
        /* Other servers report a share of 0 if there is no limit. */
        if (style != METRICS_OWN || s[i].what != WHAT_KV_SHARE ||
            view->kv_tokens > 0)
            put_series(view, styles[style].labels, &s[i], out);
    }
}

/* The stub's own metrics, then those of the server that it imitates.  The
 * buckets of Prometheus are cumulative. */
static void put_metrics(const struct page_view *view, struct buf *out)
{
    const struct sim_counts *c = view->counts;
    int64_t sum = 0;

    buf_adds(out, "# HELP " OWN "batch_size Requests in a batch when one "
                  "joined.\n"
                  "# TYPE " OWN "batch_size histogram\n");
    for (int i = 0; i < SIM_BATCH_SIZES - 1; i++) {
        sum += c->batch_sizes[i];
        buf_addf(out, OWN "batch_size_bucket{le=\"%d\"} %lld\n", 1 << i,
                 (long long)sum);
    }
    buf_addf(out,
             OWN "batch_size_bucket{le=\"+Inf\"} %lld\n" OWN
                 "batch_size_sum %lld\n" OWN "batch_size_count %lld\n",
             (long long)c->batches, (long long)c->batched,
             (long long)c->batches);
    put_style(view, METRICS_OWN, out);
    if (view->metrics_style != METRICS_OWN)
        put_style(view, (enum metrics_style)view->metrics_style, out);
}

/* ---- all pages ---- */

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
    {"/metrics", METRICS_TYPE, put_metrics},
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
