#include "analyzer/tally/cache_check.h"

#include <math.h>

#include "analyzer/stats/trial_stats.h"

#define LEAST_EACH    3     /* of each kind in a batch: a median */
#define LEAST_BATCHES 10    /* for a scatter */
#define FAR           0.1   /* lengths of answers that cannot be compared */
#define LEAST_NS      1000  /* below it clocks differ, not servers */
#define SPOKEN_NS     50000 /* a token; what is faster is no model */

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
    s->n++;
    s->sum += count;
}

static void add_counts(struct cache_group *g, const struct facts *f)
{
    int64_t output = facts_count(f->output_tokens);
    int64_t prompt = facts_count(f->prompt_tokens);
    int64_t cached = facts_count(f->cached_tokens);

    if (output != TIME_ABSENT)
        add_tokens(&g->output, output);
    if (prompt == TIME_ABSENT)
        return;
    g->cached_of += prompt;
    if (cached != TIME_ABSENT)
        add_tokens(&g->cached, cached);
}

/* The server's part: from sent, where there is such a view. */
static int64_t value_of(enum measure m, const struct facts *f)
{
    return measure_value(m, measure_has_sent(m) ? FROM_SENT : FROM_DUE, f);
}

/* By when it was sent, since offline all are due at once. */
static size_t batch_of(const struct tally *t, const struct facts *f)
{
    return tally_batch(t, f->sent == TIME_ABSENT ? f->due : f->sent);
}

void cachecheck_add(struct cache_work *w, const struct tally *t,
                    const struct facts *f)
{
    enum cache_kind kind = f->repeat ? CACHE_REPEATED : CACHE_NEW;
    size_t batch;

    if (!window_holds(&t->window, f->due))
        return;
    w->group[kind].n += facts_n(f);
    if (f->outcome != OUTCOME_OK) {
        w->group[kind].failed += facts_n(f);
        return;
    }
    add_counts(&w->group[kind], f);
    batch = batch_of(t, f);
    for (int m = 0; m < CACHE_MEASURES; m++) {
        int64_t ns = value_of(measures[m], f);

        if (ns == TIME_ABSENT)
            continue;
        hist_add(&w->all[kind][m], ns);
        hist_add(&w->batch[kind][m][batch], ns);
    }
}

void cachecheck_fini(struct cache_work *w)
{
    for (int k = 0; k < CACHE_KINDS; k++) {
        for (int m = 0; m < CACHE_MEASURES; m++) {
            hist_fini(&w->all[k][m]);
            for (int b = 0; b < TALLY_BATCHES; b++)
                hist_fini(&w->batch[k][m][b]);
        }
    }
}

/* ---- comparing ---- */

static double log_median(const struct hist *h)
{
    int64_t ns = hist_rank_quantile(h, 0.5);

    return log((double)(ns > LEAST_NS ? ns : LEAST_NS));
}

/* Logarithms of the ratios of the batches that have enough of both. */
static size_t gather(const struct cache_work *w, int m,
                     double logs[static TALLY_BATCHES])
{
    size_t n = 0;

    for (int b = 0; b < TALLY_BATCHES; b++) {
        const struct hist *fresh = &w->batch[CACHE_NEW][m][b];
        const struct hist *again = &w->batch[CACHE_REPEATED][m][b];

        if (fresh->n >= LEAST_EACH && again->n >= LEAST_EACH)
            logs[n++] = log_median(again) - log_median(fresh);
    }
    return n;
}

static enum cache_sign sign_of(struct interval ci)
{
    if (ci.high < CACHE_LIMIT)
        return CACHE_FASTER;
    return ci.low >= CACHE_LIMIT ? CACHE_SAME : CACHE_OPEN;
}

static struct cache_ratio compare(const struct cache_work *w, int m)
{
    struct cache_ratio r = {.measure = measures[m]};
    double logs[TALLY_BATCHES];
    size_t n = gather(w, m, logs);
    struct uncertain mean;

    if (n < LEAST_BATCHES)
        return r;
    mean = trials_mean(logs, n, 0.95);
    r.ratio = exp(mean.value);
    r.ci95 = (struct interval){exp(mean.range.low), exp(mean.range.high)};
    r.sign = sign_of(r.ci95);
    for (int k = 0; k < CACHE_KINDS; k++)
        r.median_ns[k] = hist_rank_quantile(&w->all[k][m], 0.5);
    return r;
}

/* ---- what it comes to ---- */

/* An answer in one piece has no time between tokens to compare, and neither has
 * a stream that something on the way gathers. */
static bool is_spoken(const struct cache_ratio *tpot)
{
    return tpot->sign != CACHE_ABSENT &&
           tpot->median_ns[CACHE_NEW] >= SPOKEN_NS;
}

/* Where the model decides about lengths, one prompt has its own. */
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
        *why = "answers to the repeated prompt have another length";
        return CACHE_UNDECIDED;
    }
    if (sign == CACHE_OPEN) {
        *why = "the interval is too wide to tell: send more requests";
        return CACHE_UNDECIDED;
    }
    if (sign == CACHE_FASTER) {
        *why = c->by == CACHE_E2E &&
                       cache_group_share(&c->group[CACHE_REPEATED]) > 0.5
                   ? "suspiciously faster: its answer may be cached, or its "
                     "prompt, as the server's count says; a stream would tell"
                   : "suspiciously faster: its answer may be cached";
        return CACHE_OF_ANSWERS;
    }
    if (c->by == CACHE_TPOT && c->ratio[CACHE_TTFT].sign == CACHE_FASTER) {
        *why = "no sign that answers are cached; its first token comes sooner, "
               "the others do not: its prompt is cached";
        return CACHE_OF_PROMPTS;
    }
    *why = "no sign of caching";
    return CACHE_NO_SIGN;
}

void cachecheck_make(const struct cache_work *w, struct cache_check *out)
{
    *out = (struct cache_check){.is_there = true};
    for (int k = 0; k < CACHE_KINDS; k++)
        out->group[k] = w->group[k];
    for (int m = 0; m < CACHE_MEASURES; m++)
        out->ratio[m] = compare(w, m);
    out->by = is_spoken(&out->ratio[CACHE_TPOT]) ? CACHE_TPOT : CACHE_E2E;
    out->finding = find(out, &out->why);
}
