/* scaling_runs.h - points of a scaling study from recordings: offline sets at K
 * replicas, as single runs, sets of trials or variants of a study; or searches
 * (docs/search.md), with the capacity at K replicas.
 *
 * T is the makespan of the set: from its start, when all requests are due, to
 * its last answer.  The duration of an open loop is chosen by the user and is
 * not a T.
 */
#ifndef ANALYZER_SCALING_SCALING_RUNS_H
#define ANALYZER_SCALING_SCALING_RUNS_H

struct err;
struct scaling;
struct strmap;

/* What cannot be used is added to the refusals; that is not an error.
 * ERR_CONFIG if there is nothing at `dir`, ERR_IO and ERR_FORMAT as
 * recording_open(). */
int scale_runs_read(struct scaling *s, const char *dir, struct err *err);

/* The first difference between two sets of conditions that must match, apart
 * from K; NULL: they match.  Owned by the caller. */
char *scale_runs_mismatch(const struct scaling *s, const struct strmap *a,
                          const struct strmap *b);

/* Refuse points that differ from K = 1 in more than K.  Points must be sorted.
 */
void scale_runs_match(struct scaling *s);

#endif
