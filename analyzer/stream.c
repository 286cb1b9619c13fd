#include "analyzer/stream.h"

#include "common/clk.h"

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
    };
    for (size_t i = 0; i < tally->slo->len; i++) {
        const struct slo_term *term = &tally->slo->terms[i];

        if (term->kind == SLO_QUANTILE && is_of_events(term->measure))
            s->terms[s->n_terms++] =
                (struct pooled_term){.tally = &tally->terms[i],
                                     .limit_ns = term->limit_ns,
                                     .is_itl = term->measure == MEASURE_ITL};
    }
    stream_break(s);
}

void stream_break(struct stream *s)
{
    for (int i = 0; i < RECORDING_MAX_SHARDS; i++)
        s->lanes[i] = (struct stream_lane){.seq = TIME_ABSENT};
}

/* ---- one pause ---- */

static void add_to_term(const struct pooled_term *p, size_t batch, int64_t ns,
                        int64_t count)
{
    p->tally->n += count;
    p->tally->misses[batch].n += count;
    if (ns >= 0 && ns < p->limit_ns)
        p->tally->keeps += count;
    else
        p->tally->misses[batch].hits += count;
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
            add_to_term(&s->terms[i], lane->batch, gap, 1);
        else if (tokens > 0)
            add_to_term(&s->terms[i], lane->batch, itl, tokens);
    }
}

/* ---- the pass ---- */

static void begin_request(const struct stream *s, struct stream_lane *lane,
                          const struct content_event *e)
{
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
        lane->at_us = e->at_us;
    }
}

void stream_finish(struct stream *s)
{
    const struct hist *gap = &s->tally->hist[MEASURE_GAP][VIEW_DUE];
    const struct hist *itl = &s->tally->hist[MEASURE_ITL][VIEW_DUE];
    int64_t lost = s->tally->gaps - gap->n;
    int64_t tokens = lost; /* as many a gap as of those that are there */

    if (lost <= 0)
        return;
    if (gap->n > 0)
        tokens = (int64_t)((double)lost * (double)itl->n / (double)gap->n);
    for (size_t i = 0; i < s->n_terms; i++) {
        struct term_tally *tt = s->terms[i].tally;
        int64_t open = s->terms[i].is_itl ? tokens : lost;

        tt->n += open;
        tt->open += open;
        tt->misses[TALLY_BATCHES - 1].n += open;
    }
}
