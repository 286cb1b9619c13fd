/* window_limits.h - what a run may send: a warm-up, which does not count; then
 * until its window is over, and as many in it as were asked for, whichever
 * comes first, or at least so many, the last of them due at least so late; then
 * a cool-down, which does not count either.
 *
 * All is cut by due time.  A warm-up of so many requests ends with the last of
 * them, so that those which are due at the same instant are part of it.
 */
#ifndef LOADGEN_SCHEDULE_WINDOW_LIMITS_H
#define LOADGEN_SCHEDULE_WINDOW_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/settings/settings.h"
#include "loadgen/schedule/source.h"

struct window_limits {
    int64_t warmup_left;     /* requests; then the window begins */
    int64_t window_start_ns; /* DUE_UNKNOWN: the warm-up has not had its own */
    int64_t window_end_ns;   /* DUE_UNKNOWN: the count alone ends it */
    int64_t end_ns;          /* of the cool-down; likewise */
    int64_t longest_ns;      /* of the window; 0: as long as it takes */
    int64_t cooldown_ns;
    int64_t window_left;  /* requests; negative: the time alone ends it */
    int64_t last_ns;      /* due time of the last that was taken in it */
    int64_t least_ns;     /* one due so late in it may be the last ... */
    int64_t least_left;   /* ... once so many more were taken */
    bool has_least;       /* those two hold */
    bool is_enough;       /* and are reached */
    struct phases *known; /* who is told of it; NULL: nobody.  Borrowed */
};

struct window_limits window_limits_of(const struct load_settings *load);

/* Of this, a lane's share of the requests in the window.  One that is to have
 * none of them has nothing to wait for. */
void window_limits_share(struct window_limits *q, struct lane lane);

/* Tell somebody what is known of the window, and what will be.  Borrowed. */
void window_limits_tell(struct window_limits *q, struct phases *phases);

/* The warm-up is over. */
void window_limits_begin(struct window_limits *q, int64_t start_ns);

/* May none be due at due_ns any more? */
bool window_limits_is_spent(const struct window_limits *q, int64_t due_ns);

/* Is it over because there were as many as were asked for? */
bool window_limits_is_full(const struct window_limits *q);

void window_limits_take(struct window_limits *q, int64_t due_ns);

#endif
