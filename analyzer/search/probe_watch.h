/* probe_watch.h - the eye on a probe that goes on: counts its requests as they
 * end, and those that are overdue, and asks the machine now and then whether
 * there is any hope left.  Pure. */
#ifndef ANALYZER_SEARCH_PROBE_WATCH_H
#define ANALYZER_SEARCH_PROBE_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/search/search.h"
#include "common/measure/good.h"

struct classes;
struct err;
struct facts;
struct search_terms;

/* Requests that are over, in any order; the window starts at `start_ns`
 * (INT64_MAX: nobody knows).  At least `issued` had been sent by `issued_ns`,
 * and what was over by `followed_ns` has been seen; 0: not known. */
struct search_sight {
    int64_t start_ns;
    const struct facts *rows;
    size_t n;
    int64_t issued;
    int64_t issued_ns;
    int64_t followed_ns;
};

/* How many had been sent by then. */
struct search_sent {
    int64_t at_ns;
    int64_t issued;
};

/* A look is kept if it is so long after the last, however many workers have
 * something to tell: so limits of a minute have one as old. */
#define SEARCH_EYE_LOOKS 128
#define SEARCH_EYE_APART INT64_C(500000000) /* ns */

struct search_eye {
    const struct search *search; /* borrowed, and so the terms */
    const struct search_terms *terms;
    struct good_table good;
    struct search_result so_far;
    int64_t window_ns; /* as asked */
    size_t next_look;  /* when so many blocks are over */
    bool is_over;      /* hopeless */

    struct search_sent first; /* in the window; at_ns 0: none yet */
    struct search_sent sent[SEARCH_EYE_LOOKS]; /* a ring: look i at i mod it */
    size_t looks;
};

/* ERR_CONFIG. */
int search_eye_init(struct search_eye *eye, const struct search *search,
                    const struct search_ask *ask,
                    const struct search_terms *terms,
                    const struct classes *classes, struct err *err);
void search_eye_fini(struct search_eye *eye);

/* True once there is no hope. */
bool search_eye_see(struct search_eye *eye, const struct search_sight *sight);

#endif
