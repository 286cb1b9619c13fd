/* trace.h - reads a trace of requests row by row.
 *
 * A line that is not a row is damaged: it is counted, reported to on_damage,
 * and skipped; with trace.strict it is an error.
 */
#ifndef LOADGEN_TRACE_TRACE_H
#define LOADGEN_TRACE_TRACE_H

#include <stdint.h>

#include "loadgen/trace/trace_format.h"
#include "loadgen/trace/trace_lines.h"

/* Lines that are neither empty nor a header = rows + damaged + failed. */
struct trace_counts {
    int64_t rows;
    int64_t damaged;
    int64_t failed; /* requests that failed when recorded; skipped */
};

struct trace {
    const struct trace_settings *settings; /* borrowed */
    struct lines lines;
    struct parser parser;
    bool has_pending; /* the first line is a row and has not been returned */
    struct line pending;
    struct row row;
    struct trace_counts counts;
    int64_t last_ns; /* of the last row */

    /* Called with "file:line: why" for each damaged line.  Optional. */
    void (*on_damage)(void *arg, const char *message);
    void *arg;
};

/* Open the file and detect its format.  ERR_CONFIG, with the path.
 * trace_fini() may follow either way, and is safe on zeroed memory. */
int trace_open(struct trace *t, const struct trace_settings *s,
               struct err *err);
void trace_fini(struct trace *t);

/* 1: *row is the next row, valid until the next call; 0: there is no more; -1:
 * ERR_IO if the file cannot be read, ERR_CONFIG for damage with trace.strict.
 * Times never decrease: a row that is earlier than the one before it by up to
 * trace.spread gets the same time; one that is earlier by more is damaged. */
int trace_next(struct trace *t, const struct row **row, struct err *err);

#endif
