#include "analyzer/queries.h"

#include "common/clk.h"

void queries_init(struct queries *q, struct tally *tally, int64_t size)
{
    *q = (struct queries){.tally = tally, .size = size, .id = -1};
}

static void add_to_terms(const struct queries *q, bool is_open)
{
    struct tally *t = q->tally;
    size_t batch = tally_batch(t, q->due_ns);

    for (size_t i = 0; i < t->slo->len; i++) {
        const struct slo_term *term = &t->slo->terms[i];
        struct term_tally *tt = &t->terms[i];

        if (term->kind != SLO_QUANTILE || term->measure != MEASURE_QUERY)
            continue;
        tt->n++;
        tt->misses[batch].n++;
        if (is_open)
            tt->open++;
        else if (!q->has_failed && q->slowest_ns < term->limit_ns)
            tt->keeps++;
        else
            tt->misses[batch].hits++;
    }
}

/* A failure keeps no limit, whatever became of the others; without one, those
 * that are missing may have been the slowest. */
static void end_query(struct queries *q)
{
    struct tally *t = q->tally;
    struct hist *all = &t->hist[MEASURE_QUERY][VIEW_DUE];
    bool is_open = !q->has_failed && (q->is_open || q->n < q->size);

    if (q->id < 0 || !window_holds(&t->window, q->due_ns))
        return;
    add_to_terms(q, is_open);
    if (is_open || q->has_failed)
        hist_add_beyond(all, 1);
    else
        hist_add(all, q->slowest_ns);
}

void queries_add(struct queries *q, const struct facts *f)
{
    int64_t e2e_ns = measure_value(MEASURE_E2E, FROM_DUE, f);

    if (q->size < 2 || f->seq < 0)
        return;
    if (f->seq / q->size != q->id) {
        end_query(q);
        queries_init(q, q->tally, q->size);
        q->id = f->seq / q->size;
        q->due_ns = f->due;
    }
    q->n++;
    if (f->outcome == OUTCOME_UNFINISHED)
        q->is_open = true;
    else if (f->outcome != OUTCOME_OK || e2e_ns == TIME_ABSENT)
        q->has_failed = true;
    else if (e2e_ns > q->slowest_ns)
        q->slowest_ns = e2e_ns;
}

void queries_finish(struct queries *q)
{
    end_query(q);
    q->id = -1;
}
