#include "analyzer/verdict/judge.h"

#include <float.h>
#include <math.h>

#include "analyzer/verdict/whatif.h"

#define SIGNIFICANT 0.05

const char *verdict_name(enum verdict verdict)
{
    static const char *const names[] = {
        [VERDICT_NONE] = "none",       [VERDICT_PASS] = "pass",
        [VERDICT_FAIL] = "fail",       [VERDICT_UNDECIDED] = "undecided",
        [VERDICT_INVALID] = "invalid",
    };

    return names[verdict];
}

static enum verdict of_bounds(bool at_best, bool at_worst)
{
    if (at_best != at_worst)
        return VERDICT_UNDECIDED;
    return at_best ? VERDICT_PASS : VERDICT_FAIL;
}

/* With too few samples a pass proves nothing; misses may still be too frequent
 * for chance, those that nobody knows left out. */
static enum verdict with_few(enum verdict seen, const struct term_tally *tt,
                             double inflation, double quantile)
{
    int64_t n = (int64_t)((double)tt->n / inflation);
    int64_t misses =
        (int64_t)((double)(tt->n - tt->keeps - tt->open) / inflation);

    if (seen == VERDICT_FAIL &&
        stats_binomial_upper_tail(n, 1 - quantile, misses) < SIGNIFICANT)
        return VERDICT_FAIL;
    return VERDICT_UNDECIDED;
}

/* Why a term cannot be judged, however many requests there were; NULL: it can.
 */
static const char *what_stops(const struct term_tally *tt,
                              const struct slo_term *term)
{
    int64_t all = tt->n + tt->lacks;

    if (term->measure == MEASURE_QUERY && tt->n == 0)
        return "no query of several requests was sent";
    if (measure_is_pooled(term->measure) && tt->n == 0)
        return "no stream had two events";
    if (tt->lacks > 0 && tt->lacks > all - stats_rank(term->quantile, all))
        return "too many answers are too short a stream to have it";
    return NULL;
}

/* In requests, where the samples are of their events. */
static int64_t more_needed(const struct tally *t, const struct term_tally *tt,
                           const struct slo_term *term, double samples)
{
    if (measure_is_pooled(term->measure))
        samples *= (double)t->due / (double)tt->n;
    return (int64_t)ceil(samples);
}

enum verdict judge_counts(const struct term_tally *tt,
                          const struct slo_term *term)
{
    int64_t needed = stats_rank(term->quantile, tt->n);
    double inflation = stats_inflation(tt->misses, TALLY_BATCHES);
    enum verdict seen;

    if (tt->n == 0 || what_stops(tt, term))
        return VERDICT_UNDECIDED;
    seen = of_bounds(tt->keeps + tt->open >= needed, tt->keeps >= needed);
    if ((double)tt->n / inflation >= (double)stats_min_n(term->quantile))
        return seen;
    return with_few(seen, tt, inflation, term->quantile);
}

static void judge_quantile(const struct tally *t, size_t i,
                           struct term_judgement *j)
{
    const struct term_tally *tt = &t->terms[i];
    const struct slo_term *term = j->term;
    int64_t needed = stats_rank(term->quantile, tt->n);
    double inflation = stats_inflation(tt->misses, TALLY_BATCHES);
    double lacking;

    /* Whom the term concerns and the histogram does not hold has no value: it
     * lies beyond. */
    j->measured_ns =
        tt->n > 0 ? hist_at_rank(&t->hist[term->measure][VIEW_DUE], needed)
                  : HIST_EMPTY;
    j->n_effective = (double)tt->n / inflation;
    j->why = what_stops(tt, term);
    j->verdict = judge_counts(tt, term);
    j->tightest_ns = whatif_tightest_ns(tt, term);
    lacking = (double)stats_min_n(term->quantile) - j->n_effective;
    if (j->why || j->verdict != VERDICT_UNDECIDED || lacking <= 0)
        return;
    j->more_needed = tt->n == 0 ? stats_min_n(term->quantile)
                                : more_needed(t, tt, term, lacking * inflation);
}

