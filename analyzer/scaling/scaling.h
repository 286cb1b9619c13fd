/* scaling.h - what a series of measurements at K workers says: speedup,
 * efficiency, quality and cost together, and up to which K it pays.
 *
 * Its document (scaling_doc.c) is made from this struct alone.  docs/scaling.md
 */
#ifndef ANALYZER_SCALING_SCALING_H
#define ANALYZER_SCALING_SCALING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/scaling/bend.h"
#include "analyzer/scaling/scaling_laws.h"
#include "analyzer/scaling/scaling_point.h"
#include "common/base/str.h"

struct buf;
struct cost_ask;
struct err;

struct scale_ask {
    const struct strlist *sources; /* one CSV, or directories */
    enum scale_regime regime;
    const struct strlist *slo;   /* instead of the recordings'; NULL: theirs */
    double threshold;            /* of the efficiency */
    double tolerance;            /* of the quality */
    double work;                 /* of one worker's job; 0: not said */
    const char *unit;            /* of work, in the singular; NULL: not said */
    double usd_per_hour;         /* of one worker; 0: not said */
    const struct cost_ask *cost; /* prices of machines; may be NULL */
    double flops_per_token; /* 0: not said; likewise the peak of a worker */
    double peak_flops;
    int64_t warmup_trials; /* of each set, the first so many */
    const char *baseline;  /* a sealed one; NULL: none */
};

/* What makes a result look better than it can be. */
struct red_flag {
    const char *name;
    char says[200];
};

#define SCALE_FLAGS 5

/* What a report of scaling must carry with it. */
struct scale_item {
    const char *name;
    bool is_present;
    char says[200];
};

#define SCALE_ITEMS 6

/* Ks; 0: there is none.  Rows whose quality is not held are in none of them. */
struct scale_verdict {
    int64_t first_below;  /* the threshold; of all rows */
    int64_t efficient_k;  /* the largest at or above it */
    int64_t cheapest_k;   /* a unit of work; 0 also without prices */
    int64_t thriftiest_k; /* the same in joules */
    int64_t recommended_k;
    bool is_shown; /* the interval of its efficiency is above the threshold */
};

struct scaling {
    struct scale_ask ask; /* sources and slo are borrowed */
    char *unit;           /* owned */

    /* By K, the baseline first. */
    struct scale_point *points;
    size_t n;
    struct strlist refusals; /* why nothing below is worked out */
    struct strlist notes;

    bool is_work_declared; /* by the user, not by the measurements */
    bool has_quality;
    double largest_drift;  /* of quality, either way */
    struct serial_law law; /* Gustafson's of weak scaling, else Amdahl's */
    struct usl usl;
    struct bend bend;
    struct red_flag flags[SCALE_FLAGS];
    size_t n_flags;
    struct scale_item items[SCALE_ITEMS];
    struct scale_verdict verdict;
};

/* ERR_USAGE, ERR_CONFIG, ERR_IO, ERR_FORMAT. */
int scaling_make(struct scaling *s, const struct scale_ask *ask,
                 struct err *err);
void scaling_fini(struct scaling *s);

const char *scale_regime_name(enum scale_regime regime);

/* 0 a K above 1 is recommended, 1 none is, 4 refused. */
int scaling_exit_code(const struct scaling *s);

/* The caller owns it. */
struct doc *scaling_doc(const struct scaling *s);

/* ---- its parts; pure but for the first ---- */

/* The points of a CSV (docs/scaling.md), in no order, one a K and config. */
int scale_table_read(struct scaling *s, const char *path, struct err *err);

/* The same from memory, which is changed; `name` stands for the path. */
int scale_table_parse(struct scaling *s, const char *name, char *text,
                      struct err *err);

/* A point of that K and config, made if it is not there. */
struct scale_point *scaling_point(struct scaling *s, int64_t k,
                                  const char *config, const char *where);

/* Order the points, choose the baseline, refuse what is no such scaling. */
void scaling_order(struct scaling *s);

/* From points in order to all the rest. */
void scaling_work_out(struct scaling *s);

/* Of that: red flags, checklist, verdict. */
void scaling_raise_flags(struct scaling *s);
void scaling_fill_checklist(struct scaling *s);
void scaling_decide(struct scaling *s);

/* One more line in a list. */
void scaling_say(struct strlist *list, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
