/* madesummary.h - summaries of runs that never were, to be rendered. */
#ifndef TESTS_SUPPORT_MADESUMMARY_H
#define TESTS_SUPPORT_MADESUMMARY_H

#include <stdint.h>

#include "analyzer/tally/summary.h"
#include "common/settings/settings.h"

struct made_summary {
    struct settings settings;
    struct summary s;
    int64_t next; /* the last number that was used */
};

/* One in which no two numbers are alike.  Two of them with different starts
 * have no number in common. */
struct made_summary *made_summary_new(int64_t start);

/* One of nothing but a URL and a thread. */
struct made_summary *made_summary_bare(const char *url);

void made_summary_free(struct made_summary *m);

#endif