static double share(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

static void judge_errors(const struct tally *t, struct term_judgement *j)
{
    int64_t open = t->outcome[OUTCOME_UNFINISHED];
    int64_t failed = t->due - t->outcome[OUTCOME_OK] - open;

    j->measured = share(failed, t->due);
    j->verdict = of_bounds(j->measured < j->term->limit,
                           share(failed + open, t->due) < j->term->limit);
}

/* Exactly the limit keeps it, whatever the division was rounded to. */
static bool reaches(double value, double limit)
{
    return value >= limit * (1 - 4 * DBL_EPSILON);
}

static void judge_good(const struct tally *t, double per,
                       struct term_judgement *j)
{
    double at_best = (double)(t->good + t->outcome[OUTCOME_UNFINISHED]);

    if (!(per > 0))
        return; /* nothing was due */
    j->measured = (double)t->good / per;
    j->verdict = of_bounds(reaches(at_best / per, j->term->limit),
                           reaches(j->measured, j->term->limit));
}

/* It says which requests are good, and nothing of the run. */
static void judge_limit(const struct term_tally *tt, struct term_judgement *j)
{
    j->measured = share(tt->keeps, tt->n);
    j->verdict = VERDICT_NONE;
    j->is_unmeasured = tt->n == 0;
    j->why = j->is_unmeasured ? "no request has it" : NULL;
}

/* Likewise. */
static void judge_check(const struct tally *t, struct term_judgement *j)
{
    struct batch all = tally_checks(t);

    j->measured = share(all.hits, all.n);
    j->verdict = VERDICT_NONE;
    j->is_unmeasured = all.n == 0;
    j->why = j->is_unmeasured ? "no answer was checked" : NULL;
}

static void judge_quality(const struct tally *t, struct term_judgement *j)
{
    int64_t open = t->outcome[OUTCOME_UNFINISHED];
    struct batch all = tally_checks(t);

    j->measured = share(all.hits, all.n);
    j->verdict =
        of_bounds(reaches(share(all.hits + open, all.n + open), j->term->limit),
                  reaches(share(all.hits, all.n + open), j->term->limit));
    if (all.n > 0)
        return;
    j->verdict = VERDICT_UNDECIDED;
    j->is_unmeasured = true;
    j->why = "no answer was checked";
}

/* Why a term is open that has samples enough. */
static const char *what_is_open(const struct tally *t,
                                const struct slo_term *term)
{
    if (t->due == 0)
        return "nothing was due in the window";
    if (term->kind == SLO_QUANTILE && measure_is_pooled(term->measure) &&
        measure_is_of_stream(term->measure))
        return "depends on events that are not in the recording";
    return "depends on unfinished requests";
}

/* ---- counts ---- */

static void add_block(struct term_counts *c, size_t i, int64_t n,
                      int64_t misses)
{
    c->blocks[i] = (struct batch){.n = n, .hits = misses};
    c->n += n;
    c->misses += misses;
}

/* Those whose end nobody knows are the last: of a run that was cut. */
static void leave_out(struct term_counts *c, int64_t open)
{
    for (size_t i = TALLY_BATCHES; i > 0 && open > 0; i--) {
        struct batch *b = &c->blocks[i - 1];
        int64_t some = b->n - b->hits < open ? b->n - b->hits : open;

        b->n -= some;
        c->n -= some;
        open -= some;
    }
}

static struct term_counts count(const struct tally *t, size_t term)
{
    const struct term_tally *tt = &t->terms[term];
    struct term_counts c = {0};

    for (size_t i = 0; i < TALLY_BATCHES; i++) {
        const struct batch *good = &t->good_batches[i];
        const struct batch *passed = &t->check_batches[i];

        switch (t->slo->terms[term].kind) {
        case SLO_QUANTILE:
            add_block(&c, i, tt->misses[i].n, tt->misses[i].hits);
            break;
        case SLO_ERRORS:
            add_block(&c, i, t->ended_batches[i].n, t->ended_batches[i].hits);
            break;
        case SLO_GOOD:
            add_block(&c, i, good->n, good->n - good->hits);
            break;
        case SLO_QUALITY:
            add_block(&c, i, passed->n, passed->n - passed->hits);
            break;
        case SLO_GOODPUT:
        case SLO_LIMIT:
        case SLO_CHECK:
            return c;
        }
    }
    if (t->slo->terms[term].kind == SLO_QUANTILE) {
        leave_out(&c, tt->open);
        c.spoilt = tt->spoilt;
    }
    return c;
}

static void judge_term(const struct tally *t, size_t i, double window_s,
                       struct term_judgement *j)
{
    j->term = &t->slo->terms[i];
    switch (j->term->kind) {
    case SLO_QUANTILE:
        judge_quantile(t, i, j);
        break;
    case SLO_ERRORS:
        judge_errors(t, j);
        break;
    case SLO_GOOD:
        judge_good(t, (double)t->due, j);
        break;
    case SLO_GOODPUT:
        judge_good(t, window_s, j);
        break;
    case SLO_QUALITY:
        judge_quality(t, j);
        break;
    case SLO_LIMIT:
        judge_limit(&t->terms[i], j);
        return;
    case SLO_CHECK:
        judge_check(t, j);
        return;
    }
    if (t->due == 0)
        j->verdict = VERDICT_UNDECIDED;
    if (j->verdict == VERDICT_UNDECIDED && j->more_needed == 0 &&
        (!j->why || t->due == 0))
        j->why = what_is_open(t, j->term);
}

enum verdict verdict_combine(enum verdict all, enum verdict one)
{
    if (one == VERDICT_NONE)
        return all;
    if (all == VERDICT_FAIL || one == VERDICT_FAIL)
        return VERDICT_FAIL;
    if (all == VERDICT_UNDECIDED || one == VERDICT_UNDECIDED)
        return VERDICT_UNDECIDED;
    return VERDICT_PASS;
}

void judge(const struct tally *t, double window_s, struct judgement *out)
{
    *out = (struct judgement){.len = t->slo->len};
    for (size_t i = 0; i < t->slo->len; i++) {
        judge_term(t, i, window_s, &out->terms[i]);
        out->terms[i].counts = count(t, i);
        out->verdict = verdict_combine(out->verdict, out->terms[i].verdict);
    }
}
