#include "analyzer/tally/notes.h"

#include <math.h>

#include "common/stats/stats.h"

#define FAR 0.1 /* relative difference from the requested length */
#define BURST_SHARE                                                            \
    0.02                 /* of the time to the last event, for all events ...  \
                          */
#define BURST_READS 2    /* ... in at most this many reads, */
#define BURST_EACH  8    /* or one read per this many events */
#define BURST_MIN   4    /* events; fewer are not much of a stream */
#define TAIL_SHARE  0.05 /* of e2e */
#define CACHED_MORE 0.05 /* of prompt tokens, above those sent before */
#define DRAIN_SHARE 0.01 /* of requests that end after the load has ended */
#define FRESH_SHARE 0.9  /* of requests that open a connection, ... */
#define FRESH_MIN   10   /* ... of at least this many, ... */
#define FRESH_MORE  4    /* ... if this many times the mean in flight */

/* ---- counting ---- */

static void add(struct odd *odd, bool concerns, int64_t count, int64_t of)
{
    odd->count += concerns ? count : 0;
    odd->of += concerns ? of : 0;
}

static bool has_both(int64_t asked, int64_t got)
{
    return facts_count(asked) > 0 && facts_count(got) != TIME_ABSENT;
}

static bool is_far(int64_t asked, int64_t got)
{
    return fabs((double)got - (double)asked) > FAR * (double)asked;
}

static void add_stream(struct oddities *o, const struct facts *f)
{
    int64_t tail = measure_value(MEASURE_TAIL, FROM_DUE, f);
    int64_t e2e = measure_value(MEASURE_E2E, FROM_DUE, f);
    int64_t hidden = facts_count(f->reasoning_tokens);

    add(&o->odd[NOTE_TAIL], tail != TIME_ABSENT,
        (double)tail > TAIL_SHARE * (double)e2e, 1);
    if (facts_count(f->events) >= BURST_MIN &&
        facts_count(f->coalesced) != TIME_ABSENT && f->sent != TIME_ABSENT &&
        f->first != TIME_ABSENT && f->last >= f->first && f->first >= f->sent) {
        int64_t reads = f->events - f->coalesced;

        add(&o->odd[NOTE_BURST], true,
            (reads <= BURST_READS || reads <= f->events / BURST_EACH) &&
                (double)(f->last - f->first) <=
                    BURST_SHARE * (double)(f->last - f->sent),
            1);
    }
    /* A count in the usage record and one from the events.  The last token may
     * have no text, and reasoning may be hidden. */
    if (f->token_source == TOKENS_USAGE && f->is_split != 0 &&
        facts_count(f->output_tokens) != TIME_ABSENT &&
        facts_count(f->event_tokens) != TIME_ABSENT)
        add(&o->odd[NOTE_TOKEN_COUNTS], true,
            f->event_tokens <
                    f->output_tokens - (hidden > 0 ? hidden : 0) - 1 ||
                f->event_tokens > f->output_tokens + 1,
            1);
}

void oddities_add(struct oddities *o, const struct facts *f)
{
    bool is_answer =
        f->events > 0 || facts_count(f->output_tokens) != TIME_ABSENT;
    bool says_cached = has_both(f->prompt_tokens, f->cached_tokens);
    bool counts_prompt = facts_count(f->prompt_tokens) > 0;
    /* Many servers report cached tokens only if there are some. */
    int64_t cached = says_cached ? f->cached_tokens : 0;

    o->says_finish |= f->finish != FINISH_NONE;
    o->says_cached |= says_cached;
    add(&o->odd[NOTE_FINISH], is_answer,
        f->finish != FINISH_STOP && f->finish != FINISH_LENGTH &&
            f->finish != FINISH_TOOL_CALLS,
        1);
    add(&o->odd[NOTE_EARLY_STOP], is_answer, f->finish == FINISH_STOP, 1);
    add(&o->odd[NOTE_OUTPUT_LENGTH],
        has_both(f->output_asked, f->output_tokens),
        is_far(f->output_asked, f->output_tokens), 1);
    add(&o->odd[NOTE_PROMPT_LENGTH],
        has_both(f->prompt_asked, f->prompt_tokens),
        is_far(f->prompt_asked, f->prompt_tokens), 1);
    add(&o->odd[NOTE_CACHED], counts_prompt, cached, f->prompt_tokens);
    add(&o->odd[NOTE_NOT_CACHED], counts_prompt, cached, f->prompt_tokens);
    add(&o->odd[NOTE_NO_STREAM], true, facts_count(f->events) <= 0, 1);
    add(&o->odd[NOTE_CLOSED], true, f->is_fresh != 0, 1);
    add(&o->odd[NOTE_DRAIN], true, f->end > o->load_end_ns, 1);
    add_stream(o, f);
}

