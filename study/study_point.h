/* study_point.h - one recording of a study, or a run that is all there is: the
 * one way in which a recording is made.
 *
 * A study says what it wants (struct point); who has the settings makes it
 * (struct point_maker), by point_record().
 */
#ifndef STUDY_STUDY_POINT_H
#define STUDY_STUDY_POINT_H

#include <stdbool.h>
#include <stdint.h>

struct child;
struct err;
struct run_options;
struct settings;
struct strlist;
struct summary;

/* May end a recording before its time: a pure decision, asked while the load
 * goes on.  loadgen/engine/run.h says how. */
struct run_judge;

struct point {
    const char *dir;           /* not there yet */
    const struct strlist *set; /* "load.rate=80", over everything else that the
                                  settings say; NULL: nothing */
    int64_t number;            /* of its seeds, from 1 (study/trials_study.h) */
    const struct run_judge *judge; /* NULL: nobody ends it */
    bool is_after_backlog; /* the server may still be at work on the last one:
                              it begins when one request is answered */
};

struct point_maker {
    /* Read the settings anew, since a run uses them up, and record.  0 if there
     * is a recording, also if a signal cut it. */
    int (*make)(void *arg, const struct point *point, struct err *err);
    void *arg;
};

/* Aim at a stub beside us, and so the classes; a path that was given is kept.
 */
void point_aim(struct settings *s, const struct child *stub);

/* Drive the load of resolved settings and record it.  A stub or a server that
 * they ask for is started beside it in the same directory, and ends before this
 * returns.  ERR_STOPPED if a signal came before it began; ERR_IO if the
 * server did not start, or ended before the run did, of which there may be a
 * recording; the rest as run_load(). */
int point_record(const struct settings *s, struct run_options *options,
                 struct err *err);

/* Work out what a recording says and leave its summary.json there.  `see`, if
 * any, is handed it. */
int point_sum_up(const char *dir,
                 int (*see)(void *arg, const struct summary *s,
                            struct err *err),
                 void *arg, struct err *err);

/* Ask one request after the other until one is answered, which a queue does
 * when it has worked off what stands before it; at most so long.
 * Fails with ERR_STOPPED alone. */
int point_wait_calm(const struct settings *s, int64_t longest_ns,
                    struct err *err);

/* Leave the server alone for so long; less if somebody says stop. */
void point_settle(int64_t ns);

#endif
