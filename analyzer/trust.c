#include "analyzer/trust.h"

#include "common/clk.h"

/* Lag may be this share of what is measured ... */
#define LAG_SHARE 0.1
/* ... and below this it harms nobody, whatever is measured (but see floor_ns).
 */
#define LAG_FLOOR_P50_NS (200 * NS_PER_US)
#define LAG_FLOOR_P99_NS (2 * NS_PER_MS)

static void add(struct trust *trust, struct check check)
{
    if (check.ok)
        check.advice = "";
    else if (check.is_fatal)
        trust->valid = false;
    trust->checks[trust->len++] = check;
}

/* The measure in the SLO whose quantile is smallest, or e2e. */
static enum measure tightest(const struct tally *t, double q)
{
    enum measure best = MEASURE_E2E;
    int64_t best_ns = INT64_MAX;

    for (int m = 0; m < MEASURE_COUNT; m++) {
        int64_t ns = hist_rank_quantile(&t->hist[m][VIEW_OK], q);

        if (t->limit_ns[m] > 0 && measure_is_of_answer((enum measure)m) &&
            ns >= 0 && ns < best_ns) {
            best = (enum measure)m;
            best_ns = ns;
        }
    }
    return best;
}

/* No floor may be more than the share of a limit that was asked for. */
static double floor_ns(const struct tally *t, enum measure m, int64_t floor)
{
    double of_limit = LAG_SHARE * (double)t->limit_ns[m];

    return t->limit_ns[m] > 0 && of_limit < (double)floor ? of_limit
                                                          : (double)floor;
}

static void check_lag(const struct tally *t, struct trust *trust,
                      const char *name, double q, int64_t floor)
{
    const struct hist *lag = &t->hist[MEASURE_LAG][VIEW_DUE];
    enum measure m = tightest(t, q);
    int64_t lag_ns = hist_rank_quantile(lag, q);
    int64_t measured_ns = hist_rank_quantile(&t->hist[m][VIEW_OK], q);
    double limit_ns = floor_ns(t, m, floor);

    /* Too few to bound the quantile, or no latency that lag could spoil. */
    if (lag->n < stats_least_n(q) || t->outcome[OUTCOME_OK] == 0)
        return;
    if (lag_ns == HIST_OUT_OF_RANGE)
        lag_ns = HIST_HIGHEST_NS;
    if (measured_ns > 0 && LAG_SHARE * (double)measured_ns > limit_ns)
        limit_ns = LAG_SHARE * (double)measured_ns;
    add(trust, (struct check){
                   .name = name,
                   .unit = "ms",
                   .ok = (double)lag_ns <= limit_ns,
                   .is_fatal = true,
                   .value = (double)lag_ns / 1e6,
                   .limit = limit_ns / 1e6,
                   .advice = "the client was late: try --spin, free its CPU, "
                             "lower the rate, or let it open more connections "
                             "(-c, the limit of open files)",
               });
}

static void check_unsent(const struct tally *t, struct trust *trust)
{
    int64_t unsent = t->outcome[OUTCOME_UNSENT];

    add(trust, (struct check){
                   .name = "unsent",
                   .unit = "requests",
                   .ok = unsent == 0,
                   .is_fatal = true,
                   .value = (double)unsent,
                   .advice = "the client did not get to them: lower the rate "
                             "or let it open more connections (-c, the limit "
                             "of open files)",
               });
}

static void check_recording(const struct integrity *integrity,
                            struct trust *trust)
{
    add(trust,
        (struct check){
            .name = "recording",
            .unit = "requests lost",
            .ok = integrity->lost_requests == 0 && !integrity->was_killed,
            .value = (double)integrity->lost_requests,
            .advice = integrity->was_killed
                          ? "the run was killed: requests in flight "
                            "then count as unfinished"
                          : "the file is damaged: what is missing "
                            "counts as unfinished",
        });
}

static void check_samples(const struct judgement *j, struct trust *trust)
{
    const struct term_judgement *worst = NULL;

    for (size_t i = 0; i < j->len; i++) {
        const struct term_judgement *term = &j->terms[i];

        if (term->term->kind != SLO_QUANTILE)
            continue;
        if (!worst || term->more_needed > worst->more_needed ||
            (term->more_needed == worst->more_needed &&
             term->n_effective < worst->n_effective))
            worst = term;
    }
    if (!worst)
        return;
    add(trust, (struct check){
                   .name = "samples",
                   .unit = "effective",
                   .ok = worst->more_needed == 0,
                   .value = worst->n_effective,
                   .limit = (double)stats_least_n(worst->term->quantile),
                   .advice = "too few requests for this quantile: run longer",
               });
}

void trust_check(const struct tally *t, const struct judgement *judgement,
                 const struct integrity *integrity, struct trust *out)
{
    *out = (struct trust){.valid = true};
    check_lag(t, out, "lag p50", 0.5, LAG_FLOOR_P50_NS);
    check_lag(t, out, "lag p99", 0.99, LAG_FLOOR_P99_NS);
    check_unsent(t, out);
    check_samples(judgement, out);
    check_recording(integrity, out);
}
