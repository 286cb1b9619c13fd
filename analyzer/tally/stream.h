/* stream.h - one pass over the content events of a run: the pauses between
 * them, and when tokens arrived.
 *
 * What is pooled over events goes into the tally of the requests, which says
 * what the window and the limits are.  Memory does not grow with the recording.
 */
#ifndef ANALYZER_TALLY_STREAM_H
#define ANALYZER_TALLY_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/tally/fluid.h"
#include "analyzer/tally/tally.h"
#include "common/measure/measure.h"
#include "common/recording/schema.h"

/* Where a worker's events have got to. */
struct stream_lane {
    int64_t seq; /* of the request; TIME_ABSENT: none yet */
    int64_t at_us;
    bool is_measured; /* it was due in the window */
    size_t batch;
    bool is_cut; /* its first events may be missing */
    struct fluid_stream fluid;
};

/* A term on a pooled measure. */
struct pooled_term {
    struct term_tally *tally;
    const struct slo_term *term;
    bool is_itl;
};

struct stream {
    struct tally *tally; /* borrowed */
    struct stream_lane lanes[RECORDING_MAX_SHARDS];
    struct pooled_term terms[SLO_MAX_TERMS];
    size_t n_terms;
    int64_t start_us; /* the window: start <= at < end */
    int64_t end_us;
    struct fluid fluid; /* of the limits that the tally's objective gives */

    int64_t events;        /* read, of the whole recording */
    int64_t tokens;        /* in those that say */
    int64_t tokens_inside; /* of those, that arrived in the window */
};

/* `tally` must stay where it is, and have its window. */
void stream_init(struct stream *s, struct tally *tally);

/* Before the events: a request. */
void stream_see(struct stream *s, const struct facts *f);

/* The next events of one worker. */
void stream_add(struct stream *s, unsigned shard,
                const struct content_event *events, size_t n);

/* Something is missing before what comes next: no pause is taken across it. */
void stream_break(struct stream *s);

/* After all events and all requests: those that the requests have and the
 * recording has not are open in every term. */
void stream_finish(struct stream *s);

#endif
