#include "analyzer/studies/trials.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/stats/order_stats.h"
#include "common/base/xalloc.h"
#include "common/stats/hist.h"

/* An outlier by the modified z score of Iglewicz and Hoaglin: its distance from
 * the median in median absolute deviations, scaled to standard ones.  Their 3.5
 * calls one in six sets of seven odd by chance; of this, which falls with n, it
 * is below one in a hundred for 5 to 100 normal trials.  What is near in size
 * is left alone however steady the others are. */
#define ODD_SCALE 0.6745
#define ODD_SHARE 0.05
#define ODD_LEAST 5

static double odd_score(size_t n)
{
    return 4 + 42.0 / (double)(n - 2);
}

bool trial_is_whole(const struct trial *t)
{
    return t->stopped_by == 0 && !t->was_killed && !t->lost;
}

const struct trial *trials_first(const struct trials_summary *s)
{
    for (size_t i = 0; i < s->n; i++) {
        if (!s->trials[i].lost)
            return &s->trials[i];
    }
    return NULL;
}

bool trials_are_cut(const struct trials_summary *s)
{
    return (int64_t)s->counted < s->set.asked;
}

const char *trial_rate_name(enum trial_rate rate)
{
    static const char *const names[] = {
        [TRIAL_OFFERED] = "offered_rps",
        [TRIAL_THROUGHPUT] = "throughput_rps",
        [TRIAL_GOODPUT] = "goodput_rps",
        [TRIAL_ATTAINMENT] = "attainment",
        [TRIAL_TOKENS] = "output_tokens_per_s",
        [TRIAL_GOOD_TOKENS] = "goodput_tokens_per_s",
        [TRIAL_QUALITY] = "quality",
        [TRIAL_USD] = "usd_per_1000_good_requests",
        [TRIAL_USD_TOKENS] = "usd_per_million_good_tokens",
    };

    return names[rate];
}

const char *trial_why_without(const struct trial *t, enum trial_rate rate)
{
    bool is_price = rate == TRIAL_USD || rate == TRIAL_USD_TOKENS;

    if (rate == TRIAL_QUALITY)
        return "no answer was checked";
    if (is_price && !t->has_cost)
        return "no price was given (cost.usd_per_hour)";
    return rate == TRIAL_USD || (is_price && t->has_tokens)
               ? "nothing was good"
               : "nobody counts them";
}

bool trials_have_rate(const struct trials_summary *s, enum trial_rate rate)
{
    const struct trial *first = trials_first(s);

    switch (rate) {
    case TRIAL_TOKENS:
    case TRIAL_GOOD_TOKENS:
        return first && first->has_tokens;
    case TRIAL_QUALITY:
        return first && first->checked > 0;
    case TRIAL_USD:
        return first && first->has_cost;
    case TRIAL_USD_TOKENS:
        return first && first->has_cost && first->has_tokens;
    default:
        return true;
    }
}

size_t trials_needed(size_t n, double *confidence)
{
    struct median_rank r = trials_median_rank(n, TRIALS_CONFIDENCE);

    *confidence = r.confidence;
    return n - r.rank + 1;
}

/* ---- one value a trial ---- */

/* What to take of a trial. */
struct pick {
    double (*take)(const struct trial *t, int i, int j);
    int i;
    int j;
    bool is_ns;
};

static double take_rate(const struct trial *t, int i, int j)
{
    (void)j;
    return t->rate[i];
}

static double take_quantile(const struct trial *t, int i, int j)
{
    return t->quantile_ns[i][j];
}

static double take_term(const struct trial *t, int i, int j)
{
    (void)j;
    return t->terms[i].measured;
}

/* Failures are slower than any answer; a value that is not there is NAN. */
static double as_number(double value, bool is_ns)
{
    if (!is_ns || value >= 0)
        return value;
    return value == HIST_BEYOND || value == HIST_OUT_OF_RANGE ? INFINITY : NAN;
}

