#include "analyzer/tally/cache_check.h"

#include <math.h>

#include "analyzer/stats/trial_stats.h"

#define MIN_EACH    3     /* of each kind in a slice, for a median */
#define MIN_SLICES  10    /* for a scatter */
#define FAR         0.1   /* answer lengths that cannot be compared */
#define MIN_NS      1000  /* differences below it are those of clocks */
#define MIN_TPOT_NS 50000 /* no model generates tokens faster than this */

static const enum measure measures[CACHE_MEASURES] = {
    [CACHE_E2E] = MEASURE_E2E,
    [CACHE_TTFT] = MEASURE_TTFT,
    [CACHE_TPOT] = MEASURE_TPOT,
};

const char *cache_finding_name(enum cache_finding finding)
{
    static const char *const names[CACHE_FINDINGS] = {
        [CACHE_NO_SIGN] = "no sign",
        [CACHE_OF_PROMPTS] = "prompts",
        [CACHE_OF_ANSWERS] = "answers",
        [CACHE_UNDECIDED] = "undecided",
    };

    return names[finding];
}

double cache_group_share(const struct cache_group *g)
{
    return g->cached.n > 0 && g->cached_of > 0
               ? (double)g->cached.sum / (double)g->cached_of
               : -1;
}

/* ---- gathering ---- */

static void add_tokens(struct token_sum *s, int64_t count)
{
    if (count == TIME_ABSENT)
        return;
    s->n++;
    s->sum += count;
}

static void add_counts(struct cache_group *g, const struct facts *f)
{
    int64_t prompt = facts_count(f->prompt_tokens);

    add_tokens(&g->output, facts_count(f->output_tokens));
    if (prompt == TIME_ABSENT)
        return;
    g->cached_of += prompt;
    add_tokens(&g->cached, facts_count(f->cached_tokens));
}

/* The slice is that of the time of sending, since offline all are due at once.
 * Times are from sent, if the measure has such a view: the server's part. */
void cachecheck_add(struct cache_work *w, const struct tally *t,
                    const struct facts *f)
{
    enum cache_kind kind = f->repeat ? CACHE_REPEATED : CACHE_NEW;
    size_t slice;

    if (!window_holds(&t->window, f->due))
        return;
    w->group[kind].n += facts_n(f);
    if (f->outcome != OUTCOME_OK) {
        w->group[kind].failed += facts_n(f);
        return;
    }
    add_counts(&w->group[kind], f);
    slice = tally_slice(t, f->sent == TIME_ABSENT ? f->due : f->sent);
    for (int m = 0; m < CACHE_MEASURES; m++) {
        int64_t ns = measure_value(
            measures[m], measure_has_sent(measures[m]) ? FROM_SENT : FROM_DUE,
            f);

        if (ns == TIME_ABSENT)
            continue;
        hist_add(&w->all[kind][m], ns);
        hist_add(&w->slice[kind][m][slice], ns);
    }
}

void cachecheck_fini(struct cache_work *w)
{
    for (int k = 0; k < CACHE_KINDS; k++) {
        for (int m = 0; m < CACHE_MEASURES; m++) {
            hist_fini(&w->all[k][m]);
            for (int b = 0; b < TALLY_SLICES; b++)
                hist_fini(&w->slice[k][m][b]);
        }
    }
}

/* ---- comparing ---- */

static double log_median(const struct hist *h)
{
    int64_t ns = hist_rank_quantile(h, 0.5);

    return log((double)(ns > MIN_NS ? ns : MIN_NS));
}

static struct cache_ratio compare(const struct cache_work *w, int m)
{
    struct cache_ratio r = {.measure = measures[m]};
    double logs[TALLY_SLICES];
    struct uncertain mean;
    size_t n = 0;

    for (int i = 0; i < TALLY_SLICES; i++) {
        const struct hist *fresh = &w->slice[CACHE_NEW][m][i];
        const struct hist *again = &w->slice[CACHE_REPEATED][m][i];

        if (fresh->n >= MIN_EACH && again->n >= MIN_EACH)
            logs[n++] = log_median(again) - log_median(fresh);
    }
    if (n < MIN_SLICES)
        return r;
    mean = trials_mean(logs, n, 0.95);
    r.ratio = exp(mean.value);
    r.ci95 = (struct interval){exp(mean.range.low), exp(mean.range.high)};
    r.sign = r.ci95.high < CACHE_LIMIT   ? CACHE_FASTER
             : r.ci95.low >= CACHE_LIMIT ? CACHE_SAME
                                         : CACHE_OPEN;
    for (int k = 0; k < CACHE_KINDS; k++)
        r.median_ns[k] = hist_rank_quantile(&w->all[k][m], 0.5);
    return r;
}

/* ---- the finding ---- */

/* If the model decides about lengths, the repeated prompt has its own. */
static bool are_as_long(const struct cache_check *c)
{
    double fresh = token_mean(&c->group[CACHE_NEW].output);
    double again = token_mean(&c->group[CACHE_REPEATED].output);

    return fresh < 0 || again < 0 || fabs(again - fresh) <= FAR * fresh;
}

static enum cache_finding find(const struct cache_check *c, const char **why)
{
    enum cache_sign sign = c->ratio[c->by].sign;

    if (sign == CACHE_ABSENT) {
        *why = "too few answers to compare";
        return CACHE_UNDECIDED;
    }
    if (c->by == CACHE_E2E && !are_as_long(c)) {
        *why = "answers to the repeated prompt have a different length";
        return CACHE_UNDECIDED;
    }
    if (sign == CACHE_OPEN) {
        *why = "inconclusive: the interval is too wide; send more requests";
        return CACHE_UNDECIDED;
    }
    if (sign == CACHE_FASTER) {
        *why = c->by == CACHE_E2E &&
                       cache_group_share(&c->group[CACHE_REPEATED]) > 0.5
                   ? "suspiciously faster: the server may cache the answer, or "
                     "only the prompt, as its token counts suggest; use "
                     "streaming to tell them apart"
                   : "suspiciously faster: the server may cache the answer";
        return CACHE_OF_ANSWERS;
    }
    if (c->by == CACHE_TPOT && c->ratio[CACHE_TTFT].sign == CACHE_FASTER) {
        *why = "no sign of cached answers; only the first token is faster: the "
               "server caches the prompt";
        return CACHE_OF_PROMPTS;
    }
    *why = "no sign of caching";
    return CACHE_NO_SIGN;
}

/* An answer in one piece has no time between tokens to compare, nor has a
 * stream that a proxy buffers. */
void cachecheck_make(const struct cache_work *w, struct cache_check *out)
{
    const struct cache_ratio *tpot = &out->ratio[CACHE_TPOT];

    *out = (struct cache_check){.is_there = true};
    for (int k = 0; k < CACHE_KINDS; k++)
        out->group[k] = w->group[k];
    for (int m = 0; m < CACHE_MEASURES; m++)
        out->ratio[m] = compare(w, m);
    out->by =
        tpot->sign != CACHE_ABSENT && tpot->median_ns[CACHE_NEW] >= MIN_TPOT_NS
            ? CACHE_TPOT
            : CACHE_E2E;
    out->finding = find(out, &out->why);
}
