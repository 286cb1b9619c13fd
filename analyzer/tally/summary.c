#include "analyzer/tally/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/read/client_log.h"
#include "analyzer/read/completeness.h"
#include "analyzer/read/reader.h"
#include "analyzer/tally/run_bins.h"
#include "analyzer/tally/stream.h"
#include "analyzer/verdict/settle.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"

/* Callers keep it on the stack. */
_Static_assert(sizeof(struct summary) < 32768, "a summary must stay small");

/* Collected while the recording is read. */
struct work {
    struct cohort run;
    struct cache_work cache;
    struct sessions sessions;
    struct steady_work steady;
    struct decide decide;    /* zeroed: no early decision was asked for */
    bool is_precision_asked; /* study.until */
    struct precision precision;
    struct client client;
    struct class_tallies classes;
    struct tier_works tiers;
    struct target_tallies targets;
    int64_t load_end_ns; /* after the cool-down, if there was one */
    struct shard_list machines;
    struct shard_tallies shards;
    int64_t lost_inside; /* lost requests that were due in the window */
    int64_t never_sent;  /* lost requests that were never issued */
};

/* Older recordings do not say; they had one. */
static int64_t threads_of(const struct settings *s)
{
    return s->client.threads > 1 ? s->client.threads : 1;
}

/* Sequences in which requests are numbered without gaps: see struct sequence.
 * The lanes of machines with different numbers of threads are not told apart.
 */
static int64_t sequences_of(const struct settings *s,
                            const struct shard_list *machines)
{
    int64_t threads = threads_of(s);

    if (scenario_is_open(s->load.scenario)) /* a shard has every n-th place */
        return machines->is_merged || s->client.probe_shard > 0 ? 1
                                                                : machines->of;
    for (size_t i = 0; i < machines->len; i++) {
        threads = machines->items[i].threads;
        if (threads != machines->items[0].threads)
            return 1;
    }
    return machines->of * threads;
}

static bool is_offline(const struct settings *s)
{
    return s->load.scenario == SCENARIO_OFFLINE;
}

static bool is_open_loop(const struct settings *s)
{
    return scenario_is_open(s->load.scenario);
}

static bool asks_stream(const struct settings *s)
{
    return s->target.stream == STREAM_ON;
}

static bool forces_length(const struct settings *s)
{
    return s->target.ignore_eos;
}

/* ---- reading ---- */

/* Also reads the client's log, in the window as planned.  A killed run got as
 * far as its rows or its last entry in the client's log. */
static int find_window(struct work *w, struct recording *rec,
                       struct window *window, struct err *err)
{
    struct extent extent;
    struct extent planned;

    if (extent_find(&extent, rec, err))
        return -1;
    planned = extent;
    if (!rec->has_end)
        planned.due_end_ns = INT64_MAX;
    client_init(&w->client, extent_window(&planned),
                threads_of(&rec->settings));
    client_set_machines(&w->client, &w->machines);
    client_read(&w->client, rec->dir);
    if (!rec->has_end && client_known_until_ns(&w->client) > extent.due_end_ns)
        extent.due_end_ns = client_known_until_ns(&w->client);
    *window = extent_window(&extent);
    w->load_end_ns = extent.due_end_ns;
    return 0;
}

static int read_requests(struct work *w, struct recording *rec,
                         struct run_bins *bins, struct err *err)
{
    const struct facts *rows;
    size_t n;
    int rc;

