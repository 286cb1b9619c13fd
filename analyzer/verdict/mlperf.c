#include "analyzer/verdict/mlperf.h"

#include <stdarg.h>
#include <stdio.h>

#include "analyzer/tally/summary.h"
#include "analyzer/tally/tally.h"
#include "common/settings/settings.h"
#include "common/stats/stats.h"

/* The rules of the closed division, as of inference 6.1. */
#define MIN_S           600
#define MIN_OFFLINE     24576
#define QUERY_SIZE      8
#define SCHEDULE_SEED   16159082839903944936U
#define QSL_SEED        2085463073848966840U
#define INDEX_SEED      2747215439041700203U
#define SERVER_QUANTILE 0.99

void mlperf_break(struct mlperf *m, const char *format, ...)
{
    va_list args;

    if (m->n_breaks == MLPERF_MAX_BREAKS)
        return;
    va_start(args, format);
    vsnprintf(m->breaks[m->n_breaks++], MLPERF_BREAK_TEXT, format, args);
    va_end(args);
}

/* ---- early stopping ---- */

#define DOUBT 0.01 /* 1 - the confidence */

bool early_stop_proves(double p, int64_t n, int64_t t)
{
    return stats_binomial_upper_tail(n, p, n - t) < DOUBT;
}

int64_t early_stop_min_within(double p, int64_t t)
{
    int64_t low = 0; /* too few */
    int64_t high = 1;

    while (!early_stop_proves(p, high + t, t)) {
        low = high;
        high *= 2;
    }
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;

        if (early_stop_proves(p, middle + t, t))
            high = middle;
        else
            low = middle;
    }
    return high;
}

