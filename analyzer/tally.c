#include "analyzer/tally.h"

#include "common/clk.h"

/* Per measure the term with the highest quantile gives a request's limit. */
static void find_limits(struct tally *t)
{
    double quantile[MEASURE_COUNT] = {0};

    for (size_t i = 0; i < t->slo->len; i++) {
        const struct slo_term *term = &t->slo->terms[i];

        if (term->kind != SLO_QUANTILE ||
            term->quantile < quantile[term->measure])
            continue;
        quantile[term->measure] = term->quantile;
        t->limit_ns[term->measure] = term->limit_ns;
    }
}

void tally_init(struct tally *t, struct window window, const struct slo *slo)
{
    *t = (struct tally){.window = window, .slo = slo, .max_seq = -1};
    find_limits(t);
    for (int m = 0; m < MEASURE_COUNT; m++) {
        for (int v = 0; v < VIEW_COUNT; v++)
            hist_init(&t->hist[m][v]);
    }
}

void tally_fini(struct tally *t)
{
    for (int m = 0; m < MEASURE_COUNT; m++) {
        for (int v = 0; v < VIEW_COUNT; v++)
            hist_fini(&t->hist[m][v]);
    }
}

/* ---- one request ---- */

static size_t batch_of(const struct tally *t, int64_t due_ns)
{
    int64_t length = t->window.end_ns - t->window.start_ns;
    int64_t at = (due_ns - t->window.start_ns) / (length / TALLY_BATCHES + 1);

    return at < TALLY_BATCHES ? (size_t)at : TALLY_BATCHES - 1;
}

/* Does this measure say anything of this request? */
static bool concerns(enum measure m, const struct facts *f)
{
    return measure_is_of_answer(m) ||
           measure_value(m, FROM_DUE, f) != TIME_ABSENT;
}

static bool keeps_limit(enum measure m, const struct facts *f, int64_t limit_ns)
{
    int64_t value = measure_value(m, FROM_DUE, f);

    if (measure_is_of_answer(m) && f->outcome != OUTCOME_OK)
        return false;
    return value != TIME_ABSENT && value < limit_ns;
}

static bool is_good(const struct tally *t, const struct facts *f)
{
    if (f->outcome != OUTCOME_OK)
        return false;
    for (int m = 0; m < MEASURE_COUNT; m++) {
        if (t->limit_ns[m] > 0 && concerns((enum measure)m, f) &&
            !keeps_limit((enum measure)m, f, t->limit_ns[m]))
            return false;
    }
    return true;
}

static void add_to_term(struct term_tally *tt, const struct slo_term *term,
                        const struct facts *f, size_t batch)
{
    if (term->kind != SLO_QUANTILE || !concerns(term->measure, f))
        return;
    tt->n++;
    tt->misses[batch].n++;
    if (f->outcome == OUTCOME_UNFINISHED && measure_is_of_answer(term->measure))
        tt->open++;
    else if (keeps_limit(term->measure, f, term->limit_ns))
        tt->keeps++;
    else
        tt->misses[batch].hits++;
}

/* A failure is beyond every limit of the answer; it has no part in measures
 * of the client and the network, unless the facts give them. */
static void add_to_views(struct tally *t, enum measure m, const struct facts *f)
{
    bool fails = measure_is_of_answer(m) && f->outcome != OUTCOME_OK;
    int64_t due = measure_value(m, FROM_DUE, f);
    int64_t sent = measure_value(m, FROM_SENT, f);

    if (fails) {
        hist_add_beyond(&t->hist[m][VIEW_DUE]);
        if (facts_issued(f))
            hist_add_beyond(&t->hist[m][VIEW_SENT]);
        return;
    }
    if (due != TIME_ABSENT) {
        hist_add(&t->hist[m][VIEW_DUE], due);
        hist_add(&t->hist[m][VIEW_OK], due);
    }
    if (measure_has_sent(m) && sent != TIME_ABSENT)
        hist_add(&t->hist[m][VIEW_SENT], sent);
}

static void add_measured(struct tally *t, const struct facts *f)
{
    size_t batch = batch_of(t, f->due);
    bool good = is_good(t, f);

    t->due++;
    t->outcome[f->outcome]++;
    t->good += good;
    t->good_batches[batch].n++;
    t->good_batches[batch].hits += good;
    t->fresh += f->is_fresh != 0;
    t->retried += f->retries != 0;
    t->bytes_in += f->bytes_in;
    t->bytes_out += f->bytes_out;
    for (size_t i = 0; i < t->slo->len; i++)
        add_to_term(&t->terms[i], &t->slo->terms[i], f, batch);
    for (int m = 0; m < MEASURE_COUNT; m++)
        add_to_views(t, (enum measure)m, f);
}

static bool is_inside(const struct window *w, int64_t at_ns)
{
    return at_ns >= w->start_ns && at_ns < w->end_ns;
}

void tally_add(struct tally *t, const struct facts *f)
{
    if (f->seq > t->max_seq)
        t->max_seq = f->seq;
    if (f->outcome < 0 || f->outcome >= OUTCOME_COUNT)
        return; /* of a later version: not a row that we can read */
    t->rows++;
    if (f->outcome == OUTCOME_OK && is_inside(&t->window, f->end))
        t->ok_inside++;
    if (f->due < t->window.start_ns)
        t->before++;
    else if (f->due < t->window.end_ns)
        add_measured(t, f);
}

void tally_add_lost(struct tally *t, int64_t count)
{
    struct facts lost = facts_unknown(0, t->window.end_ns - 1);

    if (t->window.end_ns <= t->window.start_ns) {
        t->before += count; /* it never got to the window */
        return;
    }
    lost.outcome = OUTCOME_UNFINISHED;
    for (int64_t i = 0; i < count; i++)
        add_measured(t, &lost);
}
