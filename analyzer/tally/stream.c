#include "analyzer/tally/stream.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/tally/distribution.h"
#include "common/base/clk.h"
#include "common/measure/good.h"
#include "common/spec/slo.h"
#include "common/stats/stats.h"

/* ---- fluidity: one stream ---- */

void fluid_begin(struct fluid_stream *s, const struct fluid_limits *l,
                 int64_t due_ns)
{
    *s = (struct fluid_stream){.deadline_ns =
                                   (double)due_ns + (double)l->first_ns};
}

/* Only the first token of an event can be late: the others arrive with it and
 * have later deadlines.  A token that arrives at its deadline is late. */
void fluid_event(struct fluid_stream *s, const struct fluid_limits *l,
                 double at_ns, int64_t tokens)
{
    double next_ns = (double)l->next_ns;

    s->tokens += (double)tokens;
    if (at_ns < s->deadline_ns) {
        s->met += (double)tokens;
        s->deadline_ns += (double)tokens * next_ns;
        return;
    }
    s->late++;
    s->missed += floor((at_ns - s->deadline_ns) / next_ns) + 1;
    s->met += (double)tokens - 1;
    s->deadline_ns = at_ns + (double)tokens * next_ns;
}

double fluid_index(const struct fluid_stream *s)
{
    double all = s->met + s->missed;

    return all > 0 ? s->met / all : 0;
}

/* ---- fluidity: all streams ---- */

/* Limit of the term with the highest quantile; 0: none. */
static int64_t pooled_limit(const struct slo *slo, enum measure m)
{
    double quantile = 0;
    int64_t limit_ns = 0;

    for (size_t i = 0; i < slo->len; i++) {
        const struct slo_term *term = &slo->terms[i];

        if (term->kind != SLO_QUANTILE || term->measure != m ||
            term->quantile < quantile)
            continue;
        quantile = term->quantile;
        limit_ns = term->limit_ns;
    }
    return limit_ns;
}

struct fluid_limits fluid_limits_of(const struct slo *slo)
{
    int64_t limits[GOOD_LIMITS];
    struct fluid_limits l = {0};

    good_limits(slo, limits);
    l.first_ns = limits[MEASURE_TTFT];
    l.next_ns = limits[MEASURE_TPOT];
    if (l.next_ns == 0)
        l.next_ns = pooled_limit(slo, MEASURE_GAP);
    if (l.next_ns == 0)
        l.next_ns = pooled_limit(slo, MEASURE_ITL);
    return l.first_ns > 0 && l.next_ns > 0 ? l : (struct fluid_limits){0};
}

