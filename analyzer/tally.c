#include "analyzer/tally.h"

#include "common/clk.h"
#include "common/good.h"

void tally_init(struct tally *t, struct window window, const struct slo *slo)
{
    *t = (struct tally){.window = window,
                        .slo = slo,
                        .max_seq = -1,
                        .max_seq_before = -1,
                        .min_seq = -1};
    good_limits(slo, t->limit_ns);
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

/* Nobody knows what it would have come to. */
static bool is_open(enum measure m, const struct facts *f)
{
    return f->outcome == OUTCOME_UNFINISHED &&
           (measure_is_of_answer(m) ||
            measure_value(m, FROM_DUE, f) == TIME_ABSENT);
}

static void add_to_term(struct term_tally *tt, const struct slo_term *term,
                        const struct facts *f, size_t batch)
{
    if (term->kind != SLO_QUANTILE || !good_concerns(term->measure, f))
        return;
    tt->n++;
    tt->misses[batch].n++;
    if (is_open(term->measure, f))
        tt->open++;
    else if (good_keeps(term->measure, f, term->limit_ns))
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
        hist_add_beyond(&t->hist[m][VIEW_DUE], 1);
        if (measure_has_sent(m) && facts_issued(f))
            hist_add_beyond(&t->hist[m][VIEW_SENT], 1);
        return;
    }
    if (due != TIME_ABSENT)
        hist_add(&t->hist[m][VIEW_DUE], due);
    if (due != TIME_ABSENT && f->outcome == OUTCOME_OK)
        hist_add(&t->hist[m][VIEW_OK], due);
    if (measure_has_sent(m) && sent != TIME_ABSENT)
        hist_add(&t->hist[m][VIEW_SENT], sent);
}

static void add_measured(struct tally *t, const struct facts *f)
{
    size_t batch = batch_of(t, f->due);
    bool good = good_is(t->limit_ns, f);

    t->due++;
    t->outcome[f->outcome]++;
    t->good += good;
    t->good_batches[batch].n++;
    t->good_batches[batch].hits += good;
    t->fresh += f->is_fresh != 0;
    t->retried += f->retries != 0;
    if (t->min_seq < 0 || f->seq < t->min_seq)
        t->min_seq = f->seq;
    for (size_t i = 0; i < t->slo->len; i++)
        add_to_term(&t->terms[i], &t->slo->terms[i], f, batch);
    for (int m = 0; m < MEASURE_COUNT; m++)
        add_to_views(t, (enum measure)m, f);
}

static bool is_inside(const struct window *w, int64_t at_ns)
{
    return at_ns >= w->start_ns && at_ns < w->end_ns;
}

/* Throughput goes by completion, whenever it was due. */
static void add_ended(struct tally *t, const struct facts *f)
{
    t->ok_inside += f->outcome == OUTCOME_OK;
    t->bytes_in += (double)f->bytes_in;
    t->bytes_out += (double)f->bytes_out;
}

static void add_before(struct tally *t, const struct facts *f)
{
    t->before++;
    if (f->seq > t->max_seq_before)
        t->max_seq_before = f->seq;
}

void tally_add(struct tally *t, const struct facts *f)
{
    if (f->seq > t->max_seq)
        t->max_seq = f->seq;
    if (f->outcome < 0 || f->outcome >= OUTCOME_COUNT)
        return; /* of a later version: not a row that we can read */
    t->rows++;
    if (is_inside(&t->window, f->end))
        add_ended(t, f);
    if (f->due < t->window.start_ns)
        add_before(t, f);
    else if (f->due < t->window.end_ns)
        add_measured(t, f);
}

/* ---- those that are missing ---- */

/* Places grow with due, without gaps: how many of those before the window were
 * not seen? */
static int64_t lost_before(const struct tally *t)
{
    int64_t places = t->min_seq >= 0 ? t->min_seq : t->max_seq_before + 1;

    if (t->window.end_ns <= t->window.start_ns)
        return INT64_MAX; /* it never got to the window */
    return places > t->before ? places - t->before : 0;
}

/* As many facts_unknown() that are unfinished. */
static void add_unknown(struct tally *t, int64_t count)
{
    const size_t batch = TALLY_BATCHES - 1;

    t->due += count;
    t->outcome[OUTCOME_UNFINISHED] += count;
    t->good_batches[batch].n += count;
    for (size_t i = 0; i < t->slo->len; i++) {
        if (t->slo->terms[i].kind != SLO_QUANTILE)
            continue;
        t->terms[i].n += count;
        t->terms[i].open += count;
        t->terms[i].misses[batch].n += count;
    }
    for (int m = 0; m < MEASURE_COUNT; m++) {
        if (!measure_is_of_answer((enum measure)m))
            continue;
        hist_add_beyond(&t->hist[m][VIEW_DUE], count);
        if (measure_has_sent((enum measure)m))
            hist_add_beyond(&t->hist[m][VIEW_SENT], count);
    }
}

void tally_add_lost(struct tally *t, int64_t count)
{
    int64_t early = lost_before(t);

    if (early > count)
        early = count;
    t->before += early;
    add_unknown(t, count - early);
}
