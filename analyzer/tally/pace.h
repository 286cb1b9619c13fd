/* pace.h - what was sent in each second of the window compared with what was
 * due in it.
 *
 * The reference is the schedule itself, so there is no random error: a request
 * is in the wrong second only if the client was late.  A request issued within
 * PACE_GRACE_NS of its due time counts as sent in the second in which it was
 * due; otherwise every cluster at the edge of a second would be a deviation.
 */
#ifndef ANALYZER_TALLY_PACE_H
#define ANALYZER_TALLY_PACE_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/tally/window.h"
#include "common/base/clk.h"
#include "common/measure/measure.h"

#define PACE_GRACE_NS (10 * NS_PER_MS)

/* Up to this many requests in the wrong second, or issued after the window, are
 * ignored: at low rates one request is a large share. */
#define PACE_SLACK 3

/* Later seconds are ignored; twelve days. */
#define PACE_MAX_SECONDS (INT64_C(1) << 20)

struct pace_second {
    int64_t due;
    int64_t sent; /* issued in it, whenever due */
};

/* Ready for use when zeroed but for its window. */
struct pace {
    struct window window;
    struct pace_second *seconds; /* owned; the last one may be longer */
    size_t len; /* seconds up to the last due or sent request */
    size_t cap;
    int64_t due;     /* in the window */
    int64_t in_time; /* of those, issued before its end */
};

void pace_fini(struct pace *p);
void pace_add(struct pace *p, const struct facts *f);

/* Deviation of the worst second in percent: sent against due, relative to what
 * was due in it or in the second before, whichever is more, since late requests
 * come from there.  0 if no second differs by more than PACE_SLACK requests. */
double pace_worst_percent(const struct pace *p);

/* Percentage of the requests due in the window that were issued before its end;
 * 100 if all but PACE_SLACK were, or nothing was due. */
double pace_sent_percent(const struct pace *p);

#endif
