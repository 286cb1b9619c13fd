#include "analyzer/tally/notes.h"

#include "common/stats/intervals.h"

#define FAR 0.1 /* relative difference from the requested length */
#define BURST_SHARE                                                            \
    0.02                 /* of the time to the last event, for all events ...  \
                          */
#define BURST_READS 2    /* ... in at most this many reads, */
#define BURST_EACH  8    /* or one read per this many events */
#define BURST_MIN   4    /* events; fewer are not much of a stream */
#define TAIL_SHARE  0.05 /* of e2e */
#define CACHED_MORE 0.05 /* of prompt tokens, above those sent before */
#define FRESH_SHARE 0.9  /* of requests that open a connection, ... */
#define FRESH_MIN   10   /* ... of at least this many, ... */
#define FRESH_MORE  4    /* ... if this many times the mean in flight */

/* Which requests a rule concerns, how it counts them, whether it applies to the
 * run, and the share above which it adds a note. */
struct rule {
    const char *name;
    bool (*concerns)(const struct facts *f);
    int64_t (*count)(const struct facts *f);
    int64_t (*weight)(const struct facts *f); /* NULL: 1 per request */
    bool (*applies)(const struct oddities *o, const struct note_inputs *in);
    double limit;
    const char *text;
};

/* ---- finish reasons ---- */

static bool is_answer(const struct facts *f)
{
    return f->events > 0 || facts_count(f->output_tokens) != TIME_ABSENT;
}

static int64_t has_odd_finish(const struct facts *f)
{
    return f->finish != FINISH_STOP && f->finish != FINISH_LENGTH &&
           f->finish != FINISH_TOOL_CALLS;
}

/* Some APIs have no finish reason. */
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

/* Many servers report cached tokens only if there are some. */
static int64_t cached_of(const struct facts *f)
{
    return says_cached(f) ? f->cached_tokens : 0;
}

static int64_t prompt_of(const struct facts *f)
{
    return f->prompt_tokens;
}

/* More than the prompts have in common, beyond chance and block sizes. */
static bool is_cached_more(const struct oddities *o,
                           const struct note_inputs *in)
{
    const struct odd *odd = &o->odd[NOTE_CACHED];

    return in->cached_share >= 0 &&
           (double)odd->count >
               (in->cached_share + CACHED_MORE) * (double)odd->of;
}

/* A cache that is enabled finds most of what was sent before. */
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
    return facts_count(f->events) >= BURST_MIN &&
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

/* With too few requests for a p99, one late request would be the p99: then most
 * of them must be late. */
static bool is_tail_long(const struct oddities *o, const struct note_inputs *in)
{
    const struct odd *odd = &o->odd[NOTE_TAIL];

    if (odd->of < stats_least_n(0.99))
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

/* As many connections as requests in flight would have sufficed. */
static bool could_reuse(const struct oddities *o, const struct note_inputs *in)
{
    int64_t n = o->odd[NOTE_CLOSED].of;

    return in->keeps_connections && n >= FRESH_MIN &&
           (double)n > FRESH_MORE * (in->in_flight_mean + 1);
}

/* ---- counts ---- */

/* A count in the usage record and one from the events. */
static bool has_two_counts(const struct facts *f)
{
    return f->token_source == TOKENS_USAGE && f->is_split != 0 &&
           facts_count(f->output_tokens) != TIME_ABSENT &&
           facts_count(f->event_tokens) != TIME_ABSENT;
}

/* The last token may have no text, and reasoning may be hidden. */
static int64_t do_counts_differ(const struct facts *f)
{
    int64_t hidden = facts_count(f->reasoning_tokens);
    int64_t min = f->output_tokens - (hidden > 0 ? hidden : 0) - 1;

    return f->event_tokens < min || f->event_tokens > f->output_tokens + 1;
}

/* ---- the table ---- */

/* docs/metrics.md explains the limits. */
static const struct rule rules[NOTE_COUNT] = {
    [NOTE_FINISH] = {.name = "finish_reason",
                     .concerns = is_answer,
                     .count = has_odd_finish,
                     .applies = says_finish,
                     .text = "answers ended for another reason than stop, "
                             "length or tool_calls"},
    [NOTE_EARLY_STOP] = {.name = "early_stop",
                         .concerns = is_answer,
                         .count = has_stopped,
                         .applies = is_forced,
                         .text = "answers stopped early although ignore_eos "
                                 "forces their length"},
    [NOTE_OUTPUT_LENGTH] = {.name = "output_length",
                            .concerns = has_output_lengths,
                            .count = has_far_output,
                            .limit = 0.01,
                            .text = "outputs are more than 10% longer or "
                                    "shorter than requested: the server did "
                                    "different work"},
    [NOTE_PROMPT_LENGTH] = {.name = "prompt_length",
                            .concerns = has_prompt_lengths,
                            .count = has_far_prompt,
                            .limit = 0.01,
                            .text = "by the server's count, prompts are more "
                                    "than 10% longer or shorter than "
                                    "requested"},
    [NOTE_CACHED] = {.name = "cached_prompts",
                     .concerns = counts_prompt,
                     .count = cached_of,
                     .weight = prompt_of,
                     .applies = is_cached_more,
                     .limit = 0, /* `applies` decides */
                     .text = "prompt tokens came from the server's cache, more "
                             "than the prompts have in common"},
    [NOTE_NOT_CACHED] = {.name = "uncached_prompts",
                         .concerns = counts_prompt,
                         .count = cached_of,
                         .weight = prompt_of,
                         .applies = is_cached_less,
                         .limit = -1, /* `applies` decides */
                         .text = "prompt tokens came from the server's cache, "
                                 "less than half of those sent before"},
    [NOTE_BURST] = {.name = "burst",
                    .concerns = is_long_stream,
                    .count = is_burst,
                    .limit = 0.5,
                    .text = "streams arrive in one burst at the end: ttft and "
                            "tpot are meaningless"},
    [NOTE_TAIL] = {.name = "tail",
                   .concerns = has_tail,
                   .count = has_long_tail,
                   .applies = is_tail_long,
                   .limit = -1, /* `applies` decides */
                   .text = "answers end long after their last content: tail "
                           "is above 5% of e2e"},
    [NOTE_TOKEN_COUNTS] = {.name = "token_counts",
                           .concerns = has_two_counts,
                           .count = do_counts_differ,
                           .limit = 0.01,
                           .text =
                               "the server's count of output tokens differs "
                               "from the tokens in its events"},
    [NOTE_NO_STREAM] = {.name = "no_stream",
                        .concerns = is_any,
                        .count = came_whole,
                        .applies = limits_ttft,
                        .text = "answers did not stream: their ttft, which the "
                                "SLO limits, equals their e2e"},
    [NOTE_CLOSED] = {.name = "connection_closed",
                     .concerns = is_any,
                     .count = is_fresh,
                     .applies = could_reuse,
                     .limit = FRESH_SHARE,
                     .text = "the server closes the connection after each "
                             "answer, so times include opening a new one; "
                             "--no-keepalive makes this explicit"},
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
