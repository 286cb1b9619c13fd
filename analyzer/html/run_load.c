/* Load and server, and the client, over time. */
#include <math.h>
#include <stdio.h>

#include "analyzer/html/html_text.h"
#include "analyzer/html/run_page.h"
#include "analyzer/html/run_view.h"
#include "analyzer/tally/summary.h"

/* ---- series ---- */

/* Bins of at least this width. */
struct bins_view run_view_of(const struct run_bins *b, double min_s)
{
    size_t merge = 1;

    while ((double)b->step_ns * (double)merge < min_s * 1e9 - 1 &&
           b->n / merge > 2)
        merge++;
    return (struct bins_view){.merge = merge,
                              .n = (b->n + merge - 1) / merge,
                              .step_s =
                                  (double)b->step_ns * (double)merge / 1e9};
}

struct time_chart run_view_chart(const struct run_bins *b,
                                 const struct bins_view *v)
{
    return (struct time_chart){
        .classes = "",
        .what = "mean of the window",
        .step_s = v->step_s,
        .n = v->n,
        .end_s = (double)b->end_ns / 1e9,
        .warmup_s = (double)b->window.start_ns / 1e9,
        .window_end_s = (double)b->window.end_ns / 1e9,
        .limit = NAN,
    };
}

/* Per second, in the time that the bin has. */
static void per_second(const struct run_bins *b, const struct bins_view *v,
                       const int64_t *counts, double *out)
{
    for (size_t k = 0; k < v->n; k++) {
        double from = (double)k * v->step_s;
        double to = fmin(from + v->step_s, (double)b->end_ns / 1e9);
        double sum = 0;

        for (size_t i = k * v->merge; i < (k + 1) * v->merge && i < b->n; i++)
            sum += (double)counts[i];
        out[k] = to > from ? sum / (to - from) : NAN;
    }
}

static void means(const struct run_bins *b, const struct bins_view *v,
                  const struct bin_mean *in, double *out)
{
    for (size_t k = 0; k < v->n; k++) {
        double sum = 0;
        int64_t n = 0;

        for (size_t i = k * v->merge; i < (k + 1) * v->merge && i < b->n; i++) {
            sum += in[i].sum;
            n += in[i].n;
        }
        out[k] = n > 0 ? sum / (double)n : NAN;
    }
}

static double max_of(const double *x, size_t n)
{
    double max = 0;

    for (size_t i = 0; i < n; i++) {
        if (isfinite(x[i]))
            max = fmax(max, x[i]);
    }
    return max;
}

static bool has_any(const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!isnan(x[i]))
            return true;
    }
    return false;
}

void run_view_quantiles(const struct run_bins *b, const struct bins_view *v,
                        enum bins_measure m, double q, double *out)
{
    for (size_t k = 0; k < v->n; k++) {
        size_t to = (k + 1) * v->merge < b->n ? (k + 1) * v->merge : b->n;
        double ns = run_bins_quantile_ns(b, m, k * v->merge, to, q);

        out[k] = ns == HIST_BEYOND ? INFINITY : ns < 0 ? NAN : ns;
    }
}

/* An axis for values on a log scale, and the limit if there is one. */
struct axis run_view_log_axis(const double *a, const double *b, size_t n,
                              double limit)
{
    double low = limit > 0 ? limit : INFINITY;
    double high = limit > 0 ? limit : 0;

    for (size_t i = 0; i < n; i++) {
        if (isfinite(a[i]) && a[i] > 0)
            low = fmin(low, a[i]);
        if (isfinite(b[i]))
            high = fmax(high, b[i]);
        if (isfinite(a[i]))
            high = fmax(high, a[i]);
    }
    if (!(high > 0) || isinf(low))
        return (struct axis){
            .low = 1e6, .high = 1e9, .is_log = true, .kind = TICK_NS};
    return (struct axis){.low = low * 0.85,
                         .high = fmax(high, low * 1.5) * 1.25,
                         .is_log = true,
                         .kind = TICK_NS};
}

