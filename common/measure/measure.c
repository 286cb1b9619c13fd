#include "common/measure/measure.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/str.h"

#define MAX_NAMES 256 /* of all measures, in a message */

/* Most measures are the time from one fact to another. */
struct definition {
    const char *name;
    size_t from;
    size_t to;
    bool has_sent;
    bool is_of_answer;
    int64_t (*value)(
        const struct facts *f); /* NULL: the time between the two */
};

#define AT(fact) offsetof(struct facts, fact)

/* Time per token after those of the first event. */
static int64_t tpot_of(const struct facts *f)
{
    if (f->event_tokens == TIME_ABSENT || f->first_tokens == TIME_ABSENT ||
        f->event_tokens <= f->first_tokens || f->first == TIME_ABSENT ||
        f->last < f->first)
        return TIME_ABSENT;
    return (f->last - f->first) / (f->event_tokens - f->first_tokens);
}

static int64_t stall_of(const struct facts *f)
{
    return f->stall;
}

/* Time from the last content to the end of a complete stream. */
static int64_t tail_of(const struct facts *f)
{
    if (f->outcome != OUTCOME_OK || f->events <= 0 || f->last == TIME_ABSENT ||
        f->end < f->last)
        return TIME_ABSENT;
    return (int64_t)((uint64_t)f->end - (uint64_t)f->last);
}

static int64_t of_no_request(const struct facts *f)
{
    (void)f;
    return TIME_ABSENT;
}

static const struct definition definitions[MEASURE_COUNT] = {
    [MEASURE_E2E] = {.name = "e2e",
                     .from = AT(due),
                     .to = AT(last),
                     .has_sent = true,
                     .is_of_answer = true},
    [MEASURE_SERVICE] = {.name = "service",
                         .from = AT(sent),
                         .to = AT(last),
                         .is_of_answer = true},
    [MEASURE_LAG] = {.name = "lag", .from = AT(due), .to = AT(issued)},
    [MEASURE_CONNECT] = {.name = "connect",
                         .from = AT(issued),
                         .to = AT(connected)},
    [MEASURE_TLS] = {.name = "tls", .from = AT(connected), .to = AT(secured)},
    [MEASURE_TTFB] = {.name = "ttfb",
                      .from = AT(due),
                      .to = AT(head),
                      .has_sent = true,
                      .is_of_answer = true},
    [MEASURE_TTFT] = {.name = "ttft",
                      .from = AT(due),
                      .to = AT(first),
                      .has_sent = true,
                      .is_of_answer = true},
    [MEASURE_TPOT] = {.name = "tpot", .is_of_answer = true, .value = tpot_of},
    [MEASURE_STALL] = {.name = "stall",
                       .is_of_answer = true,
                       .value = stall_of},
    [MEASURE_TAIL] = {.name = "tail", .value = tail_of},
    [MEASURE_GAP] = {.name = "gap", .value = of_no_request},
    [MEASURE_ITL] = {.name = "itl", .value = of_no_request},
    [MEASURE_QUERY] = {.name = "query", .value = of_no_request},
};

static const char *const outcome_names[OUTCOME_COUNT] = {
    [OUTCOME_OK] = "ok",
    [OUTCOME_CONNECT] = "connect",
    [OUTCOME_RESET] = "reset",
    [OUTCOME_TIMEOUT] = "timeout",
    [OUTCOME_STATUS] = "status",
    [OUTCOME_INBAND] = "in-band error",
    [OUTCOME_TRUNCATED] = "truncated",
    [OUTCOME_MALFORMED] = "malformed",
    [OUTCOME_EMPTY] = "empty",
    [OUTCOME_UNFINISHED] = "unfinished",
    [OUTCOME_UNSENT] = "unsent",
};

const char *outcome_name(enum outcome outcome)
{
    return (unsigned)outcome < OUTCOME_COUNT ? outcome_names[outcome]
                                             : "unknown";
}

const char *token_source_name(enum token_source source)
{
    static const char *const names[TOKENS_SOURCE_COUNT] = {
        [TOKENS_NONE] = "none",
        [TOKENS_USAGE] = "usage",
        [TOKENS_CHUNK_USAGE] = "chunk usage",
        [TOKENS_IDS] = "token ids",
        [TOKENS_EVENTS] = "events",
    };

    return (unsigned)source < TOKENS_SOURCE_COUNT ? names[source] : "unknown";
}

const char *finish_name(enum finish finish)
{
    static const char *const names[FINISH_COUNT] = {
        [FINISH_NONE] = "none",
        [FINISH_STOP] = "stop",
        [FINISH_LENGTH] = "length",
        [FINISH_TOOL_CALLS] = "tool_calls",
        [FINISH_CONTENT_FILTER] = "content_filter",
        [FINISH_OTHER] = "other",
    };

    return (unsigned)finish < FINISH_COUNT ? names[finish] : "unknown";
}

const char *measure_name(enum measure measure)
{
    return definitions[measure].name;
}

int measure_find(const char *name)
{
    if (strcmp(name, "e2el") == 0)
        return MEASURE_E2E;
    for (int m = 0; m < MEASURE_COUNT; m++) {
        if (strcmp(definitions[m].name, name) == 0)
            return m;
    }
    return -1;
}