    while ((rc = recording_next(rec, &rows, &n, err)) > 0) {
        for (size_t i = 0; i < n; i++) {
            int64_t good = w->run.tally.good;

            cohort_add(&w->run, &rows[i]);
            if (bins) /* outside the window the tally counts no good ones */
                run_bins_add(
                    bins, &rows[i],
                    w->run.tally.good > good ||
                        (!window_holds(&w->run.tally.window, rows[i].due) &&
                         good_is(good_limits_of(&w->run.good, &rows[i]),
                                 &rows[i])));
            class_tallies_add(&w->classes, &rows[i]);
            tier_works_add(&w->tiers, &rows[i]);
            if (w->targets.n > 0)
                target_tallies_add(&w->targets, &w->run.tally, &rows[i]);
            shard_tallies_add(&w->shards, &w->run.tally, &rows[i]);
            if (rec->settings.data.cache_check)
                cachecheck_add(&w->cache, &w->run.tally, &rows[i]);
            sessions_add(&w->sessions, &rows[i]);
            steady_add(&w->steady, &rows[i]);
            if (w->decide.slo)
                decide_add(&w->decide, &rows[i]);
            if (w->is_precision_asked)
                precision_add(&w->precision, &rows[i]);
        }
        /* A small file may hold many rows: refuse surplus ones at once. */
        if (rec->has_end && w->run.tally.rows > rec->end.scheduled)
            return completeness_check_surplus(&w->run.tally, 0, &w->client, rec,
                                              err);
    }
    return rc;
}

static int read_events(struct work *w, struct recording *rec, struct err *err)
{
    struct event_rows e;
    int rc;

    while ((rc = recording_next_events(rec, &e, err)) > 0) {
        cohort_add_events(&w->run, &e);
        tier_works_add_events(&w->tiers, &e);
        /* As with requests: refuse surplus ones at once. */
        if (completeness_check_surplus(&w->run.tally, w->run.stream.events,
                                       &w->client, rec, err))
            return -1;
    }
    return rc;
}

static void add_lost(struct summary *s, struct work *w,
                     const struct recording *rec)
{
    struct tally *t = &w->run.tally;
    int64_t expected = completeness_expected(t, &w->client, rec);

    s->integrity.was_killed = !rec->has_end;
    s->integrity.lost_shards = s->shards.missing + s->shards.killed;
    s->integrity.lost_requests = expected > t->rows ? expected - t->rows : 0;
    if (t->events > w->run.stream.events)
        s->integrity.lost_events = t->events - w->run.stream.events;
    w->never_sent = completeness_never_sent(t, &w->client, rec);
    w->lost_inside = cohort_end(&w->run, s->integrity.lost_requests, expected);
    tier_works_end_run(&w->tiers, s->integrity.lost_requests, expected);
    s->integrity.lost_requests -= w->never_sent;
}

/* ---- results ---- */

/* Insert each into the list, which is sorted by count. */
static void take_statuses(struct summary *s, const struct tally *t)
{
    for (int i = 1; i < TALLY_STATUSES; i++) {
        struct status_count *list = s->statuses;
        size_t at = 0;

        while (at < s->n_statuses && list[at].count >= t->status[i])
            at++;
        if (i == 200 || t->status[i] == 0 || at == SUMMARY_STATUSES)
            continue;
        if (s->n_statuses < SUMMARY_STATUSES)
            s->n_statuses++;
        memmove(&list[at + 1], &list[at],
                (s->n_statuses - at - 1) * sizeof(*list));
        list[at] = (struct status_count){.status = i, .count = t->status[i]};
    }
}

/* For the verdict, requests that were never sent are unfinished, since how they
 * would have ended is unknown; here they are unsent.  Over the null transport
 * no connection is used. */
static void take_counts(struct summary *s, const struct tally *t,
                        int64_t never_sent)
{
    double length = s->window_length_s;

    for (int o = 0; o < OUTCOME_COUNT; o++)
        s->outcome[o] = t->outcome[o];
    s->outcome[OUTCOME_UNFINISHED] -= never_sent;
    s->outcome[OUTCOME_UNSENT] += never_sent;
    s->scheduled = t->due;
    s->unsent = s->outcome[OUTCOME_UNSENT];
    s->issued = s->scheduled - s->unsent;
    s->ok = t->outcome[OUTCOME_OK];
    s->failed = s->issued - s->ok;
    s->warmup_requests = t->before;
    s->cooldown_requests = t->after;
    s->good = t->good;
    s->fresh_connections = t->fresh;
    if (strncmp(settings_url(s->settings), "null:", 5) != 0)
        s->reused_connections = t->reused;
    s->retried = t->retried;
    s->resends = t->resends;
    s->attainment = tally_attainment(t, &s->attainment_ci95);
    if (!(length > 0))
        return;
    s->offered_rps = (double)t->due / length;
    s->completed_rps = (double)s->ok / length;
    s->goodput_rps = (double)t->good / length;
    s->throughput_rps = (double)t->ok_inside / length;
    s->bytes_in_per_s = t->bytes_in / length;
    s->bytes_out_per_s = t->bytes_out / length;
}

