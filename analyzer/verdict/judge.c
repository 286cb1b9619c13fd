#include "analyzer/verdict/judge.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "common/stats/dependence.h"
#include "common/stats/share_test.h"

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
    if (all == VERDICT_INVALID || one == VERDICT_INVALID)
        return VERDICT_INVALID;
    if (all == VERDICT_FAIL || one == VERDICT_FAIL)
        return VERDICT_FAIL;
    if (all == VERDICT_UNDECIDED || one == VERDICT_UNDECIDED)
        return VERDICT_UNDECIDED;
    return VERDICT_PASS;
}

double judge_allowed(const struct slo_term *term, double offered_rps)
{
    double allowed = slo_allowed(term);

    if (term->kind == SLO_GOODPUT)
        return offered_rps > 0 ? 1 - term->limit / offered_rps : 0;
    return allowed >= 0 ? allowed : (double)NAN;
}

int64_t judge_min_requests(double allowed)
{
    return allowed > 0 && allowed < 1 ? stats_min_n(1 - allowed) : 1;
}

static double share(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

/* A value equal to the limit keeps it, whatever division rounded it to. */
static bool reaches(double value, double limit)
{
    return value >= limit * (1 - 4 * DBL_EPSILON);
}

bool judge_is_met(const struct slo_term *term, int64_t n, int64_t misses)
{
    if (term->kind == SLO_QUANTILE)
        return n - misses >= stats_rank(term->quantile, n);
    if (term->kind == SLO_ERRORS)
        return share(misses, n) < term->limit;
    return n > 0 && reaches(share(n - misses, n), term->limit);
}

/* ---- the test ---- */

/* Samples of a term.  Those that are open may have kept their limit or not. */
struct sample {
    int64_t n;
    int64_t misses;
    int64_t open;     /* not among the misses */
    int64_t requests; /* that the samples are of */
    double n_effective;
    bool is_met_at_best;  /* observed: if the open ones kept their limit, ... */
    bool is_met_at_worst; /* ... and if they missed it */
};

/* The chance that the term is missed after all, or met after all. */
static double pass_p(const struct sample *s, double allowed)
{
    const struct share_sample worst = {.n = (double)s->n,
                                       .misses = (double)(s->misses + s->open),
                                       .n_effective = s->n_effective};

    if (!(allowed > 0))
        return 1; /* no number of requests shows that there is no miss */
    return allowed < 1 ? share_pass_p(&worst, allowed) : 0;
}

static double fail_p(const struct sample *s, double allowed)
{
    const struct share_sample best = {.n = (double)s->n,
                                      .misses = (double)s->misses,
                                      .n_effective = s->n_effective};

    if (!(allowed > 0))
        return s->misses > 0 ? 0 : 1;
    return allowed < 1 ? share_fail_p(&best, allowed) : 1;
}

/* The allowed shares between which the test shows neither PASS nor FAIL. */
static struct interval range_of(const struct sample *s)
{
    struct interval range = {.low = 0, .high = 1};
    double low = 0;
    double high = 1;

    if (s->n == 0)
        return range;
    for (int i = 0; i < 50; i++) {
        double middle = (low + high) / 2;

        if (pass_p(s, middle) <= SHARE_LEVEL)
            high = middle;
        else
            low = middle;
    }
    range.high = high;
    low = 0;
    for (int i = 0; i < 50; i++) {
        double middle = (low + high) / 2;

        if (fail_p(s, middle) <= SHARE_LEVEL)
            low = middle;
        else
            high = middle;
    }
    range.low = low;
    return range;
}

/* How much longer the window must be for the test to show what was observed. */
static double decide_in(const struct term_judgement *j, double window_s)
{
    double needed;

    if (!(j->allowed > 0) || j->allowed >= 1 || !(j->n_effective > 0))
        return INFINITY;
    needed = share_needed(j->missed, j->allowed, SHARE_LEVEL);
    return window_s * fmax(0, needed / j->n_effective - 1);
}

/* With too few requests a pass says nothing, but misses may be more frequent
 * than chance explains. */
static void judge_sample(const struct sample *s, double window_s,
                         struct term_judgement *j)
{
    int64_t min_requests = judge_min_requests(j->allowed);
    double shown_pass = pass_p(s, j->allowed);
    double shown_fail = fail_p(s, j->allowed);

    j->n_effective = s->n_effective;
    j->requests = s->requests;
    j->missed_ci90 = range_of(s);
    j->missed = share(s->misses + (s->is_met_at_worst ? s->open : 0), s->n);
    if (s->is_met_at_best != s->is_met_at_worst || s->n == 0)
        j->verdict = VERDICT_UNDECIDED;
    else
        j->verdict = s->is_met_at_best ? VERDICT_PASS : VERDICT_FAIL;
    if (s->requests < min_requests && j->term->kind != SLO_GOODPUT &&
        !(j->verdict == VERDICT_FAIL && shown_fail <= SHARE_LEVEL)) {
        j->verdict = VERDICT_UNDECIDED;
        j->more_needed = min_requests - s->requests;
    }
    j->p = j->verdict == VERDICT_PASS   ? shown_pass
           : j->verdict == VERDICT_FAIL ? shown_fail
                                        : 1;
    j->is_shown = j->p <= SHARE_LEVEL;
    j->decide_in_s = j->is_shown ? 0 : decide_in(j, window_s);
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
    if (tt->lacks > 0 && tt->n == 0)
        return "no answer was a stream with this measure";
    if (tt->lacks > 0 && tt->lacks > all - stats_rank(term->quantile, all))
        return "too many streams are too short to have this measure";
    return NULL;
}

/* With these misses, at some limit.  `inflation` is that of the latencies. */
static struct sample sample_with(const struct term_tally *tt,
                                 const struct slo_term *term,
                                 const struct batch *misses, double inflation)
{
    struct sample s = {
        .n = tt->n, .open = tt->open, .requests = tt->requests + tt->open};

    for (size_t i = 0; i < TALLY_SLICES; i++)
        s.misses += misses[i].hits;
    if (s.requests > tt->n)
        s.requests = tt->n;
    s.is_met_at_best = judge_is_met(term, s.n, s.misses);
    s.is_met_at_worst = judge_is_met(term, s.n, s.misses + s.open);
    s.n_effective = effective_samples((double)tt->n, misses, TALLY_SLICES,
                                      (double)s.requests, inflation);
    return s;
}

/* Move the limit by one cell, up or down. */
static void shift(const struct grid *g, size_t cell, int sign,
                  struct batch misses[static TALLY_SLICES])
{
    for (size_t i = 0; i < TALLY_SLICES; i++)
        misses[i].hits -= sign * (int64_t)g->cells[cell][i];
}

static bool is_empty(const struct grid *g, size_t cell)
{
    for (size_t i = 0; i < TALLY_SLICES; i++) {
        if (g->cells[cell][i] > 0)
            return false;
    }
    return true;
}

/* Judge the term again with other limits: upwards from the quantile to the
 * first that is shown to be met, and downwards to the first that is shown to be
 * missed.  The limit itself lies outside the range exactly if its own verdict
 * is shown: scatter need not fall as the limit rises, so a verdict that is not
 * shown moves the start. */
static void find_range(const struct term_tally *tt, double inflation,
                       struct term_judgement *j)
{
    const struct grid *g = &tt->grid;
    int64_t start_ns = j->is_shown ? 0 : j->term->limit_ns;
    struct batch at[TALLY_SLICES];
    struct batch misses[TALLY_SLICES];
    size_t cell = g->begin; /* limits are below this cell */

    j->low_ns = 0;
    j->high_ns = HIST_BEYOND;
    if (!g->cells)
        return;
    memcpy(at, tt->misses, sizeof(at));
    for (size_t i = 0; i < TALLY_SLICES; i++)
        at[i].hits = g->never[i];
    for (size_t i = g->begin; i < g->end; i++)
        shift(g, i, -1, at);
    while (cell < g->end && !sample_with(tt, j->term, at, 1).is_met_at_worst)
        shift(g, cell++, 1, at);

    memcpy(misses, at, sizeof(misses));
    for (size_t up = cell; up <= g->end; up++) {
        struct sample s = sample_with(tt, j->term, misses, inflation);
        bool is_known =
            j->verdict != VERDICT_PASS || !(grid_edge_ns(up) < start_ns);

        if (is_known && s.is_met_at_worst &&
            pass_p(&s, j->allowed) <= SHARE_LEVEL) {
            j->high_ns = grid_edge_ns(up);
            break;
        }
        while (up < g->end && is_empty(g, up))
            up++;
        if (up < g->end)
            shift(g, up, 1, misses);
    }
    memcpy(misses, at, sizeof(misses));
    for (size_t down = cell; down > g->begin;) {
        struct sample s;

        shift(g, --down, -1, misses);
        s = sample_with(tt, j->term, misses, inflation);
        if (!s.is_met_at_best && fail_p(&s, j->allowed) <= SHARE_LEVEL &&
            !(j->verdict == VERDICT_FAIL && grid_edge_ns(down) >= start_ns &&
              start_ns > 0)) {
            j->low_ns = grid_edge_ns(down);
            break;
        }
    }
}

/* The range has three digits and the limit may have more.  What is shown about
 * the limit itself bounds the range too. */
static void include_limit(struct term_judgement *j)
{
    int64_t limit_ns = j->term->limit_ns;

    if (!j->is_shown)
        return;
    if (j->verdict == VERDICT_PASS && (j->high_ns < 0 || j->high_ns > limit_ns))
        j->high_ns = limit_ns;
    if (j->verdict == VERDICT_FAIL && j->low_ns < limit_ns)
        j->low_ns = limit_ns;
}

static void judge_quantile(const struct tally *t, size_t i, double window_s,
                           struct term_judgement *j)
{
    const struct term_tally *tt = &t->terms[i];
    int64_t needed = stats_rank(j->term->quantile, tt->n);
    double inflation = dependence_inflation(&tt->waits);
    struct sample s = sample_with(tt, j->term, tt->misses, inflation);

    /* Samples of the term that the histogram does not hold have no value: they
     * are beyond. */
    j->measured_ns =
        tt->n > 0 ? hist_at_rank(&t->hist[j->term->measure][VIEW_DUE], needed)
                  : HIST_EMPTY;
    j->is_few = tt->n > 0 && tt->n < stats_min_n(j->term->quantile);
    j->why = why_unjudgeable(tt, j->term);
    judge_sample(&s, window_s, j);
    find_range(tt, inflation, j);
    include_limit(j);
    if (!j->why)
        return;
    j->is_unjudgeable = t->due > 0;
    j->verdict = VERDICT_UNDECIDED;
    j->is_shown = false;
    j->more_needed = 0;
    j->p = 1;
    j->low_ns = 0;
    j->high_ns = HIST_BEYOND;
    j->missed_ci90 = (struct interval){0, 1};
}

/* ---- shares and rates ---- */

/* The interval of a share: of misses, or of the others. */
static void take_ci90(struct term_judgement *j)
{
    j->ci90 = j->missed_ci90;
    if (j->term->kind != SLO_ERRORS)
        j->ci90 = (struct interval){1 - j->ci90.high, 1 - j->ci90.low};
}

/* NOLINTNEXTLINE(readability-function-cognitive-complexity) */
static void judge_share(const struct tally *t, double window_s,
                        struct term_judgement *j)
{
    const struct slo_term *term = j->term;
    bool is_errors = term->kind == SLO_ERRORS;
    struct sample s = {.n = t->due, .open = t->outcome[OUTCOME_UNFINISHED]};
    struct batch checks = tally_checks(t);
    struct batch misses[TALLY_SLICES];

    if (is_errors) {
        s.misses = t->due - t->outcome[OUTCOME_OK] - s.open;
    } else if (term->kind == SLO_QUALITY) {
        s.n = checks.n + s.open;
        s.misses = checks.n - checks.hits;
        j->is_unmeasured = checks.n == 0;
        j->why = j->is_unmeasured ? "no answer was checked" : NULL;
    } else {
        s.misses = t->due - t->good - s.open;
    }
    s.requests = s.n;
    for (size_t i = 0; i < TALLY_SLICES; i++) {
        const struct batch *from = is_errors ? &t->ended_slices[i]
                                   : term->kind == SLO_QUALITY
                                       ? &t->check_slices[i]
                                       : &t->good_slices[i];

        misses[i] = *from;
        if (!is_errors)
            misses[i].hits = from->n - from->hits;
    }
    s.n_effective =
        effective_samples((double)s.n, misses, TALLY_SLICES, (double)s.n,
                          dependence_inflation(&t->waits));
    if (term->kind == SLO_GOODPUT) {
        j->measured = window_s > 0 ? (double)t->good / window_s : 0;
        s.is_met_at_best =
            window_s > 0 &&
            reaches((double)(s.n - s.misses) / window_s, term->limit);
        s.is_met_at_worst = window_s > 0 && reaches(j->measured, term->limit);
    } else {
        j->measured = is_errors                   ? share(s.misses, s.n)
                      : term->kind == SLO_QUALITY ? share(checks.hits, checks.n)
                                                  : share(t->good, s.n);
        s.is_met_at_best = judge_is_met(term, s.n, s.misses);
        s.is_met_at_worst = judge_is_met(term, s.n, s.misses + s.open);
    }
    judge_sample(&s, window_s, j);
    take_ci90(j);
    if (j->is_unmeasured)
        j->verdict = VERDICT_UNDECIDED;
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
    struct term_counts c = {.open = kind == SLO_QUANTILE
                                        ? tt->open
                                        : t->outcome[OUTCOME_UNFINISHED]};
    /* The slices count them as not good, but not as misses of a quantile. */
    int64_t open = kind == SLO_QUANTILE || kind == SLO_GOOD ? c.open : 0;

    /* Unknown samples are the last ones, those of a run that was cut. */
    for (size_t i = from ? TALLY_SLICES : 0; i-- > 0;) {
        struct batch *s = &c.slices[i];
        int64_t most;
        int64_t unknown;

        s->n = from[i].n;
        s->hits = has_misses ? from[i].hits : from[i].n - from[i].hits;
        most = kind == SLO_GOOD ? s->hits : s->n - s->hits;
        unknown = most < open ? most : open;
        s->n -= unknown;
        s->hits -= kind == SLO_GOOD ? unknown : 0;
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
    double offered_rps = window_s > 0 ? (double)t->due / window_s : 0;
    struct batch checks = tally_checks(t);

    j->term = &t->slo->terms[i];
    j->allowed = judge_allowed(j->term, offered_rps);
    j->p = 1;
    switch (j->term->kind) {
    case SLO_QUANTILE:
        judge_quantile(t, i, window_s, j);
        break;
    case SLO_ERRORS:
    case SLO_GOOD:
    case SLO_GOODPUT:
    case SLO_QUALITY:
        judge_share(t, window_s, j);
        break;
    case SLO_LIMIT:
        show_share(t->terms[i].keeps, t->terms[i].n,
                   "no request has this measure", j);
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

void judge_together(const struct judgement *const *all, size_t n,
                    enum verdict verdict, bool *is_shown, double *decide_in_s)
{
    double judged = 0;

    *is_shown = verdict == VERDICT_PASS;
    *decide_in_s = verdict == VERDICT_FAIL ? INFINITY : 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < all[i]->len; k++)
            judged += all[i]->terms[k].verdict != VERDICT_NONE;
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < all[i]->len; k++) {
            const struct term_judgement *j = &all[i]->terms[k];

            if (j->verdict == VERDICT_NONE)
                continue;
            if (verdict == VERDICT_FAIL && j->verdict == VERDICT_FAIL) {
                *is_shown |= j->p <= SHARE_LEVEL / judged;
                *decide_in_s = fmin(*decide_in_s, j->decide_in_s);
            } else if (verdict != VERDICT_FAIL) {
                *is_shown &= j->is_shown;
                *decide_in_s = fmax(*decide_in_s, j->decide_in_s);
            }
        }
    }
    if (*is_shown)
        *decide_in_s = 0;
}

static void combine(struct judgement *out)
{
    const struct judgement *one = out;

    out->verdict = VERDICT_NONE;
    for (size_t i = 0; i < out->len; i++)
        out->verdict = verdict_combine(out->verdict, out->terms[i].verdict);
    judge_together(&one, 1, out->verdict, &out->is_shown, &out->decide_in_s);
}

/* Does a late client make this measure look worse, never better? */
static bool is_one_sided(enum measure m)
{
    return m == MEASURE_E2E || m == MEASURE_TTFT || m == MEASURE_TTFB;
}

/* Misses of a term that fails, without those that a late client may have caused
 * and those that are not known. */
static int64_t own_misses(const struct tally *t, size_t i,
                          const struct slo_term *term)
{
    const struct term_tally *tt = &t->terms[i];
    int64_t open = t->outcome[OUTCOME_UNFINISHED];

    switch (term->kind) {
    case SLO_QUANTILE:
        return tt->n - tt->keeps - tt->open - tt->client_late;
    case SLO_ERRORS: /* of a timeout the client's part is unknown */
        return t->due - t->outcome[OUTCOME_OK] - t->outcome[OUTCOME_TIMEOUT] -
               open;
    default:
        return t->due - t->good - t->client_late - open;
    }
}

/* A term that fails stands if it also does with its own misses; it is shown if
 * they show it, and its interval is what they show.  At other limits than that
 * of a quantile its own misses are not known. */
static void excuse_late(const struct tally *t, size_t i,
                        struct term_judgement *j)
{
    enum slo_kind kind = j->term->kind;
    struct sample s = {.n = kind == SLO_QUANTILE ? t->terms[i].n : t->due,
                       .n_effective = j->n_effective};
    bool is_few;
    bool is_met;

    if (kind == SLO_QUALITY)
        return;
    s.misses = own_misses(t, i, j->term);
    is_met = kind == SLO_GOODPUT
                 ? reaches(share(s.n - s.misses, s.n), 1 - j->allowed)
                 : judge_is_met(j->term, s.n, s.misses);
    j->p = is_met ? 1 : fmax(j->p, fail_p(&s, j->allowed));
    j->is_shown = j->p <= SHARE_LEVEL;
    if (!j->is_shown)
        j->decide_in_s = INFINITY;
    j->missed_ci90.low = range_of(&s).low;
    if (kind == SLO_QUANTILE)
        j->low_ns = j->is_shown ? j->term->limit_ns : 0;
    else
        take_ci90(j);
    is_few =
        kind != SLO_GOODPUT && j->requests < judge_min_requests(j->allowed);
    if (!is_met && (j->is_shown || !is_few))
        return;
    j->verdict = VERDICT_UNDECIDED;
    j->why = "the client was late, which may have caused the misses";
}

void judge_late_client(const struct tally *t, struct judgement *j)
{
    bool is_distorted = false;

    for (size_t i = 0; i < j->len; i++) {
        struct term_judgement *term = &j->terms[i];
        bool is_good =
            term->term->kind == SLO_GOOD || term->term->kind == SLO_GOODPUT;

        if (term->verdict == VERDICT_NONE)
            continue;
        if (term->term->kind == SLO_QUANTILE)
            is_distorted |= !is_one_sided(term->term->measure);
        for (int m = 0; is_good && m < MEASURE_COUNT; m++)
            is_distorted |=
                t->limit_ns[m] > 0 && !is_one_sided((enum measure)m);
        if (term->verdict == VERDICT_FAIL)
            excuse_late(t, i, term);
    }
    combine(j);
    if (is_distorted)
        j->verdict = VERDICT_INVALID;
}

void judge(const struct tally *t, double window_s, struct judgement *out)
{
    *out = (struct judgement){.len = t->slo->len};
    for (size_t i = 0; i < t->slo->len; i++) {
        judge_term(t, i, window_s, &out->terms[i]);
        out->terms[i].counts = count(t, i);
    }
    combine(out);
}
