#include "analyzer/verdict/whatif.h"

#include "analyzer/tally/grid.h"
#include "analyzer/tally/tally.h"
#include "analyzer/verdict/judge.h"
#include "common/stats/hist.h"
#include "common/stats/stats.h"

/* Count as kept what is in this cell; how many. */
static int64_t keep_cell(struct term_tally *tt, size_t cell)
{
    int64_t sum = 0;

    for (size_t b = 0; b < TALLY_BATCHES; b++) {
        int64_t count = tt->grid.cells[cell][b];

        tt->misses[b].hits -= count;
        sum += count;
    }
    tt->keeps += sum;
    return sum;
}

/* As if the limit were 0: nothing keeps it. */
static void keep_none(struct term_tally *tt)
{
    tt->keeps = 0;
    for (size_t b = 0; b < TALLY_BATCHES; b++)
        tt->misses[b].hits = tt->grid.never[b];
    for (size_t cell = tt->grid.begin; cell < tt->grid.end; cell++) {
        for (size_t b = 0; b < TALLY_BATCHES; b++)
            tt->misses[b].hits += tt->grid.cells[cell][b];
    }
}

/* How many keep a limit grows with it, how they scatter need not: a limit that
 * passes may have one above it that does not.  The lowest is what is asked. */
int64_t whatif_tightest_ns(const struct term_tally *tt,
                           const struct slo_term *term)
{
    struct term_tally at = *tt;
    int64_t needed = stats_rank(term->quantile, tt->n);

    if (!tt->grid.cells)
        return HIST_BEYOND;
    keep_none(&at);
    for (size_t cell = at.grid.begin; cell < at.grid.end; cell++) {
        if (keep_cell(&at, cell) > 0 && at.keeps >= needed &&
            judge_counts(&at, term) == VERDICT_PASS)
            return grid_edge_ns(cell + 1);
    }
    return HIST_BEYOND;
}
