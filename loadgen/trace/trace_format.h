/* trace_format.h - a line of a trace, and what it says of a request.
 *
 * A format says what the columns are called and mean; a syntax (CSV, JSONL)
 * how a line holds them.  Pure.
 */
#ifndef LOADGEN_TRACE_TRACE_FORMAT_H
#define LOADGEN_TRACE_TRACE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/spec/dist.h"

struct err;
struct row;
struct syntax_ops;
struct trace_settings;

/* Longer than anything that a model takes; the body must fit into memory. */
#define TRACE_MAX_TOKENS DIST_MAX_TOKENS

enum column { COLUMN_TIME, COLUMN_INPUT, COLUMN_OUTPUT, COLUMN_BLOCKS };
#define COLUMN_COUNT 4

struct trace_format {
    const char *name;
    const struct syntax_ops *syntax;
    const char *column[COLUMN_COUNT]; /* names; NULL: there is none */
    int64_t unit_ns;                  /* of a time that is a number */
    int64_t block_tokens;
    bool zero_is_failure; /* no output: nobody knows what it would have been */
};

/* A format, and where its columns stand in this file. */
struct parser {
    struct trace_format format;
    int at[COLUMN_COUNT]; /* place in a line of CSV, from 0; -1: nowhere */
    int n_fields;         /* of a line that one must look at */
    const char *twice;    /* a column whose name is there again; NULL: none */
};

/* Why a line is none of the format: "ContextTokens: negative". */
struct flaw {
    const char *column; /* borrowed; NULL: the line as a whole */
    const char *what;
};

struct syntax_ops {
    const char *name;

    /* The first line says where the columns are.  NULL: it is a row.  -1 with
     * the name of a column that is missing. */
    int (*read_header)(struct parser *p, const char *line, size_t len,
                       const char **missing);

    /* False, with why; the row's blocks are empty before. */
    bool (*read)(const struct parser *p, const char *line, size_t len,
                 struct row *row, struct flaw *flaw);
};

extern const struct syntax_ops syntax_csv;
extern const struct syntax_ops syntax_jsonl;

/* The format that was asked for or, if none was, the one that a file has whose
 * first line this is.  ERR_CONFIG. */
int parser_init(struct parser *p, const struct trace_settings *s,
                const char *line, size_t len, struct err *err);

/* Read a line that is no header into *row, whose memory is used again.  False,
 * with why. */
bool parser_read(const struct parser *p, const char *line, size_t len,
                 struct row *row, struct flaw *flaw);

/* ---- for those who read lines ---- */

/* "2023-11-16 18:17:03.9799600": a T instead of the blank, up to nine digits of
 * a fraction, Z or +01:00 at the end; from 1970 on.  False if it is none. */
bool trace_parse_date(const char *text, size_t len, int64_t *ns);

/* Seconds, milliseconds, ...: "61.114"; not negative, below 2^62 ns. */
bool trace_parse_time(const char *text, size_t len, int64_t unit_ns,
                      int64_t *ns);

/* NULL, or why that is no length. */
const char *trace_check_length(int64_t length);

#endif
