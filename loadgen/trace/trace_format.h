/* trace_format.h - a line of a trace, and what it says about a request.
 *
 * A format defines the names and meanings of the columns; a syntax (CSV, JSONL)
 * defines how a line holds them.  Pure.
 */
#ifndef LOADGEN_TRACE_TRACE_FORMAT_H
#define LOADGEN_TRACE_TRACE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/spec/dist.h"

struct err;
struct syntax_ops;
struct trace_settings;

/* ---- a row: one request of a trace ---- */

/* All zero is a row without blocks. */
struct row {
    int64_t time_ns; /* by the clock of the trace */
    int64_t input;   /* tokens of the prompt */
    int64_t output;  /* tokens of the answer */

    /* Prompts whose lists begin with the same ids begin with the same text. */
    int64_t *blocks; /* owned; reused for the next row */
    size_t n_blocks;
    size_t cap_blocks;
    int64_t block_tokens; /* tokens per block */
};

void row_fini(struct row *row);

void row_add_block(struct row *row, int64_t id);

/* `to` keeps its memory. */
void row_copy(struct row *to, const struct row *from);

/* ---- formats ---- */

/* More than any model accepts; the body must fit into memory. */
#define TRACE_MAX_TOKENS DIST_MAX_TOKENS

enum column { COLUMN_TIME, COLUMN_INPUT, COLUMN_OUTPUT, COLUMN_BLOCKS };
#define COLUMN_COUNT 4

struct trace_format {
    const char *name;
    const struct syntax_ops *syntax;
    const char *column[COLUMN_COUNT]; /* names; NULL: the format has none */
    int64_t unit_ns;                  /* of a time that is a number */
    int64_t block_tokens;
    bool zero_is_failure; /* 0 output tokens mean that the request failed */
};

/* A format, and where its columns are in this file. */
struct parser {
    struct trace_format format;
    int at[COLUMN_COUNT]; /* index in a CSV line, from 0; -1: not in the file */
    int n_fields;         /* how many fields of a line must be read */
    const char *twice;    /* a column that occurs twice; NULL: none does */
};

/* Why a line is damaged: "ContextTokens: negative". */
struct flaw {
    const char *column; /* borrowed; NULL: the whole line */
    const char *what;
};

struct syntax_ops {
    /* The first line names the columns.  -1 with the name of a missing column.
     * NULL: the first line is a row. */
    int (*read_header)(struct parser *p, const char *line, size_t len,
                       const char **missing);

    /* False, with the reason; row->n_blocks is 0 before. */
    bool (*read)(const struct parser *p, const char *line, size_t len,
                 struct row *row, struct flaw *flaw);
};

extern const struct syntax_ops syntax_csv;
extern const struct syntax_ops syntax_jsonl;

/* Use the format of the settings or, if they name none, detect it from the
 * first line of the file.  ERR_CONFIG. */
int parser_init(struct parser *p, const struct trace_settings *s,
                const char *line, size_t len, struct err *err);

/* Parse a line that is not a header into *row, whose memory is reused.  False,
 * with the reason. */
bool parser_read(const struct parser *p, const char *line, size_t len,
                 struct row *row, struct flaw *flaw);

/* ---- times, for the syntaxes ---- */

/* "2023-11-16 18:17:03.9799600": optionally with a T instead of the blank, up
 * to nine digits of a fraction, and Z or +01:00 at the end; from 1970 on.
 * False if the text is not a date. */
bool trace_parse_date(const char *text, size_t len, int64_t *ns);

/* A number of units: "61.114"; not negative, below 2^62 ns.  False if the text
 * is not one. */
bool trace_parse_time(const char *text, size_t len, int64_t unit_ns,
                      int64_t *ns);

#endif
