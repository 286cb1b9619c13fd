#include "analyzer/tally/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/read/client_log.h"
#include "analyzer/read/completeness.h"
#include "analyzer/read/extent.h"
#include "analyzer/read/reader.h"
#include "analyzer/tally/goodput.h"
#include "analyzer/tally/queries.h"
#include "analyzer/tally/stream.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"

/* What the readings gather: too large for a stack. */
struct work {
    struct tally tally;
    struct stream stream;
    struct queries queries;
    struct cache_work cache;
    struct sessions sessions;
    struct steady_work steady;
    struct decide decide; /* zeroed: the run was to go on to its end */
    struct client client;
    struct good_table good;
    struct class_tallies classes;
    struct tier_works tiers;
    int64_t completeness_inside; /* requests, due in the window, ... */
    int64_t never_sent;          /* ... and of those that were not issued */
};

/* Of an older recording nothing is known: it had one. */
static int64_t threads_of(const struct settings *s)
{
    return s->client.threads > 1 ? s->client.threads : 1;
}

/* What the client saw in the window as planned, which for a run that was killed
 * is all there is. */
static void read_client(struct client *c, const struct recording *rec,
                        const struct extent *extent)
{
    struct extent planned = *extent;

    if (!rec->has_end)
        planned.due_end_ns = INT64_MAX;
    client_init(c, extent_window(&planned), threads_of(&rec->settings));
    client_read(c, rec->dir);
}

static bool is_offline(const struct settings *s)
{
    return s->load.scenario == SCENARIO_OFFLINE;
}

/* When was it measured?  A run that was killed got as far as its rows, or as
 * the client last saw itself. */
static int find_window(struct work *w, struct recording *rec,
                       struct window *window, struct err *err)
{
    struct extent extent;

    if (extent_find(&extent, rec, err))
        return -1;
    read_client(&w->client, rec, &extent);
    if (!rec->has_end && client_known_until_ns(&w->client) > extent.due_end_ns)
        extent.due_end_ns = client_known_until_ns(&w->client);
    *window = extent_window(&extent);
    return 0;
}

static int read_all(struct work *w, struct recording *rec, struct err *err)
{
    const struct facts *rows;
    size_t n;
    int rc;

    while ((rc = recording_next(rec, &rows, &n, err)) > 0) {
        for (size_t i = 0; i < n; i++) {
            tally_add(&w->tally, &rows[i]);
            class_tallies_add(&w->classes, &rows[i]);
            tier_works_add(&w->tiers, &rows[i]);
            stream_see(&w->stream, &rows[i]);
            queries_add(&w->queries, &rows[i]);
            if (rec->settings.data.cache_check)
                cachecheck_add(&w->cache, &w->tally, &rows[i]);
            sessions_add(&w->sessions, &rows[i]);
            steady_add(&w->steady, &rows[i]);
            if (w->decide.slo)
                decide_add(&w->decide, &rows[i]);
        }
        /* A small file may hold many rows: too many are refused at once. */
        if (rec->has_end && w->tally.rows > rec->end.scheduled)
            return completeness_check_surplus(&w->tally, 0, &w->client, rec,
                                              err);
    }
    return rc;
}

static int read_events(struct work *w, struct recording *rec, struct err *err)
{
    struct stream *s = &w->stream;
    struct event_rows e;
    int rc;

    while ((rc = recording_next_events(rec, &e, err)) > 0) {
        if (e.is_after_damage)
            stream_break(s);
        stream_add(s, e.shard, e.rows, e.n);
        tier_works_add_events(&w->tiers, &e);
        /* As with requests: too many are refused at once. */
        if (completeness_check_surplus(&w->tally, s->events, &w->client, rec,
                                       err))
            return -1;
    }
    stream_finish(s);
    return rc;
}

static void add_lost(struct summary *s, struct work *w,
                     const struct recording *rec)
{
    struct tally *t = &w->tally;
    int64_t expected = completeness_expected(t, &w->client, rec);

    s->integrity.was_killed = !rec->has_end;
    s->integrity.lost_requests = expected > t->rows ? expected - t->rows : 0;
    if (t->events > w->stream.events)
        s->integrity.lost_events = t->events - w->stream.events;
    w->never_sent = completeness_never_sent(t, &w->client, rec);
    s->integrity.lost_requests -= w->never_sent;
    w->completeness_inside =
        tally_add_lost(t, s->integrity.lost_requests + w->never_sent);
    queries_finish(&w->queries, expected);
    tier_works_end_run(&w->tiers, s->integrity.lost_requests + w->never_sent,
                       expected);
}

