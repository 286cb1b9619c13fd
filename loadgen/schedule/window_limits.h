/* window_limits.h - what a run may send, and when its window begins and ends.
 *
 * A run sends a warm-up, which does not count; then its window, until its time
 * is over or its number of requests is reached, whichever comes first, or until
 * a minimum of both is reached; then a cool-down, which does not count either.
 * An automatic cool-down ends when nearly all requests of the window have ended
 * (window_limits_settle()).
 *
 * Requests belong to a part by their due time.  A warm-up counted in requests
 * ends with the last of them; requests that are due at the same instant are
 * part of it.
 */
#ifndef LOADGEN_SCHEDULE_WINDOW_LIMITS_H
#define LOADGEN_SCHEDULE_WINDOW_LIMITS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/settings/settings.h"
#include "loadgen/schedule/source.h"

/* ---- phases: the window as all lanes and threads agree on it ---- */

/* A warm-up counted in requests ends when all of them were due.  In an open
 * loop each lane finds out by itself, from the schedule.  In a closed loop each
 * lane has clients of its own, and the window begins when the last lane has
 * sent its part of the warm-up.  Until then, every request that a lane sends is
 * warm-up; from then on the due time decides.  One atomic word holds both, so
 * that every request belongs to exactly one part. */
struct phases {
    /* Twice the earliest possible start of the window; odd: it starts then. */
    _Atomic int64_t begin;
    _Atomic int64_t end_ns;      /* by its count; DUE_UNKNOWN: not yet */
    _Atomic int64_t lanes_left;  /* lanes with warm-up requests left to send */
    int64_t longest_ns;          /* maximum length of the window; 0: no limit */
    int64_t cooldown_ns;         /* maximum */
    _Atomic int64_t lanes_open;  /* lanes that have not settled */
    _Atomic int64_t load_end_ns; /* set when all have; else DUE_UNKNOWN */
};

/* `lanes` lanes share it. */
void phases_init(struct phases *p, const struct load_settings *load,
                 int64_t lanes);

/* The window begins at start_ns, unless it has begun before.  Any thread. */
void phases_begin(struct phases *p, int64_t start_ns);

/* Called once per lane, when it has sent its part of the warm-up; its next
 * request is due at due_ns.  The last lane's call begins the window at that
 * time, or later if another lane is ahead of it. */
void phases_leave(struct phases *p, int64_t due_ns);

/* The start of the window.  DUE_UNKNOWN: it will begin after due_ns, so that a
 * request due at due_ns or before is warm-up. */
int64_t phases_enter(struct phases *p, int64_t due_ns);

/* Start and end of the window; DUE_UNKNOWN: not known yet.  Any thread. */
int64_t phases_start_ns(const struct phases *p);
int64_t phases_end_ns(const struct phases *p);

/* When the load ends, at the latest, including the cool-down; DUE_UNKNOWN: not
 * known yet.  Any thread. */
int64_t phases_load_end_ns(const struct phases *p);

/* ---- limits: what one source may still send ---- */

struct window_limits {
    int64_t warmup_left;     /* requests; then the window begins */
    int64_t window_start_ns; /* DUE_UNKNOWN: the warm-up is not complete */
    int64_t window_end_ns;   /* DUE_UNKNOWN: only the count ends it */
    int64_t end_ns;          /* of the cool-down; DUE_UNKNOWN: the same */
    int64_t longest_ns;      /* maximum length of the window; 0: no limit */
    int64_t cooldown_ns;     /* maximum */
    bool is_auto;            /* the cool-down can end earlier */
    bool is_settled;         /* it has done so as far as this lane goes */
    int64_t window_left;     /* requests; negative: only the time ends it */
    int64_t last_ns;         /* due time of the last request in the window */
    int64_t min_ns;        /* the last request is due this late or later ... */
    int64_t min_left;      /* ... and this many more must be sent before */
    bool has_min;          /* those two apply */
    bool is_enough;        /* and are reached */
    struct phases *phases; /* informed of changes; borrowed; NULL: not shared */
};

struct window_limits window_limits_of(const struct load_settings *load);

/* Reduce the number of requests in the window to a lane's share.  A lane whose
 * share is 0 is complete at once. */
void window_limits_share(struct window_limits *q, struct lane lane);

/* Tell `phases` what is known of the window now, and later changes.  Borrowed.
 */
void window_limits_publish(struct window_limits *q, struct phases *phases);

/* The warm-up is over and the window begins. */
void window_limits_begin(struct window_limits *q, int64_t start_ns);

/* May no request be due at due_ns or later any more? */
bool window_limits_is_spent(const struct window_limits *q, int64_t due_ns);

/* Has the run ended because its number of requests was reached? */
bool window_limits_is_full(const struct window_limits *q);

/* Count a request that was taken. */
void window_limits_take(struct window_limits *q, int64_t due_ns);

/* An automatic cool-down continues while more than one in this many of the
 * window's requests are in flight.  By bench_drain, p99 is then up to 1 % too
 * low where it is at most 40 % of the window (1 in 100: 4 %; 1 in 400: 0.3 %,
 * for a load that continues a quarter longer). */
#define COOLDOWN_OPEN 200

/* Called at any time after the lane has sent all requests of the window; `open`
 * of `sent` are in flight.  The last lane in which few enough are ends the load
 * of all lanes: nothing is due from now_ns or the end of the window on,
 * whichever is later.  So what is sent is the beginning of the schedule. */
void window_limits_settle(struct window_limits *q, int64_t open, int64_t sent,
                          int64_t now_ns);

/* This lane's load ends at end_ns, if not before: nothing is due from then on.
 */
void window_limits_stop(struct window_limits *q, int64_t end_ns);

#endif
