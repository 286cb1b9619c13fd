/* search_evidence.h - what the probes of a search say together: which were met,
 * where each term's line crosses, and which one binds.  Pure. */
#ifndef ANALYZER_SEARCH_SEARCH_EVIDENCE_H
#define ANALYZER_SEARCH_SEARCH_EVIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/search/miss_fit.h"
#include "analyzer/search/search.h"

/* A probe within this ratio of the estimate is near it. */
#define EVIDENCE_NEAR 1.15

/* Values that were asked for as one, whatever a file made of them. */
#define EVIDENCE_SAME 1e-6

struct evidence {
    double met;    /* highest value that was met, below all missed; 0: none */
    double missed; /* lowest one that was missed ... */
    double failed; /* ... and for sure; INFINITY: none, as below */
    double client; /* from this on most are set aside: the client's limit,
                      as far as it is known; INFINITY: none in sight */
    double client_chance; /* how well chance explains that, beside the load */
    size_t beyond_client; /* how many were set aside there and beyond */
    double reached;       /* highest one below that counts; 0: none */
    double rejected;      /* lowest one whose confirmation failed ... */
    size_t rejected_at;   /* ... and which result that is */
    size_t rejections;
    double confirmed;   /* highest one whose confirmation held; 0: none ... */
    bool confirmed_met; /* ... and whether it was met there; else it was missed,
                           but not for sure */

    bool has_fit;
    size_t binding; /* the term whose line crosses first */
    struct fit fit; /* its */
    double value;   /* the estimate */
    struct interval ci;

    size_t near;           /* probes that tell of it */
    size_t twist;          /* pairs of probes that contradict each other ... */
    double twist_low;      /* ... of the last, the value that was missed ... */
    double twist_high;     /* ... and the higher one that was met */
    size_t kept;           /* results that count, ... */
    size_t set_aside;      /* ... those that do not, ... */
    size_t confirms_aside; /* ... confirmations among them, ... */
    const char *noise;     /* ... and why the last of them does not */
    int64_t took_ns;
    int64_t requests;
};

void evidence_take(const struct search *s, struct evidence *out);

/* How far the interval reaches to either side, as a share of the estimate. */
double evidence_reach(const struct evidence *e);

#endif
