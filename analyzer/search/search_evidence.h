/* search_evidence.h - what all probes of a search show together: which values
 * met the SLO, where the regression of each term crosses its allowed share,
 * which term is the limit, and where the client is.  Pure. */
#ifndef ANALYZER_SEARCH_SEARCH_EVIDENCE_H
#define ANALYZER_SEARCH_SEARCH_EVIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/search/capacity_fit.h"
#include "analyzer/search/search.h"

struct evidence {
    double met;         /* highest met value below all missed ones; 0: none */
    double missed;      /* lowest missed value; INFINITY: none */
    double failed;      /* lowest significantly missed value; INFINITY: none */
    double met_to;      /* highest value that a probe met; 0: none ... */
    double missed_from; /* ... and lowest that one missed, by exact counts */

    double client;        /* lowest value at which the client failed as often as
                             it is tried, and above all that it managed;
                             INFINITY: none */
    size_t beyond_client; /* number of runs discarded at and above it */
    double reached;       /* highest value that counts; 0: none */

    double rejected;    /* lowest value whose confirmation failed */
    size_t rejected_at; /* index of that result */
    size_t rejections;
    double confirmed;   /* highest confirmed value; 0: none */
    bool confirmed_met; /* the SLO was met there; else missed, but not
                           significantly */

    bool has_fit;
    size_t binding;     /* the term that limits the capacity */
    struct fit fit;     /* the regression of that term, and ... */
    struct interval ci; /* ... the interval of all */

    struct fit fits[SLO_MAX_TERMS]; /* of every term; load 0: never missed */

    size_t contradictions;     /* pairs of probes that contradict each other */
    double contradiction_low;  /* of the last pair, the missed value ... */
    double contradiction_high; /* ... and the higher one that was met */

    const struct search_result *look; /* NULL: none */
    size_t kept;                      /* results that count, without the look */
    size_t discarded;                 /* results that do not */
    const char *noise; /* why the last result does not count; NULL: it does */
    int64_t took_ns;
    int64_t requests;
};

void evidence_take(const struct search *s, struct evidence *out);

/* Half-width of the interval, as a share of the estimate. */
double evidence_reach(const struct evidence *e);

/* Are there significantly more misses than allowed? */
bool evidence_is_failed(const struct search_counts *c, double allowed);

/* Are the two values the same, apart from rounding in files? */
bool evidence_is_at(double a, double b);

/* Does it count, as a probe or a confirmation? */
bool evidence_counts(const struct search_result *r);

/* Number of runs of this kind at a value that were discarded. */
size_t evidence_discarded_at(const struct search *s, enum search_step step,
                             double value);

#endif
