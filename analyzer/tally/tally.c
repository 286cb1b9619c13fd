#include "analyzer/tally/tally.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/tally/distribution.h"
#include "common/base/clk.h"
#include "common/base/xalloc.h"

static int64_t min_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t max_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ---- values of an SLO term ---- */

/* Values below 1000 have a cell each; above, each power of ten has PER_POWER
 * cells, from 100 to 999 of its units. */
#define PER_POWER 900
#define LOWEST    100
#define HIGHEST   999 /* of three digits */

static size_t cell_of(int64_t ns)
{
    size_t power = 0;

    for (; ns > HIGHEST; ns /= 10)
        power++;
    return power * PER_POWER + (size_t)ns;
}

size_t grid_len(void)
{
    return cell_of(HIST_HIGHEST_NS) + 1;
}

int64_t grid_edge_ns(size_t cell)
{
    size_t power = cell < LOWEST ? 0 : (cell - LOWEST) / PER_POWER;
    int64_t ns = (int64_t)(cell - power * PER_POWER);

    for (; power > 0; power--)
        ns *= 10;
    return ns;
}

static void grid_add(struct grid *g, size_t slice, int64_t ns, int64_t count)
{
    uint32_t *cell;
    int64_t fits;
    size_t at;

    if (ns < 0 || ns > HIST_HIGHEST_NS) {
        g->never[slice] += count;
        return;
    }
    at = cell_of(ns);
    if (!g->cells) {
        g->cells = xcalloc(grid_len(), sizeof(*g->cells));
        g->begin = at;
    }
    if (at < g->begin)
        g->begin = at;
    if (at >= g->end)
        g->end = at + 1;
    cell = &g->cells[at][slice];
    fits = min_of(count, (int64_t)(UINT32_MAX - *cell));
    *cell += (uint32_t)fits;
    g->never[slice] += count - fits;
}

void term_tally_add(struct term_tally *tt, const struct slo_term *term,
                    size_t slice, int64_t ns, int64_t count)
{
    tt->n += count;
    tt->misses[slice].n += count;
    if (ns >= 0 && ns < term->limit_ns)
        tt->keeps += count;
    else
        tt->misses[slice].hits += count;
    if (term->kind == SLO_QUANTILE)
        grid_add(&tt->grid, slice, ns, count);
}

void term_tally_depend(struct term_tally *tt, const struct slo_term *term,
                       double place, int64_t ns, int64_t count)
{
    double share = ns >= 0 && ns < term->limit_ns
                       ? (double)ns / (double)term->limit_ns
                       : 1;

    tt->requests += count;
    dependence_add(&tt->waits, place, share, count);
}

void term_tally_add_open(struct term_tally *tt, size_t slice, int64_t count)
{
    tt->n += count;
    tt->open += count;
    tt->misses[slice].n += count;
}

/* Pooled measures are counted in stream.c and queries.c. */
static bool is_counted_by_request(const struct slo_term *term)
{
    return (term->kind == SLO_QUANTILE || term->kind == SLO_LIMIT) &&
           !measure_is_pooled(term->measure);
}

/* The pauses of a stream, which are counted elsewhere, depend on each other:
 * here the stream counts once, with its mean pause. */
static void add_stream_to_term(struct term_tally *tt,
                               const struct slo_term *term,
                               const struct facts *f, double place)
{
    int64_t pauses = facts_count(f->events) - 1;
    int64_t tokens = facts_count(f->event_tokens);

    if (pauses < 1 || f->first == TIME_ABSENT || f->last == TIME_ABSENT)
        return;
    if (term->measure == MEASURE_ITL && tokens > pauses)
        pauses = tokens;
    term_tally_depend(tt, term, place, (f->last - f->first) / pauses, 1);
}

static void add_to_term(struct term_tally *tt, const struct slo_term *term,
                        const struct facts *f, double place)
{
    size_t slice = (size_t)(place * TALLY_SLICES);

    if (term->kind == SLO_QUANTILE && measure_is_pooled(term->measure) &&
        measure_is_of_stream(term->measure))
        add_stream_to_term(tt, term, f, place);
    if (!is_counted_by_request(term))
        return;
    if (!good_concerns(term->measure, f)) {
        tt->lacks += good_lacks(term->measure, f);
        return;
    }
    if (good_is_open(term->measure, f, term->limit_ns)) {
        term_tally_add_open(tt, slice, 1);
        return;
    }
    term_tally_add(tt, term, slice, good_value(term->measure, f), facts_n(f));
    term_tally_depend(tt, term, place, good_value(term->measure, f),
                      facts_n(f));
    tt->client_late += good_is_client_late(term->measure, f, term->limit_ns);
}

