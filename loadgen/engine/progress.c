#include "loadgen/engine/progress.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/measure/good.h"
#include "common/recording/schema.h"
#include "common/settings/settings.h"
#include "common/spec/shard_id.h"
#include "common/stats/hist.h"
#include "common/wire/api_names.h"
#include "loadgen/engine/run.h"
#include "loadgen/record/recorder.h"
#include "loadgen/schedule/rate_shape.h"
#include "loadgen/schedule/source.h"
#include "loadgen/schedule/window_limits.h"
#include "loadgen/trace/trace_survey.h"

/* What a shard has reported. */
struct shard_state {
    struct observation before; /* when the last second began */
    struct observation last;   /* all 0: no report yet */
    bool has_reported;         /* since then */
};

struct progress {
    const struct load_settings *load; /* borrowed */
    const struct phases *phases;      /* borrowed */
    int64_t n_machines;               /* that share the schedule */
    bool is_ended_by_time;
    struct shape shape; /* open loop only */
    struct good_table good;
    struct slo slo;

    pthread_mutex_t lock; /* for everything below */
    struct shard_state *shards;
    int n_shards;
    struct hist e2e; /* of the second that is being collected */
    struct hist ttft;
    struct hist lag;
    int64_t lag_max_ns;
    int64_t concerned[SLO_MAX_TERMS]; /* requests that a term is about ... */
    int64_t misses[SLO_MAX_TERMS];    /* ... and those that miss it */
    struct run_progress now;          /* as of the last complete second */
};

/* ---- the recorder's thread ---- */

static void add_latency(struct hist *h, enum measure m, const struct facts *f)
{
    if (f->outcome == OUTCOME_OK)
        hist_add(h, measure_value(m, FROM_DUE, f));
    else
        hist_add_beyond(h, 1);
}

/* Terms on quantiles of requests and on errors; the others are not shares of
 * requests.  Of several tiers none is the SLO. */
static void add_to_terms(struct progress *p, const struct facts *f)
{
    for (size_t i = 0; i < p->slo.len; i++) {
        const struct slo_term *t = &p->slo.terms[i];
        bool is_kept = f->outcome == OUTCOME_OK;

        if (t->kind == SLO_QUANTILE && !measure_is_pooled(t->measure) &&
            good_concerns(t->measure, f))
            is_kept = good_keeps(t->measure, f, t->limit_ns);
        else if (t->kind != SLO_ERRORS)
            continue;
        p->concerned[i] += facts_n(f);
        p->misses[i] += is_kept ? 0 : facts_n(f);
    }
}

static struct term_so_far worst_term(const struct progress *p)
{
    struct term_so_far worst = {0};

    for (size_t i = 0; i < p->slo.len; i++) {
        const struct slo_term *t = &p->slo.terms[i];
        struct term_so_far one = {
            .text = t->text,
            .missed = p->concerned[i] > 0
                          ? (double)p->misses[i] / (double)p->concerned[i]
                          : 0,
            .allowed = t->kind == SLO_ERRORS ? t->limit : 1 - t->quantile};

        if (p->concerned[i] > 0 && !t->tier[0] &&
            (!worst.text ||
             one.missed * worst.allowed > worst.missed * one.allowed))
            worst = one;
    }
    return worst;
}

static void add_row(struct progress *p, const struct facts *f)
{
    p->now.outcome[f->outcome] += facts_n(f);
    if (f->due >= phases_start_ns(p->phases) &&
        f->due < phases_end_ns(p->phases)) {
        p->now.due += facts_n(f);
        p->now.good += good_is(good_limits_of(&p->good, f), f);
        add_to_terms(p, f);
    }
    if (!facts_issued(f))
        return;
    hist_add(&p->lag, measure_value(MEASURE_LAG, FROM_DUE, f));
    add_latency(&p->e2e, MEASURE_E2E, f);
    if (p->now.has_streams)
        add_latency(&p->ttft, MEASURE_TTFT, f);
}

static double per_second(int64_t count, int64_t ns)
{
    return ns > 0 ? (double)count * 1e9 / (double)ns : 0;
}

/* The figures of a second that is complete; starts the next one. */
static void close_hist(struct hist *h, struct last_second *out)
{
    out->p50_ns = hist_rank_quantile(h, 0.5);
    out->p99_ns = hist_rank_quantile(h, 0.99);
    hist_reset(h);
}

static void close_second(struct progress *p)
{
    struct run_progress *now = &p->now;

    now->issued = now->in_flight = now->unsent = 0;
    now->sent_rps = now->done_rps = 0;
    for (int i = 0; i < p->n_shards; i++) {
        struct shard_state *s = &p->shards[i];
        int64_t ns = s->last.at - s->before.at;

        now->issued += s->last.issued;
        now->in_flight += s->last.issued - s->last.done;
        now->unsent += s->last.unsent;
        now->sent_rps += per_second(s->last.issued - s->before.issued, ns);
        now->done_rps += per_second(s->last.done - s->before.done, ns);
        s->before = s->last;
        s->has_reported = false;
    }
    now->lag.max_ns =
        p->lag.max_ns > p->lag_max_ns ? p->lag.max_ns : p->lag_max_ns;
    p->lag_max_ns = 0;
    close_hist(&p->e2e, &now->e2e);
    close_hist(&p->ttft, &now->ttft);
    close_hist(&p->lag, &now->lag);
    now->worst = worst_term(p);
    if (now->n_history == PROGRESS_HISTORY)
        memmove(now->history_ns, now->history_ns + 1,
                (size_t)--now->n_history * sizeof(now->history_ns[0]));
    now->history_ns[now->n_history++] =
        now->has_streams ? now->ttft.p99_ns : now->e2e.p99_ns;
}

