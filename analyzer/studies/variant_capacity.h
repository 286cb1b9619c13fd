/* variant_capacity.h - the largest load of a variant within the SLO, from its
 * search, or estimated from the points of its sweep. */
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
    bool is_present; /* it was searched for; else the rest is unset */
    enum search_outcome outcome;
    double value;          /* NAN: unknown */
    struct interval range; /* at SEARCH_CONFIDENCE; or from the highest load
                              that met the SLO to the lowest that missed it;
                              INFINITY: none */
    bool is_bracket;       /* the latter */
    double usd_per_1000;   /* per 1000 good requests at that load; below 0:
                              unknown */
    char binding[112];     /* the SLO term that limits it; "": none */
    char why[SEARCH_TEXT];
};

/* Collects the points of a sweep.  Must be zeroed first. */
struct capacity_sums {
    bool is_off; /* the SLO cannot be searched, or the load was not varied */
    struct search_terms terms;
    struct search_config config;
    struct search_result *results; /* owned */
    size_t n;
    double usd_per_hour; /* of all replicas; 0: unknown */
};

void capacity_add(struct capacity_sums *sums, struct recording *rec,
                  const struct summary *s, const struct study_point *at);
void capacity_of_sums(const struct capacity_sums *sums, struct capacity *c);
void capacity_sums_fini(struct capacity_sums *sums);

/* The result of the search at `dir`; `slo` as for search_read(). */
int capacity_read(struct capacity *c, const char *dir,
                  const struct strlist *slo, double usd_per_hour,
                  struct err *err);

/* Is a shown to be larger than b with this confidence, and by the smallest
 * difference worth mentioning, a share? */
bool capacity_is_above(const struct capacity *a, const struct capacity *b,
                       double confidence, double smallest);

/* Sort key: the estimate, or the best known bound; below 0: none. */
double capacity_sort_key(const struct capacity *c);

#endif
