#include "loadgen/trace/trace_row.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/xalloc.h"

void row_fini(struct row *row)
{
    free(row->blocks);
    *row = (struct row){0};
}

static void make_room(struct row *row, size_t n)
{
    size_t cap = row->cap_blocks > 0 ? row->cap_blocks : 16;

    if (n <= row->cap_blocks)
        return;
    while (cap < n)
        cap *= 2;
    row->blocks = xrealloc(row->blocks, cap, sizeof(*row->blocks));
    row->cap_blocks = cap;
}

void row_add_block(struct row *row, int64_t id)
{
    make_room(row, row->n_blocks + 1);
    row->blocks[row->n_blocks++] = id;
}

void row_copy(struct row *to, const struct row *from)
{
    struct row old = *to;

    *to = *from;
    to->blocks = old.blocks;
    to->cap_blocks = old.cap_blocks;
    make_room(to, from->n_blocks);
    if (from->n_blocks > 0)
        memcpy(to->blocks, from->blocks,
               from->n_blocks * sizeof(*from->blocks));
}
