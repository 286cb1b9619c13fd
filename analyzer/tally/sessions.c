#include "analyzer/tally/sessions.h"

#include "analyzer/tally/tally.h"

const double turn_quantile[TURN_QUANTILES] = {0.5, 0.99};
const char *const turn_quantile_name[TURN_QUANTILES] = {"p50", "p99"};

void sessions_fini(struct sessions *s)
{
    for (int k = 0; k < TURN_KINDS; k++) {
        hist_fini(&s->kinds[k].e2e);
        hist_fini(&s->kinds[k].ttft);
    }
}

static void add_turn(struct turn_tally *t, const struct facts *f)
{
    int64_t prompt = facts_count(f->prompt_tokens);
    int64_t cached = facts_count(f->cached_tokens);

    t->n++;
    tally_add_value(&t->e2e, MEASURE_E2E, f);
    tally_add_value(&t->ttft, MEASURE_TTFT, f);
    if (f->outcome != OUTCOME_OK || prompt == TIME_ABSENT)
        return;
    t->prompt_tokens += prompt;
    if (cached == TIME_ABSENT)
        return;
    t->cached_tokens += cached;
    t->says_cached = true;
}

/* A turn in flight at the end neither finishes nor breaks its session. */
void sessions_add(struct sessions *s, const struct facts *f)
{
    if (f->session == TIME_ABSENT)
        return;
    s->turns++;
    s->begun += f->turn == 0;
    s->finished += f->outcome == OUTCOME_OK && f->turn + 1 == f->turns;
    s->broken += f->outcome != OUTCOME_OK && f->outcome != OUTCOME_UNFINISHED;
    if (window_holds(&s->window, f->due))
        add_turn(&s->kinds[f->turn == 0 ? TURN_FIRST : TURN_LATER], f);
}

static struct turn_summary sum_up(const struct turn_tally *t)
{
    struct turn_summary out = {.n = t->n, .cached_share = -1};

    for (int i = 0; i < TURN_QUANTILES; i++) {
        out.e2e_ns[i] = hist_quantile(&t->e2e, turn_quantile[i]);
        out.ttft_ns[i] = hist_quantile(&t->ttft, turn_quantile[i]);
    }
    if (t->says_cached && t->prompt_tokens > 0)
        out.cached_share = (double)t->cached_tokens / (double)t->prompt_tokens;
    return out;
}

/* After a kill, first turns may be missing while later ones are present. */
struct session_summary sessions_sum_up(const struct sessions *s)
{
    int64_t over = s->finished + s->broken;
    struct session_summary out = {
        .is_there = s->turns > 0,
        .begun = s->begun > over ? s->begun : over,
        .finished = s->finished,
        .broken = s->broken,
        .turns_mean = -1,
    };

    out.cut = out.begun - over;
    if (out.begun > 0)
        out.turns_mean = (double)s->turns / (double)out.begun;
    for (int k = 0; k < TURN_KINDS; k++)
        out.kinds[k] = sum_up(&s->kinds[k]);
    return out;
}
