/* response.h - one answer as it comes in: framing, events, tokens, and in the
 * end what it comes to.
 *
 * The transport hands over headers and the pieces of the body with the time of
 * the read; facts are filled in as they become known.  No clock, no I/O.
 */
#ifndef LOADGEN_API_RESPONSE_H
#define LOADGEN_API_RESPONSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/measure/measure.h"
#include "common/wire/sse.h"
#include "loadgen/api/api.h"
#include "loadgen/api/cumulative.h"

/* A content event, as long as its request lasts. */
struct response_event {
    int64_t after_us; /* after the first one */
    uint32_t tokens;  /* 0: not known yet */
};

/* Lives in a request and keeps its memory from one to the next; zeroed before
 * its first use. */
struct response {
    const struct api *api; /* borrowed; NULL: nobody reads the answer */
    struct facts *facts;   /* of the request; borrowed */
    bool is_ready;         /* its parts have been made */
    struct response_head head;
    struct sse sse;
    struct buf body;   /* of an answer that is no stream */
    struct buf events; /* of struct response_event */
    struct buf text;   /* the content, if somebody checks it */
    struct buf label;  /* what it should be, likewise */
    struct buf room;   /* for a tensor that is looked at */
    int64_t now_ns;    /* of the read that is being taken */
    int64_t n_events;  /* of any kind */
    struct usage usage;
    bool has_final_usage;     /* beside the running counts */
    int64_t counted;          /* tokens of the content events so far ... */
    bool is_counted;          /* ... each of which said how many it has */
    int64_t silent_ids;       /* since the last of them, without text */
    enum token_source source; /* by which they did */
    bool shows_reasoning;
    struct cumulative cumulative;
    size_t text_len;  /* of the last text */
    bool awaits_last; /* the last event said that it is not the last one */
    bool is_ending;   /* what comes yet was cut off by the end of the body */
    bool is_over;     /* at over_ns the terminator or an error has come */
    int64_t over_ns;
    int64_t charged;      /* bytes taken from the budget for the buffers */
    bool is_starved;      /* the budget was exhausted */
    enum outcome outcome; /* the first thing that went wrong, */
    int64_t detail;
    char why[160];
};

/* Get ready for the answer to a request. */
void response_begin(struct response *r, const struct api *api,
                    struct facts *facts);

/* Accepts a zeroed one; response_begin() may follow. */
void response_fini(struct response *r);

/* The request is over: free the buffers if the budget is tight, else keep them
 * for the next request. */
void response_release(struct response *r);

/* A header of the answer. */
void response_header(struct response *r, const char *name, size_t name_len,
                     const char *value, size_t value_len);

/* The next bytes of the body, read at now_ns; the head is whole. */
void response_take(struct response *r, int status, int64_t now_ns,
                   const char *data, size_t len);

/* What comes are messages of a stream, not the bytes of a body. */
void response_expect_messages(struct response *r);

/* One of them, whole, that came at now_ns. */
void response_message(struct response *r, int64_t now_ns, const char *data,
                      size_t len);

/* The answer is whole, as far as HTTP is concerned; its last byte came at
 * now_ns.  Completes the facts.  Returns why it failed, NULL if it did not. */
const char *response_finish(struct response *r, int status, int64_t now_ns);

/* The budget is exhausted: the transport must end the request with
 * response_break(), which sets the outcome. */
static inline bool response_is_starved(const struct response *r)
{
    return r->is_starved;
}

/* The transport or the engine has given up on it, for the outcome in the
 * facts: complete what is known of its events and tokens.  An answer whose
 * terminator has come was whole all the same.  A starved one gets the outcome
 * for that, whatever the facts say. */
const char *response_break(struct response *r, const char *why);

/* The part of both that is about tokens: what the server counted, or else what
 * its events come to. */
void response_count_tokens(struct response *r);

static inline struct response_event *response_events(const struct response *r)
{
    return (struct response_event *)(void *)r->events.data;
}

/* Its i-th content event as a row of the recording. */
struct content_event response_event(const struct response *r, size_t i);

#endif
