/* study_point.h - the one way in which a recording is made, alone or as a point
 * of a study. */
#ifndef STUDY_STUDY_POINT_H
#define STUDY_STUDY_POINT_H

#include <stddef.h>
#include <stdint.h>

struct child;
struct err;
struct launcher;
struct recording;
struct run_bins;
struct run_options;
struct settings;
struct summary;

#define POINT_MAX_REPORT ((size_t)16 << 20)

/* Replace the target's URLs, also those of the classes, by that of a stub; the
 * path is kept. */
void point_aim(struct settings *s, const struct child *stub);

/* Drive the load of resolved settings and record it, by a launcher unless that
 * is NULL (study/launch/launch.h).  A stub or a server that they ask for is
 * started in the same directory, and ends before this returns.  0: there is a
 * recording. 1: the launcher left nothing, and err says why.  -1: ERR_STOPPED
 * if a signal came before the run began; ERR_IO if the server did not start, or
 * ended before the run did, in which case there may be a recording; other
 * errors as run_load(). */
int point_record(const struct settings *s, const struct run_options *asked,
                 const struct launcher *launcher, struct err *err);

/* Summarise a recording into its summary.json, and hand the summary to `see`,
 * if that is not NULL.  `bins`: filled in the same pass; zeroed, or NULL. */
int point_sum_up(const char *dir, struct run_bins *bins,
                 int (*see)(void *arg, const struct summary *s,
                            const struct recording *rec, struct err *err),
                 void *arg, struct err *err);

/* Send one request after the other until one is answered, at most this long: a
 * queue answers when it has finished what was in it.  Fails with ERR_STOPPED
 * only. */
int point_wait_calm(const struct settings *s, int64_t longest_ns,
                    struct err *err);

/* Leave the server alone for this long, or until a signal comes. */
void point_settle(int64_t ns);

#endif
