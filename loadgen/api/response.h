/* response.h - one answer as it arrives: framing, events, tokens, and finally
 * the outcome.
 *
 * The transport passes headers and chunks of the body with the time of the
 * read; facts are filled in as they become known.  No clock, no I/O.
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

/* A content event, kept until its request ends. */
struct response_event {
    int64_t after_us; /* after the first one */
    uint32_t tokens;  /* 0: not known yet */
};

/* Detects whether each event of a stream has all the text so far, or just the
 * new text, which depends on the configuration of the server. */
struct cumulative {
    size_t len;    /* of the last text */
    char head[32]; /* its first bytes */
    int growths; /* texts that continued the one before; twice if it was long */
    bool is_not; /* one did not begin with it */
};

/* Part of a request; keeps its memory from one request to the next; zeroed
 * before its first use. */
struct response {
    const struct api *api; /* borrowed; NULL: the answer is not read */
    struct facts *facts;   /* of the request; borrowed */
    bool is_ready;         /* the buffers are initialised */
    struct response_head head;
    struct sse sse;
    struct buf body;   /* of an answer that is not a stream */
    struct buf events; /* of struct response_event */
    struct buf text;   /* the content, if it is checked */
    struct buf label;  /* the expected answer, if it is checked */
    struct buf room;   /* for a tensor that is checked */
    int64_t now_ns;    /* time of the current read */
    int64_t n_events;  /* of any kind */
    struct usage usage;
    bool has_final_usage;     /* not just the counts of a content event */
    int64_t counted;          /* tokens of the content events so far ... */
    bool is_counted;          /* ... each of which has a count */
    int64_t silent_ids;       /* tokens without text since the last of them */
    enum token_source source; /* of these counts */
    bool shows_reasoning;
    struct cumulative cumulative;
    bool awaits_last; /* the last event announced another one */
    bool is_ending;   /* the body has ended; the next event is incomplete */
    bool is_over;     /* the terminator or an error came at over_ns */
    int64_t over_ns;
    int64_t charged;      /* bytes taken from the budget for the buffers */
    bool is_starved;      /* the budget was exhausted */
    enum outcome outcome; /* the first failure */
    int64_t detail;
    char why[160];
};

/* Prepare for the answer to a request. */
void response_begin(struct response *r, const struct api *api,
                    struct facts *facts);

/* Safe on zeroed memory; response_begin() may follow. */
void response_fini(struct response *r);

/* The request is over: free the buffers if the budget is tight, otherwise keep
 * them for the next request. */
void response_release(struct response *r);

/* A header of the answer. */
void response_header(struct response *r, const char *name, size_t name_len,
                     const char *value, size_t value_len);

/* The next bytes of the body, read at now_ns; the head is complete. */
void response_take(struct response *r, int status, int64_t now_ns,
                   const char *data, size_t len);

/* The answer consists of messages of a gRPC stream, not of a body. */
void response_expect_messages(struct response *r);

/* A complete message, which arrived at now_ns. */
void response_message(struct response *r, int64_t now_ns, const char *data,
                      size_t len);

/* The answer is complete according to HTTP; its last byte came at now_ns.
 * Completes the facts.  Returns the reason of a failure; NULL: success. */
const char *response_finish(struct response *r, int status, int64_t now_ns);

/* The budget is exhausted: the transport must end the request with
 * response_break(), which sets the outcome. */
static inline bool response_is_starved(const struct response *r)
{
    return r->is_starved;
}

/* The transport or the engine ended the request early, with the outcome in the
 * facts: complete its events and tokens.  An answer whose terminator has come
 * still counts as complete.  A starved one gets the outcome for that, whatever
 * the facts say.  Returns the reason of a failure; NULL: success. */
const char *response_break(struct response *r, const char *why);

static inline struct response_event *response_events(const struct response *r)
{
    return (struct response_event *)(void *)r->events.data;
}

/* The i-th content event as a row of the recording. */
struct content_event response_event(const struct response *r, size_t i);

#endif
