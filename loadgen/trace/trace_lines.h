/* trace_lines.h - reads a text file line by line, compressed or not, in memory
 * that does not grow with the file. */
#ifndef LOADGEN_TRACE_TRACE_LINES_H
#define LOADGEN_TRACE_TRACE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loadgen/trace/unpack.h"

/* Longer lines are skipped; this limits the memory. */
#define LINES_MAX ((size_t)4 << 20)

/* Without its line end (LF or CR LF), and the first without a byte order mark.
 */
struct line {
    const char *at; /* valid until the next line is read */
    size_t len;
    int64_t number;   /* from 1 */
    bool is_too_long; /* then len is 0 */
};

/* All zero is valid for lines_fini(). */
struct lines {
    char *path; /* owned */
    struct unpacker file;
    char *out; /* decompressed */
    size_t out_cap;
    size_t out_at;   /* start of the next line */
    size_t out_seen; /* there is no line end before this */
    size_t out_end;
    int64_t number;   /* of the last line */
    bool is_skipping; /* the rest of a line that is too long */
};

/* ERR_CONFIG with the path.  Pipes are refused, since a trace is read more than
 * once.  lines_fini() may follow either way. */
int lines_open(struct lines *l, const char *path, struct err *err);
void lines_fini(struct lines *l);

/* 1: *line is the next one; 0: there is no more; -1: ERR_IO, with the path and
 * the line after which the file cannot be read. */
int lines_next(struct lines *l, struct line *line, struct err *err);

#endif
