/* trace_lines.h - a text file line by line, compressed or not, in memory that
 * does not grow with the file. */
#ifndef LOADGEN_TRACE_TRACE_LINES_H
#define LOADGEN_TRACE_TRACE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct unpack_ops;

/* A line beyond this is passed over; it bounds the memory. */
#define LINES_MAX ((size_t)4 << 20)

/* Without its end (LF or CR LF). */
struct line {
    const char *at; /* valid until the next is taken */
    size_t len;
    int64_t number;   /* from 1 */
    bool is_too_long; /* then there is nothing of it */
};

/* All zero is one that lines_fini() takes. */
struct lines {
    char *path; /* owned */
    int fd;
    bool is_open;
    const struct unpack_ops *ops;
    void *unpack;
    char *in; /* as in the file */
    size_t in_at;
    size_t in_end;
    bool has_ended; /* the file has no more bytes */
    char *out;      /* unpacked */
    size_t out_cap;
    size_t out_at;   /* start of the next line */
    size_t out_seen; /* no line end before this */
    size_t out_end;
    int64_t number;   /* of the last line */
    bool is_skipping; /* the rest of a line that is too long */
};

/* ERR_CONFIG with the path.  A pipe is refused: a trace is read more than once.
 * lines_fini() may follow either way. */
int lines_open(struct lines *l, const char *path, struct err *err);
void lines_fini(struct lines *l);

/* 1: there is another; 0: that was the last; -1: ERR_IO, with the path and
 * the line after which the file cannot be read. */
int lines_next(struct lines *l, struct line *line, struct err *err);

#endif