static void take_classes(struct summary *s, const struct work *w)
{
    const struct judgement *all[1 + CLASSES_MAX] = {&s->judgement};

    s->answer = s->judgement.verdict;
    for (size_t i = 0; i < s->n_classes; i++) {
        struct class_summary *c = &s->classes[i];

        class_summary_take(c, &w->classes, i,
                           asks_stream(s->settings->classes.items[i].settings),
                           w->lost_inside);
        if (s->trust.is_only_late)
            judge_late_client(&w->classes.items[i], &c->judgement);
        s->answer = verdict_combine(s->answer, c->judgement.verdict);
        all[1 + i] = &c->judgement;
    }
    judge_together(all, 1 + s->n_classes, s->answer, &s->is_shown,
                   &s->decide_in_s);
}

/* If nothing streams, not even failures have the measures of streams. */
static void take_distributions(struct summary *s, const struct tally *t)
{
    enum measure shown; /* what users wait for */

    s->is_streamed = t->events > 0 || settings_some(asks_stream, s->settings);
    shown = s->is_streamed ? MEASURE_TTFT : MEASURE_E2E;
    for (int m = 0; m < MEASURE_COUNT; m++) {
        bool has_it = s->is_streamed || !measure_is_of_stream((enum measure)m);

        for (int v = 0; v < VIEW_COUNT; v++) {
            struct hist h = {0};

            if (has_it)
                h = tally_view(t, (enum measure)m, (enum view)v);
            s->spread[m][v] = spread_of(&h);
        }
    }
    bars_make(&t->hist[shown][VIEW_DUE], shown, t->limit_ns[shown], &s->bars);
}

static void take_answers(struct summary *s, const struct tally *t,
                         const struct stream *stream)
{
    struct batch all = tally_checks(t);
    struct quality *q = &s->quality;

    s->tokens = t->tokens;
    s->has_tokens = tokens_are_known(&t->tokens);
    if (s->window_length_s > 0) {
        s->output_tokens_per_s =
            tokens_inside(&t->tokens, stream->tokens, stream->tokens_inside) /
            s->window_length_s;
        s->goodput_tokens_per_s =
            (double)t->tokens.good_output / s->window_length_s;
    }
    *q = (struct quality){.checked = all.n, .passed = all.hits};
    if (all.n == 0)
        return;
    q->share = (double)all.hits / (double)all.n;
    q->n_effective =
        (double)all.n / stats_inflation(t->check_slices, TALLY_SLICES);
    q->ci95 = stats_share_interval(q->share, q->n_effective);
}

/* Share of prompt tokens that a cache can have seen before; below 0: unknown.
 * If the recording does not say, generated prompts are unique. */
static double cached_share(const struct summary *s, const struct tally *t)
{
    if (s->trace.has_blocks || s->n_classes > 0)
        return -1;
    if (s->has_data)
        return s->data.cached_share;
    return t->tokens.prompt_asked.n > 0 ? 0 : -1;
}

static bool has_ttft(const struct slo *slo)
{
    for (size_t i = 0; i < slo->len; i++) {
        const struct slo_term *t = &slo->terms[i];

        if ((t->kind == SLO_QUANTILE || t->kind == SLO_LIMIT) &&
            t->measure == MEASURE_TTFT)
            return true;
    }
    return false;
}

/* A class that streams can keep such a limit, so it does not count. */
static bool limits_ttft(const struct summary *s)
{
    for (size_t i = 0; i < s->n_classes; i++) {
        if (has_ttft(&s->classes[i].slo) &&
            !asks_stream(s->settings->classes.items[i].settings))
            return true;
    }
    return has_ttft(&s->slo);
}

/* Mean number of requests in flight; below 0: there is no window. */
static double in_flight_mean(const struct summary *s, const struct tally *t)
{
    return s->window_length_s > 0 ? t->in_flight_ns / (s->window_length_s * 1e9)
                                  : -1;
}

