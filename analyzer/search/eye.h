/* eye.h - the eye on a probe that goes on: counts its requests as they end, and
 * asks the machine now and then whether there is any hope left.  Pure. */
#ifndef ANALYZER_SEARCH_EYE_H
#define ANALYZER_SEARCH_EYE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/search/search.h"
#include "common/good.h"

struct classes;
struct err;
struct facts;
struct search_terms;

struct search_eye {
    const struct search *search; /* borrowed, and so the terms */
    const struct search_terms *terms;
    struct good_table good;
    struct search_result so_far;
    int64_t window_ns; /* as asked */
    size_t next_look;  /* when so many blocks are over */
    bool is_over;      /* hopeless */
};

/* ERR_CONFIG. */
int search_eye_init(struct search_eye *eye, const struct search *search,
                    const struct search_ask *ask,
                    const struct search_terms *terms,
                    const struct classes *classes, struct err *err);
void search_eye_fini(struct search_eye *eye);

/* Requests that are over, in any order; the window starts at `start_ns`.  True
 * once there is no hope. */
bool search_eye_see(struct search_eye *eye, int64_t start_ns,
                    const struct facts *rows, size_t n);

#endif
