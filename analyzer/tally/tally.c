#include "analyzer/tally/tally.h"

#include "analyzer/tally/curve.h"
#include "common/base/clk.h"
#include "common/measure/good.h"

static void find_measures(struct tally *t)
{
    for (int i = 0; i < MEASURE_COUNT; i++) {
        enum measure m = (enum measure)i;

        if (!measure_is_pooled(m))
            t->measures[t->n_measures++] =
                (struct tally_measure){.measure = m,
                                       .is_of_answer = measure_is_of_answer(m),
                                       .has_sent = measure_has_sent(m)};
    }
}

/* Misses are told by limit. */
static void note_limits(struct tally *t)
{
    for (int i = 0; i < GOOD_LIMITS; i++)
        t->misses.by[i].limit_ns = t->limit_ns[i];
}

void tally_init(struct tally *t, struct window window, const struct slo *slo)
{
    *t = (struct tally){.window = window, .slo = slo};
    find_measures(t);
    good_limits(slo, t->limit_ns);
    note_limits(t);
    tally_set_lanes(t, 1);
    pace_init(&t->pace, window);
}

void tally_leave(struct tally *t, enum measure m)
{
    for (size_t i = 0; i < t->n_measures; i++) {
        if (t->measures[i].measure == m)
            t->measures[i].is_elsewhere = true;
    }
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

void tally_fini(struct tally *t)
{
    pace_fini(&t->pace);
    hist_fini(&t->buffered);
    for (size_t i = 0; i < SLO_MAX_TERMS; i++)
        grid_fini(&t->terms[i].grid);
    for (int m = 0; m < MEASURE_COUNT; m++) {
        for (int v = 0; v < VIEW_COUNT; v++)
            hist_fini(&t->hist[m][v]);
    }
}

/* ---- places ---- */

void tally_set_lanes(struct tally *t, int64_t n)
{
    t->n_lanes = n > 1 && n <= RECORDING_MAX_SHARDS ? (int)n : 1;
    for (int i = 0; i < t->n_lanes; i++)
        t->lanes[i] = (struct place_lane){
            .max_place = -1, .max_place_before = -1, .min_place_after = -1};
}

int64_t tally_places(const struct tally *t, int lane)
{
    return t->lanes[lane].max_place + 1;
}

static struct place_lane *lane_of(struct tally *t, const struct facts *f)
{
    return &t->lanes[f->seq < 0 ? 0 : f->seq % t->n_lanes];
}

/* -1: none, in a damaged row. */
static int64_t place_of(const struct tally *t, int64_t seq)
{
    return seq < 0 ? -1 : seq / t->n_lanes;
}

static void raise_to(int64_t *max, int64_t place)
{
    if (place > *max)
        *max = place;
}

static void note_before(struct tally *t, const struct facts *f)
{
    struct place_lane *l = lane_of(t, f);

    t->before += facts_n(f);
    l->before += facts_n(f);
    raise_to(&l->max_place_before, place_of(t, facts_last_seq(f)));
}

static void note_after(struct tally *t, const struct facts *f)
{
    struct place_lane *l = lane_of(t, f);
    int64_t place = place_of(t, f->seq);

    t->after += facts_n(f);
    if (place >= 0 && (l->min_place_after < 0 || place < l->min_place_after))
        l->min_place_after = place;
}

/* ---- one request ---- */

size_t tally_batch(const struct tally *t, int64_t due_ns)
{
    int64_t length = t->window.end_ns - t->window.start_ns;
    int64_t at = (due_ns - t->window.start_ns) / (length / TALLY_BATCHES + 1);

    return at < TALLY_BATCHES ? (size_t)at : TALLY_BATCHES - 1;
}

struct batch tally_checks(const struct tally *t)
{
    struct batch all = {0};

    for (int i = 0; i < TALLY_BATCHES; i++) {
        all.n += t->check_batches[i].n;
        all.hits += t->check_batches[i].hits;
    }
    return all;
}

double tally_attainment(const struct tally *t, struct interval *ci95)
{
    double inflation = stats_inflation(t->good_batches, TALLY_BATCHES);
    double share = t->due > 0 ? (double)t->good / (double)t->due : 0;

    if (t->due > 0)
        *ci95 = stats_share_interval(share, (double)t->due / inflation);
    return share;
}

/* What it would have come to is longer than this. */
static int64_t waited_ns(enum measure m, const struct facts *f)
{
    bool is_awaited = m == MEASURE_E2E ||
                      (m == MEASURE_TTFT && f->first == TIME_ABSENT) ||
                      (m == MEASURE_TTFB && f->head == TIME_ABSENT);

    return is_awaited && f->end != TIME_ABSENT ? f->end - f->due : 0;
}

/* Nobody knows what it would have come to. */
static bool is_open(const struct slo_term *term, const struct facts *f)
{
    enum measure m = term->measure;

    return f->outcome == OUTCOME_UNFINISHED &&
           (measure_is_of_answer(m) ||
            measure_value(m, FROM_DUE, f) == TIME_ABSENT) &&
           waited_ns(m, f) < term->limit_ns;
}

void term_tally_add(struct term_tally *tt, const struct slo_term *term,
                    size_t batch, int64_t ns, int64_t count)
{
    tt->n += count;
    tt->misses[batch].n += count;
    if (ns >= 0 && ns < term->limit_ns)
        tt->keeps += count;
    else
        tt->misses[batch].hits += count;
    if (term->kind == SLO_QUANTILE)
        grid_add(&tt->grid, batch, ns, count);
}

void term_tally_add_open(struct term_tally *tt, size_t batch, int64_t count)
{
    tt->n += count;
    tt->open += count;
    tt->misses[batch].n += count;
}

static void add_to_term(struct term_tally *tt, const struct slo_term *term,
                        const struct facts *f, size_t batch)
{
    if (term->kind != SLO_QUANTILE && term->kind != SLO_LIMIT)
        return;
    if (measure_is_pooled(term->measure))
        return; /* stream.c counts these */
    if (!good_concerns(term->measure, f)) {
        tt->lacks += good_lacks(term->measure, f);
        return;
    }
    if (is_open(term, f)) {
        term_tally_add_open(tt, batch, 1);
        return;
    }
    term_tally_add(tt, term, batch, good_value(term->measure, f), facts_n(f));
    tt->spoilt += good_is_client_late(term->measure, f, term->limit_ns);
}

static void add_if_there(struct hist *h, int64_t ns)
{
    if (ns != TIME_ABSENT)
        hist_add(h, ns);
}

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
        add_if_there(h, measure_value(m, FROM_DUE, f));
}