/* ---- why requests are not good ---- */

static bool is_missed(int limit, int64_t limit_ns, const struct facts *f)
{
    if (limit_ns == 0)
        return false;
    if (limit == GOOD_CHECK)
        return f->check == CHECK_FAILED;
    return good_concerns((enum measure)limit, f) &&
           !good_keeps((enum measure)limit, f, limit_ns);
}

/* Did the client possibly cause every miss of a limit? */
static bool is_client_late(const int64_t *limit_ns, const struct facts *f)
{
    bool is_late = false;

    for (int i = 0; i < GOOD_LIMITS; i++) {
        if (!is_missed(i, limit_ns[i], f))
            continue;
        if (i == GOOD_CHECK ||
            !good_is_client_late((enum measure)i, f, limit_ns[i]))
            return false;
        is_late = true;
    }
    return is_late;
}

static void add_miss(struct misses *m, const int64_t *limit_ns,
                     const struct facts *f)
{
    int count = 0;
    int last = 0;

    m->not_good += facts_n(f);
    if (f->outcome != OUTCOME_OK) {
        m->failed += facts_n(f);
        return;
    }
    for (int i = 0; i < GOOD_LIMITS; i++) {
        if (!is_missed(i, limit_ns[i], f))
            continue;
        m->by[i].missed++;
        last = i;
        count++;
    }
    if (count == 1)
        m->by[last].only++;
    else
        m->several++;
}

int misses_limits(const struct misses *m)
{
    int n = 0;

    for (int i = 0; i < GOOD_LIMITS; i++)
        n += m->by[i].limit_ns > 0;
    return n;
}

const char *misses_name(int limit)
{
    return limit == GOOD_CHECK ? "check" : measure_name((enum measure)limit);
}

/* ---- set-up ---- */

static void note_limits(struct tally *t)
{
    for (int i = 0; i < GOOD_LIMITS; i++)
        t->misses.by[i].limit_ns = t->limit_ns[i];
}

void tally_init(struct tally *t, struct window window, const struct slo *slo)
{
    *t = (struct tally){.window = window, .slo = slo, .pace.window = window};
    for (int i = 0; i < MEASURE_COUNT; i++) {
        enum measure m = (enum measure)i;

        if (!measure_is_pooled(m))
            t->measures[t->n_measures++] =
                (struct tally_measure){.measure = m,
                                       .is_of_answer = measure_is_of_answer(m),
                                       .has_sent = measure_has_sent(m)};
    }
    good_limits(slo, t->limit_ns);
    note_limits(t);
    tally_set_sequences(t, 1);
}

void tally_add_later(struct tally *t, enum measure m)
{
    for (size_t i = 0; i < t->n_measures; i++)
        t->measures[i].is_added_later |= t->measures[i].measure == m;
}

void tally_set_good(struct tally *t, const struct good_table *good)
{
    if (good->n == 0)
        return;
    t->by_class = good;
    for (size_t i = 0; i < good->n; i++)
        good_merge(t->limit_ns, good->of_class[i]);
    note_limits(t);
}

void tally_set_shard(struct tally *t, struct shard_layout layout)
{
    t->shard = layout;
}

void tally_set_sequences(struct tally *t, int64_t n)
{
    t->n_sequences = n > 1 && n <= RECORDING_MAX_SHARDS ? (int)n : 1;
    for (int i = 0; i < t->n_sequences; i++)
        t->sequences[i] = (struct sequence){
            .max_place = -1, .max_place_before = -1, .min_place_after = -1};
}

void tally_fini(struct tally *t)
{
    pace_fini(&t->pace);
    hist_fini(&t->buffered);
    dependence_fini(&t->waits);
    for (size_t i = 0; i < SLO_MAX_TERMS; i++) {
        free(t->terms[i].grid.cells);
        dependence_fini(&t->terms[i].waits);
    }
    for (int m = 0; m < MEASURE_COUNT; m++) {
        for (int v = 0; v < VIEW_COUNT; v++)
            hist_fini(&t->hist[m][v]);
    }
}

/* ---- one request ---- */

double tally_place(const struct tally *t, int64_t due_ns)
{
    double length = (double)t->window.end_ns - (double)t->window.start_ns;
    double place = ((double)due_ns - (double)t->window.start_ns) / length;

    return place < 1 ? place : 1 - 1e-9;
}

size_t tally_slice(const struct tally *t, int64_t due_ns)
{
    return (size_t)(tally_place(t, due_ns) * TALLY_SLICES);
}

