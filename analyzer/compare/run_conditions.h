/* run_conditions.h - what a comparison takes from one recording: its
 * conditions as a flat list of texts, and its numbers. */
#ifndef ANALYZER_COMPARE_RUN_CONDITIONS_H
#define ANALYZER_COMPARE_RUN_CONDITIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/compare/window_slices.h"
#include "analyzer/studies/valid_runs.h"
#include "common/base/str.h"

struct cost_ask;
struct err;
struct recording;
struct summary;

/* Conditions by dotted key: settings (load.rate, conditions.batching), and what
 * is known about data, client, host and network path.  Defaults are filled in,
 * so an option that an older recording does not have is not a difference. */
void run_conditions_make(struct strmap *conditions, struct recording *rec,
                         const struct summary *s);

/* What to take from a recording, and how to judge it. */
struct side_ask {
    const struct quantities *qs;
    const struct strlist *slo;   /* NULL: its own SLO */
    const struct cost_ask *cost; /* NULL: its own prices */
};

struct compared_run {
    char *dir;
    struct strmap conditions;
    char *load;             /* description of the load, one line */
    int64_t started_ns;     /* since 1970; 0: unknown */
    char why[RUN_OBSTACLE]; /* why it may not be compared; "": it may */
    bool is_discarded;      /* for a reason that does not depend on its
                               latencies: a set can do without it */

    bool is_open_loop;
    bool is_overloaded;
    bool has_slo;
    bool breaks_slo;
    bool has_warmup;   /* the window excludes a warm-up */
    bool is_cold;      /* the window begins before the server is warm */
    int64_t checked;   /* number of checked answers */
    double stopped_s;  /* length of the window if its SLO was decided before the
                          planned end; 0: it was not */
    double makespan_s; /* offline set: from its start to its last end; 0: not an
                          offline set */

    struct reading whole[QUANTITIES_MAX];
    struct slice_readings slices[QUANTITIES_MAX];
};

/* The recording is closed again.  compared_run_fini() only on success. */
int compared_run_load(struct compared_run *run, const char *dir,
                      const struct side_ask *ask, struct err *err);
void compared_run_fini(struct compared_run *run);

#endif