static void take_notes(struct summary *s, const struct tally *t)
{
    const struct hist e2e = tally_view(t, MEASURE_E2E, VIEW_OK);
    const struct hist *tail = &t->hist[MEASURE_TAIL][VIEW_DUE]; /* of ok */
    const struct note_inputs in = {
        .is_offline = is_offline(s->settings),
        .is_length_forced = settings_some(forces_length, s->settings),
        .limits_ttft = limits_ttft(s),
        .cached_share = cached_share(s, t),
        .e2e_p99_ns = hist_rank_quantile(&e2e, 0.99),
        .tail_p99_ns = hist_rank_quantile(tail, 0.99),
        .keeps_connections = !s->settings->target.no_keepalive,
        .in_flight_mean = in_flight_mean(s, t),
    };
    struct note drift;

    if (in.e2e_p99_ns >= 0 && s->window_length_s > 0)
        s->e2e_p99_share = (double)in.e2e_p99_ns / (s->window_length_s * 1e9);
    notes_make(&t->oddities, &in, &s->notes);
    s->outlen = outlen_check(&t->tokens, &s->settings->data,
                             s->has_data && s->data.has_lengths);
    if (outlen_note(&s->outlen, &t->tokens, &drift))
        s->notes.list[s->notes.len++] = drift;
}

/* After take_notes(): may add a note. */
static void take_server(struct summary *s, const struct tally *t,
                        const struct recording *rec)
{
    struct server_source source = {0};
    struct server_view view;
    struct note note;

    server_view_init(&view, t->window);
    manifest_server(&rec->manifest, &source);
    if (!server_view_read(&view, rec->dir)) {
        s->server.is_unknown = source.url && !source.dialect;
        s->server.url = source.url;
        return;
    }
    s->server = server_view_sum_up(&view, in_flight_mean(s, t));
    s->server.dialect = source.dialect;
    s->server.url = source.url;
    s->server.is_partial = source.is_partial;
    if (server_view_misses_requests(&s->server, &note))
        s->notes.list[s->notes.len++] = note;
}

/* Did max_duration end the run before anything else would have? */
static bool is_cut_short(const struct settings *set, const struct tally *t)
{
    const struct load_settings *load = &set->load;
    int64_t length_ns = t->window.end_ns - t->window.start_ns;

    if (load->max_duration_ns == 0 || length_ns < load->max_duration_ns)
        return false;
    if (is_offline(set))
        return t->outcome[OUTCOME_UNSENT] + t->outcome[OUTCOME_UNFINISHED] > 0;
    return t->due < load->requests || t->due < load->min_requests ||
           load->duration_ns > load->max_duration_ns;
}

/* Output tokens that arrived in the window; below 0: unknown. */
static double output_inside(const struct summary *s)
{
    return s->has_tokens && tokens_have_output(&s->tokens)
               ? s->output_tokens_per_s * s->window_length_s
               : -1;
}

struct metered_share summary_energy_share(const struct summary *s)
{
    return (struct metered_share){
        .good = s->good,
        .tokens = output_inside(s),
        .co2_g_per_kwh = s->settings->cost.co2_g_per_kwh,
    };
}

static void take_cost(struct summary *s)
{
    const struct metered_share share = summary_energy_share(s);
    const struct window window = summary_window(s);
    const struct delivered d = {
        .window_s = s->window_length_s,
        .good = s->good,
        .good_tokens = share.tokens < 0 ? -1 : (double)s->tokens.good_output,
        .tokens = share.tokens,
        .egress_bytes = s->bytes_in_per_s * s->window_length_s,
    };

    s->cost = cost_of(&s->settings->cost, &d);
    metered_read(&s->metered, s->dir, &window, &share);
}

/* ---- the verdict ---- */

/* An early decision stands, whatever happened to requests that were in flight
 * then.  But a run that was cut cannot pass, whatever terms this report uses.
 */