struct batch tally_checks(const struct tally *t)
{
    struct batch all = {0};

    for (int i = 0; i < TALLY_SLICES; i++) {
        all.n += t->check_slices[i].n;
        all.hits += t->check_slices[i].hits;
    }
    return all;
}

double tally_attainment(const struct tally *t, struct interval *ci95)
{
    double inflation = fmax(stats_inflation(t->good_slices, TALLY_SLICES),
                            dependence_inflation(&t->waits));
    double share = t->due > 0 ? (double)t->good / (double)t->due : 0;

    if (t->due > 0)
        *ci95 = stats_share_interval(share, (double)t->due / inflation);
    return share;
}

static void add_if_present(struct hist *h, int64_t ns)
{
    if (ns != TIME_ABSENT)
        hist_add(h, ns);
}

/* Successes are all values without the failures: no need to count twice. */
struct hist tally_view(const struct tally *t, enum measure m, enum view v)
{
    struct hist h = t->hist[m][v];

    if (v == VIEW_OK && measure_is_of_answer(m)) {
        h = t->hist[m][VIEW_DUE];
        h.n -= h.beyond - h.out_of_range;
        h.beyond = h.out_of_range;
    }
    return h;
}

void tally_add_value(struct hist *h, enum measure m, const struct facts *f)
{
    if (measure_is_of_answer(m) && f->outcome != OUTCOME_OK)
        hist_add_beyond(h, facts_n(f));
    else
        add_if_present(h, measure_value(m, FROM_DUE, f));
}

static void add_to_views(struct tally *t, const struct tally_measure *tm,
                         const struct facts *f)
{
    enum measure m = tm->measure;

    if (tm->is_of_answer && f->outcome != OUTCOME_OK) {
        if (!tm->is_added_later)
            hist_add_beyond(&t->hist[m][VIEW_DUE], facts_n(f));
        if (tm->has_sent && facts_issued(f))
            hist_add_beyond(&t->hist[m][VIEW_SENT], 1);
        return;
    }
    if (!tm->is_added_later)
        add_if_present(&t->hist[m][VIEW_DUE], measure_value(m, FROM_DUE, f));
    if (tm->has_sent)
        add_if_present(&t->hist[m][VIEW_SENT], measure_value(m, FROM_SENT, f));
}

/* A request that was due in the window. */
static void add_measured(struct tally *t, const struct facts *f)
{
    double place = tally_place(t, f->due);
    size_t slice = (size_t)(place * TALLY_SLICES);
    int64_t until = f->first != TIME_ABSENT ? f->first : f->end;
    const int64_t *limits =
        t->by_class ? good_limits_of(t->by_class, f) : t->limit_ns;
    bool good = good_is(limits, f);
    int64_t n = facts_n(f);

    t->due += n;
    t->outcome[f->outcome] += n;
    if (f->status > 0 && f->status < TALLY_STATUSES)
        t->status[f->status]++;
    t->good += good;
    if (!good) {
        add_miss(&t->misses, limits, f);
        t->client_late += is_client_late(limits, f);
    }
    if (t->curve)
        curve_add(t->curve, slice, f);
    t->good_slices[slice].n += n;
    t->good_slices[slice].hits += good;
    if (until != TIME_ABSENT)
        dependence_add(&t->waits, place, (double)(until - f->due), n);
    if (f->outcome != OUTCOME_UNFINISHED) {
        t->ended_slices[slice].n += n;
        t->ended_slices[slice].hits += f->outcome != OUTCOME_OK ? n : 0;
    }
    if (f->check == CHECK_PASSED || f->check == CHECK_FAILED) {
        t->check_slices[slice].n++;
        t->check_slices[slice].hits += f->check == CHECK_PASSED;
    }
    t->fresh += f->is_fresh != 0;
    t->reused += f->is_fresh == 0 && f->sent != TIME_ABSENT;
    t->retried += f->retries != 0;
    t->resends += f->retries;
    t->starved += facts_is_starved(f);
    t->exhausted += facts_is_exhausted(f);
    if (facts_count(f->events) > 1)
        t->gaps += f->events - 1;
    add_if_present(&t->buffered, f->buffered);
    tokens_add(&t->tokens, f, good);
    if (f->outcome == OUTCOME_OK)
        oddities_add(&t->oddities, f);
    for (size_t i = 0; i < t->slo->len; i++)
        add_to_term(&t->terms[i], &t->slo->terms[i], f, place);
    for (size_t i = 0; i < t->n_measures; i++)
        add_to_views(t, &t->measures[i], f);
}

