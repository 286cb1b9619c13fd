/* phases.h - when the window begins and ends, for all who must agree on it.
 *
 * A warm-up of so many requests ends when they were due.  In an open loop each
 * lane finds out by itself, from the schedule; in a closed loop the lanes have
 * clients of their own, and the window begins when the last lane has had its
 * part.  Until then, what a lane gives out is warm-up; from then on all go by
 * due time.  One word holds both, so that no request can fall in between.
 */
#ifndef LOADGEN_SCHEDULE_PHASES_H
#define LOADGEN_SCHEDULE_PHASES_H

#include <stdatomic.h>
#include <stdint.h>

struct load_settings;

struct phases {
    /* Twice the time that the window cannot begin before; odd: it begins
     * then. */
    _Atomic int64_t begin;
    _Atomic int64_t end_ns;     /* by its count; DUE_UNKNOWN: not so far */
    _Atomic int64_t lanes_left; /* that have not had their part */
    int64_t longest_ns;         /* of the window; 0: as long as it takes */
};

/* Shared by so many lanes. */
void phases_init(struct phases *p, const struct load_settings *load,
                 int64_t lanes);

/* The window begins then, or began before.  Any thread. */
void phases_begin(struct phases *p, int64_t start_ns);

/* The window was ended by its count.  Any thread. */
void phases_end(struct phases *p, int64_t end_ns);

/* A lane has had its part, once; its next request is due then.  That of the
 * last one begins the window, unless another lane is ahead of it. */
void phases_leave(struct phases *p, int64_t due_ns);

/* When the window begins or, not known yet, DUE_UNKNOWN: then it does so after
 * due_ns, and a request that is due until then is of the warm-up. */
int64_t phases_enter(struct phases *p, int64_t due_ns);

/* As far as known, else DUE_UNKNOWN.  Any thread. */
int64_t phases_start_ns(const struct phases *p);
int64_t phases_end_ns(const struct phases *p);

#endif
