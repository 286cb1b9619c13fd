/* trace.h - a trace of requests, read row by row.
 *
 * A line that is no row is damage: it is counted, told to whoever asked, and
 * passed over, or with trace.strict an error.
 */
#ifndef LOADGEN_TRACE_TRACE_H
#define LOADGEN_TRACE_TRACE_H

#include <stdint.h>

#include "loadgen/trace/trace_format.h"
#include "loadgen/trace/trace_lines.h"
#include "loadgen/trace/trace_row.h"

struct err;
struct trace_settings;

/* Lines that are neither empty nor a header = rows + damaged + failed. */
struct trace_counts {
    int64_t rows;
    int64_t damaged;
    int64_t failed; /* requests that failed back then; left out */
};

struct trace {
    const struct trace_settings *settings; /* borrowed */
    struct lines lines;
    struct parser parser;
    bool has_pending; /* the first line is a row, and not yet read */
    struct line pending;
    struct row row;
    struct trace_counts counts;
    int64_t last_ns; /* of the last row */

    /* Called with "file:line: why" for each damaged line.  Optional. */
    void (*on_damage)(void *arg, const char *message);
    void *arg;
};

/* Open it and find out its format.  ERR_CONFIG, with the path.  trace_fini()
 * may follow either way, and after all zero. */
int trace_open(struct trace *t, const struct trace_settings *s,
               struct err *err);
void trace_fini(struct trace *t);

/* 1: *row is the next, valid until the next call; 0: there is none; -1: ERR_IO
 * where the file cannot be read, ERR_CONFIG for damage with trace.strict.
 * Times never decrease: a row that is earlier than the one before it by no more
 * than trace.spread counts as of the same time, by more as damage. */
int trace_next(struct trace *t, const struct row **row, struct err *err);

#endif