/* The same of two views, with what is asked of the measure asked before. */
static void add_to_views(struct tally *t, const struct tally_measure *tm,
                         const struct facts *f)
{
    enum measure m = tm->measure;

    if (tm->is_of_answer && f->outcome != OUTCOME_OK) {
        if (!tm->is_elsewhere)
            hist_add_beyond(&t->hist[m][VIEW_DUE], facts_n(f));
        if (tm->has_sent && facts_issued(f))
            hist_add_beyond(&t->hist[m][VIEW_SENT], 1);
        return;
    }
    if (!tm->is_elsewhere)
        add_if_there(&t->hist[m][VIEW_DUE], measure_value(m, FROM_DUE, f));
    if (tm->has_sent)
        add_if_there(&t->hist[m][VIEW_SENT], measure_value(m, FROM_SENT, f));
}

static void add_measured(struct tally *t, const struct facts *f)
{
    size_t batch = tally_batch(t, f->due);
    const int64_t *limits =
        t->by_class ? good_limits_of(t->by_class, f) : t->limit_ns;
    bool good = good_is(limits, f);
    int64_t n = facts_n(f);

    t->due += n;
    t->outcome[f->outcome] += n;
    if (f->status > 0 && f->status < TALLY_STATUSES)
        t->status[f->status]++;
    t->good += good;
    if (!good)
        misses_add(&t->misses, limits, f);
    if (t->curve)
        curve_add(t->curve, batch, f);
    t->good_batches[batch].n += n;
    t->good_batches[batch].hits += good;
    if (f->outcome != OUTCOME_UNFINISHED) {
        t->ended_batches[batch].n += n;
        t->ended_batches[batch].hits += f->outcome != OUTCOME_OK ? n : 0;
    }
    if (f->check == CHECK_PASSED || f->check == CHECK_FAILED) {
        t->check_batches[batch].n++;
        t->check_batches[batch].hits += f->check == CHECK_PASSED;
    }
    t->fresh += f->is_fresh != 0;
    t->reused += f->is_fresh == 0 && f->sent != TIME_ABSENT;
    t->retried += f->retries != 0;
    t->starved += facts_is_starved(f);
    t->exhausted += facts_is_exhausted(f);
    if (facts_count(f->events) > 1)
        t->gaps += f->events - 1;
    add_if_there(&t->buffered, f->buffered);
    tokens_add(&t->tokens, f, good);
    if (f->outcome == OUTCOME_OK)
        oddities_add(&t->oddities, f);
    for (size_t i = 0; i < t->slo->len; i++)
        add_to_term(&t->terms[i], &t->slo->terms[i], f, batch);
    for (size_t i = 0; i < t->n_measures; i++)
        add_to_views(t, &t->measures[i], f);
}

