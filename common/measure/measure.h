/* measure.h - the facts of one request, and what is derived from them.
 *
 * Pure: recorded facts in, measures out.  docs/metrics.md is the contract.
 * Times are nanoseconds after the start of the run; TIME_ABSENT if it never
 * came to that.
 */
#ifndef COMMON_MEASURE_MEASURE_H
#define COMMON_MEASURE_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/clk.h"

/* Append only: the numbers are in recordings.
 *
 * scheduled = issued + unsent, and issued = ok + every other outcome. */
enum outcome {
    OUTCOME_OK = 0,
    OUTCOME_CONNECT,    /* no connection; detail: enum connect_detail */
    OUTCOME_RESET,      /* the connection broke before the response */
    OUTCOME_TIMEOUT,    /* its deadline passed */
    OUTCOME_STATUS,     /* an HTTP status of 400 or more; detail: which */
    OUTCOME_INBAND,     /* a 200 whose stream carries an error */
    OUTCOME_TRUNCATED,  /* the response ended before its end */
    OUTCOME_MALFORMED,  /* not what the protocol allows; detail: what */
    OUTCOME_EMPTY,      /* a 200 without content */
    OUTCOME_UNFINISHED, /* still in flight when the run was cut */
    OUTCOME_UNSENT,     /* never issued: not an outcome of the server's */
    OUTCOME_COUNT,
};

enum connect_detail {
    CONNECT_OTHER = 0,
    CONNECT_REFUSED,
    CONNECT_TIMED_OUT,
    CONNECT_UNREACHABLE,
    CONNECT_PORTS,    /* no local port left */
    CONNECT_FILES,    /* no file descriptor left */
    CONNECT_TLS,      /* no handshake, or not the server that it says */
    CONNECT_PROTOCOL, /* not the version of HTTP that was asked for */
    CONNECT_DNS,      /* a name that does not resolve */
    CONNECT_MEMORY,   /* no memory left for a socket */
};

/* Append only: what was wrong with an answer that had come.  They start
 * beyond those of HTTP. */
enum response_detail {
    RESPONSE_FINE = 0,
    RESPONSE_BAD_EVENT = 100, /* malformed: an event that the API has not */
    RESPONSE_LONG_EVENT,      /* malformed: an event above the bound */
    RESPONSE_BAD_BODY,        /* malformed: an answer that the API has not */
    RESPONSE_NOT_A_STREAM,    /* malformed: of another content type */
    RESPONSE_NO_TERMINATOR,   /* truncated: the stream ended before its end */
    RESPONSE_NO_EVENTS,       /* empty: a stream without an event */
    RESPONSE_NO_CONTENT,      /* empty: events, or a body, without content */
    RESPONSE_ERROR_EVENT,     /* in-band error: in a stream */
    RESPONSE_ERROR_BODY,      /* in-band error: in an answer of success */
    RESPONSE_WRONG_LENGTH,  /* malformed: far from the length that was forced */
    RESPONSE_MANY_EVENTS,   /* malformed: content events above the bound */
    RESPONSE_CLIENT_MEMORY, /* truncated: the client had no memory for more */
};

/* Where the number of output tokens comes from, the best first. */
enum token_source {
    TOKENS_NONE = 0,    /* nobody knows */
    TOKENS_USAGE,       /* the server's count at the end */
    TOKENS_CHUNK_USAGE, /* the server's running count, with each event */
    TOKENS_IDS,         /* the token ids in the events */
    TOKENS_EVENTS,      /* assumed: an event is a token */
    TOKENS_SOURCE_COUNT,
};

/* Why a model stopped, as the server says. */
enum finish {
    FINISH_NONE = 0,
    FINISH_STOP,
    FINISH_LENGTH,
    FINISH_TOOL_CALLS,
    FINISH_CONTENT_FILTER,
    FINISH_OTHER,
    FINISH_COUNT,
};

/* Of the answer's content; a fact of its own, not an outcome. */
enum answer_check { CHECK_NONE = 0, CHECK_PASSED, CHECK_FAILED };

