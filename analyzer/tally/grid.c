#include "analyzer/tally/grid.h"

#include <stdlib.h>

#include "common/base/xalloc.h"
#include "common/stats/hist.h"

/* Values below 1000 have a cell each; above, each power of ten has PER_POWER,
 * from 100 to 999 of its units. */
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

void grid_fini(struct grid *g)
{
    free(g->cells);
    *g = (struct grid){0};
}

void grid_add_never(struct grid *g, size_t batch, int64_t count)
{
    g->never[batch] += count;
}

void grid_add(struct grid *g, size_t batch, int64_t ns, int64_t count)
{
    uint32_t *cell;
    size_t at;

    if (ns < 0 || ns > HIST_HIGHEST_NS) {
        grid_add_never(g, batch, count);
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
    cell = &g->cells[at][batch];
    if (count <= (int64_t)(UINT32_MAX - *cell))
        *cell += (uint32_t)count;
    else
        *cell = UINT32_MAX;
}
