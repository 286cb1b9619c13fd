/* trace_row.h - what a trace says of one request. */
#ifndef LOADGEN_TRACE_TRACE_ROW_H
#define LOADGEN_TRACE_TRACE_ROW_H

#include <stddef.h>
#include <stdint.h>

/* All zero is one without blocks. */
struct row {
    int64_t time_ns; /* in the trace's own clock */
    int64_t input;   /* tokens of the prompt */
    int64_t output;  /* tokens of the answer */

    /* Who begins with the same ids has a prompt that begins the same. */
    int64_t *blocks; /* owned; kept for the next row */
    size_t n_blocks;
    size_t cap_blocks;
    int64_t block_tokens; /* of one block */
};

void row_fini(struct row *row);

void row_add_block(struct row *row, int64_t id);

/* `to` keeps its memory. */
void row_copy(struct row *to, const struct row *from);

#endif