static double flight_inside_ns(const struct window *w, const struct facts *f)
{
    int64_t from = max_of(f->sent, w->start_ns);
    int64_t to = min_of(f->end, w->end_ns);

    if (f->sent == TIME_ABSENT || f->end == TIME_ABSENT || to <= from)
        return 0;
    return (double)to - (double)from;
}

/* In its sequence; -1: it has none. */
static int64_t place_of(const struct tally *t, int64_t seq)
{
    if (seq < 0)
        return -1;
    return t->shard.probe_every > 0 ? shard_place(t->shard, seq)
                                    : seq / t->n_sequences;
}

void tally_add(struct tally *t, const struct facts *f)
{
    struct sequence *s =
        &t->sequences[f->seq < 0 ? 0 : f->seq % t->n_sequences];
    int64_t last_place = place_of(t, facts_last_seq(f));
    int64_t n = facts_n(f);

    s->max_place = max_of(s->max_place, last_place);
    if (f->outcome < 0 || f->outcome >= OUTCOME_COUNT)
        return; /* written by a later version: this row cannot be read */
    t->rows += n;
    pace_add(&t->pace, f);
    if (facts_count(f->events) > 0)
        t->events += f->events;
    tokens_see(&t->tokens, &t->window, f);
    t->in_flight_ns += flight_inside_ns(&t->window, f);
    if (window_holds(&t->window, f->end)) {
        t->ok_inside += f->outcome == OUTCOME_OK;
        t->bytes_in += (double)f->bytes_in;
        t->bytes_out += (double)f->bytes_out;
    }
    if (f->due < t->window.start_ns) {
        t->before += n;
        s->before += n;
        s->max_place_before = max_of(s->max_place_before, last_place);
    } else if (f->due >= t->window.end_ns) {
        int64_t place = place_of(t, f->seq);

        t->after += n;
        if (place >= 0 &&
            (s->min_place_after < 0 || place < s->min_place_after))
            s->min_place_after = place;
    } else {
        s->inside += n;
        add_measured(t, f);
    }
}

/* ---- missing requests ---- */

int64_t tally_places(const struct tally *t, int sequence)
{
    return t->sequences[sequence].max_place + 1;
}

void tally_add_unknown(struct tally *t, int64_t count)
{
    const size_t slice = TALLY_SLICES - 1;

    t->due += count;
    t->outcome[OUTCOME_UNFINISHED] += count;
    t->good_slices[slice].n += count;
    t->misses.not_good += count;
    t->misses.failed += count;
    if (t->curve && !measure_is_pooled(t->curve->measure))
        t->curve->n[slice] += count;
    for (size_t i = 0; i < t->slo->len; i++) {
        if (is_counted_by_request(&t->slo->terms[i]))
            term_tally_add_open(&t->terms[i], slice, count);
    }
    for (int m = 0; m < MEASURE_COUNT; m++) {
        if (!measure_is_of_answer((enum measure)m))
            continue;
        hist_add_beyond(&t->hist[m][VIEW_DUE], count);
        if (measure_has_sent((enum measure)m))
            hist_add_beyond(&t->hist[m][VIEW_SENT], count);
    }
}

/* Requests missing before the last one seen before the window were due before
 * it.  Those missing at its edge may have been due on either side: they count
 * as due in the window. */
static int64_t lost_before(const struct tally *t)
{
    int64_t lost = 0;

    if (t->window.end_ns <= t->window.start_ns)
        return INT64_MAX; /* the run never reached the window */
    for (int i = 0; i < t->n_sequences; i++) {
        const struct sequence *s = &t->sequences[i];

        lost += max_of(0, s->max_place_before + 1 - s->before);
    }
    return lost;
}

/* Upper bound for the requests lost in the window, known if every sequence went
 * on beyond the window. */
static int64_t max_lost_inside(const struct tally *t)
{
    int64_t lost = 0;

    for (int i = 0; i < t->n_sequences; i++) {
        const struct sequence *s = &t->sequences[i];

        if (s->min_place_after < 0)
            return INT64_MAX;
        lost += max_of(0, s->min_place_after - (s->max_place_before + 1) -
                              s->inside);
    }
    return lost;
}

int64_t tally_add_lost(struct tally *t, int64_t count)
{
    int64_t early = min_of(lost_before(t), count);
    int64_t inside = min_of(max_lost_inside(t), count - early);

    t->before += early;
    t->after += count - early - inside;
    tally_add_unknown(t, inside);
    return inside;
}
