/* compare_side.h - one side of a comparison: a recording, or a set of trials.
 *
 * A set of trials is a directory with a recording in each of trial-1, trial-2,
 * and so on.  Those that cannot be trusted are discarded (valid_runs.h).  The
 * recordings are read and closed again.  study.json, if
 * present, says whether the server was restarted for each trial
 * (docs/trials.md).
 */
#ifndef ANALYZER_COMPARE_COMPARE_SIDE_H
#define ANALYZER_COMPARE_COMPARE_SIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/compare/finding.h"
#include "analyzer/compare/run_conditions.h"

struct err;
struct slo;

struct side {
    char *dir;
    bool is_set;
    bool is_one_launch; /* all its trials are known to use one process */
    bool has_own_stubs; /* each trial started a stub server of its own */
    char *home;         /* absolute path; NULL: no study.json */
    char *turned_with;  /* absolute path of the set it took turns with; NULL:
                           none */
    struct compared_run *runs; /* those that count, then discarded ones */
    size_t n;                  /* number of those that count; if there are
                                  none 1, a discarded one */
    size_t n_all;              /* with those that are discarded */
    bool is_invalid;           /* too few count */

    /* Per quantity one value per recording; owned. */
    double *units[QUANTITIES_MAX];
    bool has_all[QUANTITIES_MAX];
};

/* ERR_CONFIG if there is nothing at `dir`, ERR_IO and ERR_FORMAT as
 * recording_open(). */
int side_load(struct side *side, const char *dir, const struct side_ask *ask,
              struct err *err);
void side_fini(struct side *side);

/* Number of trials at the beginning that only warm the server: one for an
 * offline set with a single launch, since such runs have no warm-up of their
 * own; else 0. */
size_t side_warmup(const struct side *side);

/* Values of quantity i, one per run, skipping the first `first` runs.  Returns
 * how many runs have one. */
size_t side_values(const struct side *side, size_t first, size_t i,
                   double *out);

/* The SLO of a recording, or of the first of a set, unless replaced, and
 * whether its load is an open loop. */
int side_slo(const char *dir, const struct strlist *replace, struct slo *slo,
             bool *is_open_loop, struct err *err);

/* When a recording, or the first of a set, began, since 1970. */
int side_started(const char *dir, int64_t *started_ns, struct err *err);

/* What is compared for quantity i: the trials of a set, or the slices of a
 * single recording. */
struct sample side_sample(const struct side *side, size_t i);

/* Its value: the median of its trials, or that of the whole window; false: no
 * value. */
bool side_value(const struct side *side, size_t i, double *value);

/* A recording because of which the side may not be compared; NULL: it may.
 * Discarded ones matter if too few others remain.  Of those that count, one
 * that was aborted or overloaded is enough: leaving it out would be choosing
 * the result. */
const struct compared_run *side_obstacle(const struct side *side);

/* Number of its recordings that miss the SLO. */
size_t side_missed(const struct side *side);

/* Number of its recordings whose window begins before the server is warm. */
size_t side_cold(const struct side *side);

/* Two sets of equal length whose study.json names the other one are pairs. */
enum basis basis_of(const struct side *a, const struct side *b);

#endif
