/* compare_history.h - many recordings under the same conditions, in the order
 * in which they were made: where did a quantity change, and is it worse now?
 *
 * The conditions are those of the newest recording.  Recordings with other
 * conditions are listed but not used, and so are those that cannot be trusted.
 */
#ifndef ANALYZER_COMPARE_COMPARE_HISTORY_H
#define ANALYZER_COMPARE_COMPARE_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/compare/quantity.h"
#include "analyzer/verdict/conclusion.h"

struct buf;
struct err;
struct strlist;

struct history_ask {
    const char *dir; /* its subdirectories are recordings or sets of trials */
    const struct strlist *on;    /* only the first is used */
    const struct strlist *slo;   /* NULL: those of the recordings */
    double regression;           /* ignore smaller losses; below 0: none */
    const struct cost_ask *cost; /* NULL: prices of the recordings */
};

/* Minimum number of results: with fewer, no order of them is as unlikely as
 * SEGMENTS_LEVEL. */
#define SEGMENTS_MIN   10
#define SEGMENTS_LEVEL 0.01
#define SEGMENTS_MAX   32

/* A stretch of the series between two changes. */
struct segment {
    size_t first; /* index in the series */
    size_t n;
    double median;
    double p; /* of the change at its beginning; 1 for the first segment */
};

struct segments {
    struct segment list[SEGMENTS_MAX];
    size_t len; /* 0: too few results */
};

/* Cut a series of finite values where it changes.  Pure. */
void segments_find(struct segments *s, const double *x, size_t n);

/* Loss of the last segment against the one before, as a share of that one's
 * median; above 0: worse; 0 if nothing changed.  Pure. */
double segments_loss(const struct segments *s, bool more_is_better);

#define HISTORY_WHY 512

struct history_point {
    char *dir;
    int64_t started_ns; /* since 1970; 0: unknown */
    bool is_used;
    double value;          /* if is_used */
    size_t segment;        /* if is_used */
    char why[HISTORY_WHY]; /* why it is not used */
};

enum history_answer {
    HISTORY_NO_CHANGE,
    HISTORY_BETTER, /* the last segment against the one before */
    HISTORY_WORSE,
    HISTORY_CANNOT_TELL,
};

struct history {
    struct quantity quantity;
    char *load;                   /* of the newest, one line */
    struct history_point *points; /* the oldest first */
    size_t n;
    size_t used;
    struct segments segments; /* of the used points */
    double loss;
    double regression;
    enum history_answer answer;
    const char *why; /* reason for HISTORY_CANNOT_TELL, else NULL */
};

/* ERR_CONFIG if there is no recording below the directory, ERR_IO. */
int history_make(struct history *h, const struct history_ask *ask,
                 struct err *err);
void history_fini(struct history *h);

/* Yes if there is no change or it got better, no if worse, else open. */
enum conclusion history_conclusion(const struct history *h);

/* The caller owns it. */
struct doc *history_doc(const struct history *h);

#endif
