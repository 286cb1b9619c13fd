/* variant_reading.h - what is taken from one recording of a study with
 * variants. */
#ifndef ANALYZER_STUDIES_VARIANT_READING_H
#define ANALYZER_STUDIES_VARIANT_READING_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/studies/variants.h"

enum read_number {
    READ_OFFERED, /* a second, like the next three */
    READ_THROUGHPUT,
    READ_GOODPUT,
    READ_TOKENS,
    READ_ATTAINMENT,
    READ_TAIL, /* ns, or HIST_BEYOND and the like */
    READ_USD,  /* of 1000 good requests; below 0: not known */
    READ_NUMBERS,
};

struct reading {
    size_t variant;
    double value;
    bool counts;
    bool is_overloaded;
    enum verdict verdict;
    struct uncertain latency_ns; /* within this one run */
    double x[READ_NUMBERS];
    double window_s;
    struct interval attainment_ci95;
    struct latencies latencies; /* owned until a cell has them */
    struct server_parts parts;
};

struct readings {
    const struct strlist *slo;   /* in place of theirs; NULL: theirs */
    const struct cost_ask *cost; /* likewise */
    struct reading *list;
    size_t n;
    struct capacity_sums sums; /* of the variant that is being read */
    double usd_per_hour;       /* likewise; 0: not known */
};

/* The cells of each variant, of those that count; its values are known. */
void readings_make_cells(struct variants_summary *s, struct readings *all);

#endif
