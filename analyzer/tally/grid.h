/* grid.h - the samples of a term by value and by batch of the window, so that
 * the term can be judged again with another limit.
 *
 * A cell for every number of three digits, so that its edges are limits as
 * people write them.  At an edge the count of what lies below is exact, and so
 * is what is judged there.
 */
#ifndef ANALYZER_TALLY_GRID_H
#define ANALYZER_TALLY_GRID_H

#include <stddef.h>
#include <stdint.h>

/* Batches of the window, for what scatters more than chance would have it. */
#define TALLY_BATCHES 20

/* All zero is an empty one; the memory comes with its first value. */
struct grid {
    uint32_t (*cells)[TALLY_BATCHES]; /* owned */
    size_t begin;                     /* the cells in use: begin <= i < end */
    size_t end;
    int64_t never[TALLY_BATCHES]; /* keep no limit: failed, out of range */
};

void grid_fini(struct grid *g);

/* `count` samples of the same value; below 0 or above an hour: never. */
void grid_add(struct grid *g, size_t batch, int64_t ns, int64_t count);
void grid_add_never(struct grid *g, size_t batch, int64_t count);

/* Cells there are, and the lowest value of one; of the cell behind the last,
 * what is above the highest. */
size_t grid_len(void);
int64_t grid_edge_ns(size_t cell);

#endif