/* The shards' own seconds count, which begin together.  A shard that reports
 * again before all the others have does not wait for them: they have ended. */
void progress_add(struct progress *p, unsigned shard, const struct facts *rows,
                  size_t n, const struct observation *seen)
{
    bool have_all_reported = seen != NULL;

    pthread_mutex_lock(&p->lock);
    if (seen && p->shards[shard].has_reported)
        close_second(p);
    for (size_t i = 0; i < n; i++)
        add_row(p, &rows[i]);
    if (seen) {
        p->shards[shard].last = *seen;
        p->shards[shard].has_reported = true;
        if (seen->lag_max > p->lag_max_ns)
            p->lag_max_ns = seen->lag_max;
    }
    for (int i = 0; i < p->n_shards; i++)
        have_all_reported &= p->shards[i].has_reported;
    if (have_all_reported)
        close_second(p);
    pthread_mutex_unlock(&p->lock);
}

/* ---- reading ---- */

/* When the load ends, including the cool-down; INFINITY: not known yet. */
static double end_of_load_ns(const struct progress *p)
{
    int64_t end_ns = phases_load_end_ns(p->phases);

    return end_ns == DUE_UNKNOWN ? INFINITY : (double)end_ns;
}

static double arrivals(const struct progress *p, double until_ns)
{
    if (p->load->scenario == SCENARIO_TRACE)
        return timeline_count(p->load->trace.timeline, until_ns);
    return shape_arrivals(&p->shape, until_ns);
}

/* The rate of the schedule in the second before `at_ns`. */
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
           ((double)at_ns - from) / (double)p->n_machines;
}

void progress_read(struct progress *p, int64_t at_ns, struct run_progress *out)
{
    pthread_mutex_lock(&p->lock);
    *out = p->now;
    if (out->is_open_loop)
        out->asked_rps = asked_rps(p, at_ns);
    pthread_mutex_unlock(&p->lock);
    out->elapsed_s = at_ns > 0 ? (double)at_ns / 1e9 : 0;
    out->phase = at_ns < phases_start_ns(p->phases)  ? PHASE_WARMUP
                 : at_ns < phases_end_ns(p->phases)  ? PHASE_WINDOW
                 : (double)at_ns < end_of_load_ns(p) ? PHASE_COOLDOWN
                                                     : PHASE_DRAIN;
    out->has_phases |= out->phase == PHASE_COOLDOWN;
    if (p->is_ended_by_time && isfinite(end_of_load_ns(p)))
        out->planned_s =
            (p->load->cooldown_ns == OPT_AUTO ? (double)phases_end_ns(p->phases)
                                              : end_of_load_ns(p)) /
            1e9;
}

/* ---- making and freeing ---- */

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
    const struct load_settings *load = p->load;
    const struct shard_id shard = shard_id_of(settings->client.shard);
    const struct shard_layout layout = {shard.count,
                                        settings->client.probe_shard};

    p->n_machines = shard.count;
    if (slo_parse(&settings->slo, &p->slo, err) ||
        good_table_init(&p->good, &p->slo, &settings->classes, err))
        return -1;
    p->now = (struct run_progress){
        /* A cool-down sends as many as it takes. */
        .planned_requests =
            load->requests > 0 && load_cooldown_ns(load) == 0
                ? shard_share(layout, shard.index,
                              load->warmup_requests + load->requests)
                : 0,
        .has_phases = load->warmup_ns > 0 || load->warmup_requests > 0 ||
                      load->cooldown_ns > 0,
        .has_slo = p->slo.len > 0 || settings_some(has_slo, settings),
        .has_streams = settings_some(may_stream, settings),
        .is_open_loop =
            load->scenario == SCENARIO_SERVER ||
            (load->scenario == SCENARIO_TRACE && load->trace.timeline),
        .is_offline = load->scenario == SCENARIO_OFFLINE,
        .e2e = nothing_yet,
        .ttft = nothing_yet,
        .lag = nothing_yet,
    };
    /* max_duration next to another limit is only a safety net. */
    p->is_ended_by_time =
        load->duration_ns > 0 ||
        (load->max_duration_ns > 0 && load->requests == 0 &&
         load->min_duration_ns == 0 && load->min_requests == 0);
    return load->scenario == SCENARIO_SERVER ? shape_init(&p->shape, load, err)
                                             : 0;
}

