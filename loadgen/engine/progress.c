#include "loadgen/engine/progress.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "common/base/clk.h"
#include "common/base/xalloc.h"
#include "common/measure/good.h"
#include "common/recording/schema.h"
#include "common/settings/settings.h"
#include "common/spec/slo.h"
#include "common/stats/hist.h"
#include "common/wire/api_names.h"
#include "loadgen/schedule/rate_shape.h"
#include "loadgen/schedule/source.h"
#include "loadgen/schedule/window_limits.h"
#include "loadgen/trace/trace_survey.h"

/* What a shard said of itself. */
struct witness {
    struct observation before; /* when the last second began */
    struct observation last;
    bool has_reported; /* since then */
};

struct progress {
    const struct load_settings *load; /* borrowed */
    const struct phases *phases;      /* likewise */
    bool is_ended_by_time;
    struct shape shape; /* of an open loop */
    struct good_table good;

    pthread_mutex_t lock; /* for all that follows */
    struct witness *witnesses;
    int n_witnesses;
    struct hist e2e; /* of the second that is being gathered */
    struct hist ttft;
    struct hist lag;
    int64_t lag_max_ns;
    struct run_progress now; /* as of the last whole second */
};

/* ---- the recorder's thread ---- */

static bool is_in_window(const struct progress *p, int64_t due_ns)
{
    return due_ns >= phases_start_ns(p->phases) &&
           due_ns < phases_end_ns(p->phases);
}

static void add_latency(struct hist *h, enum measure m, const struct facts *f)
{
    if (f->outcome == OUTCOME_OK)
        hist_add(h, measure_value(m, FROM_DUE, f));
    else
        hist_add_beyond(h, 1);
}

static void add_row(struct progress *p, const struct facts *f)
{
    p->now.outcome[f->outcome] += facts_n(f);
    if (is_in_window(p, f->due)) {
        p->now.due += facts_n(f);
        p->now.good += good_is(good_limits_of(&p->good, f), f);
    }
    if (!facts_issued(f))
        return;
    hist_add(&p->lag, measure_value(MEASURE_LAG, FROM_DUE, f));
    add_latency(&p->e2e, MEASURE_E2E, f);
    add_latency(&p->ttft, MEASURE_TTFT, f);
}

static double per_second(int64_t count, int64_t ns)
{
    return ns > 0 ? (double)count * 1e9 / (double)ns : 0;
}

static void sum_up(struct progress *p)
{
    struct run_progress *now = &p->now;

    now->issued = now->in_flight = now->unsent = 0;
    now->sent_rps = now->done_rps = 0;
    for (int i = 0; i < p->n_witnesses; i++) {
        struct witness *w = &p->witnesses[i];
        int64_t ns = w->last.at - w->before.at;

        now->issued += w->last.issued;
        now->in_flight += w->last.issued - w->last.done;
        now->unsent += w->last.unsent;
        now->sent_rps += per_second(w->last.issued - w->before.issued, ns);
        now->done_rps += per_second(w->last.done - w->before.done, ns);
        w->before = w->last;
        w->has_reported = false;
    }
}

/* A second is whole: say what it was, and begin the next. */
static void turn(struct progress *p)
{
    sum_up(p);
    p->now.e2e.p50_ns = hist_rank_quantile(&p->e2e, 0.5);
    p->now.e2e.p99_ns = hist_rank_quantile(&p->e2e, 0.99);
    p->now.ttft.p50_ns = hist_rank_quantile(&p->ttft, 0.5);
    p->now.ttft.p99_ns = hist_rank_quantile(&p->ttft, 0.99);
    p->now.lag.p50_ns = hist_rank_quantile(&p->lag, 0.5);
    p->now.lag.p99_ns = hist_rank_quantile(&p->lag, 0.99);
    p->now.lag.max_ns =
        p->lag.max_ns > p->lag_max_ns ? p->lag.max_ns : p->lag_max_ns;
    hist_reset(&p->e2e);
    hist_reset(&p->ttft);
    hist_reset(&p->lag);
    p->lag_max_ns = 0;
}

static bool have_all_reported(const struct progress *p)
{
    for (int i = 0; i < p->n_witnesses; i++) {
        if (!p->witnesses[i].has_reported)
            return false;
    }
    return true;
}

/* Seconds go by the shards' own, which begin together.  One that reports again
 * before all the others did does not wait for them: they have ended. */
static void add_seen(struct progress *p, unsigned shard,
                     const struct observation *seen)
{
    struct witness *w = &p->witnesses[shard];

    w->last = *seen;
    w->has_reported = true;
    if (seen->lag_max > p->lag_max_ns)
        p->lag_max_ns = seen->lag_max;
    if (have_all_reported(p))
        turn(p);
}

void progress_add(void *progress, unsigned shard, const struct facts *rows,
                  size_t n, const struct observation *seen)
{
    struct progress *p = progress;

    pthread_mutex_lock(&p->lock);
    if (seen && p->witnesses[shard].has_reported)
        turn(p);
    for (size_t i = 0; i < n; i++)
        add_row(p, &rows[i]);
    if (seen)
        add_seen(p, shard, seen);
    pthread_mutex_unlock(&p->lock);
}

/* ---- whoever shows it ---- */

