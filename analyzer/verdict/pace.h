/* pace.h - what was sent in each second of the window against what was due.
 *
 * The schedule itself is the yardstick, so chance has no part in it: a request
 * is in the wrong second only if the client was late.  One that leaves within
 * PACE_GRACE_NS of its time counts as sent in the second in which it was due;
 * else every cluster on the edge of a second would be a deviation.
 */
#ifndef ANALYZER_VERDICT_PACE_H
#define ANALYZER_VERDICT_PACE_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/tally/window.h"
#include "common/base/clk.h"
#include "common/measure/measure.h"

#define PACE_GRACE_NS (10 * NS_PER_MS)

/* As many requests in the wrong second, or left for after the window, say
 * nothing: at low rates one is a large share. */
#define PACE_SLACK 3

/* Seconds beyond are not looked at; twelve days. */
#define PACE_MAX_SECONDS (INT64_C(1) << 20)

struct pace_second {
    int64_t due;
    int64_t sent; /* issued in it, whenever due */
};

struct pace {
    struct window window;
    struct pace_second *seconds; /* owned; of the window, the last one longer */
    size_t len;                  /* that something was due or sent in */
    size_t cap;
    int64_t due;     /* in the window */
    int64_t in_time; /* of those, issued before its end */
};

void pace_init(struct pace *p, struct window window);
void pace_fini(struct pace *p);
void pace_add(struct pace *p, const struct facts *f);

/* The worst second: by how many percent what was sent differs from what was due
 * in it, or in the second before if that is more, since what comes late comes
 * from there.  0 if no second differs by more than PACE_SLACK requests. */
double pace_worst_percent(const struct pace *p);

/* How many percent of what was due in the window were issued before its end;
 * 100 if all but PACE_SLACK were, or nothing was due. */
double pace_sent_percent(const struct pace *p);

#endif