int64_t early_stop_max_over(double p, int64_t n)
{
    int64_t low = -1; /* allowed */
    int64_t high = n;

    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;

        if (early_stop_proves(p, n, middle))
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The value itself is not over it, so one more may have at least that rank. */
int64_t early_stop_rank(double p, int64_t n)
{
    int64_t over = early_stop_max_over(p, n);

    return over > 0 ? n - over + 1 : 0;
}

/* ---- proofs ---- */

/* Failures are beyond every value: a rank among them has no time. */
static struct mlperf_proof estimate(const struct tally *t, enum measure measure,
                                    double percentile)
{
    const struct hist *h = &t->hist[measure][VIEW_DUE];
    int64_t rank = early_stop_rank(percentile, h->n);
    int64_t ns = rank > 0 ? hist_at_rank(h, rank) : HIST_TOO_FEW;

    return (struct mlperf_proof){
        .measure = measure,
        .percentile = percentile,
        .n = h->n,
        .over = rank > 0 ? h->n - rank : 0,
        .estimate_ns = ns,
        .is_proved = ns >= 0,
    };
}

static struct mlperf_proof limit(const struct term_tally *tt,
                                 const struct slo_term *term)
{
    int64_t over = tt->n - tt->keeps;
    bool is_proved = early_stop_proves(term->quantile, tt->n, over);

    return (struct mlperf_proof){
        .measure = term->measure,
        .percentile = term->quantile,
        .n = tt->n,
        .limit_ns = term->limit_ns,
        .over = over,
        .is_proved = is_proved,
        .more_needed =
            is_proved ? 0
                      : early_stop_min_within(term->quantile, over) - tt->keeps,
    };
}

static void add_proof(struct mlperf *m, struct mlperf_proof proof)
{
    if (m->n_proofs < MLPERF_MAX_PROOFS)
        m->proofs[m->n_proofs++] = proof;
}

/* ---- the scenarios ---- */

static void of_server(struct mlperf *m, const struct summary *s,
                      const struct tally *t)
{
    const struct load_settings *load = &s->settings->load;

    m->metric = "completed samples/s";
    m->is_rate = true;
    m->rate_rps = s->throughput_rps;
    for (size_t i = 0; i < t->slo->len; i++) {
        const struct slo_term *term = &t->slo->terms[i];

        if (term->kind == SLO_QUANTILE && !measure_is_pooled(term->measure))
            add_proof(m, limit(&t->terms[i], term));
    }
    if (m->n_proofs == 0)
        mlperf_break(m, "no limit on a latency");
    for (size_t i = 0; i < m->n_proofs; i++) {
        if (m->proofs[i].percentile < SERVER_QUANTILE)
            mlperf_break(m, "a limit at p%.9g, not p99",
                         100 * m->proofs[i].percentile);
    }
    if (load->seeds != SEEDS_MLPERF || load->schedule_seed != SCHEDULE_SEED)
        mlperf_break(m, "the schedule is not that of the official seed");
    if (s->verdict == VERDICT_FAIL)
        mlperf_break(m, "the limits are missed, so no rate counts");
}

static void check_rules(struct mlperf *m, const struct summary *s)
{
    const struct load_settings *load = &s->settings->load;
    long long unanswered = s->failed + s->unsent;

    if (s->window_length_s < MIN_S)
        mlperf_break(m, "lasted %.4g s, less than %d s", s->window_length_s,
                     MIN_S);
    for (size_t i = 0; i < m->n_proofs; i++) {
        const struct mlperf_proof *p = &m->proofs[i];
        bool is_few = p->limit_ns > 0 || p->estimate_ns == HIST_TOO_FEW;

        if (!p->is_proved && !p->is_beside)
            mlperf_break(m, "%s p%.9g of %s",
                         is_few ? "too few queries to prove"
                                : "failures or values above 1h decide",
                         100 * p->percentile, measure_name(p->measure));
    }
    if (s->settings->data.file && /* generated prompts are no data set */
        (load->seeds != SEEDS_MLPERF || load->qsl_seed != QSL_SEED ||
         load->sample_index_seed != INDEX_SEED))
        mlperf_break(m, "the samples are not those of the official seeds");
    if (unanswered > 0)
        mlperf_break(m, "%lld requests have no answer", unanswered);
    if (!s->trust.valid)
        mlperf_break(m, "the measurement is not trusted");
    if (s->outlen.source != OUTLEN_NONE && !s->outlen.is_ok)
        mlperf_break(m, "the length of answers differs from the reference");
    if (s->cache.is_there)
        mlperf_break(m,
                     "half of the requests repeat one prompt: a cache check");
    m->accuracy_break = m->n_breaks;
    mlperf_break(m, "%s",
                 s->settings->data.accuracy
                     ? "it is an accuracy run, not a performance run"
                     : "there is no accuracy run with the same settings");
}

void mlperf_make(struct mlperf *m, const struct summary *s,
                 const struct tally *t)
{
    const struct load_settings *load = &s->settings->load;

    *m = (struct mlperf){.is_there = true};
    switch (load->scenario) {
    case SCENARIO_SINGLE_STREAM:
        m->metric = "p90 latency";
        add_proof(m, estimate(t, MEASURE_E2E, 0.9));
        add_proof(m, estimate(t, MEASURE_E2E, 0.99));
        m->proofs[1].is_beside = true; /* edge results may infer multi-stream */
        break;
    case SCENARIO_MULTI_STREAM:
        m->metric = "p99 query latency";
        add_proof(m, estimate(t, MEASURE_QUERY, 0.99));
        if (load->query_size != QUERY_SIZE)
            mlperf_break(m, "%lld samples per query, not %d",
                         (long long)load->query_size, QUERY_SIZE);
        break;
    case SCENARIO_OFFLINE:
        m->metric = "samples/s";
        m->is_rate = true;
        m->rate_rps = s->throughput_rps;
        if (s->scheduled < MIN_OFFLINE)
            mlperf_break(m, "%lld samples, fewer than %d",
                         (long long)s->scheduled, MIN_OFFLINE);
        break;
    default:
        m->is_there = load->seeds == SEEDS_MLPERF;
        if (!m->is_there)
            return;
        of_server(m, s, t);
    }
    check_rules(m, s);
}