static void take_decision(struct summary *s, const struct work *w)
{
    bool is_pass = w->decide.decision == DECISION_PASS;

    if (is_pass && summary_is_cut(s))
        return;
    memcpy(s->decided, w->decide.why, sizeof(s->decided));
    if (!s->trust.valid && !(s->trust.is_only_late && is_pass))
        return;
    s->verdict = s->answer = is_pass ? VERDICT_PASS : VERDICT_FAIL;
    s->is_shown = true;
}

static void conclude(struct summary *s, const struct work *w)
{
    const struct tally *t = &w->run.tally;
    const struct evidence evidence = {
        .tally = t,
        .judgement = &s->judgement,
        .integrity = &s->integrity,
        .client = &w->client,
        .shards = &s->shards,
        .is_open_loop = is_open_loop(s->settings),
        .is_offline = is_offline(s->settings),
    };
    /* Later turns of a session wait for answers, but sessions arrive on time.
     */
    const struct steady_ask ask = {
        .is_open = evidence.is_open_loop ||
                   s->settings->load.scenario == SCENARIO_SESSIONS,
        .is_offline = evidence.is_offline,
        .is_whole = s->integrity.lost_requests == 0,
    };

    s->cut_by_max_duration = is_cut_short(s->settings, t);
    s->window_start_s = s->warmup_s = (double)t->window.start_ns / 1e9;
    s->window_length_s = (double)(t->window.end_ns - t->window.start_ns) / 1e9;
    s->cooldown_s = fmax(0, (double)(w->load_end_ns - t->window.end_ns) / 1e9);
    take_counts(
        s, t, w->never_sent < w->lost_inside ? w->never_sent : w->lost_inside);
    take_statuses(s, t);
    take_distributions(s, t);
    take_answers(s, t, &w->run.stream);
    take_notes(s, t);
    judge(t, s->window_length_s, &s->judgement);
    trust_check(&evidence, &s->trust);
    if (s->trust.is_only_late)
        judge_late_client(t, &s->judgement);
    take_classes(s, w);
    s->verdict = verdict_after_trust(s, s->answer);
    if (w->decide.slo)
        s->is_shown = false; /* the looks on the way have spent the error */
    if (w->decide.decision)
        take_decision(s, w);
    steady_make(&w->steady, &ask, &s->steady);
    if (w->is_precision_asked)
        s->precision = precision_find(&w->precision);
    s->verdict = verdict_after_load(s, s->verdict);
    /* Overload is tested at a stricter level than any term. */
    if (s->verdict != s->answer)
        s->is_shown = s->verdict == VERDICT_FAIL && summary_is_overloaded(s);
    if (s->is_shown)
        s->decide_in_s = 0;
    tiers_take(&s->tiers, &w->tiers, s->window_length_s, 0);
    settle_tiers(s, &w->tiers, &s->tiers);
    for (size_t i = 0; i < s->n_classes; i++)
        settle_tiers(s, &w->classes.tiers[i], &s->classes[i].tiers);
    s->misses = t->misses;
    s->fluid = fluid_sum_up(&w->run.stream.fluid, s->window_length_s);
    take_cost(s);
}

static int begin_work(struct work *w, struct summary *s,
                      const struct recording *rec, struct window window,
                      struct err *err)
{
    const struct settings *set = &rec->settings;
    const struct cohort_plan plan = {
        .window = window,
        .sequences = sequences_of(set, &w->machines),
        .shard = {.count = w->machines.of,
                  .probe_every = w->machines.is_merged || w->machines.of < 2
                                     ? 0
                                     : set->client.probe_shard},
        .query_size = set->load.scenario == SCENARIO_MULTI_STREAM
                          ? set->load.query_size
                          : 1,
        .run = &s->tiers,
        .classes = &set->classes,
    };
    struct err ignored = {0};

    cohort_init(&w->run, &s->slo, &plan);
    w->run.tally.oddities.load_end_ns = w->load_end_ns;
    if (set->load.stop == STOP_DECIDED && s->slo.len > 0) {
        /* Decide again, by the terms of this report. */
        if (decide_init(&w->decide, &s->slo, window.start_ns, &ignored))
            w->decide = (struct decide){0};
        else
            decide_window(&w->decide, window.start_ns, window.end_ns);
    }
    if (set->study.until) {
        struct until until;

        if (until_parse(set->study.until, &until, err))
            return -1;
        w->is_precision_asked = true;
        precision_init(&w->precision, &until, window.start_ns, window.end_ns);
    }
    w->sessions.window = window;
    steady_init(&w->steady, &w->run.tally, settings_some(asks_stream, set));
    if (tier_works_init(&w->tiers, &s->tiers, &plan, err))
        return -1;
    return class_tallies_init(&w->classes, s->classes, s->n_classes,
                              &w->run.good, &plan, err);
}

