/* answer.h - one answer as it comes in: framing, events, tokens, and in the
 * end what it comes to.
 *
 * The transport hands over headers and the pieces of the body with the time of
 * the read; facts are filled in as they become known.  No clock, no I/O.
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

/* Append only: details of outcomes in recordings.  They start beyond those of
 * HTTP. */
enum answer_detail {
    ANSWER_FINE = 0,
    ANSWER_BAD_EVENT = 100, /* malformed: an event that the API has not */
    ANSWER_LONG_EVENT,      /* malformed: an event above the bound */
    ANSWER_BAD_BODY,        /* malformed: an answer that the API has not */
    ANSWER_NOT_A_STREAM,    /* malformed: of another content type */
    ANSWER_NO_TERMINATOR,   /* truncated: the stream ended before its end */
    ANSWER_NO_EVENTS,       /* empty: a stream without an event */
    ANSWER_NO_CONTENT,      /* empty: events, or a body, without content */
    ANSWER_ERROR_EVENT,     /* in-band error: in a stream */
    ANSWER_ERROR_BODY,      /* in-band error: in an answer of success */
    ANSWER_WRONG_LENGTH,    /* malformed: far from the length that was forced */
};

/* A content event, as long as its request lasts. */
struct answer_event {
    uint32_t after_us; /* after the first one */
    uint32_t tokens;   /* 0: not known yet */
};

/* Lives in a request and keeps its memory from one to the next; zeroed before
 * its first use. */
struct answer {
    const struct api *api; /* borrowed; NULL: nobody reads the answer */
    struct facts *facts;   /* of the request; borrowed */
    bool is_ready;         /* its parts have been made */
    struct answer_head head;
    struct sse sse;
    struct buf body;   /* of an answer that is no stream */
    struct buf events; /* of struct answer_event */
    struct buf text;   /* the content, if somebody checks it */
    int64_t now_ns;    /* of the read that is being taken */
    int64_t n_events;  /* of any kind */
    struct usage usage;
    bool has_final_usage;     /* beside the running counts */
    int64_t counted;          /* tokens of the content events so far ... */
    bool is_counted;          /* ... each of which said how many it has */
    enum token_source source; /* by which they did */
    bool shows_reasoning;
    size_t text_len; /* of cumulative text */
    bool is_over;    /* at over_ns the terminator or an error has come */
    int64_t over_ns;
    enum outcome outcome; /* the first thing that went wrong, */
    int64_t detail;
    char why[160];
};

/* Get ready for the answer to a request. */
void answer_begin(struct answer *a, const struct api *api, struct facts *facts);

/* Accepts a zeroed one. */
void answer_fini(struct answer *a);

/* A header of the answer. */
void answer_header(struct answer *a, const char *name, size_t name_len,
                   const char *value, size_t value_len);

/* The next bytes of the body, read at now_ns; the head is whole. */
void answer_take(struct answer *a, int status, int64_t now_ns, const char *data,
                 size_t len);

/* The answer is whole, as far as HTTP is concerned; its last byte came at
 * now_ns.  Completes the facts.  Returns why it failed, NULL if it did not. */
const char *answer_finish(struct answer *a, int status, int64_t now_ns);

/* The transport or the engine has given up on it, for the outcome in the
 * facts: complete what is known of its events and tokens.  An answer whose
 * terminator has come was whole all the same. */
const char *answer_break(struct answer *a, const char *why);

/* Its i-th content event as a row of the recording. */
struct content_event answer_event(const struct answer *a, size_t i);

#endif