/* ---- load and server ---- */

struct time_chart run_rates_chart(const struct run_page *r, struct rates *x)
{
    const struct run_bins *b = r->bins;
    struct bins_view v = run_view_of(b, 1);
    struct time_chart c = run_view_chart(b, &v);
    bool has_slo = r->s->judgement.len > 0 || r->s->n_classes > 0;

    per_second(b, &v, b->due, x->due);
    per_second(b, &v, b->ok, x->ok);
    per_second(b, &v, b->good, x->good);
    c.name = "rates";
    c.title = "Rates";
    c.caption = has_slo ? "Requests due per second, and how many of them were "
                          "answered and were good. The orange gap is what came "
                          "too late."
                        : "Requests due per second, and how many of them were "
                          "answered.";
    c.height = 150;
    c.y = (struct axis){.low = 0,
                        .high = fmax(1, max_of(x->due, v.n) * 1.12),
                        .kind = TICK_RATE};
    c.series[0] = (struct time_series){
        "due",  "offered",         "ink", LOOK_STEP, SWATCH_LINE,
        x->due, r->s->offered_rps, false, true};
    c.series[1] = (struct time_series){"ok",
                                       "answered",
                                       has_slo ? "late" : "good",
                                       has_slo ? LOOK_GAP : LOOK_AREA,
                                       SWATCH_AREA,
                                       x->ok,
                                       r->s->completed_rps,
                                       false,
                                       false};
    c.series[2] = (struct time_series){"good",
                                       "good",
                                       "good",
                                       LOOK_AREA,
                                       SWATCH_AREA,
                                       x->good,
                                       r->s->goodput_rps,
                                       false,
                                       false};
    c.n_series = has_slo ? 3 : 2;
    return c;
}

/* Mean over the window, as in the text of the page; NAN: unknown. */
static double mean_of(const struct server_summary *s, double mean)
{
    return s->is_there && mean >= 0 ? mean : NAN;
}

/* Its second line is dashed. */
static struct time_series server_line(const char *key, const char *name,
                                      const double *y, double overall,
                                      bool is_second)
{
    return (struct time_series){.key = key,
                                .name = name,
                                .colour = is_second ? "server2" : "server",
                                .look = LOOK_LINE,
                                .swatch = is_second ? SWATCH_DASH : SWATCH_LINE,
                                .y = y,
                                .overall = overall};
}

static void put_in_flight(struct page *p, const struct run_page *r)
{
    const struct run_bins *b = r->bins;
    const struct server_summary *s = &r->s->server;
    const struct load_judgement *load = &r->s->steady.load;
    struct bins_view v = run_view_of(b, 1);
    struct time_chart c = run_view_chart(b, &v);
    double client[BINS_TIME];
    double running[BINS_TIME];
    double waiting[BINS_TIME];

    for (size_t k = 0; k < v.n; k++) {
        double sum = 0;
        int n = 0;

        for (size_t i = k * v.merge; i < (k + 1) * v.merge && i < b->n; i++) {
            if (b->in_flight[i] >= 0) {
                sum += b->in_flight[i];
                n++;
            }
        }
        client[k] = n > 0 ? sum / n : NAN;
    }
    means(b, &v, b->running, running);
    means(b, &v, b->waiting, waiting);
    c.name = "flight";
    c.title = "In flight";
    c.caption = has_any(running, v.n)
                    ? "Requests the client was waiting for, next to what the "
                      "server says it was working on and holding in its queue."
                    : "Requests the client was waiting for. The server did not "
                      "say how many it was working on.";
    c.height = 150;
    c.y = (struct axis){.low = 0,
                        .high = fmax(1, 1.1 * fmax(max_of(client, v.n),
                                                   fmax(max_of(running, v.n),
                                                        max_of(waiting, v.n)))),
                        .kind = TICK_COUNT};
    c.series[0] = (struct time_series){
        .key = "client",
        .name = "in flight",
        .colour = "ink",
        .look = LOOK_STEP,
        .y = client,
        .overall = load->has_flight ? load->in_flight : NAN,
        .is_thin = true};
    c.n_series = 1;
    if (has_any(running, v.n))
        c.series[c.n_series++] =
            server_line("running", "running, by the server", running,
                        mean_of(s, s->running_mean), false);
    if (has_any(waiting, v.n))
        c.series[c.n_series++] =
            server_line("waiting", "waiting, by the server", waiting,
                        mean_of(s, s->waiting_mean), true);
    time_chart_put(p, &c);
}

