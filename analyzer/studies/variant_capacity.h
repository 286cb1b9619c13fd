/* variant_capacity.h - the largest load of a variant within the objective: what
 * its search has found, or what the points of its sweep come to. */
#ifndef ANALYZER_STUDIES_VARIANT_CAPACITY_H
#define ANALYZER_STUDIES_VARIANT_CAPACITY_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/search/search.h"
#include "analyzer/search/search_read.h"

struct err;
struct recording;
struct strlist;
struct summary;

struct capacity {
    bool is_there; /* somebody looked for it; else nothing below */
    enum search_outcome outcome;
    double value;          /* NAN: not known */
    struct interval range; /* at SEARCH_CONFIDENCE, or from the highest that
                              was met to the lowest that was missed; INFINITY:
                              there is no such */
    bool is_bracket;       /* the latter */
    double usd_per_1000;   /* good requests, at that load; below 0: not known */
    char binding[112];     /* the term that binds; "": none */
    char why[SEARCH_TEXT];
};

/* The points of a sweep, one after the other.  Zeroed to begin with. */
struct capacity_sums {
    bool is_off; /* the objective cannot be searched, or it was not the load
                    that was varied */
    struct search_terms terms;
    struct search_config config;
    struct search_result *results; /* owned */
    size_t n;
    double usd_per_hour; /* of all replicas; 0: not known */
};

void capacity_add(struct capacity_sums *sums, struct recording *rec,
                  const struct summary *s, const struct study_point *at);
void capacity_of_sums(const struct capacity_sums *sums, struct capacity *c);
void capacity_sums_fini(struct capacity_sums *sums);

/* What the search at `dir` has found; `slo` as for search_read(). */
int capacity_read(struct capacity *c, const char *dir,
                  const struct strlist *slo, double usd_per_hour,
                  struct err *err);

/* Is a's shown to be the larger? */
bool capacity_is_above(const struct capacity *a, const struct capacity *b);

/* For an order: the estimate, or the best that is known; below 0: nothing. */
double capacity_sort_key(const struct capacity *c);

#endif
