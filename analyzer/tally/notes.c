#include "analyzer/tally/notes.h"

#include "common/stats/stats.h"

#define FAR         0.1  /* from a length that was asked for */
#define BURST_SHARE 0.02 /* of the time to last, in which all events come */
#define BURST_READS 2    /* at most so many, */
#define BURST_EACH  8    /* or one for so many events */
#define BURST_LEAST 4    /* events; fewer are no stream to speak of */
#define TAIL_SHARE  0.05 /* of e2e */
#define CACHED_MORE 0.05 /* of prompt tokens, above what was sent before */
#define FRESH_SHARE 0.9  /* of requests that open a connection, ... */
#define FRESH_LEAST 10   /* ... of at least so many, ... */
#define FRESH_MORE  4    /* ... so many times what is in flight at a time */

/* A rule: what it makes of a request, when it holds at all, and above which
 * share it speaks. */
struct rule {
    const char *name;
    bool (*concerns)(const struct facts *f);
    int64_t (*count)(const struct facts *f);
    int64_t (*weight)(const struct facts *f); /* NULL: 1 a request */
    bool (*applies)(const struct oddities *o, const struct note_inputs *in);
    double limit;
    const char *text;
};

/* ---- why it stopped ---- */

static bool is_answer(const struct facts *f)
{
    return f->events > 0 || facts_count(f->output_tokens) != TIME_ABSENT;
}

static int64_t has_odd_finish(const struct facts *f)
{
    return f->finish != FINISH_STOP && f->finish != FINISH_LENGTH &&
           f->finish != FINISH_TOOL_CALLS;
}

/* Some APIs have no such thing. */
static bool says_finish(const struct oddities *o, const struct note_inputs *in)
{
    (void)in;
    return o->says_finish;
}

static int64_t has_stopped(const struct facts *f)
{
    return f->finish == FINISH_STOP;
}

static bool is_forced(const struct oddities *o, const struct note_inputs *in)
{
    (void)o;
    return in->is_length_forced;
}

/* ---- lengths ---- */

static bool has_both(int64_t asked, int64_t got)
{
    return facts_count(asked) > 0 && facts_count(got) != TIME_ABSENT;
}

static bool is_far(int64_t asked, int64_t got)
{
    double off = (double)(got - asked);

    return (off < 0 ? -off : off) > FAR * (double)asked;
}

static bool has_output_lengths(const struct facts *f)
{
    return has_both(f->output_asked, f->output_tokens);
}

static int64_t has_far_output(const struct facts *f)
{
    return is_far(f->output_asked, f->output_tokens);
}

static bool has_prompt_lengths(const struct facts *f)
{
    return has_both(f->prompt_asked, f->prompt_tokens);
}

static int64_t has_far_prompt(const struct facts *f)
{
    return is_far(f->prompt_asked, f->prompt_tokens);
}

/* ---- the cache ---- */

static bool says_cached(const struct facts *f)
{
    return has_both(f->prompt_tokens, f->cached_tokens);
}

static bool counts_prompt(const struct facts *f)
{
    return facts_count(f->prompt_tokens) > 0;
}

/* Many servers say it only where there is something to say. */
static int64_t cached_of(const struct facts *f)
{
    return says_cached(f) ? f->cached_tokens : 0;
}

static int64_t prompt_of(const struct facts *f)
{
    return f->prompt_tokens;
}

/* More than the data gives, by as much as chance and blocks do not explain. */
static bool is_cached_more(const struct oddities *o,
                           const struct note_inputs *in)
{
    const struct odd *odd = &o->odd[NOTE_CACHED];

    return in->cached_share >= 0 &&
           (double)odd->count >
               (in->cached_share + CACHED_MORE) * (double)odd->of;
}

/* A cache that is on finds most of what was sent before. */
static bool is_cached_less(const struct oddities *o,
                           const struct note_inputs *in)
{
    const struct odd *odd = &o->odd[NOTE_NOT_CACHED];

    return o->says_cached && in->cached_share > CACHED_MORE &&
           (double)odd->count < in->cached_share / 2 * (double)odd->of;
}

/* ---- streams ---- */

static bool is_long_stream(const struct facts *f)
{
    return facts_count(f->events) >= BURST_LEAST &&
           facts_count(f->coalesced) != TIME_ABSENT && f->sent != TIME_ABSENT &&
           f->first != TIME_ABSENT && f->last >= f->first &&
           f->first >= f->sent;
}

static int64_t is_burst(const struct facts *f)
{
    int64_t reads = f->events - f->coalesced;

    return (reads <= BURST_READS || reads <= f->events / BURST_EACH) &&
           (double)(f->last - f->first) <=
               BURST_SHARE * (double)(f->last - f->sent);
}

static bool has_tail(const struct facts *f)
{
    return measure_value(MEASURE_TAIL, FROM_DUE, f) != TIME_ABSENT;
}

static int64_t has_long_tail(const struct facts *f)
{
    return (double)measure_value(MEASURE_TAIL, FROM_DUE, f) >
           TAIL_SHARE * (double)measure_value(MEASURE_E2E, FROM_DUE, f);
}

/* Of fewer requests than a p99 needs, one that was late would be it: most of
 * them have to be. */
static bool is_tail_long(const struct oddities *o, const struct note_inputs *in)
{
    const struct odd *odd = &o->odd[NOTE_TAIL];

    if (odd->of < stats_min_n(0.99))
        return 2 * odd->count > odd->of;
    return in->e2e_p99_ns >= 0 && in->tail_p99_ns >= 0 &&
           (double)in->tail_p99_ns > TAIL_SHARE * (double)in->e2e_p99_ns;
}

static bool is_any(const struct facts *f)
{
    (void)f;
    return true;
}