/* The last value of a counter in the bins before `to`; -1: unknown. */
static int64_t counted_until(const int64_t *so_far, size_t to)
{
    while (to > 0 && so_far[to - 1] < 0)
        to--;
    return to > 0 ? so_far[to - 1] : -1;
}

/* The share of prompt tokens that came from the cache, in each bin. */
static void cache_hits(const struct run_bins *b, const struct bins_view *v,
                       double *out)
{
    for (size_t k = 0; k < v->n; k++) {
        size_t from = k * v->merge;
        size_t to = from + v->merge < b->n ? from + v->merge : b->n;
        int64_t prompt = counted_until(b->prompt_tokens, to) -
                         counted_until(b->prompt_tokens, from);
        int64_t cached = counted_until(b->cached_tokens, to) -
                         counted_until(b->cached_tokens, from);

        out[k] = counted_until(b->cached_tokens, from) >= 0 && prompt > 0 &&
                         cached >= 0
                     ? (double)cached / (double)prompt
                     : NAN;
    }
}

static void put_cache(struct page *p, const struct run_page *r)
{
    const struct run_bins *b = r->bins;
    const struct server_summary *s = &r->s->server;
    struct bins_view v = run_view_of(b, 1);
    struct time_chart c = run_view_chart(b, &v);
    int64_t preemptions = counted_until(b->preemptions, b->n);
    double use[BINS_TIME];
    double hits[BINS_TIME];
    char caption[320];
    char text[SHOW_TEXT];
    int len;

    means(b, &v, b->cache_use, use);
    cache_hits(b, &v, hits);
    if (!has_any(use, v.n) && !has_any(hits, v.n))
        return;
    len = snprintf(
        caption, sizeof(caption),
        "How full the server says its cache was. At 100%% new requests have to "
        "wait for room.%s",
        has_any(hits, v.n) ? " Hits: the share of prompt tokens that came from "
                             "the cache."
                           : "");
    if (preemptions >= 0)
        snprintf(caption + len, sizeof(caption) - (size_t)len,
                 " Preemptions by the end of the run: %s.",
                 show_count(preemptions, text));
    c.name = "cache";
    c.title = "KV cache";
    c.caption = caption;
    c.height = 100;
    c.y = (struct axis){.low = 0, .high = 1.05, .kind = TICK_SHARE};
    if (has_any(use, v.n))
        c.series[c.n_series++] =
            server_line("use", "in use", use, mean_of(s, s->cache_mean), false);
    if (has_any(hits, v.n))
        c.series[c.n_series++] = server_line("hits", "hits", hits,
                                             mean_of(s, s->cached_share), true);
    time_chart_put(p, &c);
}

void run_load_put(struct page *p, const struct run_page *r)
{
    struct rates x;
    struct time_chart c;

    if (r->bins->n == 0)
        return;
    page_section_begin(p, "load", "Load and server",
                       "Drag across a chart to zoom all of them; double-click "
                       "to go back.",
                       true);
    page_section_body(p);
    c = run_rates_chart(r, &x);
    time_chart_put(p, &c);
    put_in_flight(p, r);
    put_cache(p, r);
    page_section_end(p);
}

/* ---- the client ---- */

