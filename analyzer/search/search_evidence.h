/* search_evidence.h - what all probes of a search show together: which values
 * met the SLO, where the regression of each term crosses its allowed share,
 * which term is the limit, and where the client is.  Pure.
 *
 * The limit of a client is not sharp: now and then a run above it succeeds, and
 * one below it is disturbed.  It is taken as the load from which on most runs
 * are discarded.  Its significance follows from how much better two rates of
 * disturbances, below and above it, explain all runs than a single rate does,
 * and from how often the client ran out of resources. */
#ifndef ANALYZER_SEARCH_SEARCH_EVIDENCE_H
#define ANALYZER_SEARCH_SEARCH_EVIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/search/capacity_fit.h"
#include "analyzer/search/search.h"

/* A probe within this ratio of the estimate counts as near. */
#define EVIDENCE_NEAR 1.15

/* Values this close are the same, apart from rounding in files. */
#define EVIDENCE_SAME 1e-6

struct evidence {
    double met;    /* highest met value below all missed ones; 0: none */
    double missed; /* lowest missed value; INFINITY: none */
    double failed; /* lowest significantly missed value; INFINITY: none */
    double client; /* from this value on most runs are discarded: the limit of
                      the client; INFINITY: none */
    double client_chance; /* how well chance alone explains that */
    size_t beyond_client; /* number of runs discarded at and above it */
    double reached;       /* highest value below it that counts; 0: none */
    double rejected;      /* lowest value whose confirmation failed */
    size_t rejected_at;   /* index of that result */
    size_t rejections;
    double confirmed;   /* highest confirmed value; 0: none */
    bool confirmed_met; /* the SLO was met there; else missed, but not
                           significantly */

    bool has_fit;
    size_t binding; /* the term that limits the capacity */
    struct fit fit; /* the regression of that term */
    double value;   /* the estimate */
    struct interval ci;

    size_t near;               /* number of probes near the estimate */
    size_t contradictions;     /* pairs of probes that contradict each other */
    double contradiction_low;  /* of the last pair, the missed value ... */
    double contradiction_high; /* ... and the higher one that was met */
    size_t kept;               /* results that count */
    size_t discarded;          /* results that do not */
    size_t confirms_discarded; /* confirmations among those */
    const char *noise;         /* why the last of them does not count */
    int64_t took_ns;
    int64_t requests;
};

void evidence_take(const struct search *s, struct evidence *out);

/* Half-width of the interval, as a share of the estimate. */
double evidence_reach(const struct evidence *e);

/* Are there significantly more misses than allowed? */
bool evidence_is_failed(const struct search_counts *c, double allowed);

/* Is it a confirmation of this value? */
bool evidence_is_confirm_at(const struct search_result *r, double value);

/* The counts of all undiscarded confirmations of a value; the window is the sum
 * of theirs. */
void evidence_pool_confirms(const struct search *s, double value,
                            struct search_result *sum);

/* Was it discarded because the client ran out of CPU time, connections, local
 * ports, open files or memory? */
bool evidence_is_spent(const struct search_result *r);

#endif
