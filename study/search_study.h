/* search_study.h - the largest load within the objective, on a real server: the
 * pure machine asks (analyzer/search/), its probes are recorded and read back.
 */
#ifndef STUDY_SEARCH_STUDY_H
#define STUDY_SEARCH_STUDY_H

#include <stdbool.h>

#include "analyzer/search/search.h"
#include "analyzer/search/search_read.h"
#include "study/study_points.h"

struct err;
struct settings;

struct search_drive {
    /* Given. */
    struct points points; /* its set of kind STUDY_SEARCH: what is recorded of
                             it is fed first */
    struct search_config config;
    struct search_terms terms;
    const struct settings *settings; /* for the classes */

    /* Before each recording, with what is known so far.  Optional. */
    void (*before)(void *arg, const struct search_ask *ask,
                   const struct search_answer *so_far);

    /* After each, with what it comes to.  Optional. */
    void (*after)(void *arg, const struct search_result *result);
    void *arg;

    /* The rest is filled in. */
    struct search machine;
    struct search_result last;
};

/* Feed what is recorded.  search_drive_fini() in any case. */
int search_drive_init(struct search_drive *d, struct err *err);
void search_drive_fini(struct search_drive *d);

/* One more recording, if the machine asks for one.  1: it is there; 0: it is
 * done, or somebody said stop, which the set says on disk; -1, and the set says
 * why. */
int search_step(struct search_drive *d, struct err *err);

#endif
