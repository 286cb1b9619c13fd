/* The answers, for a person: their tokens, their quality, and warnings. */
#include "analyzer/report/text_parts.h"

#include "analyzer/tally/summary.h"
#include "common/base/buf.h"

static double percent(int64_t part, int64_t whole)
{
    return whole > 0 ? 100 * (double)part / (double)whole : 0;
}

/* "text 512000 in 1000 answers (mean 512)", after a comma unless it is the
 * first in its line. */
static void put_sum(const char *text, const struct token_sum *s,
                    const char **comma, struct buf *out)
{
    if (s->n == 0)
        return;
    buf_addf(out, "%s%s %lld in %lld (mean %.6g)", *comma, text,
             (long long)s->sum, (long long)s->n, token_mean(s));
    *comma = ", ";
}

static void put_prompts(const struct tokens *t, struct buf *out)
{
    const char *comma = "           prompt: ";

    put_sum("counted", &t->prompt, &comma, out);
    put_sum("asked", &t->prompt_asked, &comma, out);
    put_sum("cached", &t->cached, &comma, out);
    if (tokens_cached_of(t) > 0)
        buf_addf(out, ", %.4g%% of %lld",
                 percent(t->cached.sum, tokens_cached_of(t)),
                 (long long)tokens_cached_of(t));
    if (t->prompt.n + t->prompt_asked.n > 0)
        buf_adds(out, "\n");
}

static void put_outputs(const struct tokens *t, struct buf *out)
{
    const char *comma = "           output: ";

    put_sum("counted", &t->output, &comma, out);
    put_sum("asked", &t->output_asked, &comma, out);
    put_sum("reasoning", &t->reasoning, &comma, out);
    if (t->output.n + t->output_asked.n + t->reasoning.n > 0)
        buf_adds(out, "\n");
}

static void put_reference(const struct outlen *o, struct buf *out)
{
    if (o->source == OUTLEN_NONE)
        return;
    buf_addf(out, "           output reference (%s): mean %.6g",
             o->source == OUTLEN_DATA ? "of the data set" : "given",
             o->reference);
    if (o->mean < 0)
        buf_adds(out, ", and nobody counts tokens\n");
    else
        buf_addf(out, ", the answers' is %.4g%% of it, %s %.4g%%\n",
                 100 * o->ratio, o->is_ok ? "within" : "OFF by more than",
                 100 * o->tolerance);
}

static void put_sources(const struct tokens *t, struct buf *out)
{
    const char *comma = "           counted by ";

    for (int i = 0; i < TOKENS_SOURCE_COUNT; i++) {
        if (t->source[i] == 0)
            continue;
        buf_addf(out, "%s%s %lld", comma,
                 token_source_name((enum token_source)i),
                 (long long)t->source[i]);
        comma = ", ";
    }
    if (t->requests > 0)
        buf_adds(out, tokens_are_mixed(t) ? ": MIXED sources\n" : "\n");
}

static void put_reasons(const struct tokens *t, struct buf *out)
{
    const char *comma = "           ended with ";

    if (t->finish[FINISH_NONE] == t->requests)
        return;
    for (int i = 0; i < FINISH_COUNT; i++) {
        if (t->finish[i] == 0)
            continue;
        buf_addf(out, "%s%s %lld", comma, finish_name((enum finish)i),
                 (long long)t->finish[i]);
        comma = ", ";
    }
    buf_adds(out, "\n");
}

static void put_streams(const struct tokens *t, struct buf *out)
{
    if (t->streams == 0)
        return;
    buf_addf(
        out,
        "           %lld streams: %lld events (mean %.4g), %lld tokens in "
        "them (%.4g an event)\n"
        "           %lld events (%.4g%%) in one read with the one before\n",
        (long long)t->streams, (long long)t->events,
        (double)t->events / (double)t->streams, (long long)t->event_tokens,
        (double)t->event_tokens / (double)t->events, (long long)t->coalesced,
        percent(t->coalesced, t->events));
    if (t->assumed > 0)
        buf_addf(out,
                 "           tpot is ASSUMED for %lld: nobody says how many "
                 "tokens an event has\n",
                 (long long)t->assumed);
}

static void put_tokens(const struct summary *s, struct buf *out)
{
    const struct tokens *t = &s->tokens;

    if (!s->has_tokens)
        return;
    buf_addf(out, "tokens     of %lld ok requests\n", (long long)t->requests);
    put_prompts(t, out);
    put_outputs(t, out);
    put_reference(&s->outlen, out);
    if (tokens_have_output(t))
        put_sources(t, out);
    put_reasons(t, out);
    put_streams(t, out);
}

static void put_quality(const struct quality *q, struct buf *out)
{
    if (q->checked == 0)
        return;
    buf_addf(out,
             "quality    %.6g%%: %lld of %lld checked answers passed (95%% "
             "interval %.6g%% to %.6g%%)\n",
             100 * q->share, (long long)q->passed, (long long)q->checked,
             100 * q->ci95.low, 100 * q->ci95.high);
}

static void put_notes(const struct notes *n, struct buf *out)
{
    for (size_t i = 0; i < n->len; i++) {
        const struct note *note = &n->list[i];

        buf_addf(out, "WARNING    %s: %lld of %lld (%.4g%%): %s\n", note->name,
                 (long long)note->count, (long long)note->of, 100 * note->share,
                 note->text);
    }
}

void text_put_answers(const struct summary *s, struct buf *out)
{
    put_tokens(s, out);
    put_quality(&s->quality, out);
    put_notes(&s->notes, out);
}