/* Throughput goes by completion, whenever it was due. */
static void add_ended(struct tally *t, const struct facts *f)
{
    t->ok_inside += f->outcome == OUTCOME_OK;
    t->bytes_in += (double)f->bytes_in;
    t->bytes_out += (double)f->bytes_out;
}

/* From when it was sent until it was over. */
static double flight_inside_ns(const struct window *w, const struct facts *f)
{
    int64_t from = f->sent > w->start_ns ? f->sent : w->start_ns;
    int64_t to = f->end < w->end_ns ? f->end : w->end_ns;

    if (f->sent == TIME_ABSENT || f->end == TIME_ABSENT || to <= from)
        return 0;
    return (double)to - (double)from;
}

void tally_add(struct tally *t, const struct facts *f)
{
    raise_to(&lane_of(t, f)->max_place, place_of(t, facts_last_seq(f)));
    if (f->outcome < 0 || f->outcome >= OUTCOME_COUNT)
        return; /* of a later version: not a row that we can read */
    t->rows += facts_n(f);
    pace_add(&t->pace, f);
    if (facts_count(f->events) > 0)
        t->events += f->events;
    tokens_see(&t->tokens, &t->window, f);
    t->in_flight_ns += flight_inside_ns(&t->window, f);
    if (window_holds(&t->window, f->end))
        add_ended(t, f);
    if (f->due < t->window.start_ns)
        note_before(t, f);
    else if (f->due >= t->window.end_ns)
        note_after(t, f);
    else {
        lane_of(t, f)->inside += facts_n(f);
        add_measured(t, f);
    }
}

/* ---- those that are missing ---- */

/* Places grow with due, without gaps: how many were certainly due before the
 * window and not seen?  Of those missing at its edge nobody knows, so they
 * count as of the window. */
static int64_t lost_before(const struct tally *t)
{
    int64_t lost = 0;

    if (t->window.end_ns <= t->window.start_ns)
        return INT64_MAX; /* it never got to the window */
    for (int i = 0; i < t->n_lanes; i++) {
        const struct place_lane *l = &t->lanes[i];
        int64_t places = l->max_place_before + 1;

        if (places > l->before)
            lost += places - l->before;
    }
    return lost;
}

/* As many facts_unknown() that are unfinished. */
void tally_add_unknown(struct tally *t, int64_t count)
{
    const size_t batch = TALLY_BATCHES - 1;

    t->due += count;
    t->outcome[OUTCOME_UNFINISHED] += count;
    t->good_batches[batch].n += count;
    misses_add_failed(&t->misses, count);
    if (t->curve && !measure_is_pooled(t->curve->measure))
        curve_add_never(t->curve, batch, count);
    for (size_t i = 0; i < t->slo->len; i++) {
        const struct slo_term *term = &t->slo->terms[i];

        if ((term->kind != SLO_QUANTILE && term->kind != SLO_LIMIT) ||
            measure_is_pooled(term->measure))
            continue;
        term_tally_add_open(&t->terms[i], batch, count);
    }
    for (int m = 0; m < MEASURE_COUNT; m++) {
        if (!measure_is_of_answer((enum measure)m))
            continue;
        hist_add_beyond(&t->hist[m][VIEW_DUE], count);
        if (measure_has_sent((enum measure)m))
            hist_add_beyond(&t->hist[m][VIEW_SENT], count);
    }
}

/* Where every lane got beyond the window, it can have lost so many at most. */
static int64_t completeness_inside(const struct tally *t)
{
    int64_t lost = 0;

    for (int i = 0; i < t->n_lanes; i++) {
        const struct place_lane *l = &t->lanes[i];
        int64_t places = l->min_place_after - (l->max_place_before + 1);

        if (l->min_place_after < 0)
            return INT64_MAX;
        if (places > l->inside)
            lost += places - l->inside;
    }
    return lost;
}

static int64_t at_most(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t tally_add_lost(struct tally *t, int64_t count)
{
    int64_t early = at_most(lost_before(t), count);
    int64_t inside = at_most(completeness_inside(t), count - early);

    t->before += early;
    t->after += count - early - inside;
    tally_add_unknown(t, inside);
    return inside;
}
