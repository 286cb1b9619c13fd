#include "analyzer/tally/tokens.h"

#include <math.h>

#include "analyzer/tally/notes.h"
#include "common/settings/settings.h"

static void add(struct token_sum *s, int64_t value)
{
    int64_t count = facts_count(value);

    if (count == TIME_ABSENT)
        return;
    s->n++;
    s->sum += count;
}

double token_mean(const struct token_sum *s)
{
    return s->n > 0 ? (double)s->sum / (double)s->n : -1;
}

/* ---- by arrival ---- */

/* Share of the time from first to last event that lies in the window. */
static double share_inside(const struct window *w, const struct facts *f)
{
    double first = (double)f->first;
    double last = (double)f->last;
    double from = first > (double)w->start_ns ? first : (double)w->start_ns;
    double to = last < (double)w->end_ns ? last : (double)w->end_ns;

    if (!(last > first))
        return window_holds(w, f->last) ? 1 : 0;
    return to > from ? (to - from) / (last - first) : 0;
}

void tokens_see(struct tokens *t, const struct window *w, const struct facts *f)
{
    int64_t in_events = facts_count(f->event_tokens);
    int64_t output = facts_count(f->output_tokens);

    if (facts_count(f->events) > 0) {
        if (in_events == TIME_ABSENT)
            return;
        t->in_events += in_events;
        if (f->is_split)
            return;
        t->unsplit += in_events;
        t->unsplit_inside += share_inside(w, f) * (double)in_events;
    } else if (f->outcome == OUTCOME_OK && window_holds(w, f->end) &&
               output != TIME_ABSENT) {
        t->unary_inside += output;
    }
}

double tokens_inside(const struct tokens *t, int64_t in_events, int64_t inside)
{
    int64_t more = t->in_events - in_events;
    double sum = (double)(inside + t->unary_inside);

    if (more > t->unsplit)
        more = t->unsplit; /* the rest was lost */
    if (more > 0)
        sum += (double)more * t->unsplit_inside / (double)t->unsplit;
    return sum;
}

/* ---- by request ---- */

void tokens_add(struct tokens *t, const struct facts *f, bool is_good)
{
    int64_t output = facts_count(f->output_tokens);

    if (output == TIME_ABSENT)
        output = facts_count(f->event_tokens);
    if (is_good && output > 0)
        t->good_output += output;
    if (f->outcome != OUTCOME_OK)
        return;
    t->requests++;
    add(&t->prompt_asked, f->prompt_asked);
    add(&t->prompt, f->prompt_tokens);
    if (facts_count(f->prompt_tokens) != TIME_ABSENT &&
        facts_count(f->cached_tokens) != TIME_ABSENT)
        add(&t->cached, f->cached_tokens);
    add(&t->output_asked, f->output_asked);
    add(&t->output, output);
    add(&t->reasoning, f->reasoning_tokens);
    if (f->token_source >= 0 && f->token_source < TOKENS_SOURCE_COUNT)
        t->source[f->token_source]++;
    if (f->finish >= 0 && f->finish < FINISH_COUNT)
        t->finish[f->finish]++;
    if (facts_count(f->events) <= 0)
        return;
    t->streams++;
    t->events += f->events;
    if (facts_count(f->coalesced) > 0)
        t->coalesced += f->coalesced;
    if (facts_count(f->event_tokens) == TIME_ABSENT)
        return;
    t->event_tokens += f->event_tokens;
    t->assumed += f->is_split == 0;
}

int64_t tokens_cached_of(const struct tokens *t)
{
    return t->cached.n > 0 ? t->prompt.sum : 0;
}

static bool has_some_output(const struct tokens *t)
{
    return t->output.n > 0 || t->streams > 0 || t->in_events > 0 ||
           t->unary_inside > 0;
}

bool tokens_have_output(const struct tokens *t)
{
    return t->output_asked.n > 0 || has_some_output(t);
}

bool tokens_are_known(const struct tokens *t)
{
    return t->prompt.n > 0 || has_some_output(t);
}

bool tokens_are_mixed(const struct tokens *t)
{
    int used = 0;

    for (int i = 0; i < TOKENS_SOURCE_COUNT; i++)
        used += t->source[i] > 0;
    return used > 1;
}

/* ---- output length against a reference ---- */

const char *outlen_source_name(enum outlen_source source)
{
    static const char *const names[] = {
        [OUTLEN_NONE] = "none",
        [OUTLEN_SETTING] = "setting",
        [OUTLEN_DATA] = "data",
    };

    return names[source];
}

struct outlen outlen_check(const struct tokens *t,
                           const struct data_settings *data, bool has_lengths)
{
    struct outlen o = {.tolerance = data->output_tolerance,
                       .mean = token_mean(&t->output)};

    if (data->reference_output > 0) {
        o.source = OUTLEN_SETTING;
        o.reference = data->reference_output;
    } else if (has_lengths && t->output_asked.sum > 0) {
        o.source = OUTLEN_DATA;
        o.reference = token_mean(&t->output_asked);
    } else {
        return o;
    }
    if (o.mean < 0)
        return o;
    o.ratio = o.mean / o.reference;
    o.is_ok = fabs(o.ratio - 1) <= o.tolerance * (1 + 1e-12);
    return o;
}

bool outlen_note(const struct outlen *o, const struct tokens *t,
                 struct note *note)
{
    if (o->source == OUTLEN_NONE || o->is_ok || t->requests == 0)
        return false;
    *note = (struct note){
        .name = "output_drift",
        .count = t->output.sum,
        .of = llround(o->reference *
                      (double)(t->output.n > 0 ? t->output.n : t->requests)),
        .share = o->ratio,
        .text =
            o->mean < 0
                ? "output tokens of the reference: the server does not report "
                  "token counts"
                : "output tokens of the reference: answers are cut short "
                  "or padded, which is different work",
    };
    return true;
}