/* Those that count, one after the other; returns how many lack it. */
static size_t gather(const struct trials_summary *s, const struct pick *p,
                     double *values, double *missing)
{
    size_t n = 0;
    size_t lacking = 0;

    for (size_t i = 0; i < s->n; i++) {
        double raw = p->take(&s->trials[i], p->i, p->j);

        if (!trial_is_whole(&s->trials[i]))
            continue;
        values[n] = as_number(raw, p->is_ns);
        if (isnan(values[n++]) && lacking++ == 0)
            *missing = isnan(raw) ? HIST_EMPTY : raw;
    }
    return lacking;
}

static struct over_trials over(const struct trials_summary *s,
                               const struct pick *p)
{
    struct over_trials o = {.missing = HIST_EMPTY};
    size_t n = s->counted;
    double *values = xcalloc(2 * n + 1, sizeof(*values));

    o.n_missing = gather(s, p, values, &o.missing);
    o.is_known = n > 0 && o.n_missing == 0;
    if (o.is_known) {
        o.mean = trials_mean_amount(values, n, TRIALS_CONFIDENCE);
        o.median = trials_median(values, n, TRIALS_CONFIDENCE, values + n);
        order_sort(values, n);
        o.least = values[0];
        o.greatest = values[n - 1];
    }
    free(values);
    return o;
}

/* ---- the odd ones ---- */

static double deviation(const struct trials_summary *s, const struct pick *p,
                        double median)
{
    double *off = xcalloc(s->counted, sizeof(*off));
    double missing;
    double result;

    gather(s, p, off, &missing);
    for (size_t i = 0; i < s->counted; i++)
        off[i] = fabs(off[i] - median);
    result = order_median(off, s->counted);
    free(off);
    return result;
}

static void note_odd(struct trials_summary *s, const struct pick *p,
                     const struct over_trials *o, const char *what)
{
    double median = o->median.median.value;
    double mad;

    if (!o->is_known || s->counted < ODD_LEAST || !isfinite(median))
        return;
    mad = deviation(s, p, median);
    for (size_t i = 0; i < s->n && s->n_odd < TRIALS_MAX_ODD; i++) {
        double value = as_number(p->take(&s->trials[i], p->i, p->j), p->is_ns);
        double off = fabs(value - median);
        struct odd_trial *odd = &s->odd[s->n_odd];

        if (!trial_is_whole(&s->trials[i]) || !(off > ODD_SHARE * median) ||
            !(ODD_SCALE * off > odd_score(s->counted) * mad))
            continue;
        *odd = (struct odd_trial){.number = s->trials[i].number,
                                  .value = value,
                                  .median = median,
                                  .is_ns = p->is_ns};
        snprintf(odd->what, sizeof(odd->what), "%s", what);
        s->n_odd++;
    }
}

/* ---- the verdict ---- */

static void judge_set_term(struct trials_summary *s, size_t i)
{
    struct set_term *t = &s->terms[i];
    struct pick p = {take_term, (int)i, 0, t->term.kind == SLO_QUANTILE};
    bool is_judged = false;

    for (size_t k = 0; k < s->n; k++) {
        enum verdict v = s->trials[k].terms[i].verdict;

        if (!trial_is_whole(&s->trials[k]))
            continue;
        t->kept += v == VERDICT_PASS;
        t->missed += v == VERDICT_FAIL;
        is_judged |= v != VERDICT_NONE;
    }
    t->measured = over(s, &p);
    t->verdict =
        is_judged || s->counted == 0 ? VERDICT_UNDECIDED : VERDICT_NONE;
    if (!is_judged || s->counted < 2)
        return;
    if ((size_t)t->kept >= s->needed)
        t->verdict = VERDICT_PASS;
    else if ((size_t)t->missed >= s->needed)
        t->verdict = VERDICT_FAIL;
}