int progress_new(struct progress **progress, const struct settings *settings,
                 const struct phases *phases, int n_shards, struct err *err)
{
    struct progress *p = xcalloc(1, sizeof(*p));

    p->load = &settings->load;
    p->phases = phases;
    pthread_mutex_init(&p->lock, NULL);
    p->shards = xcalloc((size_t)n_shards, sizeof(*p->shards));
    p->n_shards = n_shards;
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
    free(p->shards);
    pthread_mutex_destroy(&p->lock);
    shape_fini(&p->shape);
    good_table_fini(&p->good);
    free(p);
}

/* ---- the monitor ---- */

static struct run_look look_at(const struct monitor *m)
{
    struct run_look look = {.start_ns = phases_start_ns(m->phases),
                            .end_ns = phases_end_ns(m->phases)};

    for (int i = 0; i < m->progress->n_shards; i++) {
        const struct observation *last = &m->progress->shards[i].last;

        if (i == 0 || last->at < look.followed_ns)
            look.followed_ns = last->at;
        if (last->at > look.issued_ns)
            look.issued_ns = last->at;
        look.issued += last->issued;
    }
    if (look.followed_ns == 0) {
        look.issued = 0;
        look.issued_ns = 0;
    }
    return look;
}

/* In the recorder's thread. */
static void on_rows(void *arg, unsigned shard, const struct facts *rows,
                    size_t n, const struct observation *seen)
{
    struct monitor *m = arg;
    const struct run_judge *judge = m->options->judge;
    const struct run_watch *watch = m->options->watch;
    struct run_look look;

    progress_add(m->progress, shard, rows, n, seen);
    look = look_at(m);
    look.rows = rows;
    look.n = n;
    look.shard = shard;
    look.seen = seen;
    if (watch)
        watch->saw(watch->arg, &look);
    if (judge && !atomic_load(&m->is_enough) &&
        judge->is_enough(judge->arg, &look))
        atomic_store(&m->is_enough, true);
    if (!m->decide.slo)
        return;
    decide_window(&m->decide, phases_start_ns(m->phases),
                  phases_end_ns(m->phases));
    for (size_t i = 0; i < n; i++)
        decide_add(&m->decide, &rows[i]);
    if (m->decide.decision)
        atomic_store(&m->is_decided, true);
}

int monitor_init(struct monitor *m, const struct settings *settings,
                 const struct run_options *options, const struct phases *phases,
                 struct recorder *recorder, struct err *err)
{
    /* Of several processes each knows only its own requests. */
    bool is_alone = !options->party;
    const char *abort_on = is_alone ? settings->load.abort_on : NULL;
    bool decides = is_alone && settings->load.stop == STOP_DECIDED;
    struct abort_rule rule;

    *m = (struct monitor){.options = options,
                          .phases = phases,
                          .next_show_ns = RUN_PROGRESS_NS,
                          .next_second_ns = NS_PER_S};
    if (!abort_on && !options->progress && !options->judge && !options->watch &&
        !decides)
        return 0;
    if (abort_on && abort_parse(abort_on, &rule, err))
        return -1;
    if (decides &&
        (slo_parse(&settings->slo, &m->slo, err) ||
         decide_init(&m->decide, &m->slo, phases_start_ns(phases), err)))
        return -1;
    if (progress_new(&m->progress, settings, phases,
                     recorder_n_shards(recorder), err))
        return -1;
    if (abort_on)
        abort_window_init(&m->window, &rule);
    recorder_watch(recorder, (struct watcher){on_rows, m});
    return 0;
}

void monitor_fini(struct monitor *m)
{
    progress_free(m->progress);
    abort_window_fini(&m->window);
    decide_fini(&m->decide);
    *m = (struct monitor){0};
}

/* Requests that were never sent, or in flight when the run was cut, did not
 * end.
 */
bool progress_aborts(const struct run_progress *p, struct abort_window *w,
                     char why[static ABORT_TEXT])
{
    struct abort_counts counts = {0};
    struct abort_finding found;

    for (int o = 0; o < OUTCOME_COUNT; o++) {
        if (o != OUTCOME_UNSENT && o != OUTCOME_UNFINISHED)
            counts.ended += p->outcome[o];
    }
    counts.failed = counts.ended - p->outcome[OUTCOME_OK];
    found = abort_window_add(w, counts);
    if (found.is_exceeded)
        abort_describe(&w->rule, &found, why);
    return found.is_exceeded;
}

bool monitor_poll(struct monitor *m, int64_t at_ns)
{
    struct run_progress p;
    bool shows = m->options->progress && at_ns >= m->next_show_ns;
    bool is_second_over = at_ns >= m->next_second_ns;

    if (atomic_load(&m->is_enough))
        return true;
    if (!m->progress || !(shows || is_second_over))
        return false;
    progress_read(m->progress, at_ns, &p);
    if (shows) {
        m->options->progress(m->options->arg, &p);
        m->next_show_ns = at_ns + RUN_PROGRESS_NS;
    }
    if (!is_second_over)
        return false;
    while (m->next_second_ns <= at_ns)
        m->next_second_ns += NS_PER_S;
    return m->window.ring && !m->why[0] &&
           progress_aborts(&p, &m->window, m->why);
}
