/* ranks.h - the processes of `--launch mpi:N`: started once by mpirun or srun,
 * they make one recording after the other, so that a study does not start them
 * for each.  study/launch/rank_talk.h has what is said. */
#ifndef STUDY_RANKS_H
#define STUDY_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "study/launch/rank_clock.h"

struct err;
struct ranks;
struct run_options;
struct settings;
struct strlist;

/* Nothing is started yet. */
struct ranks *ranks_new(void);

/* Ends them, and waits for that.  Accepts NULL. */
void ranks_free(struct ranks *r);

struct ranks_job {
    const char *script;                /* starts them, if none are there, ... */
    const struct strlist *environment; /* ... with this */
    int n;
    const char *out; /* has plan.json; the recordings go there */
    int64_t lead_ns; /* from all being ready to the common start */
    int64_t limit_ns;
    const struct settings *settings;
    const struct run_options *options; /* progress, watch and judge */
};

/* Have them make the recordings of one run.  `why` is "" if all ranks say that
 * theirs is complete.  If a rank is lost, or they do not end in time, the
 * others are cut, and all are ended.  ERR_IO if nothing could be started. */
int ranks_run(struct ranks *r, const struct ranks_job *job, char *why,
              size_t size, struct err *err);

/* Was a rank lost in the last run while it sent, before the time was up? */
bool ranks_were_lost(const struct ranks *r);

/* Was this rank lost, or was it not done when the time was up? */
bool ranks_has_lost(const struct ranks *r, int64_t rank);

struct rank_offset ranks_clock(const struct ranks *r, int64_t rank);

/* From the job to the common start; 0: there was none. */
int64_t ranks_starting_ns(const struct ranks *r);

#endif