void fluid_see(struct fluid *f, const struct facts *row)
{
    if (row->outcome == OUTCOME_OK) {
        bool has_events = facts_count(row->events) > 0;

        f->ok += has_events;
        f->is_assumed |= has_events && !row->is_split;
        return;
    }
    f->failed += facts_n(row);
    if (facts_count(row->events) <= 0)
        return;
    if (f->n_failed_seqs < FLUID_FAILED)
        f->failed_seqs[f->n_failed_seqs++] = row->seq;
    else
        f->n_forgotten++;
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static bool has_failed(struct fluid *f, int64_t seq)
{
    if (!f->is_sorted)
        qsort(f->failed_seqs, f->n_failed_seqs, sizeof(seq), compare);
    f->is_sorted = true;
    return bsearch(&seq, f->failed_seqs, f->n_failed_seqs, sizeof(seq),
                   compare) != NULL;
}

void fluid_end(struct fluid *f, int64_t seq, const struct fluid_stream *s)
{
    double index = fluid_index(s);

    if (s->tokens < 1 || has_failed(f, seq))
        return;
    f->seen++;
    f->fluid += index >= FLUID_INDEX;
    f->tokens += s->tokens;
    f->late += s->late;
    f->sum += index;
    f->bins[(int)(index * (FLUID_BINS - 1) + 1e-9)]++;
}

/* Nearest rank; failures come first. */
static double at_rank(const struct fluid *f, int64_t rank)
{
    int64_t below = f->failed;

    if (rank <= below)
        return 0;
    for (int i = 0; i < FLUID_BINS; i++) {
        below += f->bins[i];
        if (rank <= below)
            return (double)i / (FLUID_BINS - 1);
    }
    return 1;
}

static int64_t positive(int64_t n)
{
    return n > 0 ? n : 0;
}

/* Forgotten failures were counted as seen, at worst as fluid. */
struct fluid_summary fluid_sum_up(const struct fluid *f, double window_s)
{
    int64_t n = f->seen + f->failed;
    struct fluid_summary s = {
        .is_there = f->limits.first_ns > 0 && f->seen > 0,
        .limits = f->limits,
        .due = f->ok + f->failed,
        .failed = f->failed,
        .unknown = positive(f->ok - positive(f->seen - f->n_forgotten)),
        .fluid = positive(f->fluid - f->n_forgotten),
        .is_assumed = f->is_assumed,
    };

    if (!s.is_there)
        return s;
    s.share = s.due > 0 ? (double)s.fluid / (double)s.due : 0;
    s.fluid_rps = window_s > 0 ? (double)s.fluid / window_s : 0;
    s.tokens_in_time = 1 - f->late / f->tokens;
    s.mean = f->sum / (double)n;
    s.p50 = at_rank(f, stats_rank(0.5, n));
    s.p1 = at_rank(f, stats_rank(0.01, n));
    return s;
}

/* ---- the pass ---- */

#define HIGHEST_US (HIST_HIGHEST_NS / NS_PER_US)

/* The first whole microsecond at or after `ns`. */
static int64_t us_from(int64_t ns)
{
    return ns / NS_PER_US + (ns % NS_PER_US > 0);
}

void stream_init(struct stream *s, struct tally *tally)
{
    *s = (struct stream){
        .tally = tally,
        .start_us = us_from(tally->window.start_ns),
        .end_us = us_from(tally->window.end_ns),
        .fluid = {.limits = fluid_limits_of(tally->slo)},
    };
    for (size_t i = 0; i < tally->slo->len; i++) {
        const struct slo_term *term = &tally->slo->terms[i];

        if (term->kind == SLO_QUANTILE && measure_is_pooled(term->measure) &&
            measure_is_of_stream(term->measure))
            s->terms[s->n_terms++] =
                (struct pooled_term){.tally = &tally->terms[i],
                                     .term = term,
                                     .is_itl = term->measure == MEASURE_ITL};
    }
    for (int i = 0; i < RECORDING_MAX_SHARDS; i++)
        s->cursors[i].seq = TIME_ABSENT;
}

void stream_break(struct stream *s)
{
    for (int i = 0; i < RECORDING_MAX_SHARDS; i++)
        s->cursors[i] =
            (struct event_cursor){.seq = TIME_ABSENT, .is_cut = true};
}

/* ---- deadlines ---- */

static bool has_deadlines(const struct stream *s)
{
    return s->fluid.limits.first_ns > 0;
}

void stream_see(struct stream *s, const struct facts *f)
{
    bool is_known = f->outcome >= 0 && f->outcome < OUTCOME_COUNT;

    if (has_deadlines(s) && is_known && window_holds(&s->tally->window, f->due))
        fluid_see(&s->fluid, f);
}

static void end_request(struct stream *s, const struct event_cursor *at)
{
    if (has_deadlines(s) && at->seq != TIME_ABSENT && at->is_measured &&
        !at->is_cut)
        fluid_end(&s->fluid, at->seq, &at->fluid);
}

/* An event that does not say how many tokens it has counts as one token. */
static void add_to_deadlines(struct stream *s, struct event_cursor *at,
                             const struct content_event *e, int64_t tokens)
{
    if (!has_deadlines(s) || !at->is_measured || tokens == 0)
        return;
    if (tokens < 0)
        s->fluid.is_assumed = true;
    fluid_event(&at->fluid, &s->fluid.limits, (double)e->at_us * NS_PER_US,
                tokens > 0 ? tokens : 1);
}

/* ---- one pause ---- */

/* -1: out of range, which is below 0 or more than an hour. */
static int64_t gap_ns(int64_t from_us, int64_t to_us)
{
    uint64_t us = (uint64_t)to_us - (uint64_t)from_us;

    return us <= HIGHEST_US ? (int64_t)us * NS_PER_US : -1;
}

static void add_gap(struct stream *s, const struct event_cursor *at,
                    int64_t gap, int64_t tokens)
{
    int64_t itl = tokens > 1 && gap > 0 ? gap / tokens : gap;
    struct curve *curve = s->tally->curve;

    hist_add(&s->tally->hist[MEASURE_GAP][VIEW_DUE], gap);
    if (tokens > 0)
        hist_add_many(&s->tally->hist[MEASURE_ITL][VIEW_DUE], itl, tokens);
    for (size_t i = 0; i < s->n_terms; i++) {
        const struct pooled_term *t = &s->terms[i];

        if (!t->is_itl)
            term_tally_add(t->tally, t->term, at->slice, gap, 1);
        else if (tokens > 0)
            term_tally_add(t->tally, t->term, at->slice, itl, tokens);
    }
    if (curve && curve->measure == MEASURE_GAP)
        curve_add_many(curve, at->slice, gap, 1);
    else if (curve && curve->measure == MEASURE_ITL && tokens > 0)
        curve_add_many(curve, at->slice, itl, tokens);
}

static void begin_request(struct stream *s, struct event_cursor *at,
                          const struct content_event *e)
{
    end_request(s, at);
    at->is_cut = at->is_cut && at->seq == TIME_ABSENT;
    fluid_begin(&at->fluid, &s->fluid.limits, e->due);
    at->seq = e->seq;
    at->is_measured = window_holds(&s->tally->window, e->due);
    at->slice = at->is_measured ? tally_slice(s->tally, e->due) : 0;
}

void stream_add(struct stream *s, unsigned shard,
                const struct content_event *events, size_t n)
{
    struct event_cursor *at =
        &s->cursors[shard < RECORDING_MAX_SHARDS ? shard : 0];

    s->events += (int64_t)n;
    for (size_t i = 0; i < n; i++) {
        const struct content_event *e = &events[i];
        int64_t tokens = facts_count(e->tokens);

        if (tokens > 0)
            s->tokens += tokens;
        if (tokens > 0 && e->at_us >= s->start_us && e->at_us < s->end_us)
            s->tokens_inside += tokens;
        if (e->seq != at->seq)
            begin_request(s, at, e);
        else if (at->is_measured)
            add_gap(s, at, gap_ns(at->at_us, e->at_us), tokens);
        add_to_deadlines(s, at, e, tokens);
        at->at_us = e->at_us;
    }
}

void stream_finish(struct stream *s)
{
    const struct hist *gap = &s->tally->hist[MEASURE_GAP][VIEW_DUE];
    const struct hist *itl = &s->tally->hist[MEASURE_ITL][VIEW_DUE];
    int64_t lost = s->tally->gaps - gap->n;
    int64_t tokens = lost; /* as many per gap as in the gaps seen */

    for (int i = 0; i < RECORDING_MAX_SHARDS; i++)
        end_request(s, &s->cursors[i]);
    if (lost <= 0)
        return;
    if (gap->n > 0)
        tokens = (int64_t)((double)lost * (double)itl->n / (double)gap->n);
    for (size_t i = 0; i < s->n_terms; i++)
        term_tally_add_open(s->terms[i].tally, TALLY_SLICES - 1,
                            s->terms[i].is_itl ? tokens : lost);
}
