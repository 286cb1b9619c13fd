#include "server-stub/page.h"

#include <stddef.h>
#include <string.h>

#include "common/buf.h"
#include "common/config.h"
#include "server-stub/path.h"
#include "server-stub/sim.h"

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

static void put_metrics(const struct page_view *view, struct buf *out)
{
    const struct sim_counts *c = view->counts;

    put_metric(out, "requests_total", "counter", "Requests that arrived.",
               c->arrived);
    put_metric(out, "served_total", "counter", "Requests that were served.",
               c->served);
    put_metric(out, "refused_total", "counter", "Requests that were refused.",
               c->refused);
    put_metric(out, "tokens_total", "counter", "Output tokens.", c->tokens);
    put_metric(out, "queue_depth", "gauge", "Requests that wait.", c->waiting);
    put_metric(out, "running", "gauge", "Requests that are served.",
               c->running);
    put_metric(out, "kv_tokens", "gauge", "KV cache in use, in tokens.",
               c->kv_used);
    put_batch_sizes(c, out);
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
