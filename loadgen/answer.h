/* answer.h - one answer as it comes in: framing, events, tokens, and in the
 * end what it comes to.
 *
 * The transport hands over the head and the pieces of the body with the time
 * of the read; facts are filled in as they become known.  No clock, no I/O.
 */
#ifndef LOADGEN_ANSWER_H
#define LOADGEN_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/measure.h"
#include "common/sse.h"
#include "loadgen/api/api.h"

/* Append only: details of outcomes in recordings.  They go on where those of
 * HTTP end. */
enum answer_detail {
    ANSWER_FINE = 0,
    ANSWER_BAD_EVENT = 100, /* malformed: an event that the API does not know */
    ANSWER_LONG_EVENT,      /* malformed: above the bound */
    ANSWER_BAD_BODY,        /* malformed: a whole answer, likewise */
    ANSWER_NOT_A_STREAM,    /* malformed: another content type */
    ANSWER_NO_TERMINATOR,   /* truncated: the stream ended before its end */
    ANSWER_NO_EVENTS,       /* empty: a stream without an event */
    ANSWER_NO_CONTENT,      /* empty: events or a body, but no content */
    ANSWER_ERROR_EVENT,     /* in-band error: in a stream */
    ANSWER_ERROR_BODY,      /* in-band error: in a whole answer */
    ANSWER_WRONG_LENGTH,    /* malformed: not as long as was forced */
    ANSWER_BAD_STATUS,      /* status: not one of those that mean success */
};

/* Lives in a request and keeps its memory from one to the next. */
struct answer {
    const struct api *api; /* borrowed; NULL: nobody reads it */
    struct facts *facts;   /* of the request; borrowed */
    struct answer_head head;
    struct sse sse;
    struct buf body;   /* a whole answer */
    struct buf events; /* of struct content_event */
    struct buf text;   /* content, for checks */
    int64_t now_ns;    /* of the read whose bytes are being taken */
    int64_t read_ns;   /* of the read that the last content event came in */
    struct usage usage;
    int64_t ids;          /* token ids seen; TIME_ABSENT: none */
    int64_t seen_output;  /* running count of the last event that had one */
    size_t seen_text;     /* length of cumulative text so far */
    bool has_chunk_usage; /* every content event had a running count */
    bool has_ids;         /* ... or its ids */
    bool has_shown_reasoning;
    bool is_over;         /* the terminator has come */
    enum outcome outcome; /* OUTCOME_OK so far, or what went wrong first */
    int64_t detail;
    char why[160];
};

/* Get ready for the answer to a request.  `answer` is zeroed before its first
 * use; answer_fini() releases it. */
void answer_begin(struct answer *a, const struct api *api, struct facts *facts);
void answer_fini(struct answer *a);

/* A header of the answer, and the end of its head. */
void answer_header(struct answer *a, const char *name, size_t name_len,
                   const char *value, size_t value_len);
void answer_take_head(struct answer *a, int status);

/* The next bytes of the body, read at now_ns. */
void answer_take(struct answer *a, int64_t now_ns, const char *data,
                 size_t len);

/* The answer is whole, as far as HTTP is concerned: fill in first, last, end,
 * outcome and detail of the facts.  Returns why it failed; NULL: it did not. */
const char *answer_finish(struct answer *a, int64_t now_ns);

/* The transport has given up on it: complete what is known of its events and
 * tokens; the outcome is the transport's. */
void answer_break(struct answer *a);

/* Its content events. */
const struct content_event *answer_events(const struct answer *a, size_t *n);

#endif