static void take_calibration(struct summary *s, const struct manifest *m)
{
    const struct calibration_stamp *c = &s->calibration;

    manifest_calibration(m, &s->calibration);
    s->calibration_used = -1;
    if (c->standing == CALIBRATED && c->of.max_rate_rps > 0)
        s->calibration_used = s->offered_rps / c->of.max_rate_rps;
}

static bool asks_stream(const struct settings *s)
{
    return s->target.stream == STREAM_ON;
}

static bool forces_length(const struct settings *s)
{
    return s->target.ignore_eos;
}

static void take_classes(struct summary *s, const struct work *w)
{
    s->answer = s->judgement.verdict;
    for (size_t i = 0; i < s->n_classes; i++) {
        struct class_summary *c = &s->classes[i];

        class_summary_take(c, &w->classes, i,
                           asks_stream(s->settings->classes.items[i].settings),
                           w->completeness_inside);
        s->answer = verdict_combine(s->answer, c->judgement.verdict);
    }
}

/* Where nothing streams, not even its failures have measures of streams. */
static void take_spreads(struct summary *s, const struct tally *t)
{
    s->is_streamed = t->events > 0 || settings_some(asks_stream, s->settings);
    for (int m = 0; m < MEASURE_COUNT; m++) {
        bool has_it = s->is_streamed || !measure_is_of_stream((enum measure)m);

        for (int v = 0; v < VIEW_COUNT; v++) {
            struct hist h = {0};

            if (has_it)
                h = tally_view(t, (enum measure)m, (enum view)v);
            s->spread[m][v] = spread_of(&h);
        }
    }
}

/* Of what its users wait for. */
static void take_bars(struct summary *s, const struct tally *t)
{
    enum measure m = s->is_streamed ? MEASURE_TTFT : MEASURE_E2E;

    bars_make(&t->hist[m][VIEW_DUE], m, t->limit_ns[m], &s->bars);
}

static void take_tokens(struct summary *s, const struct tally *t,
                        const struct stream *stream)
{
    s->tokens = t->tokens;
    s->has_tokens = tokens_are_known(&t->tokens);
    if (!(s->window_length_s > 0))
        return;
    s->output_tokens_per_s =
        tokens_inside(&t->tokens, stream->tokens, stream->tokens_inside) /
        s->window_length_s;
    s->goodput_tokens_per_s =
        (double)t->tokens.good_output / s->window_length_s;
}

static void take_quality(struct summary *s, const struct tally *t)
{
    struct batch all = tally_checks(t);
    double inflation = stats_inflation(t->check_batches, TALLY_BATCHES);

    s->quality = (struct quality){.checked = all.n, .passed = all.hits};
    if (all.n == 0)
        return;
    s->quality.share = (double)all.hits / (double)all.n;
    s->quality.n_effective = (double)all.n / inflation;
    s->quality.ci95 =
        stats_share_interval(s->quality.share, s->quality.n_effective);
}

/* What a cache can have seen of the prompts; below 0: nobody knows.  Where the
 * recording does not say, prompts that were made were made for one request. */
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

/* Of a class that streams it is one to keep. */
static bool limits_ttft(const struct summary *s)
{
    for (size_t i = 0; i < s->n_classes; i++) {
        if (has_ttft(&s->classes[i].slo) &&
            !asks_stream(s->settings->classes.items[i].settings))
            return true;
    }
    return has_ttft(&s->slo);
}

/* Of requests; below 0: there is no window. */
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
        .is_length_forced = settings_some(forces_length, s->settings),
        .limits_ttft = limits_ttft(s),
        .cached_share = cached_share(s, t),
        .e2e_p99_ns = hist_rank_quantile(&e2e, 0.99),
        .tail_p99_ns = hist_rank_quantile(tail, 0.99),
        .keeps_connections = !s->settings->target.no_keepalive,
        .in_flight_mean = in_flight_mean(s, t),
    };
    struct note drift;

    notes_make(&t->oddities, &in, &s->notes);
    s->outlen = outlen_check(&t->tokens, &s->settings->data,
                             s->has_data && s->data.has_lengths);
    if (outlen_note(&s->outlen, &t->tokens, &drift))
        s->notes.list[s->notes.len++] = drift;
}

/* After the notes, to which it may add. */
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

static bool is_open_loop(const struct settings *s)
{
    return scenario_is_open(s->load.scenario);
}

/* Did max_duration end it before what else was asked for? */
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

/* What was decided stands, whatever became of those that were in flight then.
 */
