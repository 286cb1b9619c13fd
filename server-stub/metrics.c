#include "server-stub/metrics.h"

#include <stddef.h>

#include "common/buf.h"
#include "common/settings.h"
#include "server-stub/page.h"
#include "server-stub/sim.h"

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

static void put_own(const struct sim_counts *c, struct buf *out)
{
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

/* ---- other servers' ---- */

enum what {
    WHAT_RUNNING,
    WHAT_WAITING,
    WHAT_KV_SHARE, /* 0 to 1; 0 if there is no bound */
    WHAT_TOKENS,
    WHAT_ARRIVED,
    WHAT_SERVED,
    WHAT_REFUSED,
    WHAT_BATCHES,
};

struct series {
    const char *name; /* NULL: that was the last */
    const char *type;
    enum what what;
};

#define MAX_SERIES 6

/* Labels around the model's name; NULL: there are none. */
static const struct {
    const char *labels[2];
    struct series series[MAX_SERIES];
} styles[] = {
    [METRICS_OWN] = {{NULL}, {{0}}},
    [METRICS_VLLM] = {{"{engine=\"0\",model_name=\"", "\"}"},
                      {{"vllm:num_requests_running", "gauge", WHAT_RUNNING},
                       {"vllm:num_requests_waiting", "gauge", WHAT_WAITING},
                       {"vllm:kv_cache_usage_perc", "gauge", WHAT_KV_SHARE},
                       {"vllm:generation_tokens_total", "counter",
                        WHAT_TOKENS}}},
    [METRICS_SGLANG] = {{"{model_name=\"", "\"}"},
                        {{"sglang:num_running_reqs", "gauge", WHAT_RUNNING},
                         {"sglang:num_queue_reqs", "gauge", WHAT_WAITING},
                         {"sglang:token_usage", "gauge", WHAT_KV_SHARE},
                         {"sglang:generation_tokens_total", "counter",
                          WHAT_TOKENS}}},
    [METRICS_TGI] = {{NULL},
                     {{"tgi_batch_current_size", "gauge", WHAT_RUNNING},
                      {"tgi_queue_size", "gauge", WHAT_WAITING},
                      {"tgi_request_count", "counter", WHAT_ARRIVED},
                      {"tgi_request_success", "counter", WHAT_SERVED}}},
    [METRICS_TRITON] =
        {{"{model=\"", "\",version=\"1\"}"},
         {{"nv_inference_pending_request_count", "gauge", WHAT_WAITING},
          {"nv_inference_request_success", "counter", WHAT_SERVED},
          {"nv_inference_request_failure", "counter", WHAT_REFUSED},
          {"nv_inference_count", "counter", WHAT_SERVED},
          {"nv_inference_exec_count", "counter", WHAT_BATCHES}}},
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
    case WHAT_TOKENS:
        return (double)c->tokens;
    case WHAT_ARRIVED:
        return (double)c->arrived;
    case WHAT_SERVED:
        return (double)c->served;
    case WHAT_REFUSED:
        return (double)c->refused;
    case WHAT_BATCHES:
        return (double)c->batches;
    }
    return 0;
}

static void put_series(const struct page_view *view, const struct series *s,
                       struct buf *out)
{
    const char *const *labels = styles[view->metrics_style].labels;

    buf_addf(out,
             "# HELP %s As the server of that name counts.\n# TYPE %s %s\n%s",
             s->name, s->name, s->type, s->name);
    if (labels[0])
        buf_addf(out, "%s%s%s", labels[0], view->model, labels[1]);
    buf_addf(out, " %.15g\n", value_of(view, s->what));
}

void metrics_write(const struct page_view *view, struct buf *out)
{
    const struct series *series = styles[view->metrics_style].series;

    put_own(view->counts, out);
    for (size_t i = 0; i < MAX_SERIES && series[i].name; i++)
        put_series(view, &series[i], out);
}