static int64_t came_whole(const struct facts *f)
{
    return facts_count(f->events) <= 0;
}

static bool limits_ttft(const struct oddities *o, const struct note_inputs *in)
{
    (void)o;
    return in->limits_ttft;
}

/* ---- connections ---- */

static int64_t is_fresh(const struct facts *f)
{
    return f->is_fresh != 0;
}

/* As many connections as requests in flight would have been enough. */
static bool could_reuse(const struct oddities *o, const struct note_inputs *in)
{
    int64_t n = o->odd[NOTE_CLOSED].of;

    return in->keeps_connections && n >= FRESH_LEAST &&
           (double)n > FRESH_MORE * (in->in_flight_mean + 1);
}

/* ---- counts ---- */

/* One from the end, and one from the events. */
static bool has_two_counts(const struct facts *f)
{
    return f->token_source == TOKENS_USAGE && f->is_split != 0 &&
           facts_count(f->output_tokens) != TIME_ABSENT &&
           facts_count(f->event_tokens) != TIME_ABSENT;
}

/* The last token may have no text, and reasoning need not be shown. */
static int64_t do_counts_differ(const struct facts *f)
{
    int64_t hidden = facts_count(f->reasoning_tokens);
    int64_t least = f->output_tokens - (hidden > 0 ? hidden : 0) - 1;

    return f->event_tokens < least || f->event_tokens > f->output_tokens + 1;
}

/* ---- the table ---- */

/* docs/metrics.md says why the limits are what they are. */
static const struct rule rules[NOTE_COUNT] = {
    [NOTE_FINISH] = {.name = "finish_reason",
                     .concerns = is_answer,
                     .count = has_odd_finish,
                     .applies = says_finish,
                     .text = "answers ended neither with stop nor length nor "
                             "tool_calls"},
    [NOTE_EARLY_STOP] = {.name = "early_stop",
                         .concerns = is_answer,
                         .count = has_stopped,
                         .applies = is_forced,
                         .text = "answers stopped by themselves though their "
                                 "length was forced"},
    [NOTE_OUTPUT_LENGTH] = {.name = "output_length",
                            .concerns = has_output_lengths,
                            .count = has_far_output,
                            .limit = 0.01,
                            .text = "outputs are more than 10% longer or "
                                    "shorter than asked: this is other work"},
    [NOTE_PROMPT_LENGTH] = {.name = "prompt_length",
                            .concerns = has_prompt_lengths,
                            .count = has_far_prompt,
                            .limit = 0.01,
                            .text = "prompts are, as the server counts, more "
                                    "than 10% longer or shorter than asked"},
    [NOTE_CACHED] = {.name = "cached_prompts",
                     .concerns = counts_prompt,
                     .count = cached_of,
                     .weight = prompt_of,
                     .applies = is_cached_more,
                     .limit = 0, /* what the data gives decides */
                     .text = "prompt tokens came from the server's cache, more "
                             "than prompts have in common"},
    [NOTE_NOT_CACHED] = {.name = "uncached_prompts",
                         .concerns = counts_prompt,
                         .count = cached_of,
                         .weight = prompt_of,
                         .applies = is_cached_less,
                         .limit = -1, /* likewise */
                         .text = "prompt tokens came from the server's cache, "
                                 "less than half of what was sent before"},
    [NOTE_BURST] = {.name = "burst",
                    .concerns = is_long_stream,
                    .count = is_burst,
                    .limit = 0.5,
                    .text = "the stream arrives in one burst at its end: ttft "
                            "and tpot say nothing"},
    [NOTE_TAIL] = {.name = "tail",
                   .concerns = has_tail,
                   .count = has_long_tail,
                   .applies = is_tail_long,
                   .limit = -1, /* the p99s decide */
                   .text = "answers end late after their last content: tail "
                           "is above 5% of e2e"},
    [NOTE_TOKEN_COUNTS] = {.name = "token_counts",
                           .concerns = has_two_counts,
                           .count = do_counts_differ,
                           .limit = 0.01,
                           .text = "the server's count of output tokens is not "
                                   "what its events hold"},
    [NOTE_NO_STREAM] = {.name = "no_stream",
                        .concerns = is_any,
                        .count = came_whole,
                        .applies = limits_ttft,
                        .text = "answers came whole: their ttft, which the SLO "
                                "limits, is their e2e"},
    [NOTE_CLOSED] = {.name = "connection_closed",
                     .concerns = is_any,
                     .count = is_fresh,
                     .applies = could_reuse,
                     .limit = FRESH_SHARE,
                     .text = "the server closes the connection after its "
                             "answer, so that times include a new one: "
                             "--no-keepalive asks for that"},
};

void oddities_add(struct oddities *o, const struct facts *f)
{
    o->says_finish = o->says_finish || f->finish != FINISH_NONE;
    o->says_cached = o->says_cached || says_cached(f);
    for (int i = 0; i < NOTE_COUNT; i++) {
        const struct rule *r = &rules[i];

        if (!r->concerns(f))
            continue;
        o->odd[i].count += r->count(f);
        o->odd[i].of += r->weight ? r->weight(f) : 1;
    }
}

void notes_make(const struct oddities *o, const struct note_inputs *in,
                struct notes *out)
{
    *out = (struct notes){0};
    for (int i = 0; i < NOTE_COUNT; i++) {
        const struct rule *r = &rules[i];
        struct note n = {r->name, o->odd[i].count, o->odd[i].of, 0, r->text};

        if (n.of <= 0 || (r->applies && !r->applies(o, in)))
            continue;
        n.share = (double)n.count / (double)n.of;
        if (n.share > r->limit)
            out->list[out->len++] = n;
    }
}
