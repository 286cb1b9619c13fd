/* scaling_runs.h - points of a scaling study from recordings: offline sets at K
 * replicas, alone, as sets of trials, or as the variants of a study.
 *
 * T is the makespan of the set: from its start, when all of it is due, to its
 * last answer.  The duration of an open loop is what somebody asked for, and no
 * T.
 */
#ifndef ANALYZER_SCALING_SCALING_RUNS_H
#define ANALYZER_SCALING_SCALING_RUNS_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct scale_point;
struct scaling;
struct settings;
struct strmap;

/* What may not be used is refused, not an error.  ERR_CONFIG if there is
 * nothing at `dir`, ERR_IO and ERR_FORMAT as recording_open(). */
int scale_runs_read(struct scaling *s, const char *dir, struct err *err);

/* In what two recordings differ that must match, beyond K; NULL: they match.
 * Owned by the caller. */
char *scale_runs_apart(const struct scaling *s, const struct strmap *a,
                       const struct strmap *b);

/* K of a run by its settings; refused where they contradict each other. */
bool scale_runs_k(struct scaling *s, const char *dir,
                  const struct settings *settings, int64_t *k);

/* The point that a recording with these conditions, which are taken, is of. */
struct scale_point *scale_runs_point(struct scaling *s, const char *dir,
                                     int64_t k,
                                     struct strmap *conditions_taken);

/* Refuse points that differ from K = 1 in more than K; points in order. */
void scale_runs_match(struct scaling *s);

#endif
