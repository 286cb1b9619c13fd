/* streams.h - streams made by hand, in a recording on disk, and what the
 * analyzer makes of it. */
#ifndef TESTS_SUPPORT_STREAMS_H
#define TESTS_SUPPORT_STREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/measure/measure.h"
#include "tests/support/ondisk.h"

/* Sent 1 ms after it was due; the first event first_ms after, then as many as
 * there are pauses; the end with the last. */
struct shape {
    int64_t due_ms;
    int64_t first_ms;
    int64_t first_tokens;
    int64_t pauses;
    int64_t pause_ms;
    int64_t tokens; /* of each event after the first; 0: not known */
};

/* "TTFT 100 ms, then 4 events of 4 tokens each, 40 ms apart": 17 tokens, e2e
 * 260 ms. */
extern const struct shape worked_stream;

/* Ok; its tokens are known from the events, and no others. */
struct facts shape_facts(const struct shape *p, int64_t seq);

#define STREAMS_MAX_ROWS   1000
#define STREAMS_MAX_EVENTS 20000

/* A run to be written down. */
struct streams {
    int64_t warmup_ms;
    int64_t duration_ms;
    const char *slo;
    struct facts rows[STREAMS_MAX_ROWS];
    size_t n;
    struct content_event events[STREAMS_MAX_EVENTS];
    size_t n_events;
    bool has_no_table; /* of events */
    bool was_killed;   /* its manifest has no end */
    bool ignore_eos;   /* settings of the target */
    bool is_stream_asked;
};

/* To be freed by streams_sum_up(). */
struct streams *streams_new(int64_t warmup_ms, int64_t duration_ms,
                            const char *slo);

/* The request that was added; it may be changed. */
struct facts *streams_add(struct streams *m, const struct shape *p);

/* One without events. */
void streams_add_row(struct streams *m, struct facts row);

/* Write it to `dir`, which is made; one block for each of these many events. */
void streams_write(const struct streams *m, const char *dir, size_t block);

/* Write, free, and read; in the temporary directory of the test. */
struct read_run *streams_sum_up(struct streams *m);

#endif