static void take_decision(struct summary *s, const struct decide *d)
{
    if (!d->decision)
        return;
    memcpy(s->decided, d->why, sizeof(s->decided));
    if (s->trust.valid)
        s->verdict = d->decision == DECISION_PASS ? VERDICT_PASS : VERDICT_FAIL;
}

/* Later turns of a session wait, but sessions arrive. */
static void take_steady(struct summary *s, const struct steady_work *w)
{
    const int scenario = s->settings->load.scenario;
    const struct steady_ask ask = {
        .is_open = scenario_is_open(scenario) || scenario == SCENARIO_SESSIONS,
        .is_offline = is_offline(s->settings),
        .is_whole = s->integrity.lost_requests == 0,
    };

    steady_make(w, &ask, &s->steady);
}

static void conclude(struct summary *s, const struct work *w)
{
    const struct tally *t = &w->tally;
    const struct evidence evidence = {
        .tally = t,
        .judgement = &s->judgement,
        .integrity = &s->integrity,
        .client = &w->client,
        .is_open_loop = is_open_loop(s->settings),
        .is_offline = is_offline(s->settings),
    };

    s->cut_by_max_duration = is_cut_short(s->settings, t);
    s->window_start_s = s->warmup_s = (double)t->window.start_ns / 1e9;
    s->window_length_s = (double)(t->window.end_ns - t->window.start_ns) / 1e9;
    summary_count(s, t,
                  w->never_sent < w->completeness_inside
                      ? w->never_sent
                      : w->completeness_inside);
    take_spreads(s, t);
    take_bars(s, t);
    take_tokens(s, t, &w->stream);
    take_quality(s, t);
    take_notes(s, t);
    judge(t, s->window_length_s, &s->judgement);
    take_classes(s, w);
    trust_check(&evidence, &s->trust);
    s->verdict = goodput_believed(s, s->answer);
    take_decision(s, &w->decide);
    take_steady(s, &w->steady);
    s->verdict = goodput_settled(s, s->verdict);
    goodput_take(s, t, &w->stream.fluid, &w->tiers);
}

/* By the terms of this report; one that has others decides nothing. */
static void start_deciding(struct work *w, const struct summary *s,
                           const struct load_settings *load)
{
    struct err ignored = {0};

    if (load->stop != STOP_DECIDED || s->slo.len == 0)
        return;
    if (decide_init(&w->decide, &s->slo, w->tally.window.start_ns, &ignored))
        w->decide = (struct decide){0};
    else
        decide_window(&w->decide, w->tally.window.start_ns,
                      w->tally.window.end_ns);
}

static int64_t query_size_of(const struct load_settings *load)
{
    return load->scenario == SCENARIO_MULTI_STREAM ? load->query_size : 1;
}

/* Out of the tally, which forgets it. */
static void keep_hist(struct kept_hist *keep, struct tally *t)
{
    struct hist *h = &t->hist[keep->measure][keep->view];

    keep->hist = *h;
    *h = (struct hist){0};
}

static int begin_work(struct work *w, struct summary *s,
                      const struct recording *rec, struct window window,
                      struct err *err)
{
    const struct settings *set = &rec->settings;
    const struct tier_plan plan = {
        .window = window,
        .lanes = is_open_loop(set) ? 1 : threads_of(set),
        .query_size = query_size_of(&set->load),
        .run = &s->tiers,
        .classes = &set->classes,
    };

    tally_init(&w->tally, window, &s->slo);
    tally_set_good(&w->tally, &w->good);
    class_tallies_init(&w->classes, window, s->classes, s->n_classes, &w->good);
    tally_set_lanes(&w->tally, plan.lanes);
    stream_init(&w->stream, &w->tally);
    start_deciding(w, s, &set->load);
    queries_init(&w->queries, &w->tally, plan.query_size);
    w->sessions.window = window;
    steady_init(&w->steady, &w->tally, settings_some(asks_stream, set));
    if (tier_works_init(&w->tiers, &s->tiers, &plan, err))
        return -1;
    return class_tallies_begin_tiers(&w->classes, s->classes, &plan, err);
}

static void end_work(struct work *w)
{
    cachecheck_fini(&w->cache);
    tally_fini(&w->tally);
    class_tallies_fini(&w->classes);
    tier_works_fini(&w->tiers);
    sessions_fini(&w->sessions);
    steady_fini(&w->steady);
    decide_fini(&w->decide);
}