static void judge_set(struct trials_summary *s)
{
    for (size_t i = 0; i < s->n_terms; i++) {
        judge_set_term(s, i);
        s->verdict = verdict_combine(s->verdict, s->terms[i].verdict);
    }
    for (size_t i = 0; i < s->n && s->withdrawn_by == 0; i++) {
        if (trial_is_whole(&s->trials[i]) &&
            s->trials[i].verdict == VERDICT_INVALID)
            s->withdrawn_by = s->trials[i].number;
    }
    if (s->withdrawn_by > 0)
        s->verdict = VERDICT_INVALID;
}

static void look_through(struct trials_summary *s)
{
    double ignored;

    s->stopped_by = s->set.stopped_by;
    for (size_t i = 0; i < s->n; i++) {
        const struct trial *t = &s->trials[i];

        if (t->stopped_by != 0)
            s->stopped_by = t->stopped_by;
        if (!trial_is_whole(t))
            continue;
        if (s->counted == 0 || t->scheduled < s->least_scheduled)
            s->least_scheduled = t->scheduled;
        s->counted++;
    }
    s->needed = trials_needed(s->counted, &s->confidence);
    if (trials_are_cut(s))
        s->needed = trials_needed((size_t)s->set.asked, &ignored);
}

/* Of these quantiles the odd ones are looked for. */
static bool is_headline(const struct trials_summary *s, int measure,
                        int quantile)
{
    const struct trial *first = trials_first(s);
    bool is_streamed = first && first->is_streamed;

    return (measure == MEASURE_E2E ||
            (is_streamed &&
             (measure == MEASURE_TTFT || measure == MEASURE_TPOT))) &&
           (quantile == SUMMARY_P50 || quantile == SUMMARY_P99);
}

static void work_out_quantile(struct trials_summary *s, int m, int q)
{
    struct pick p = {take_quantile, m, q, true};
    char what[32];

    s->quantile[m][q] = over(s, &p);
    if (!is_headline(s, m, q))
        return;
    snprintf(what, sizeof(what), "%s %s", measure_name((enum measure)m),
             summary_quantile_name[q]);
    note_odd(s, &p, &s->quantile[m][q], what);
}

void trials_work_out(struct trials_summary *s)
{
    look_through(s);
    for (int r = 0; r < TRIAL_RATES; r++) {
        struct pick p = {take_rate, r, 0, false};

        s->rate[r] = over(s, &p);
        if (r == TRIAL_ATTAINMENT) /* the others follow what was offered */
            note_odd(s, &p, &s->rate[r], trial_rate_name((enum trial_rate)r));
    }
    for (int m = 0; m < MEASURE_COUNT; m++) {
        for (int q = 0; q < SUMMARY_QUANTILES; q++)
            work_out_quantile(s, m, q);
    }
    judge_set(s);
}

/* Where there is no SLO, the worst of what the trials came to; a set that did
 * not come to its end is undecided, as a run that was killed. */
static enum conclusion worst_of(const struct trials_summary *s)
{
    enum conclusion worst = s->counted > 0 ? CONCLUSION_YES : CONCLUSION_NO;

    for (size_t i = 0; i < s->n; i++) {
        if (trial_is_whole(&s->trials[i]) && s->trials[i].conclusion > worst)
            worst = s->trials[i].conclusion;
    }
    return worst == CONCLUSION_YES && trials_are_cut(s) ? CONCLUSION_OPEN
                                                        : worst;
}

enum conclusion trials_conclusion(const struct trials_summary *s)
{
    bool was_aborted = false;

    for (size_t i = 0; i < s->n; i++)
        was_aborted |= s->trials[i].was_aborted;
    switch (s->verdict) {
    case VERDICT_INVALID:
    case VERDICT_UNDECIDED:
        return CONCLUSION_OPEN;
    case VERDICT_FAIL:
        return CONCLUSION_NO;
    case VERDICT_PASS:
        return was_aborted ? CONCLUSION_NO : CONCLUSION_YES;
    case VERDICT_NONE:
        break;
    }
    return worst_of(s);
}
