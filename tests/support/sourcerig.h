/* sourcerig.h - a source of due times, taken from by hand. */
#ifndef TESTS_SUPPORT_SOURCERIG_H
#define TESTS_SUPPORT_SOURCERIG_H

#include <stdint.h>

#include "loadgen/schedule/source.h"

struct source {
    const struct source_ops *ops;
    void *self;
};

/* That of the scenario; a lane of it, or all. */
struct source lane_make(const struct load_settings *load, struct lane lane);
struct source source_make(const struct load_settings *load);
void source_end(struct source *s);

/* Take one that must be due then. */
void take_at(struct source *s, int64_t seq, int64_t at_ns);

/* This request ends then. */
void end_at(struct source *s, int64_t seq, int64_t at_ns);

/* Nothing is, before a request ends. */
void assert_nothing_due(struct source *s);
void assert_over(struct source *s);

/* What one lane alone gives out without any end of a request, at most
 * SOURCE_MOST; the caller owns it. */
#define SOURCE_MOST 10000
int64_t *source_draw_all(const struct load_settings *load, int64_t *n,
                         int64_t *due_end_ns);

#endif
