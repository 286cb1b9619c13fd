#include "analyzer/tally/queries.h"

#include "common/base/clk.h"

void queries_init(struct queries *q, struct tally *tally, int64_t size)
{
    *q = (struct queries){.tally = tally, .size = size, .max_id = -1, .id = -1};
}

enum fate { FATE_OK, FATE_FAILED, FATE_OPEN };

/* Add `count` queries that ended the same way. */
static void add(struct tally *t, int64_t count, double place, enum fate fate,
                int64_t slowest_ns)
{
    size_t slice = (size_t)(place * TALLY_SLICES);
    struct hist *all = &t->hist[MEASURE_QUERY][VIEW_DUE];

    for (size_t i = 0; i < t->slo->len; i++) {
        const struct slo_term *term = &t->slo->terms[i];
        struct term_tally *tt = &t->terms[i];

        if (term->kind != SLO_QUANTILE || term->measure != MEASURE_QUERY)
            continue;
        if (fate == FATE_OPEN) {
            term_tally_add_open(tt, slice, count);
            continue;
        }
        term_tally_add(tt, term, slice, fate == FATE_OK ? slowest_ns : -1,
                       count);
        term_tally_depend(tt, term, place, fate == FATE_OK ? slowest_ns : -1,
                          count);
    }
    if (fate == FATE_OK)
        hist_add(all, slowest_ns);
    else
        hist_add_beyond(all, count);
}

/* A failed request decides, whatever happened to the others.  Otherwise missing
 * requests may have been the slowest. */
static void end_query(struct queries *q)
{
    struct tally *t = q->tally;
    enum fate fate = q->has_failed                  ? FATE_FAILED
                     : q->is_open || q->n < q->size ? FATE_OPEN
                                                    : FATE_OK;

    if (q->id >= 0 && window_holds(&t->window, q->due_ns))
        add(t, 1, tally_place(t, q->due_ns), fate, q->slowest_ns);
}

/* Queries missing between two that were seen count with the later one. */
static void begin_query(struct queries *q, int64_t id, int64_t due_ns)
{
    int64_t lost = id - q->max_id - 1;

    if (lost > 0 && window_holds(&q->tally->window, due_ns))
        add(q->tally, lost, tally_place(q->tally, due_ns), FATE_OPEN, 0);
    *q = (struct queries){.tally = q->tally,
                          .size = q->size,
                          .max_id = id > q->max_id ? id : q->max_id,
                          .id = id,
                          .due_ns = due_ns};
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
    const struct window *w = &q->tally->window;
    int64_t lost;

    if (q->size < 2)
        return;
    lost = (expected_rows > 0 ? (expected_rows - 1) / q->size : -1) - q->max_id;
    end_query(q);
    q->id = -1;
    if (lost > 0 && w->end_ns > w->start_ns && q->due_ns < w->end_ns)
        add(q->tally, lost, 1 - 1e-9, FATE_OPEN, 0);
}
