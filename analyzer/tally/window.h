/* window.h - the part of a run that is measured. */
#ifndef ANALYZER_TALLY_WINDOW_H
#define ANALYZER_TALLY_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

struct window {
    int64_t start_ns;
    int64_t end_ns; /* requests due in [start, end) are measured */
};

static inline bool window_holds(const struct window *w, int64_t at_ns)
{
    return at_ns >= w->start_ns && at_ns < w->end_ns;
}

#endif