static void end_work(struct work *w)
{
    cachecheck_fini(&w->cache);
    cohort_fini(&w->run);
    class_tallies_fini(&w->classes);
    tier_works_fini(&w->tiers);
    target_tallies_fini(&w->targets);
    shard_tallies_fini(&w->shards);
    shard_list_fini(&w->machines);
    sessions_fini(&w->sessions);
    steady_fini(&w->steady);
    decide_fini(&w->decide);
    precision_fini(&w->precision);
}

static void take_failures(struct failure_list *out, const struct manifest *m)
{
    struct failures *all = xcalloc(1, sizeof(*all));

    manifest_failures(m, all);
    failures_sort(all);
    *out = (struct failure_list){.len = all->len, .overflow = all->overflow};
    if (all->len > 0) {
        out->kinds = xcalloc(all->len, sizeof(*out->kinds));
        memcpy(out->kinds, all->kinds, all->len * sizeof(*out->kinds));
    }
    free(all);
}

static void take_all(struct summary *s, struct work *w,
                     const struct recording *rec, const struct strlist *names)
{
    const struct calibration_stamp *c = &s->calibration;

    s->damage = recording_damage(rec);
    target_rows_make(&s->targets, &w->targets, names);
    shard_rows_make(&s->shards, &w->shards, &w->machines);
    take_failures(&s->failures, &rec->manifest);
    add_lost(s, w, rec);
    if (w->decide.slo && !summary_is_cut(s) && s->integrity.lost_requests == 0)
        decide_end(&w->decide);
    conclude(s, w);
    s->sessions = sessions_sum_up(&w->sessions);
    take_server(s, &w->run.tally, rec);
    manifest_calibration(&rec->manifest, &s->calibration);
    s->calibration_used = c->standing == CALIBRATED && c->of.max_rate_rps > 0
                              ? s->offered_rps / c->of.max_rate_rps /
                                    (double)(s->shards.n > 0 ? s->shards.n : 1)
                              : -1;
    if (rec->settings.data.cache_check)
        cachecheck_make(&w->cache, &s->cache);
    mlperf_make(&s->mlperf, s, &w->run.tally);
    next_make(s, &s->next);
}

static int sum_up(struct summary *s, struct work *w, struct recording *rec,
                  const struct summary_extras *extras, struct err *err)
{
    struct kept_hist *keep = extras->keep;
    struct run_bins *bins = extras->bins;
    struct strlist targets = {0};
    struct window window;
    int rc;

    shard_list_read(&w->machines, &rec->manifest);
    shard_tallies_init(&w->shards, &w->machines,
                       rec->settings.client.probe_shard);
    if (find_window(w, rec, &window, err))
        return -1;
    manifest_targets(&rec->manifest, &targets);
    target_tallies_init(&w->targets, targets.len);
    rc = begin_work(w, s, rec, window, err);
    w->run.tally.curve = extras->curve;
    if (rc == 0 && bins) {
        int64_t limits[GOOD_LIMITS];

        good_shared(&w->run.good, limits);
        run_bins_init(bins, window,
                      w->load_end_ns > window.end_ns ? w->load_end_ns
                                                     : window.end_ns,
                      limits);
    }
    if (rc == 0)
        rc = read_requests(w, rec, bins, err);
    slices_end(&w->steady.slices);
    if (rc == 0)
        rc = read_events(w, rec, err);
    if (rc == 0)
        rc = completeness_check_surplus(&w->run.tally, w->run.stream.events,
                                        &w->client, rec, err);
    if (rc == 0)
        take_all(s, w, rec, &targets);
    strlist_fini(&targets);
    if (rc == 0 && bins)
        run_bins_end(bins, &(struct run_bins_end){.tally = &w->run.tally,
                                                  .series = &w->steady.series,
                                                  .judgement = &s->judgement,
                                                  .steady = &s->steady,
                                                  .dir = s->dir});
    if (rc == 0 && keep) {
        struct hist *h = &w->run.tally.hist[keep->measure][keep->view];

        keep->hist = *h;
        *h = (struct hist){0}; /* the caller owns it now */
    }
    return rc;
}

