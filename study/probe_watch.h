/* probe_watch.h - watches a running probe: counts its requests as they end, and
 * those that are overdue, and checks now and then whether the probe is
 * hopeless.  Pure. */
#ifndef STUDY_PROBE_WATCH_H
#define STUDY_PROBE_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/search/search.h"
#include "common/measure/good.h"

struct classes;
struct err;
struct facts;
struct search_terms;

/* Requests that ended, in any order.  The window starts at `start_ns`
 * (INT64_MAX: unknown).  At least `issued` requests had been sent by
 * `issued_ns`, and all that ended by `followed_ns` have been seen; 0:
 * unknown. */
struct probe_progress {
    int64_t start_ns;
    const struct facts *rows;
    size_t n;
    int64_t issued;
    int64_t issued_ns;
    int64_t followed_ns;
};

/* Number of requests sent by a time. */
struct probe_sent {
    int64_t at_ns;
    int64_t issued;
};

/* Samples are kept at this interval, so that the ring reaches back a minute. */
#define PROBE_WATCH_SAMPLES     128
#define PROBE_WATCH_INTERVAL_NS INT64_C(500000000) /* ns */

struct probe_watch {
    const struct search *search; /* borrowed, like the terms */
    const struct search_terms *terms;
    struct good_table good;
    struct search_result so_far;
    int64_t window_ns; /* as requested */
    size_t next_check; /* number of finished slices at which to check again */
    bool is_over;      /* hopeless */

    struct probe_sent first; /* in the window; at_ns 0: none yet */
    struct probe_sent sent[PROBE_WATCH_SAMPLES]; /* a ring */
    size_t samples;
};

/* ERR_CONFIG. */
int probe_watch_init(struct probe_watch *watch, const struct search *search,
                     const struct search_ask *ask,
                     const struct search_terms *terms,
                     const struct classes *classes, struct err *err);
void probe_watch_fini(struct probe_watch *watch);

/* True once the probe is hopeless. */
bool probe_watch_see(struct probe_watch *watch,
                     const struct probe_progress *sight);

#endif
