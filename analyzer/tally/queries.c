#include "analyzer/tally/queries.h"

#include "common/base/clk.h"

void queries_init(struct queries *q, struct tally *tally, int64_t size)
{
    *q = (struct queries){.tally = tally, .size = size, .max_id = -1, .id = -1};
}

/* What became of some queries. */
enum fate { FATE_OK, FATE_FAILED, FATE_OPEN };

static void add_to_terms(struct tally *t, int64_t count, size_t batch,
                         enum fate fate, int64_t slowest_ns)
{
    for (size_t i = 0; i < t->slo->len; i++) {
        const struct slo_term *term = &t->slo->terms[i];
        struct term_tally *tt = &t->terms[i];

        if (term->kind != SLO_QUANTILE || term->measure != MEASURE_QUERY)
            continue;
        if (fate == FATE_OPEN)
            term_tally_add_open(tt, batch, count);
        else
            term_tally_add(tt, term, batch, fate == FATE_OK ? slowest_ns : -1,
                           count);
    }
}

/* A failure keeps no limit, whatever became of the others; without one, those
 * that are missing may have been the slowest. */
static enum fate fate_of(const struct queries *q)
{
    if (q->has_failed)
        return FATE_FAILED;
    return q->is_open || q->n < q->size ? FATE_OPEN : FATE_OK;
}

static void end_query(struct queries *q)
{
    struct tally *t = q->tally;
    struct hist *all = &t->hist[MEASURE_QUERY][VIEW_DUE];
    enum fate fate = fate_of(q);

    if (q->id < 0 || !window_holds(&t->window, q->due_ns))
        return;
    add_to_terms(t, 1, tally_batch(t, q->due_ns), fate, q->slowest_ns);
    if (fate == FATE_OK)
        hist_add(all, q->slowest_ns);
    else
        hist_add_beyond(all, 1);
}

static void add_lost(struct queries *q, int64_t count, size_t batch)
{
    if (count <= 0)
        return;
    add_to_terms(q->tally, count, batch, FATE_OPEN, 0);
    hist_add_beyond(&q->tally->hist[MEASURE_QUERY][VIEW_DUE], count);
}

/* Those between two that were seen count by the later one. */
static void begin_query(struct queries *q, int64_t id, int64_t due_ns)
{
    if (window_holds(&q->tally->window, due_ns))
        add_lost(q, id - q->max_id - 1, tally_batch(q->tally, due_ns));
    if (id > q->max_id)
        q->max_id = id;
    q->id = id;
    q->due_ns = due_ns;
    q->n = 0;
    q->slowest_ns = 0;
    q->has_failed = false;
    q->is_open = false;
}

void queries_add(struct queries *q, const struct facts *f)
{
    int64_t e2e_ns = measure_value(MEASURE_E2E, FROM_DUE, f);

    if (q->size < 2 || f->seq < 0)
        return;
    if (f->seq / q->size != q->id) {
        end_query(q);
        begin_query(q, f->seq / q->size, f->due);
    }
    q->n++;
    if (f->outcome == OUTCOME_UNFINISHED)
        q->is_open = true;
    else if (f->outcome != OUTCOME_OK || e2e_ns == TIME_ABSENT)
        q->has_failed = true;
    else if (e2e_ns > q->slowest_ns)
        q->slowest_ns = e2e_ns;
}

void queries_finish(struct queries *q, int64_t expected_rows)
{
    int64_t last_id;

    if (q->size < 2)
        return;
    last_id = expected_rows > 0 ? (expected_rows - 1) / q->size : -1;
    end_query(q);
    q->id = -1;
    if (q->tally->window.end_ns > q->tally->window.start_ns &&
        q->due_ns < q->tally->window.end_ns)
        add_lost(q, last_id - q->max_id, TALLY_BATCHES - 1);
}