/* Parse the terms of the run and of its classes.  In a cache check half of the
 * requests are not load, so the run has no SLO. */
static int begin_slo(struct summary *s, const struct settings *set,
                     const struct strlist *terms, struct err *err)
{
    const struct classes *all = &set->classes;

    if (!set->data.cache_check &&
        (slo_parse(terms, &s->slo, err) || tiers_begin(&s->tiers, terms, err)))
        return -1;
    if (all->len > 0)
        s->classes = xcalloc(all->len, sizeof(*s->classes));
    while (s->n_classes < all->len) {
        size_t i = s->n_classes++;

        if (class_summary_begin(&s->classes[i], all, i, err))
            return -1;
    }
    return 0;
}

int summary_make(struct summary *s, struct recording *rec,
                 const struct strlist *slo, struct err *err)
{
    return summary_make_keeping(s, rec, slo, &(struct summary_extras){0}, err);
}

int summary_make_priced(struct summary *s, struct recording *rec,
                        const struct strlist *slo, const struct cost_ask *cost,
                        struct err *err)
{
    return cost_ask_apply(cost, &rec->settings, err)
               ? err_context(err, "%s", rec->dir)
               : summary_make(s, rec, slo, err);
}

int summary_make_keeping(struct summary *s, struct recording *rec,
                         const struct strlist *slo,
                         const struct summary_extras *extras, struct err *err)
{
    struct curve *curve = extras->curve;
    struct work *w;
    int rc;

    *s = (struct summary){
        .dir = rec->dir,
        .started_ns = manifest_start_realtime_ns(&rec->manifest),
        .settings = &rec->settings,
        .transport = manifest_transport(&rec->manifest),
        .stopped_by = rec->end.stopped_by,
        .threads = threads_of(&rec->settings),
        .e2e_p99_share = -1,
        .curve = curve,
    };
    if (rec->has_end) {
        s->rtt_floor_ns = rec->end.rtt_floor_ns;
        s->segments = rec->end.segments;
        s->retransmits = rec->end.retransmits;
        s->tls = rec->end.tls[0] ? rec->end.tls : NULL;
        s->tls_handshakes = rec->end.tls_handshakes;
        s->tls_resumed = rec->end.tls_resumed;
        s->was_enough = rec->end.was_enough;
        if (rec->end.aborted[0])
            s->aborted = rec->end.aborted;
    }
    s->has_trace = manifest_trace(&rec->manifest, &s->trace);
    s->has_data = manifest_data(&rec->manifest, &s->data);
    rc = begin_slo(s, &rec->settings, slo ? slo : &rec->settings.slo, err);
    if (rc == 0 && curve)
        curve_init(curve, curve->measure, &s->slo);
    w = xcalloc(1, sizeof(*w));
    if (rc == 0)
        rc =
            good_table_init(&w->run.good, &s->slo, &rec->settings.classes, err);
    if (rc == 0)
        rc = sum_up(s, w, rec, extras, err);
    end_work(w);
    free(w);
    if (rc)
        summary_fini(s);
    return rc;
}

void summary_fini(struct summary *s)
{
    for (size_t i = 0; i < s->n_classes; i++)
        class_summary_fini(&s->classes[i]);
    free(s->classes);
    tiers_fini(&s->tiers);
    target_rows_fini(&s->targets);
    shard_rows_fini(&s->shards);
    free(s->failures.kinds);
    *s = (struct summary){0};
}

struct window summary_window(const struct summary *s)
{
    int64_t start_ns = llround(s->window_start_s * 1e9);

    return (struct window){.start_ns = start_ns,
                           .end_ns =
                               start_ns + llround(s->window_length_s * 1e9)};
}