/* ---- notes ---- */

/* A rule adds a note if it applies and more than this share is odd.
 * docs/metrics.md explains the limits. */
static const struct rule {
    const char *name;
    double limit; /* ALWAYS: applies() decides alone */
    const char *text;
} rules[NOTE_COUNT] = {
#define ALWAYS (-1)
    [NOTE_FINISH] = {"finish_reason", 0,
                     "answers ended for another reason than stop, length or "
                     "tool_calls"},
    [NOTE_EARLY_STOP] = {"early_stop", 0,
                         "answers stopped early although ignore_eos forces "
                         "their length"},
    [NOTE_OUTPUT_LENGTH] = {"output_length", 0.01,
                            "outputs are more than 10% longer or shorter than "
                            "requested: the server did different work"},
    [NOTE_PROMPT_LENGTH] = {"prompt_length", 0.01,
                            "by the server's count, prompts are more than 10% "
                            "longer or shorter than requested"},
    [NOTE_CACHED] = {"cached_prompts", 0,
                     "prompt tokens came from the server's cache, more than "
                     "the prompts have in common"},
    [NOTE_NOT_CACHED] = {"uncached_prompts", ALWAYS,
                         "prompt tokens came from the server's cache, less "
                         "than half of those sent before"},
    [NOTE_BURST] = {"burst", 0.5,
                    "streams arrive in one burst at the end: ttft and tpot are "
                    "meaningless"},
    [NOTE_TAIL] = {"tail", ALWAYS,
                   "answers end long after their last content: tail is above "
                   "5% of e2e"},
    [NOTE_TOKEN_COUNTS] = {"token_counts", 0.01,
                           "the server's count of output tokens differs from "
                           "the tokens in its events"},
    [NOTE_NO_STREAM] = {"no_stream", 0,
                        "answers did not stream: their ttft, which the SLO "
                        "limits, equals their e2e"},
    [NOTE_CLOSED] = {"connection_closed", FRESH_SHARE,
                     "the server closes the connection after each answer, so "
                     "times include opening a new one; --no-keepalive makes "
                     "this explicit"},
    [NOTE_DRAIN] = {"drain", DRAIN_SHARE,
                    "requests of the window ended after the load did; the "
                    "server had less to do by then, so latencies (mostly e2e "
                    "p99) may be too low: use a longer window or --cooldown"},
};

static bool applies(enum note_kind kind, const struct oddities *o,
                    const struct note_inputs *in)
{
    double count = (double)o->odd[kind].count;
    double of = (double)o->odd[kind].of;

    switch (kind) {
    case NOTE_FINISH: /* some APIs have no finish reason */
        return o->says_finish;
    case NOTE_EARLY_STOP:
        return in->is_length_forced;
    case NOTE_CACHED: /* beyond chance and block sizes */
        return in->cached_share >= 0 &&
               count > (in->cached_share + CACHED_MORE) * of;
    case NOTE_NOT_CACHED: /* an enabled cache finds most of what it has seen */
        return o->says_cached && in->cached_share > CACHED_MORE &&
               count < in->cached_share / 2 * of;
    case NOTE_TAIL:
        /* With too few requests for a p99, one late request would be the p99:
         * then most of them must be late. */
        if (o->odd[kind].of < stats_min_n(0.99))
            return 2 * count > of;
        return in->e2e_p99_ns >= 0 && in->tail_p99_ns >= 0 &&
               (double)in->tail_p99_ns > TAIL_SHARE * (double)in->e2e_p99_ns;
    case NOTE_NO_STREAM:
        return in->limits_ttft;
    case NOTE_DRAIN:
        return !in->is_offline && o->load_end_ns > 0;
    case NOTE_CLOSED:
        /* As many connections as requests in flight would have sufficed. */
        return in->keeps_connections && of >= FRESH_MIN &&
               of > FRESH_MORE * (in->in_flight_mean + 1);
    default:
        return true;
    }
}

void notes_make(const struct oddities *o, const struct note_inputs *in,
                struct notes *out)
{
    *out = (struct notes){0};
    for (int i = 0; i < NOTE_COUNT; i++) {
        const struct rule *r = &rules[i];
        struct note n = {r->name, o->odd[i].count, o->odd[i].of, 0, r->text};

        if (n.of <= 0 || !applies((enum note_kind)i, o, in))
            continue;
        n.share = (double)n.count / (double)n.of;
        if (n.share > r->limit)
            out->list[out->len++] = n;
    }
}