/* What other tools call them. */
static const struct {
    const char *name;
    enum measure measure;
} foreign_names[] = {
    {"latency", MEASURE_E2E},
    {"duration", MEASURE_E2E},
    {"response_time", MEASURE_E2E},
    {"http_req_duration", MEASURE_E2E},
    {"request_latency", MEASURE_E2E},
    {"time_to_first_token", MEASURE_TTFT},
    {"http_req_waiting", MEASURE_TTFB},
    {"tbt", MEASURE_ITL},
    {"inter_token_latency", MEASURE_ITL},
    {"time_per_output_token", MEASURE_TPOT},
};

#define N_FOREIGN (sizeof(foreign_names) / sizeof(foreign_names[0]))

int measure_refuse(const char *name, const char *const *more, struct err *err)
{
    struct suggest s = {.word = name};
    struct buf known;
    char hint[64];
    int rc;

    buf_init(&known, MAX_NAMES);
    for (int m = 0; m < MEASURE_COUNT; m++) {
        suggest_consider(&s, measure_name((enum measure)m));
        buf_addf(&known, "%s%s", m ? ", " : "", measure_name((enum measure)m));
    }
    for (; more && *more; more++) {
        suggest_consider(&s, *more);
        buf_addf(&known, ", %s", *more);
    }
    for (size_t i = 0; i < N_FOREIGN; i++) {
        if (strcmp(foreign_names[i].name, name) == 0)
            s.best = measure_name(foreign_names[i].measure);
    }
    rc = err_set(err, ERR_CONFIG, "unknown measure '%s'%s%s measures are %s",
                 name, suggest_text(&s, "", hint, sizeof(hint)),
                 s.best ? " The" : "; the", buf_text(&known));
    buf_fini(&known);
    return rc;
}

bool measure_has_sent(enum measure measure)
{
    return definitions[measure].has_sent;
}

bool measure_is_of_answer(enum measure measure)
{
    return definitions[measure].is_of_answer;
}

bool measure_is_pooled(enum measure measure)
{
    return definitions[measure].value == of_no_request;
}

bool measure_is_of_stream(enum measure measure)
{
    return definitions[measure].value != NULL && measure != MEASURE_QUERY;
}

static int64_t fact_at(const struct facts *f, size_t offset)
{
    int64_t value;

    memcpy(&value, (const char *)f + offset, sizeof(value));
    return value;
}

int64_t measure_value(enum measure measure, enum measure_from from,
                      const struct facts *f)
{
    const struct definition *d = &definitions[measure];
    int64_t start;
    int64_t stop;

    if (d->value)
        return from == FROM_SENT ? TIME_ABSENT : d->value(f);
    start = fact_at(f, from == FROM_SENT ? AT(sent) : d->from);
    stop = fact_at(f, d->to);
    if (measure == MEASURE_E2E && f->outcome != OUTCOME_OK)
        stop = f->end;
    if (measure == MEASURE_CONNECT && (!f->is_fresh || f->retries > 0))
        return TIME_ABSENT; /* a second attempt does not start with `issued` */
    if (measure == MEASURE_CONNECT && stop == TIME_ABSENT)
        stop = f->sent; /* older recordings have no `connected` */
    if (from == FROM_SENT && !d->has_sent)
        return TIME_ABSENT;
    if (start == TIME_ABSENT || stop == TIME_ABSENT)
        return TIME_ABSENT;
    /* Unsigned: a damaged recording may contain any number. */
    return (int64_t)((uint64_t)stop - (uint64_t)start);
}

struct facts facts_unknown(int64_t seq, int64_t due_ns)
{
    return (struct facts){.seq = seq,
                          .due = due_ns,
                          .issued = TIME_ABSENT,
                          .sent = TIME_ABSENT,
                          .head = TIME_ABSENT,
                          .first = TIME_ABSENT,
                          .last = TIME_ABSENT,
                          .end = TIME_ABSENT,
                          .buffered = TIME_ABSENT,
                          .connected = TIME_ABSENT,
                          .secured = TIME_ABSENT,
                          .stall = TIME_ABSENT,
                          .prompt_asked = TIME_ABSENT,
                          .prompt_tokens = TIME_ABSENT,
                          .cached_tokens = TIME_ABSENT,
                          .output_asked = TIME_ABSENT,
                          .output_tokens = TIME_ABSENT,
                          .reasoning_tokens = TIME_ABSENT,
                          .event_tokens = TIME_ABSENT,
                          .first_tokens = TIME_ABSENT,
                          .session = TIME_ABSENT,
                          .opened = TIME_ABSENT,
                          .closing = TIME_ABSENT,
                          .choices_first = TIME_ABSENT,
                          .choices_last = TIME_ABSENT,
                          .target = TIME_ABSENT};
}

bool facts_is_exhausted(const struct facts *f)
{
    if (f->outcome == OUTCOME_CONNECT)
        return f->detail == CONNECT_PORTS || f->detail == CONNECT_FILES ||
               f->detail == CONNECT_MEMORY;
    return f->outcome == OUTCOME_RESET &&
           (f->detail == ENOBUFS || f->detail == ENOMEM);
}

bool facts_is_starved(const struct facts *f)
{
    return f->outcome == OUTCOME_TRUNCATED &&
           f->detail == RESPONSE_CLIENT_MEMORY;
}