/* When the load is over, the cool-down with it; INFINITY: nobody knows yet. */
static double end_of_load_ns(const struct progress *p)
{
    int64_t end_ns = phases_end_ns(p->phases);

    return end_ns == DUE_UNKNOWN
               ? INFINITY
               : (double)end_ns + (double)p->load->cooldown_ns;
}

static double arrivals(const struct progress *p, double until_ns)
{
    if (p->load->scenario == SCENARIO_TRACE)
        return timeline_count(p->load->trace.timeline, until_ns);
    return shape_arrivals(&p->shape, until_ns);
}

/* What the schedule wanted in the second before `at_ns`. */
static double asked_rps(struct progress *p, int64_t at_ns)
{
    int64_t start_ns = phases_start_ns(p->phases);
    double until = fmin((double)at_ns, end_of_load_ns(p));
    double from = fmax(0, (double)at_ns - 1e9);

    if (until <= from)
        return 0;
    if (start_ns != DUE_UNKNOWN)
        shape_end_warmup(&p->shape, (double)start_ns);
    return (arrivals(p, until) - arrivals(p, from)) * 1e9 /
           ((double)at_ns - from);
}

static enum phase phase_at(const struct progress *p, int64_t at_ns)
{
    if (at_ns < phases_start_ns(p->phases))
        return PHASE_WARMUP;
    if (at_ns < phases_end_ns(p->phases))
        return PHASE_WINDOW;
    return (double)at_ns < end_of_load_ns(p) ? PHASE_COOLDOWN : PHASE_DRAIN;
}

void progress_read(struct progress *p, int64_t at_ns, struct run_progress *out)
{
    pthread_mutex_lock(&p->lock);
    *out = p->now;
    if (out->is_open_loop)
        out->asked_rps = asked_rps(p, at_ns);
    pthread_mutex_unlock(&p->lock);
    out->elapsed_s = at_ns > 0 ? (double)at_ns / 1e9 : 0;
    out->phase = phase_at(p, at_ns);
    if (p->is_ended_by_time && isfinite(end_of_load_ns(p)))
        out->planned_s = end_of_load_ns(p) / 1e9;
}

/* ---- making and ending ---- */

static const struct last_second nothing_yet = {
    .p50_ns = HIST_EMPTY, .p99_ns = HIST_EMPTY, .max_ns = HIST_EMPTY};

static bool has_slo(const struct settings *s)
{
    return s->slo.len > 0;
}

static bool may_stream(const struct settings *s)
{
    return api_can_stream((enum api_kind)s->target.api) &&
           s->target.stream != STREAM_OFF;
}

static int make_parts(struct progress *p, const struct settings *settings,
                      struct err *err)
{
    struct slo slo;

    if (slo_parse(&settings->slo, &slo, err) ||
        good_table_init(&p->good, &slo, &settings->classes, err))
        return -1;
    p->now.has_slo = slo.len > 0 || settings_some(has_slo, settings);
    p->now.has_streams = settings_some(may_stream, settings);
    p->now.is_open_loop =
        p->load->scenario == SCENARIO_SERVER ||
        (p->load->scenario == SCENARIO_TRACE && p->load->trace.timeline);
    p->now.is_offline = p->load->scenario == SCENARIO_OFFLINE;
    return p->load->scenario == SCENARIO_SERVER
               ? shape_init(&p->shape, p->load, err)
               : 0;
}

/* Or else max_duration is there in case that nothing else ends it. */
static bool is_ended_by_time(const struct load_settings *load)
{
    return load->duration_ns > 0 ||
           (load->max_duration_ns > 0 && load->requests == 0 &&
            load->min_duration_ns == 0 && load->min_requests == 0);
}

/* The cool-down sends as many as it takes. */
static int64_t planned_requests(const struct load_settings *load)
{
    return load->requests > 0 && load->cooldown_ns == 0
               ? load->warmup_requests + load->requests
               : 0;
}

int progress_new(struct progress **progress, const struct settings *settings,
                 const struct phases *phases, int n_shards, struct err *err)
{
    const struct load_settings *load = &settings->load;
    struct progress *p = xcalloc(1, sizeof(*p));

    p->load = load;
    p->now = (struct run_progress){.planned_requests = planned_requests(load),
                                   .e2e = nothing_yet,
                                   .ttft = nothing_yet,
                                   .lag = nothing_yet};
    p->now.has_phases = load->warmup_ns > 0 || load->warmup_requests > 0 ||
                        load->cooldown_ns > 0;
    p->phases = phases;
    p->is_ended_by_time = is_ended_by_time(load);
    pthread_mutex_init(&p->lock, NULL);
    p->witnesses = xcalloc((size_t)n_shards, sizeof(*p->witnesses));
    p->n_witnesses = n_shards;
    if (make_parts(p, settings, err)) {
        progress_free(p);
        return -1;
    }
    *progress = p;
    return 0;
}

void progress_free(struct progress *p)
{
    if (!p)
        return;
    hist_fini(&p->e2e);
    hist_fini(&p->ttft);
    hist_fini(&p->lag);
    free(p->witnesses);
    pthread_mutex_destroy(&p->lock);
    shape_fini(&p->shape);
    good_table_fini(&p->good);
    free(p);
}