static void put_lag(struct page *p, const struct run_page *r)
{
    const struct run_bins *b = r->bins;
    const struct check *check = trust_find(&r->s->trust, "lag p99");
    struct bins_view v = run_view_of(b, 1);
    struct time_chart c = run_view_chart(b, &v);
    double median[BINS_TIME];
    double worst[BINS_TIME];
    double limit = check ? check->limit * 1e6 : 0;
    char name[SHOW_TEXT + 16];
    char text[SHOW_TEXT];

    if (!b->values[BINS_LAG].cells)
        return;
    run_view_quantiles(b, &v, BINS_LAG, 0.5, median);
    for (size_t k = 0; k < v.n; k++) {
        worst[k] = NAN;
        for (size_t i = k * v.merge; i < (k + 1) * v.merge && i < b->n; i++) {
            if (b->due[i] > b->outcome[i][OUTCOME_UNSENT])
                worst[k] = fmax(isnan(worst[k]) ? 1 : worst[k],
                                (double)b->lag_max_ns[i]);
        }
    }
    c.name = "lag";
    c.title = "Client lag";
    c.caption = "How late the client itself was with each request. It is part "
                "of every latency here, so it has to stay small.";
    c.height = 130;
    /* A limit far above everything would only flatten the lines. */
    if (limit > 0 && limit < max_of(worst, v.n) * 100) {
        c.limit = limit;
        snprintf(c.limit_text, sizeof(c.limit_text), "limit of p99 %s",
                 show_ns(limit, text));
    }
    c.y = run_view_log_axis(median, worst, v.n, isnan(c.limit) ? 0 : limit);
    snprintf(name, sizeof(name), "worst in %s", show_time(v.step_s, text));
    c.series[0] =
        (struct time_series){"worst", name, "client", LOOK_STEP, SWATCH_LINE,
                             worst,   NAN,  false,    false};
    c.series[1] = (struct time_series){"median",  "median",    "client2",
                                       LOOK_STEP, SWATCH_LINE, median,
                                       NAN,       false,       true};
    c.n_series = 2;
    time_chart_put(p, &c);
}

static void put_cpu(struct page *p, const struct run_bins *b)
{
    struct bins_view v = run_view_of(b, 1);
    struct time_chart c = run_view_chart(b, &v);
    double busy[BINS_TIME];
    double waiting[BINS_TIME];
    double stolen[BINS_TIME];

    if (!b->has_client)
        return;
    means(b, &v, b->busy, busy);
    means(b, &v, b->cpu_wait, waiting);
    means(b, &v, b->steal, stolen);
    c.name = "cpu";
    c.title = "Client CPU";
    c.caption = "How busy the client's busiest thread was, and how long it had "
                "to wait for a CPU. Near 100% the client would be the limit, "
                "not the server.";
    c.height = 120;
    c.y = (struct axis){.low = 0, .high = 1, .kind = TICK_SHARE};
    c.limit = 0.9;
    snprintf(c.limit_text, sizeof(c.limit_text), "limit 90%%");
    c.series[0] =
        (struct time_series){"busy", "busy", "client", LOOK_LINE, SWATCH_LINE,
                             busy,   NAN,    false,    false};
    c.series[1] = (struct time_series){"wait",      "waiting for a CPU",
                                       "client2",   LOOK_LINE,
                                       SWATCH_DASH, waiting,
                                       NAN,         false,
                                       false};
    c.n_series = 2;
    if (has_any(stolen, v.n))
        c.series[c.n_series++] =
            (struct time_series){"steal",     "taken by the hypervisor",
                                 "unsent",    LOOK_LINE,
                                 SWATCH_LINE, stolen,
                                 NAN,         false,
                                 true};
    time_chart_put(p, &c);
}

void run_health_put(struct page *p, const struct run_page *r)
{
    if (r->bins->n == 0)
        return;
    put_lag(p, r);
    put_cpu(p, r->bins);
}
