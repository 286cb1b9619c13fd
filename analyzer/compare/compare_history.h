/* compare_history.h - many recordings of one condition, in the order in which
 * they were made: where did it change, and is the end worse?
 *
 * The conditions are those of the newest; what has others is listed and left
 * out, as is what may not be believed.
 */
#ifndef ANALYZER_COMPARE_COMPARE_HISTORY_H
#define ANALYZER_COMPARE_COMPARE_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/compare/quantity.h"
#include "analyzer/compare/segments.h"

struct buf;
struct err;
struct strlist;

struct history_ask {
    const char
        *dir; /* whose subdirectories are recordings, or sets of trials */
    const struct strlist *on;  /* the first is looked at */
    const struct strlist *slo; /* NULL: their own */
    double regression;         /* a smaller loss is none; below 0: any is one */
    const struct cost_ask *cost; /* prices instead of theirs; may be NULL */
};

#define HISTORY_WHY 512

struct history_point {
    char *dir;
    int64_t started_ns; /* since 1970; 0: not known */
    bool is_used;
    double value;          /* if is_used */
    size_t segment;        /* likewise */
    char why[HISTORY_WHY]; /* it is left out */
};

enum history_answer {
    HISTORY_NO_CHANGE,
    HISTORY_BETTER, /* the last segment than the one before */
    HISTORY_WORSE,
    HISTORY_CANNOT_TELL,
};

struct history {
    struct quantity quantity;
    char *load;                   /* of the newest, in a line */
    struct history_point *points; /* the oldest first */
    size_t n;
    size_t used;
    struct segments segments; /* of those that are used */
    double loss;
    double regression;
    enum history_answer answer;
    const char *why; /* it cannot be told; else NULL */
};

/* ERR_CONFIG if there is no recording below the directory, ERR_IO. */
int history_make(struct history *h, const struct history_ask *ask,
                 struct err *err);
void history_fini(struct history *h);

/* 0 no change or better, 1 worse, 4 it cannot be told. */
int history_exit_code(const struct history *h);

/* The caller owns it. */
struct doc *history_doc(const struct history *h);

#endif
