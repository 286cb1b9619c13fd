#include "analyzer/studies/trials.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/stats/order_stats.h"
#include "analyzer/studies/study_recordings.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/stats/hist.h"

#define MAX_TITLE ((size_t)64 << 10)

/* Outliers by the modified z score of Iglewicz and Hoaglin: the distance from
 * the median in median absolute deviations, scaled to standard deviations.
 * Their threshold of 3.5 flags one in six sets of seven by chance; this one,
 * which falls with n, flags less than one in a hundred for 5 to 100 normal
 * trials.  Values close to the median are never flagged, however little the
 * others scatter. */
#define ODD_SCALE 0.6745
#define ODD_SHARE 0.05
#define ODD_MIN   5

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

bool trial_counts(const struct trial *t)
{
    return trial_is_whole(t) && !t->discarded[0];
}

bool trials_are_cut(const struct trials_summary *s)
{
    return (int64_t)(s->counted + s->discarded) < s->set.asked;
}

const char *trial_rate_name(enum trial_rate rate)
{
    static const char *const names[] = {
        [TRIAL_OFFERED] = "offered_rps",
        [TRIAL_COMPLETED] = "completed_rps",
        [TRIAL_GOODPUT] = "goodput_rps",
        [TRIAL_THROUGHPUT] = "throughput_rps",
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
               : "token counts are not available";
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

/* ---- one value per trial ---- */

/* Which number to take from a trial. */
struct pick {
    size_t offset; /* in struct trial */
    bool is_ns;
};

/* Failures are slower than any answer; a missing value is NAN. */
static double number_of(const struct trial *t, const struct pick *p,
                        double *raw)
{
    memcpy(raw, (const char *)t + p->offset, sizeof(*raw));
    if (!p->is_ns || *raw >= 0)
        return *raw;
    return *raw == HIST_BEYOND || *raw == HIST_OUT_OF_RANGE ? INFINITY : NAN;
}

/* The values of all trials that count; returns how many have none. */
static size_t gather(const struct trials_summary *s, const struct pick *p,
                     double *values, double *missing)
{
    size_t n = 0;
    size_t lacking = 0;

    for (size_t i = 0; i < s->n; i++) {
        double raw;

        if (!trial_counts(&s->trials[i]))
            continue;
        values[n] = number_of(&s->trials[i], p, &raw);
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

static void note_odd(struct trials_summary *s, const struct pick *p,
                     const struct over_trials *o, const char *what)
{
    double median = o->median.median.value;
    double min_score = 4 + 42.0 / (double)(s->counted - 2);
    double *off;
    double raw, mad;

    if (!o->is_known || s->counted < ODD_MIN || !isfinite(median))
        return;
    off = xcalloc(s->counted, sizeof(*off));
    gather(s, p, off, &raw);
    for (size_t i = 0; i < s->counted; i++)
        off[i] = fabs(off[i] - median);
    mad = order_median(off, s->counted);
    free(off);
    for (size_t i = 0; i < s->n && s->n_odd < TRIALS_MAX_ODD; i++) {
        double value = number_of(&s->trials[i], p, &raw);
        double distance = fabs(value - median);
        struct odd_trial *odd = &s->odd[s->n_odd];

        if (!trial_counts(&s->trials[i]) || !(distance > ODD_SHARE * median) ||
            !(ODD_SCALE * distance > min_score * mad))
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

/* Counts are whole numbers. */
static bool is_met(const struct slo_term *term, const struct share_sample *all)
{
    return judge_is_met(term, llround(all->n), llround(all->misses));
}

/* The samples of the trials that count, with those that are open as misses or
 * not at all. */
static size_t take_samples(const struct trials_summary *s, size_t term,
                           bool at_worst, struct share_sample *out)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++) {
        const struct trial_term *t = &s->trials[i].terms[term];

        if (!trial_counts(&s->trials[i]) || !(t->sample.n + t->open > 0))
            continue;
        out[n] = t->sample;
        if (at_worst) {
            out[n].n += t->open;
            out[n].misses += t->open;
        }
        n++;
    }
    return n;
}

static void judge_share(struct trials_summary *s, size_t term)
{
    struct set_term *t = &s->terms[term];
    struct share_sample *trials = xcalloc(s->n + 1, sizeof(*trials));
    size_t n = take_samples(s, term, true, trials);
    struct share_sample worst = share_trials(trials, n);
    struct share_sample best;
    double allowed = t->allowed;
    double min_n =
        allowed > 0 && allowed < 1 ? (double)stats_min_n(1 - allowed) : 1;
    double needed;

    take_samples(s, term, false, trials);
    best = share_trials(trials, n);
    free(trials);
    t->all = best;
    t->verdict = is_met(&t->term, &best) ? VERDICT_PASS : VERDICT_FAIL;
    if (t->verdict == VERDICT_PASS)
        t->all = worst;
    if (!(allowed > 0 && allowed < 1)) /* nothing to test */
        t->p = t->verdict == VERDICT_FAIL || allowed >= 1 ? 0 : 1;
    else
        t->p = t->verdict == VERDICT_PASS ? share_pass_p(&worst, allowed)
                                          : share_fail_p(&best, allowed);
    t->is_shown = t->p <= SHARE_LEVEL;
    /* With fewer requests a pass says nothing, but misses may be more frequent
     * than chance explains. */
    if (!(best.n > 0) || is_met(&t->term, &best) != is_met(&t->term, &worst) ||
        (worst.n < min_n && !(t->verdict == VERDICT_FAIL && t->is_shown))) {
        t->verdict = VERDICT_UNDECIDED;
        t->is_shown = false;
        t->p = 1;
    }
    if (!(best.n > 0) || !(allowed > 0 && allowed < 1))
        return;
    t->bounds = share_bounds(&t->all);
    needed = share_needed(t->all.misses / t->all.n, allowed, SHARE_LEVEL) /
             t->all.n_effective * (double)n;
    needed = fmax(needed, min_n / worst.n * (double)n);
    if (!t->is_shown)
        t->needed = (int64_t)fmin(TRIALS_MANY, ceil(needed));
}

/* Good requests per second: Student's one-sided test of their mean.  Requests
 * that are open may have been good. */
static void judge_rate(const struct trials_summary *s, size_t term)
{
    struct set_term *t = &s->terms[term];
    const struct uncertain *mean = &t->measured.mean;
    double limit = t->term.limit * (1 - 4 * DBL_EPSILON);
    double freedom = (double)s->counted - 1;
    double best = mean->value;
    double gap;
    double error;
    double reach;

    if (!t->measured.is_known)
        return;
    for (size_t i = 0; i < s->n; i++) {
        const struct trial *of = &s->trials[i];

        if (trial_counts(of) && of->window_s > 0)
            best += of->terms[term].open / of->window_s / (double)s->counted;
    }
    if (mean->value < limit && best >= limit)
        return;
    t->verdict = best >= limit ? VERDICT_PASS : VERDICT_FAIL;
    gap = t->verdict == VERDICT_PASS ? mean->value - t->term.limit
                                     : t->term.limit - best;
    if (!mean->has_range)
        return;
    error = (mean->range.high - mean->value) /
            student_reach(TRIALS_CONFIDENCE, freedom);
    reach = error * student_quantile(1 - SHARE_LEVEL, freedom);
    t->bounds = (struct interval){mean->value - reach, best + reach};
    t->p = error > 0 ? student_upper_tail(gap / error, freedom) : gap <= 0;
    t->is_shown = t->p <= SHARE_LEVEL;
    error *= sqrt(freedom + 1); /* of one trial */
    for (double k = freedom + 1; !t->is_shown && k <= TRIALS_MANY; k++) {
        t->needed = (int64_t)k;
        if (student_upper_tail(gap / error * sqrt(k), k - 1) <= SHARE_LEVEL)
            break;
    }
}

/* A set that did not complete has only the verdict that it shows, if it is not
 * that of too few trials. */
static void judge_set_term(struct trials_summary *s, size_t i)
{
    struct set_term *t = &s->terms[i];
    struct pick p = {offsetof(struct trial, terms) +
                         i * sizeof(struct trial_term) +
                         offsetof(struct trial_term, measured),
                     t->term.kind == SLO_QUANTILE};
    bool is_judged = false;
    bool is_judgeable = true;

    for (size_t k = 0; k < s->n; k++) {
        const struct trial_term *of = &s->trials[k].terms[i];

        if (!trial_counts(&s->trials[k]))
            continue;
        t->kept += of->verdict == VERDICT_PASS;
        t->missed += of->verdict == VERDICT_FAIL;
        is_judged |= of->verdict != VERDICT_NONE;
        is_judgeable &= of->is_judgeable;
    }
    t->measured = over(s, &p);
    t->allowed = slo_allowed(&t->term);
    t->p = 1;
    t->verdict =
        is_judged || s->counted == 0 ? VERDICT_UNDECIDED : VERDICT_NONE;
    if (!is_judged || !is_judgeable)
        return;
    if (t->allowed >= 0)
        judge_share(s, i);
    else
        judge_rate(s, i);
    if (trials_are_cut(s) &&
        (!t->is_shown ||
         s->counted < valid_runs_needed((size_t)s->set.asked))) {
        t->verdict = VERDICT_UNDECIDED;
        t->is_shown = false;
    }
}

/* One term is enough for FAIL, so several share its error. */
static void judge_set(struct trials_summary *s)
{
    size_t enough = valid_runs_needed((size_t)s->set.asked);
    double judged = 0;

    for (size_t i = 0; i < s->n_terms; i++) {
        judge_set_term(s, i);
        s->verdict = verdict_combine(s->verdict, s->terms[i].verdict);
        judged += s->terms[i].verdict != VERDICT_NONE;
    }
    s->is_shown = s->verdict == VERDICT_PASS;
    for (size_t i = 0; i < s->n_terms; i++) {
        const struct set_term *t = &s->terms[i];

        if (t->verdict == VERDICT_NONE)
            continue;
        if (s->verdict != VERDICT_FAIL)
            s->is_shown &= t->is_shown;
        else if (t->verdict == VERDICT_FAIL)
            s->is_shown |= t->p <= SHARE_LEVEL / judged;
        if (t->verdict == s->verdict && t->needed > 0 &&
            (s->needed == 0 ||
             (t->needed < s->needed) == (s->verdict == VERDICT_FAIL)))
            s->needed = t->needed;
    }
    if (s->counted < enough && s->counted + s->discarded >= enough) {
        s->verdict = VERDICT_INVALID;
        s->is_shown = false;
    }
    if (s->is_shown || s->verdict == VERDICT_INVALID)
        s->needed = 0;
}

/* If too few trials are valid, those whose client was only late count too: the
 * verdict on their terms allows for it. */
static void take_late(struct trials_summary *s)
{
    size_t valid = 0;

    for (size_t i = 0; i < s->n; i++)
        valid += trial_counts(&s->trials[i]);
    if (valid >= valid_runs_needed((size_t)s->set.asked))
        return;
    for (size_t i = 0; i < s->n; i++) {
        if (!s->trials[i].is_late || !trial_is_whole(&s->trials[i]))
            continue;
        s->trials[i].discarded[0] = '\0';
        s->late++;
    }
}

static void count_trials(struct trials_summary *s)
{
    take_late(s);
    s->stopped_by = s->set.stopped_by;
    for (size_t i = 0; i < s->n; i++) {
        const struct trial *t = &s->trials[i];

        if (t->stopped_by != 0)
            s->stopped_by = t->stopped_by;
        s->discarded += trial_is_whole(t) && t->discarded[0];
        if (!trial_counts(t))
            continue;
        if (s->counted == 0 || t->scheduled < s->least_scheduled)
            s->least_scheduled = t->scheduled;
        s->counted++;
    }
    s->confidence =
        trials_median_rank(s->counted, TRIALS_CONFIDENCE).confidence;
}

/* Is this quantile searched for odd trials? */
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

/* What study.until asks for. */
static void find_precision(struct trials_summary *s)
{
    double *values = xcalloc(2 * s->n + 1, sizeof(*values));
    struct set_precision_ask ask = {
        .share = s->until.share, .values = values, .within = values + s->n};
    int q = 0;

    while (fabs(summary_quantile[q] - s->until.quantile) > 1e-9)
        q++;
    for (size_t i = 0; i < s->n; i++) {
        const struct trial *t = &s->trials[i];
        struct pick p = {
            offsetof(struct trial, quantile_ns) +
                ((size_t)s->until.measure * SUMMARY_QUANTILES + (size_t)q) *
                    sizeof(double),
            true};
        double raw;

        if (!trial_counts(t))
            continue;
        values[ask.n] = number_of(t, &p, &raw);
        values[s->n + ask.n++] = t->within_ns;
        ask.length_s += t->window_s;
        ask.overhead_s += s->set.points[t->number - 1].took_s - t->window_s;
    }
    ask.length_s /= (double)ask.n;
    ask.overhead_s /= (double)ask.n;
    s->precision = set_precision(&ask);
    free(values);
}

void trials_work_out(struct trials_summary *s)
{
    count_trials(s);
    for (int r = 0; r < TRIAL_RATES; r++) {
        struct pick p = {
            offsetof(struct trial, rate) + (size_t)r * sizeof(double), false};

        s->rate[r] = over(s, &p);
        if (r == TRIAL_ATTAINMENT) /* the other rates follow the load */
            note_odd(s, &p, &s->rate[r], trial_rate_name((enum trial_rate)r));
    }
    for (int m = 0; m < MEASURE_COUNT; m++) {
        for (int q = 0; q < SUMMARY_QUANTILES; q++) {
            struct pick p = {offsetof(struct trial, quantile_ns) +
                                 (size_t)(m * SUMMARY_QUANTILES + q) *
                                     sizeof(double),
                             true};
            char what[32];

            s->quantile[m][q] = over(s, &p);
            if (!is_headline(s, m, q))
                continue;
            snprintf(what, sizeof(what), "%s %s", measure_name((enum measure)m),
                     summary_quantile_name[q]);
            note_odd(s, &p, &s->quantile[m][q], what);
        }
    }
    judge_set(s);
    if (s->has_until)
        find_precision(s);
}

/* ---- from disk ---- */

/* A trial whose server was overloaded misses every term: what it met, it would
 * not have met for longer. */
static struct trial_term take_term(const struct term_judgement *from,
                                   bool is_over)
{
    bool is_quantile = from->term->kind == SLO_QUANTILE;
    const struct term_counts *c = &from->counts;
    struct trial_term to = {
        .verdict = from->verdict,
        .measured = from->is_few          ? HIST_TOO_FEW
                    : is_quantile         ? (double)from->measured_ns
                    : from->is_unmeasured ? NAN
                                          : from->measured,
        .sample = {.n = (double)c->n,
                   .misses = (double)c->misses,
                   .n_effective = from->n_effective},
        .open = (double)c->open,
        .is_judgeable = true,
    };

    if (from->verdict == VERDICT_NONE)
        return to;
    if (is_over) {
        to.verdict = VERDICT_FAIL;
        to.sample.misses = to.sample.n;
        return to;
    }
    if (from->verdict == VERDICT_UNDECIDED && c->client_late > 0) {
        /* Perhaps missed because of the client alone. */
        to.open += (double)c->client_late;
        to.sample.n -= (double)c->client_late;
        to.sample.misses -= (double)c->client_late;
    }
    to.is_judgeable = from->verdict != VERDICT_UNDECIDED || !from->why ||
                      to.open > 0 || from->more_needed > 0;
    return to;
}

static size_t take_terms(struct trial_term *to, const struct judgement *j,
                         bool is_over)
{
    for (size_t i = 0; i < j->len; i++)
        to[i] = take_term(&j->terms[i], is_over);
    return j->len;
}

/* NAN: no price, or nothing to divide it by. */
static double price(const struct summary *s, double usd)
{
    return s->cost.is_there && usd >= 0 ? usd : NAN;
}

void trial_take(struct trial *t, const struct summary *s)
{
    bool is_over = summary_is_overloaded(s);
    size_t n = take_terms(t->terms, &s->judgement, is_over);

    for (size_t i = 0; i < s->n_classes; i++)
        n += take_terms(t->terms + n, &s->classes[i].judgement, is_over);
    run_is_discarded(s, t->discarded);
    t->is_late = s->trust.is_only_late && s->verdict != VERDICT_INVALID &&
                 s->integrity.lost_requests + s->integrity.lost_events == 0;
    t->verdict = s->verdict;
    t->conclusion = summary_conclusion(s);
    t->stopped_by = s->stopped_by;
    t->was_killed = s->integrity.was_killed;
    t->was_aborted = s->aborted != NULL;
    t->was_overloaded = is_over;
    t->is_load_judged = s->steady.load.state != LOAD_UNKNOWN;
    t->e2e_p99_share = s->e2e_p99_share;
    t->scheduled = s->scheduled;
    t->ok = s->ok;
    t->failed = s->failed;
    t->checked = s->quality.checked;
    t->lost_requests = s->integrity.lost_requests;
    t->lost_events = s->integrity.lost_events;
    t->window_s = s->window_length_s;
    t->within_ns = s->precision.is_known ? s->precision.within : (double)NAN;
    t->has_tokens = s->has_tokens;
    t->has_cost = s->cost.is_there;
    t->is_streamed = s->is_streamed;
    t->rate[TRIAL_OFFERED] = s->offered_rps;
    t->rate[TRIAL_COMPLETED] = s->completed_rps;
    t->rate[TRIAL_GOODPUT] = s->goodput_rps;
    t->rate[TRIAL_THROUGHPUT] = s->throughput_rps;
    t->rate[TRIAL_ATTAINMENT] = s->attainment;
    t->rate[TRIAL_TOKENS] = s->output_tokens_per_s;
    t->rate[TRIAL_GOOD_TOKENS] = s->goodput_tokens_per_s;
    t->rate[TRIAL_QUALITY] = s->quality.checked > 0 ? s->quality.share : NAN;
    t->rate[TRIAL_USD] = price(s, s->cost.usd_per_1000_good);
    t->rate[TRIAL_USD_TOKENS] = price(s, s->cost.usd_per_million_good_tokens);
    for (int m = 0; m < MEASURE_COUNT; m++) {
        for (int q = 0; q < SUMMARY_QUANTILES; q++)
            t->quantile_ns[m][q] =
                (double)s->spread[m][VIEW_DUE].quantile_ns[q];
    }
    for (size_t i = 0; i < s->trust.len && !t->distrust[0]; i++) {
        const struct check *c = &s->trust.checks[i];

        if (!c->ok && c->is_fatal)
            snprintf(t->distrust, sizeof(t->distrust), "%s", c->name);
    }
}

void trial_take_lost(struct trial *t, const char *why)
{
    t->lost = why;
    for (int r = 0; r < TRIAL_RATES; r++)
        t->rate[r] = NAN;
    for (int m = 0; m < MEASURE_COUNT; m++) {
        for (int q = 0; q < SUMMARY_QUANTILES; q++)
            t->quantile_ns[m][q] = HIST_EMPTY;
    }
}

static void add_terms(struct trials_summary *set, const struct judgement *j,
                      const char *class)
{
    for (size_t i = 0; i < j->len; i++) {
        struct set_term *t = &set->terms[set->n_terms++];

        t->term = *j->terms[i].term;
        t->class = class ? xstrdup(class) : NULL;
    }
}

static size_t count_terms(const struct summary *s)
{
    size_t n = s->judgement.len;

    for (size_t i = 0; i < s->n_classes; i++)
        n += s->classes[i].judgement.len;
    return n;
}

/* What all trials have in common, from the first one. */
static void keep_common(struct trials_summary *set, const struct summary *s)
{
    char *name = study_title(s->settings, "run");
    struct err ignored = {0};
    struct buf load;

    buf_init(&load, MAX_TITLE);
    settings_describe_load(&s->settings->load, &load);
    set->title = xasprintf("%s\nload       %s", name, buf_text(&load));
    buf_fini(&load);
    free(name);
    set->name = xstrdup(s->settings->name ? s->settings->name : "");
    set->require_shown = s->settings->require == REQUIRE_SHOWN;
    set->has_until =
        s->settings->study.until &&
        until_parse(s->settings->study.until, &set->until, &ignored) == 0;
    set->terms = xcalloc(count_terms(s) + 1, sizeof(*set->terms));
    add_terms(set, &s->judgement, NULL);
    for (size_t i = 0; i < s->n_classes; i++)
        add_terms(set, &s->classes[i].judgement, s->classes[i].name);
}

static int read_trial(struct trials_summary *set, struct trial *t,
                      const struct strlist *slo, const struct cost_ask *cost,
                      struct err *err)
{
    char *dir = study_trial_path(set->dir, t->number);
    const char *lost = manifest_loss(dir);
    struct study_run run;
    int rc = lost ? 0 : study_run_open(&run, dir, slo, cost, err);

    free(dir);
    if (lost)
        trial_take_lost(t, lost);
    if (rc || lost)
        return rc;
    trial_take(t, run.summary);
    if (!set->title)
        keep_common(set, run.summary);
    if (count_terms(run.summary) != set->n_terms)
        rc = err_set(err, ERR_FORMAT, "%s: trial %lld has another SLO",
                     set->dir, (long long)t->number);
    study_run_close(&run);
    return rc;
}

int trials_read(struct trials_summary *s, const char *dir,
                const struct strlist *slo, const struct cost_ask *cost,
                struct err *err)
{
    int rc;

    *s = (struct trials_summary){.dir = dir};
    rc = study_set_load_kind(&s->set, dir, STUDY_TRIALS, err);
    if (rc == 0 && s->set.recorded == 0)
        rc = study_refuse_empty(dir, "trial", err);
    if (rc)
        return -1;
    s->trials = xcalloc((size_t)s->set.recorded, sizeof(*s->trials));
    for (size_t i = 0; rc == 0 && i < s->set.len; i++) {
        struct trial *t = &s->trials[s->n];

        if (!s->set.points[i].is_recorded)
            continue;
        t->number = s->set.points[i].number;
        t->seed = s->set.points[i].seed;
        s->n++;
        rc = read_trial(s, t, slo, cost, err);
    }
    if (rc == 0 && !trials_first(s))
        rc = err_set(err, ERR_FORMAT,
                     "%s: the manifest.json of every trial is missing or "
                     "unreadable; to see what the first one recorded: "
                     "tailgate report %s/trial-1",
                     dir, dir);
    if (rc == 0)
        trials_work_out(s);
    return rc;
}

void trials_summary_fini(struct trials_summary *s)
{
    study_set_fini(&s->set);
    for (size_t i = 0; i < s->n_terms; i++)
        free(s->terms[i].class);
    free(s->terms);
    free(s->title);
    free(s->name);
    free(s->trials);
    *s = (struct trials_summary){0};
}

/* Without an SLO, the worst exit code of the trials.  A set that did not
 * complete is undecided, like a run that was killed. */
static enum conclusion worst_of(const struct trials_summary *s)
{
    enum conclusion worst = s->counted > 0 ? CONCLUSION_YES : CONCLUSION_NO;

    for (size_t i = 0; i < s->n; i++) {
        if (trial_counts(&s->trials[i]) && s->trials[i].conclusion > worst)
            worst = s->trials[i].conclusion;
    }
    return worst == CONCLUSION_YES && trials_are_cut(s) ? CONCLUSION_UNDECIDED
                                                        : worst;
}

enum conclusion trials_conclusion(const struct trials_summary *s)
{
    bool was_aborted = false;

    for (size_t i = 0; i < s->n; i++)
        was_aborted |= s->trials[i].was_aborted;
    if (s->verdict == VERDICT_INVALID)
        return CONCLUSION_INVALID;
    if (s->require_shown && s->n_terms > 0 && !s->is_shown &&
        s->verdict != VERDICT_NONE)
        return CONCLUSION_UNDECIDED;
    switch (s->verdict) {
    case VERDICT_UNDECIDED:
        return CONCLUSION_UNDECIDED;
    case VERDICT_FAIL:
        return CONCLUSION_NO;
    case VERDICT_PASS:
        return was_aborted ? CONCLUSION_NO : CONCLUSION_YES;
    default:
        break;
    }
    return worst_of(s);
}