static int read_tables(struct work *w, struct recording *rec, struct err *err)
{
    int rc = read_all(w, rec, err);

    steady_end(&w->steady);
    if (rc == 0)
        rc = read_events(w, rec, err);
    if (rc == 0)
        rc = completeness_check_surplus(&w->tally, w->stream.events, &w->client,
                                        rec, err);
    return rc;
}

static void take_all(struct summary *s, struct work *w,
                     const struct recording *rec)
{
    s->damage = recording_damage(rec);
    manifest_failures(&rec->manifest, &s->failures);
    failures_sort(&s->failures);
    add_lost(s, w, rec);
    conclude(s, w);
    s->sessions = sessions_sum_up(&w->sessions);
    take_server(s, &w->tally, rec);
    take_calibration(s, &rec->manifest);
    if (rec->settings.data.cache_check)
        cachecheck_make(&w->cache, &s->cache);
    mlperf_make(&s->mlperf, s, &w->tally);
    next_make(s, &s->next);
}

static int sum_up(struct summary *s, struct work *w, struct recording *rec,
                  struct kept_hist *keep, struct curve *curve, struct err *err)
{
    struct window window;
    int rc;

    if (find_window(w, rec, &window, err))
        return -1;
    rc = begin_work(w, s, rec, window, err);
    w->tally.curve = curve;
    if (rc == 0)
        rc = read_tables(w, rec, err);
    if (rc == 0) {
        take_all(s, w, rec);
        if (keep)
            keep_hist(keep, &w->tally);
    }
    end_work(w);
    return rc;
}

static int begin_classes(struct summary *s, const struct classes *all,
                         struct err *err)
{
    for (size_t i = 0; i < all->len; i++) {
        if (class_summary_begin(&s->classes[i], all, i, err))
            return -1;
        s->n_classes++;
    }
    return 0;
}

int summary_make(struct summary *s, struct recording *rec,
                 const struct strlist *slo, struct err *err)
{
    return summary_make_keeping(s, rec, slo, NULL, NULL, err);
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
                         const struct strlist *slo, struct kept_hist *keep,
                         struct curve *curve, struct err *err)
{
    const struct strlist *terms = slo ? slo : &rec->settings.slo;
    struct work *w;
    int rc;

    *s = (struct summary){
        .dir = rec->dir,
        .settings = &rec->settings,
        .transport = manifest_transport(&rec->manifest),
        .threads = threads_of(&rec->settings),
        .cooldown_s = (double)rec->settings.load.cooldown_ns / 1e9,
        .curve = curve,
    };
    if (rec->has_end) {
        s->stopped_by = rec->end.stopped_by;
        s->rtt_floor_ns = rec->end.rtt_floor_ns;
        s->segments = rec->end.segments;
        s->retransmits = rec->end.retransmits;
        s->was_enough = rec->end.was_enough;
        if (rec->end.aborted[0])
            s->aborted = rec->end.aborted;
    }
    s->has_trace = manifest_trace(&rec->manifest, &s->trace);
    s->has_data = manifest_data(&rec->manifest, &s->data);
    if (!rec->settings.data.cache_check && /* half of it is no load at all */
        (slo_parse(terms, &s->slo, err) || tiers_begin(&s->tiers, terms, err)))
        return -1;
    if (curve)
        curve_init(curve, curve->measure, &s->slo);
    if (begin_classes(s, &rec->settings.classes, err))
        return -1;
    w = xcalloc(1, sizeof(*w));
    rc = good_table_init(&w->good, &s->slo, &rec->settings.classes, err);
    if (rc == 0)
        rc = sum_up(s, w, rec, keep, curve, err);
    good_table_fini(&w->good);
    free(w);
    return rc;
}

struct window summary_window(const struct summary *s)
{
    int64_t start_ns = llround(s->window_start_s * 1e9);

    return (struct window){.start_ns = start_ns,
                           .end_ns =
                               start_ns + llround(s->window_length_s * 1e9)};
}

bool summary_is_overloaded(const struct summary *s)
{
    return s->steady.load.state == LOAD_OVER;
}

enum conclusion summary_conclusion(const struct summary *s)
{
    switch (s->verdict) {
    case VERDICT_INVALID:
    case VERDICT_UNDECIDED:
        return CONCLUSION_OPEN;
    case VERDICT_FAIL:
        return CONCLUSION_NO;
    default:
        if (s->cache.finding == CACHE_UNDECIDED || s->integrity.was_killed)
            return CONCLUSION_OPEN;
        return s->ok > 0 && !s->aborted && s->cache.finding != CACHE_OF_ANSWERS
                   ? CONCLUSION_YES
                   : CONCLUSION_NO;
    }
}
