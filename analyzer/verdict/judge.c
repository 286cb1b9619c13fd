#include "analyzer/verdict/judge.h"

#include <float.h>
#include <math.h>

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

static enum verdict of_bounds(bool at_best, bool at_worst)
{
    if (at_best != at_worst)
        return VERDICT_UNDECIDED;
    return at_best ? VERDICT_PASS : VERDICT_FAIL;
}

static double share(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

/* ---- quantiles ---- */

/* Why a term cannot be judged with any number of requests; NULL: it can. */
static const char *why_unjudgeable(const struct term_tally *tt,
                                   const struct slo_term *term)
{
    int64_t all = tt->n + tt->lacks;

    if (term->measure == MEASURE_QUERY && tt->n == 0)
        return "no query of several requests was sent";
    if (measure_is_pooled(term->measure) && tt->n == 0)
        return "no stream had two events";
    if (tt->lacks > 0 && tt->lacks > all - stats_rank(term->quantile, all))
        return "too many streams are too short to have this measure";
    return NULL;
}

/* With too few samples a pass shows nothing, but known misses may be more
 * frequent than chance explains. */
static enum verdict judge_counts(const struct term_tally *tt,
                                 const struct slo_term *term)
{
    int64_t needed = stats_rank(term->quantile, tt->n);
    double inflation = stats_inflation(tt->misses, TALLY_SLICES);
    double n = (double)tt->n / inflation;
    double misses = (double)(tt->n - tt->keeps - tt->open) / inflation;
    enum verdict seen;

    if (tt->n == 0 || why_unjudgeable(tt, term))
        return VERDICT_UNDECIDED;
    seen = of_bounds(tt->keeps + tt->open >= needed, tt->keeps >= needed);
    if (n >= (double)stats_min_n(term->quantile))
        return seen;
    if (seen == VERDICT_FAIL &&
        stats_binomial_upper_tail((int64_t)n, 1 - term->quantile,
                                  (int64_t)misses) < SIGNIFICANT)
        return VERDICT_FAIL;
    return VERDICT_UNDECIDED;
}

/* Raise the limit from 0, cell by cell, to the lowest that passes.  The number
 * that keeps a limit grows with it, their scatter need not: a higher limit may
 * fail again. */
static int64_t tightest_ns(const struct term_tally *tt,
                           const struct slo_term *term)
{
    int64_t needed = stats_rank(term->quantile, tt->n);
    struct term_tally at = *tt;

    if (!tt->grid.cells)
        return HIST_BEYOND;
    at.keeps = 0;
    for (size_t i = 0; i < TALLY_SLICES; i++)
        at.misses[i].hits = at.grid.never[i];
    for (size_t cell = at.grid.begin; cell < at.grid.end; cell++) {
        for (size_t i = 0; i < TALLY_SLICES; i++)
            at.misses[i].hits += at.grid.cells[cell][i];
    }
    for (size_t cell = at.grid.begin; cell < at.grid.end; cell++) {
        int64_t before = at.keeps;

        for (size_t i = 0; i < TALLY_SLICES; i++) {
            at.misses[i].hits -= at.grid.cells[cell][i];
            at.keeps += at.grid.cells[cell][i];
        }
        if (at.keeps > before && at.keeps >= needed &&
            judge_counts(&at, term) == VERDICT_PASS)
            return grid_edge_ns(cell + 1);
    }
    return HIST_BEYOND;
}

static void judge_quantile(const struct tally *t, size_t i,
                           struct term_judgement *j)
{
    const struct term_tally *tt = &t->terms[i];
    const struct slo_term *term = j->term;
    int64_t needed = stats_rank(term->quantile, tt->n);
    double inflation = stats_inflation(tt->misses, TALLY_SLICES);
    double lacking;

    /* Samples of the term that the histogram does not hold have no value: they
     * are beyond. */
    j->measured_ns =
        tt->n > 0 ? hist_at_rank(&t->hist[term->measure][VIEW_DUE], needed)
                  : HIST_EMPTY;
    j->n_effective = (double)tt->n / inflation;
    j->why = why_unjudgeable(tt, term);
    j->verdict = judge_counts(tt, term);
    j->tightest_ns = tightest_ns(tt, term);
    lacking = (double)stats_min_n(term->quantile) - j->n_effective;
    if (j->why || j->verdict != VERDICT_UNDECIDED || lacking <= 0)
        return;
    if (tt->n == 0) {
        j->more_needed = stats_min_n(term->quantile);
        return;
    }
    lacking *= inflation;
    if (measure_is_pooled(term->measure)) /* from events to requests */
        lacking *= (double)t->due / (double)tt->n;
    j->more_needed = (int64_t)ceil(lacking);
}

/* ---- shares and rates ---- */

static void judge_errors(const struct tally *t, struct term_judgement *j)
{
    int64_t open = t->outcome[OUTCOME_UNFINISHED];
    int64_t failed = t->due - t->outcome[OUTCOME_OK] - open;

    j->measured = share(failed, t->due);
    j->verdict = of_bounds(j->measured < j->term->limit,
                           share(failed + open, t->due) < j->term->limit);
}

/* A value equal to the limit keeps it, whatever division rounded it to. */
static bool reaches(double value, double limit)
{
    return value >= limit * (1 - 4 * DBL_EPSILON);
}

/* Good requests per request due, or per second. */
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

/* A term that says which requests are good has no verdict of its own. */
static void show_share(int64_t part, int64_t whole, const char *why_none,
                       struct term_judgement *j)
{
    j->measured = share(part, whole);
    j->verdict = VERDICT_NONE;
    j->is_unmeasured = whole == 0;
    j->why = whole == 0 ? why_none : NULL;
}

/* ---- counts ---- */

static struct term_counts count(const struct tally *t, size_t term)
{
    const struct term_tally *tt = &t->terms[term];
    enum slo_kind kind = t->slo->terms[term].kind;
    const struct batch *from = kind == SLO_QUANTILE  ? tt->misses
                               : kind == SLO_ERRORS  ? t->ended_slices
                               : kind == SLO_GOOD    ? t->good_slices
                               : kind == SLO_QUALITY ? t->check_slices
                                                     : NULL;
    bool has_misses = kind == SLO_QUANTILE || kind == SLO_ERRORS;
    int64_t open = kind == SLO_QUANTILE ? tt->open : 0;
    struct term_counts c = {0};

    /* Unknown samples are the last ones, those of a run that was cut. */
    for (size_t i = from ? TALLY_SLICES : 0; i-- > 0;) {
        struct batch *s = &c.slices[i];
        int64_t unknown;

        s->n = from[i].n;
        s->hits = has_misses ? from[i].hits : from[i].n - from[i].hits;
        unknown = s->n - s->hits < open ? s->n - s->hits : open;
        s->n -= unknown;
        open -= unknown;
        c.n += s->n;
        c.misses += s->hits;
    }
    if (kind == SLO_QUANTILE)
        c.client_late = tt->client_late;
    return c;
}

static void judge_term(const struct tally *t, size_t i, double window_s,
                       struct term_judgement *j)
{
    struct batch checks = tally_checks(t);

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
        show_share(t->terms[i].keeps, t->terms[i].n, "no request has it", j);
        return;
    case SLO_CHECK:
        show_share(checks.hits, checks.n, "no answer was checked", j);
        return;
    }
    if (t->due == 0) {
        j->verdict = VERDICT_UNDECIDED;
        if (j->more_needed == 0)
            j->why = "no request was due in the window";
    } else if (j->verdict == VERDICT_UNDECIDED && j->more_needed == 0 &&
               !j->why) {
        j->why = j->term->kind == SLO_QUANTILE &&
                         measure_is_pooled(j->term->measure) &&
                         measure_is_of_stream(j->term->measure)
                     ? "depends on events that are missing in the recording"
                     : "depends on unfinished requests";
    }
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