/* Every field is an int64_t, because every field is a column on disk. */
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
    int64_t status;    /* HTTP status, 0 if none came */
    int64_t is_fresh;  /* 1: its connection was established for it */
    int64_t retries;   /* 1: its connection was stale, it was sent again */
    int64_t bytes_out; /* that the kernel took, of all attempts */
    int64_t bytes_in;
    int64_t buffered;  /* ns that the last read's data lay in the kernel */
    int64_t connected; /* its connection was established, ... */
    int64_t secured;   /* ... and the TLS handshake over */

    /* Of a stream: its content events; the first and last of them are `first`
     * and `last`. */
    int64_t events;
    int64_t coalesced; /* of those, in one read with the one before */
    int64_t stall;     /* ns, the largest gap between two; absent below two */

    /* Tokens; TIME_ABSENT where nobody says. */
    int64_t prompt_asked;  /* of the prompt, as made ... */
    int64_t prompt_tokens; /* ... and as the server counted it */
    int64_t cached_tokens; /* of those, the server had kept */
    int64_t output_asked;
    int64_t output_tokens;
    int64_t reasoning_tokens; /* of those */
    int64_t token_source;     /* enum token_source, of output_tokens */

    /* Tokens delivered in content events, and of those in the first: what tpot
     * is made of.  is_split 0: assumed, nobody says how many an event has. */
    int64_t event_tokens;
    int64_t first_tokens;
    int64_t is_split;

    int64_t finish; /* enum finish */
    int64_t check;  /* enum answer_check */

    int64_t class;   /* which of a mix's classes it is of, from 0 */
    int64_t session; /* that it is a turn of; TIME_ABSENT: of none */
    int64_t turn;    /* which of its turns, from 0 ... */
    int64_t turns;   /* ... of so many that it is to have; 0: of none */

    int64_t repeat; /* 1: it carries what a cache check repeats */

    /* Of a stream: its first event, whatever it carries, and the last one but
     * the terminator.  No number of ours goes by them: others' do. */
    int64_t opened;
    int64_t closing;

    /* Of a row that stands for a range of requests, all unsent, of one class
     * and due at about the same time: how many there are besides the first, and
     * the place of the last.  0: the row is one request. */
    int64_t more;
    int64_t last_seq;

    /* Of a stream of OpenAI's: its events with a non-empty `choices`, with or
     * without content, and when the first and the last of them came.  For
     * other tools' numbers, too.  TIME_ABSENT in older recordings. */
    int64_t choices;
    int64_t choices_first;
    int64_t choices_last;
};

/* One content event of a stream, with its request's `due`, so that a table of
 * them can be read alone. */
struct content_event {
    int64_t seq;
    int64_t due;
    int64_t at_us;  /* microseconds after the start of the run, rounded down */
    int64_t tokens; /* TIME_ABSENT where nobody says */
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
    MEASURE_GAP, /* of events, not of requests: see measure_is_pooled() */
    MEASURE_ITL,
    MEASURE_QUERY, /* of the requests of a query, the slowest */
    MEASURE_COUNT,
};

enum measure_from { FROM_DUE, FROM_SENT };

const char *outcome_name(enum outcome outcome);
const char *token_source_name(enum token_source source);
const char *finish_name(enum finish finish);

/* Name of a measure, and back; -1 if there is none of that name.  'e2el', as
 * others say, is e2e. */
const char *measure_name(enum measure measure);
int measure_find(const char *name);

/* Does a count from `sent` mean anything for it? */
bool measure_has_sent(enum measure measure);

/* Is a request that failed counted as beyond every limit of it?  Not where
 * the measure describes the client or the network, not the answer. */
bool measure_is_of_answer(enum measure measure);

/* Is it taken of events or of queries, and pooled?  Then no request has a value
 * of it. */
bool measure_is_pooled(enum measure measure);

/* Do only streams have it?  It is a difference of arrivals, so that how late
 * the client was has no part in it. */
bool measure_is_of_stream(enum measure measure);

/* The measure in nanoseconds; TIME_ABSENT where the facts do not give it.  The
 * e2e of a failure goes to its end. */
int64_t measure_value(enum measure measure, enum measure_from from,
                      const struct facts *f);

/* A request of which nothing is known but its place and when it is due. */
struct facts facts_unknown(int64_t seq, int64_t due_ns);

/* A count of tokens or events; TIME_ABSENT for what is none, as a damaged
 * recording may hold. */
static inline int64_t facts_count(int64_t value)
{
    return value >= 0 && value <= INT32_MAX ? value : TIME_ABSENT;
}

/* Requests that a row stands for. */
static inline int64_t facts_n(const struct facts *f)
{
    return 1 + f->more;
}

/* The place of the last of them. */
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
