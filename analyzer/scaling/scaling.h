/* scaling.h - a scaling study, from measurements at several numbers of workers
 * K: speedup, efficiency, quality and cost, and up to which K it pays.
 *
 * Its document (scaling_doc.c) is made from this struct alone.  docs/scaling.md
 */
#ifndef ANALYZER_SCALING_SCALING_H
#define ANALYZER_SCALING_SCALING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/scaling/bend.h"
#include "analyzer/scaling/comm_fit.h"
#include "analyzer/scaling/scaling_laws.h"
#include "analyzer/scaling/scaling_point.h"
#include "analyzer/verdict/conclusion.h"
#include "common/base/str.h"

struct buf;
struct cost_ask;
struct err;

struct scale_ask {
    const struct strlist *sources; /* one CSV, or directories */
    enum scale_regime regime;
    const struct strlist *slo;   /* NULL: those of the recordings */
    double threshold;            /* for the efficiency */
    double tolerance;            /* for the quality */
    double work;                 /* of the job of one worker; 0: not given */
    const char *unit;            /* of work, in the singular; NULL: not given */
    double usd_per_hour;         /* of one worker; 0: not given */
    const struct cost_ask *cost; /* other prices; may be NULL */
    double flops_per_token;      /* 0: not given */
    double peak_flops;           /* of a worker; 0: not given */
    double deadline_s;           /* 0: none */
    enum scale_deadline_on deadline_on;
    double energy_tolerance; /* accepted rise of the energy per unit, as a
                                share; 0: energy is no gate */
    double comm_bytes;       /* that each worker sends per run; 0: unknown */
    int64_t warmup_trials;   /* number of trials of each set to skip */
    const char *baseline;    /* path of a sealed one; NULL: none */
};

/* A sign that a result is too good to be true. */
struct red_flag {
    const char *name;
    char says[200];
};

#define SCALE_FLAGS 5

/* What a report on scaling must state. */
struct scale_item {
    const char *name;
    bool is_present;
    char says[200];
};

#define SCALE_ITEMS     6
#define SCALE_ITEM_WARM 2 /* warm-up is excluded */

/* The cheapest K within a deadline, of those that keep quality, SLO and, if it
 * is a gate, energy.  Efficiency is not required. */
struct scale_deadline {
    bool is_priced;    /* every K within it has a price */
    bool is_shown;     /* the whole interval of its time is within it */
    int64_t fits;      /* number of K within it */
    int64_t k;         /* 0: none, or no price */
    int64_t fastest_k; /* of all that could be chosen; 0: unknown */
};

/* Values of K; 0: none.  Points that do not hold quality are excluded, except
 * from first_below. */
struct scale_verdict {
    int64_t first_below;  /* first K below the threshold */
    int64_t efficient_k;  /* largest K at or above it */
    int64_t cheapest_k;   /* per unit of work; 0 also without prices */
    int64_t thriftiest_k; /* lowest energy per unit of work */
    int64_t recommended_k;
    bool is_shown; /* the interval of the efficiency of recommended_k is above
                      the threshold */
    struct scale_deadline deadline; /* all zero: none was set */
};

struct scaling {
    struct scale_ask ask; /* sources and slo are borrowed */
    char *unit;           /* owned */

    /* Sorted by K, the baseline first. */
    struct scale_point *points;
    size_t n;
    struct strlist refusals; /* if any, the fields below are not computed */
    struct strlist notes;

    bool is_work_declared; /* by the user, not from the measurements */
    bool has_quality;
    double largest_drift;  /* of quality, in either direction */
    struct serial_law law; /* Gustafson's for weak scaling, else Amdahl's */
    struct usl usl;
    struct comm_fit comm; /* not fitted for capacities */
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

/* Yes if a K above 1 is recommended, no if none is, open if refused.  With a
 * deadline: yes if some K is within it, no if none is. */
enum conclusion scaling_conclusion(const struct scaling *s);

/* The caller owns it. */
struct doc *scaling_doc(const struct scaling *s);

/* Its short form, for doc_set_brief(). */
struct brief;
struct doc_node;
void scaling_brief(struct brief *b, const struct doc_node *root);

/* ---- its parts; all but the first are pure ---- */

/* Read points from a CSV file (docs/scaling.md), one per K and config, in any
 * order. */
int scale_table_read(struct scaling *s, const char *path, struct err *err);

/* The same from memory, which is modified; `name` replaces the path. */
int scale_table_parse(struct scaling *s, const char *name, char *text,
                      struct err *err);

/* The point with this K and config, created if needed. */
struct scale_point *scaling_point(struct scaling *s, int64_t k,
                                  const char *config, const char *where);

/* Sort the points, choose the baseline, refuse what is not scaling of this
 * regime, and compute the rest. */
void scaling_work_out(struct scaling *s);

/* Compute the red flags, the checklist and the verdict. */
void scaling_raise_flags(struct scaling *s);
void scaling_fill_checklist(struct scaling *s);
void scaling_decide(struct scaling *s);

/* NULL: it has no such K. */
const struct scale_point *scaling_at(const struct scaling *s, int64_t k);

/* Append the sentence to quote; only if nothing was refused. */
void scaling_claim(const struct scaling *s, struct buf *out);

/* Add a line to a list. */
void scaling_say(struct strlist *list, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
