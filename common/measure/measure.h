/* measure.h - the facts of a request, and the measures derived from them.
 *
 * Pure: recorded facts in, measures out.  docs/metrics.md is the contract.
 * Times are nanoseconds after the start of the run, or TIME_ABSENT if the event
 * did not happen.
 */
#ifndef COMMON_MEASURE_MEASURE_H
#define COMMON_MEASURE_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/clk.h"

struct err;

/* Append only: the numbers are in recordings.
 *
 * scheduled = issued + unsent, and issued = ok + every other outcome. */
enum outcome {
    OUTCOME_OK = 0,
    OUTCOME_CONNECT,    /* no connection; detail: enum connect_detail */
    OUTCOME_RESET,      /* the connection broke before the response */
    OUTCOME_TIMEOUT,    /* the deadline passed */
    OUTCOME_STATUS,     /* an HTTP status of 400 or more; detail: which */
    OUTCOME_INBAND,     /* a 200 whose stream carries an error */
    OUTCOME_TRUNCATED,  /* the response ended before its end */
    OUTCOME_MALFORMED,  /* not what the protocol allows; detail: what */
    OUTCOME_EMPTY,      /* a 200 without content */
    OUTCOME_UNFINISHED, /* still in flight when the run was cut */
    OUTCOME_UNSENT,     /* never issued: not caused by the server */
    OUTCOME_COUNT,
};

enum connect_detail {
    CONNECT_OTHER = 0,
    CONNECT_REFUSED,
    CONNECT_TIMED_OUT,
    CONNECT_UNREACHABLE,
    CONNECT_PORTS,    /* no local port left */
    CONNECT_FILES,    /* no file descriptor left */
    CONNECT_TLS,      /* handshake failed, or the wrong server */
    CONNECT_PROTOCOL, /* not the requested HTTP version */
    CONNECT_DNS,      /* the name does not resolve */
    CONNECT_MEMORY,   /* no memory left for a socket */
};

/* Append only: what was wrong with an answer.  The numbers start above those of
 * enum http1_error. */
enum response_detail {
    RESPONSE_FINE = 0,
    RESPONSE_BAD_EVENT = 100, /* malformed: an event unknown to the API */
    RESPONSE_LONG_EVENT,      /* malformed: an event above the size limit */
    RESPONSE_BAD_BODY,        /* malformed: an answer unknown to the API */
    RESPONSE_NOT_A_STREAM,    /* malformed: another content type */
    RESPONSE_NO_TERMINATOR,   /* truncated: the stream ended before its end */
    RESPONSE_NO_EVENTS,       /* empty: a stream without an event */
    RESPONSE_NO_CONTENT,      /* empty: events, or a body, without content */
    RESPONSE_ERROR_EVENT,     /* in-band error: in a stream */
    RESPONSE_ERROR_BODY,      /* in-band error: in an answer with status 200 */
    RESPONSE_WRONG_LENGTH,    /* malformed: far from the forced length */
    RESPONSE_MANY_EVENTS,     /* malformed: too many content events */
    RESPONSE_CLIENT_MEMORY,   /* truncated: the client had no memory for more */
};

/* Where the number of output tokens comes from, the best first. */
enum token_source {
    TOKENS_NONE = 0,    /* unknown */
    TOKENS_USAGE,       /* the server's count at the end */
    TOKENS_CHUNK_USAGE, /* the server's running count, with each event */
    TOKENS_IDS,         /* the token ids in the events */
    TOKENS_EVENTS,      /* assumed: an event is a token */
    TOKENS_SOURCE_COUNT,
};

/* Why the model stopped, as reported by the server. */
enum finish {
    FINISH_NONE = 0,
    FINISH_STOP,
    FINISH_LENGTH,
    FINISH_TOOL_CALLS,
    FINISH_CONTENT_FILTER,
    FINISH_OTHER,
    FINISH_COUNT,
};

/* Result of the answer check; separate from the outcome. */
enum answer_check { CHECK_NONE = 0, CHECK_PASSED, CHECK_FAILED };

/* Every field is an int64_t, because it is a column on disk. */
struct facts {
    int64_t seq; /* place in the schedule, from 0 */
    int64_t due;
    int64_t issued;
    int64_t sent;
    int64_t head;
    int64_t first;
    int64_t last;
    int64_t end;
    int64_t outcome;   /* enum outcome */
    int64_t detail;    /* its meaning depends on the outcome */
    int64_t status;    /* HTTP status, or 0 */
    int64_t is_fresh;  /* 1: its connection was established for it */
    int64_t retries;   /* how often it was sent again */
    int64_t bytes_out; /* accepted by the kernel, in all attempts */
    int64_t bytes_in;
    int64_t
        buffered; /* ns that the data of the last read waited in the kernel */
    int64_t connected; /* the connection was established, ... */
    int64_t secured;   /* ... and the TLS handshake complete */

    /* Streams: number of content events; `first` and `last` are the times of
     * the first and the last. */
    int64_t events;
    int64_t coalesced; /* of those, read together with the one before */
    int64_t stall;     /* ns, the largest gap; absent below two events */

