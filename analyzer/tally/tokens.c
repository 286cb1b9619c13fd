#include "analyzer/tally/tokens.h"

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

/* Of the time from first to last, how much lies in the window? */
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

/* ---- of the window ---- */

static int64_t output_of(const struct facts *f)
{
    int64_t output = facts_count(f->output_tokens);

    return output != TIME_ABSENT ? output : facts_count(f->event_tokens);
}

static void add_stream(struct tokens *t, const struct facts *f)
{
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

void tokens_add(struct tokens *t, const struct facts *f, bool is_good)
{
    int64_t output = output_of(f);

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
    add_stream(t, f);
}

int64_t tokens_cached_of(const struct tokens *t)
{
    return t->cached.n > 0 ? t->prompt.sum : 0;
}

bool tokens_have_output(const struct tokens *t)
{
    return t->output.n > 0 || t->output_asked.n > 0 || t->streams > 0 ||
           t->in_events > 0 || t->unary_inside > 0;
}

bool tokens_are_known(const struct tokens *t)
{
    return t->prompt.n > 0 || t->output.n > 0 || t->streams > 0 ||
           t->in_events > 0 || t->unary_inside > 0;
}

bool tokens_are_mixed(const struct tokens *t)
{
    int used = 0;

    for (int i = 0; i < TOKENS_SOURCE_COUNT; i++)
        used += t->source[i] > 0;
    return used > 1;
}
