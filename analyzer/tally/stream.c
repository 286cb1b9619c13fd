#include "analyzer/tally/stream.h"

#include "analyzer/tally/curve.h"
#include "common/base/clk.h"

#define HIGHEST_US (HIST_HIGHEST_NS / NS_PER_US)

/* The first whole microsecond that is not before `ns`. */
static int64_t us_from(int64_t ns)
{
    return ns / NS_PER_US + (ns % NS_PER_US > 0);
}

static bool is_of_events(enum measure m)
{
    return measure_is_pooled(m) && measure_is_of_stream(m);
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

        if (term->kind == SLO_QUANTILE && is_of_events(term->measure))
            s->terms[s->n_terms++] =
                (struct pooled_term){.tally = &tally->terms[i],
                                     .term = term,
                                     .is_itl = term->measure == MEASURE_ITL};
    }
    for (int i = 0; i < RECORDING_MAX_SHARDS; i++)
        s->lanes[i].seq = TIME_ABSENT;
}

void stream_break(struct stream *s)
{
    for (int i = 0; i < RECORDING_MAX_SHARDS; i++)
        s->lanes[i] = (struct stream_lane){.seq = TIME_ABSENT, .is_cut = true};
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

static void end_request(struct stream *s, const struct stream_lane *lane)
{
    if (has_deadlines(s) && lane->seq != TIME_ABSENT && lane->is_measured &&
        !lane->is_cut)
        fluid_end(&s->fluid, lane->seq, &lane->fluid);
}

/* Where nobody says how many tokens an event has, it has one. */
static void add_to_deadlines(struct stream *s, struct stream_lane *lane,
                             const struct content_event *e, int64_t tokens)
{
    if (!has_deadlines(s) || !lane->is_measured || tokens == 0)
        return;
    if (tokens < 0)
        s->fluid.is_assumed = true;
    fluid_event(&lane->fluid, &s->fluid.limits, (double)e->at_us * NS_PER_US,
                tokens > 0 ? tokens : 1);
}

/* ---- one pause ---- */

static void add_to_curve(struct tally *t, size_t batch, int64_t gap,
                         int64_t itl, int64_t tokens)
{
    if (t->curve->measure == MEASURE_GAP)
        curve_add_many(t->curve, batch, gap, 1);
    else if (t->curve->measure == MEASURE_ITL && tokens > 0)
        curve_add_many(t->curve, batch, itl, tokens);
}

/* A pause of more than an hour, or less than none, is out of range: -1. */
static int64_t gap_ns(int64_t from_us, int64_t to_us)
{
    uint64_t us = (uint64_t)to_us - (uint64_t)from_us;

    return us <= HIGHEST_US ? (int64_t)us * NS_PER_US : -1;
}

static void add_gap(struct stream *s, const struct stream_lane *lane,
                    int64_t gap, int64_t tokens)
{
    int64_t itl = tokens > 1 && gap > 0 ? gap / tokens : gap;

    hist_add(&s->tally->hist[MEASURE_GAP][VIEW_DUE], gap);
    if (tokens > 0)
        hist_add_many(&s->tally->hist[MEASURE_ITL][VIEW_DUE], itl, tokens);
    for (size_t i = 0; i < s->n_terms; i++) {
        if (!s->terms[i].is_itl)
            term_tally_add(s->terms[i].tally, s->terms[i].term, lane->batch,
                           gap, 1);
        else if (tokens > 0)
            term_tally_add(s->terms[i].tally, s->terms[i].term, lane->batch,
                           itl, tokens);
    }
    if (s->tally->curve)
        add_to_curve(s->tally, lane->batch, gap, itl, tokens);
}

/* ---- the pass ---- */

static void begin_request(struct stream *s, struct stream_lane *lane,
                          const struct content_event *e)
{
    end_request(s, lane);
    lane->is_cut = lane->is_cut && lane->seq == TIME_ABSENT;
    fluid_begin(&lane->fluid, &s->fluid.limits, e->due);
    lane->seq = e->seq;
    lane->is_measured = window_holds(&s->tally->window, e->due);
    lane->batch = lane->is_measured ? tally_batch(s->tally, e->due) : 0;
}

void stream_add(struct stream *s, unsigned shard,
                const struct content_event *events, size_t n)
{
    struct stream_lane *lane =
        &s->lanes[shard < RECORDING_MAX_SHARDS ? shard : 0];

    s->events += (int64_t)n;
    for (size_t i = 0; i < n; i++) {
        const struct content_event *e = &events[i];
        int64_t tokens = facts_count(e->tokens);

        if (tokens > 0)
            s->tokens += tokens;
        if (tokens > 0 && e->at_us >= s->start_us && e->at_us < s->end_us)
            s->tokens_inside += tokens;
        if (e->seq != lane->seq)
            begin_request(s, lane, e);
        else if (lane->is_measured)
            add_gap(s, lane, gap_ns(lane->at_us, e->at_us), tokens);
        add_to_deadlines(s, lane, e, tokens);
        lane->at_us = e->at_us;
    }
}

void stream_finish(struct stream *s)
{
    const struct hist *gap = &s->tally->hist[MEASURE_GAP][VIEW_DUE];
    const struct hist *itl = &s->tally->hist[MEASURE_ITL][VIEW_DUE];
    int64_t lost = s->tally->gaps - gap->n;
    int64_t tokens = lost; /* as many a gap as of those that are there */

    for (int i = 0; i < RECORDING_MAX_SHARDS; i++)
        end_request(s, &s->lanes[i]);
    if (lost <= 0)
        return;
    if (gap->n > 0)
        tokens = (int64_t)((double)lost * (double)itl->n / (double)gap->n);
    for (size_t i = 0; i < s->n_terms; i++) {
        struct term_tally *tt = s->terms[i].tally;
        int64_t open = s->terms[i].is_itl ? tokens : lost;

        term_tally_add_open(tt, TALLY_BATCHES - 1, open);
    }
}