    /* Tokens; TIME_ABSENT if unknown. */
    int64_t prompt_asked;  /* of the prompt, as generated ... */
    int64_t prompt_tokens; /* ... and as the server counted it */
    int64_t cached_tokens; /* of those, from the cache of the server */
    int64_t output_asked;
    int64_t output_tokens;
    int64_t reasoning_tokens; /* of those */
    int64_t token_source;     /* enum token_source, of output_tokens */

    /* Tokens delivered in content events, and in the first of them; tpot is
     * computed from these.  is_split 0: assumed, since the tokens per event are
     * unknown. */
    int64_t event_tokens;
    int64_t first_tokens;
    int64_t is_split;

    int64_t finish; /* enum finish */
    int64_t check;  /* enum answer_check */

    int64_t class;   /* index of its class in the workload, from 0 */
    int64_t session; /* session of which it is a turn, or TIME_ABSENT */
    int64_t turn;    /* number of the turn, from 0 ... */
    int64_t turns;   /* ... and planned turns of the session; 0: none */

    int64_t repeat; /* 1: a repetition, for the cache check */

    /* Streams: time of the first event, even without content, and of the last
     * one before the terminator.  Only for comparison with other tools. */
    int64_t opened;
    int64_t closing;

    /* A row may stand for a range of unsent requests of one class that are due
     * at about the same time: the number besides the first, and the seq of the
     * last.  0: the row is one request. */
    int64_t more;
    int64_t last_seq;

    /* Streams of the OpenAI API: number of events with a non-empty `choices`,
     * and the times of the first and the last.  Only for comparison with other
     * tools.  TIME_ABSENT in older recordings. */
    int64_t choices;
    int64_t choices_first;
    int64_t choices_last;

    /* Which of several targets, from 0 in the order of `targets` in the
     * manifest.  TIME_ABSENT if it was not sent, and in older recordings. */
    int64_t target;
};

/* One content event of a stream, with the `due` of its request, so that the
 * table can be read on its own. */
struct content_event {
    int64_t seq;
    int64_t due;
    int64_t at_us;  /* microseconds after the start of the run, rounded down */
    int64_t tokens; /* or TIME_ABSENT */
};

enum measure {
    MEASURE_E2E,
    MEASURE_SERVICE,
    MEASURE_LAG,
    MEASURE_CONNECT,
    MEASURE_TLS,
    MEASURE_TTFB,
    MEASURE_TTFT,
    MEASURE_TPOT,
    MEASURE_STALL,
    MEASURE_TAIL,
    MEASURE_GAP, /* per event, not per request: see measure_is_pooled() */
    MEASURE_ITL,
    MEASURE_QUERY, /* the slowest request of a query */
    MEASURE_COUNT,
};

enum measure_from { FROM_DUE, FROM_SENT };

const char *outcome_name(enum outcome outcome);
const char *token_source_name(enum token_source source);
const char *finish_name(enum finish finish);

/* Name of a measure, and the reverse; -1 if unknown.  'e2el' is an alias of
 * e2e.
 */
const char *measure_name(enum measure measure);
int measure_find(const char *name);

/* Refuse an unknown name: "unknown measure 'latency'; did you mean 'e2e'?" and
 * all measures, then the names in `more` (NULL: none).  ERR_CONFIG. */
int measure_refuse(const char *name, const char *const *more, struct err *err);

/* Is the variant from `sent` meaningful? */
bool measure_has_sent(enum measure measure);

/* Does a failed request count as beyond every limit?  Not if the measure
 * describes the client or the network instead of the answer. */
bool measure_is_of_answer(enum measure measure);

/* Is it pooled over events or queries?  Then a request has no value of it. */
bool measure_is_pooled(enum measure measure);

/* Do only streams have it?  It is a difference of arrival times, so that a late
 * client does not affect it. */
bool measure_is_of_stream(enum measure measure);

/* The measure in nanoseconds, or TIME_ABSENT.  The e2e of a failure ends with
 * `end`. */
int64_t measure_value(enum measure measure, enum measure_from from,
                      const struct facts *f);

/* A request of which only seq and due time are known. */
struct facts facts_unknown(int64_t seq, int64_t due_ns);

/* A count of tokens or events; TIME_ABSENT for an invalid one, as in a damaged
 * recording. */
static inline int64_t facts_count(int64_t value)
{
    return value >= 0 && value <= INT32_MAX ? value : TIME_ABSENT;
}

/* Number of requests that a row stands for. */
static inline int64_t facts_n(const struct facts *f)
{
    return 1 + f->more;
}

/* The seq of the last of them. */
static inline int64_t facts_last_seq(const struct facts *f)
{
    return f->more > 0 ? f->last_seq : f->seq;
}

/* Did it fail because the client had no local port, open file or memory left?
 */
bool facts_is_exhausted(const struct facts *f);

/* Did it fail because all responses together exceeded client.memory? */
bool facts_is_starved(const struct facts *f);

static inline bool facts_issued(const struct facts *f)
{
    return f->outcome != OUTCOME_UNSENT;
}

#endif
