#include "analyzer/verdict/steady.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/clk.h"
#include "common/base/xalloc.h"
#include "common/stats/stats.h"

/* Requests per value for MSER and the autocorrelation. */
#define GROUP 2

/* Length of a block in autocorrelation times. */
#define BLOCK_TAUS 20

/* Blocks of the halves: how many, and how many requests each. */
#define MIN_BLOCKS   8
#define MAX_BLOCKS   30
#define MIN_IN_BLOCK 10

/* Requests at the start of a run, which find the server empty. */
#define FIRST_REQUESTS 20

/* Steps from which chance is estimated. */
#define STEPS 60

static double sum_of(const double *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

static double mean(const double *x, size_t n)
{
    return sum_of(x, n) / (double)n;
}

/* ---- the pass ---- */

static void want(struct steady_work *w, enum measure m)
{
    for (size_t i = 0; i < w->n_measures; i++) {
        if (w->measures[i] == m)
            return;
    }
    if (w->n_measures < SERIES_VALUES && measure_is_of_answer(m) &&
        !measure_is_pooled(m))
        w->measures[w->n_measures++] = m;
}

void steady_init(struct steady_work *w, struct tally *t, bool asks_stream)
{
    w->tally = t;
    for (size_t i = 0; i < t->slo->len; i++) {
        const struct slo_term *term = &t->slo->terms[i];

        if (term->kind == SLO_QUANTILE || term->kind == SLO_LIMIT)
            want(w, term->measure);
    }
    if (asks_stream)
        want(w, MEASURE_TTFT);
    want(w, MEASURE_E2E);
    series_init(&w->series, t->window);
    slices_init(&w->slices, t, asks_stream);
}

void steady_fini(struct steady_work *w)
{
    slices_fini(&w->slices);
    hist_fini(&w->cold);
}

void steady_add(struct steady_work *w, const struct facts *f)
{
    int64_t main_ns = TIME_ABSENT;
    ptrdiff_t bin;

    if (f->outcome < 0 || f->outcome >= OUTCOME_COUNT)
        return; /* as in the tally */
    bin = series_add(&w->series, f);
    for (size_t i = 0; f->outcome == OUTCOME_OK && i < w->n_measures; i++) {
        int64_t ns = measure_value(w->measures[i], FROM_DUE, f);

        series_add_value(&w->series, bin, i, ns);
        if (i == 0)
            main_ns = ns;
    }
    if (window_holds(&w->tally->window, f->due))
        slices_add(&w->slices, f);
    else if (main_ns != TIME_ABSENT && f->due < w->tally->window.start_ns)
        hist_add(&w->cold, main_ns);
}

/* ---- the warm-up ---- */

/* NAN: nothing was measured in these bins. */
static double mean_of(const struct series *s, size_t measure, size_t from,
                      size_t to)
{
    double mean = NAN;

    if (from < to && series_means(s, measure, from, to, &mean, 1) == 0)
        return NAN;
    return mean;
}

/* Difference, in standard errors, between the mean of the values in [from, to)
 * and of those from `drop` on, which are assumed to be the steady state. */
static double errors_off(const double *x, size_t n, size_t from, size_t to,
                         size_t drop)
{
    const double *rest = x + drop;
    double steady = mean(rest, n - drop);
    double independent =
        (double)(to - from) / (2 * autocorr_time(rest, n - drop));
    double squares = 0;
    double error;

    for (size_t i = 0; i < n - drop; i++)
        squares += (rest[i] - steady) * (rest[i] - steady);
    error = sqrt(squares / (double)(n - drop) / fmax(1, independent));
    return fabs(mean(x + from, to - from) - steady) / fmax(error, 1e-9);
}

/* Suggest a longer warm-up if the mean would change, and not by chance: a
 * server that warms up is off from the start, not for a while later.  Of the
 * `n` values the first `drop` are to go; those from `from` on are in the
 * window.  The suggestion is rounded up to as many digits as one would type. */
static void suggest(const struct series *s, size_t measure, const double *x,
                    size_t n, size_t drop, struct warmup_found *w)
{
    size_t from = s->first * n / s->n;
    double whole = mean_of(s, measure, s->first, s->n);
    double rest = mean_of(s, measure, drop * s->n / n, s->n);
    double step = w->found_s < 1 ? 0.01 : w->found_s < 10 ? 0.1 : 1;

    if (drop <= from || !(rest > 0) || !isfinite(whole))
        return;
    w->shift = whole / rest - 1;
    if (fabs(w->shift) > STEADY_SHIFT &&
        errors_off(x, n, from, drop, drop) > STEADY_ERRORS &&
        errors_off(x, n, from, (from + drop + 1) / 2, drop) > STEADY_ERRORS)
        w->suggested_s = ceil(w->found_s / step - 1e-9) * step;
}

struct warmup_found steady_warmup(const struct series *s, size_t measure)
{
    struct warmup_found w = {.why = "too few requests"};
    double x[SERIES_MAX];
    size_t groups = series_groups(s, measure, 0, s->n, GROUP);
    struct mser m;
    size_t bin;

    if (groups < MSER_MIN_N)
        return w;
    series_means(s, measure, 0, s->n, x, groups);
    m = mser_truncate(x, groups);
    w.why = "not known, the run is too short";
    if (!m.is_found)
        return w;
    bin = m.drop * s->n / groups;
    w = (struct warmup_found){
        .is_found = true,
        .found_s = fmax(0, s->origin_ns + (double)bin * s->width_ns) / 1e9};
    suggest(s, measure, x, groups, m.drop, &w);
    return w;
}

/* ---- overload ---- */

/* A rising series has a far too long autocorrelation time; ten blocks suffice
 * to see it rise. */
static size_t trend_blocks(const double *x, size_t n)
{
    double blocks = (double)n / (BLOCK_TAUS * autocorr_time(x, n));

    if (blocks < TREND_MIN_N)
        return TREND_MIN_N;
    return blocks < OVERLOAD_BLOCKS ? (size_t)blocks : OVERLOAD_BLOCKS;
}

/* Arrivals before a time in bins, given those before each bin; evenly spread
 * within a bin. */
static double arrived(const double *before, double at)
{
    size_t bin = at > 0 ? (size_t)at : 0;

    if (!(at > 0))
        return 0;
    return before[bin] + (at - (double)bin) * (before[bin + 1] - before[bin]);
}

/* Mean number in flight in bins [from, to) if every request took answer_bins:
 * those that arrived within that time. */
static double expected(const double *before, size_t from, size_t to,
                       double answer_bins)
{
    double sum = 0;

    for (size_t i = from; i < to; i++) {
        double at = (double)i + 0.5;

        sum += arrived(before, at) - arrived(before, at - answer_bins);
    }
    return sum / (double)(to - from);
}

/* How much more a server that keeps up has in flight in the last block than in
 * the first: the run fills up, the rate rises, sessions have more turns. */
static double explained_of(const struct flight *f, size_t blocks)
{
    double before[SERIES_MAX + 1] = {0};
    size_t len = (f->n - f->first) / blocks;
    double first;
    double last;

    for (size_t i = 0; i < f->n; i++)
        before[i + 1] = before[i] + f->arrivals[i];
    first = expected(before, f->first, f->first + len, f->answer_bins);
    last = expected(before, f->n - len, f->n, f->answer_bins);
    return fmax(0, last - first);
}

/* Standard deviation of the end of a random walk with these steps. */
static double chance_of(const double *in_flight, size_t bins)
{
    size_t n = bins < STEPS ? bins : STEPS;
    double x[STEPS];
    double drift;
    double squares = 0;

    series_blocks(in_flight, bins, x, n);
    drift = (x[n - 1] - x[0]) / (double)(n - 1);
    for (size_t i = 1; i < n; i++)
        squares += (x[i] - x[i - 1] - drift) * (x[i] - x[i - 1] - drift);
    return sqrt(squares);
}

/* The slope overstates the growth of what fills up and is then full. */
static bool is_material(const struct overload *o)
{
    double excess = fmin(o->growth, o->rise) - OVERLOAD_MARGIN * o->explained;

    return excess >= OVERLOAD_MIN && excess >= OVERLOAD_SHARE * o->arrivals &&
           excess >= OVERLOAD_CHANCE * o->chance;
}

struct overload overload_judge(const struct flight *f)
{
    const double *x = f->in_flight + f->first;
    size_t n = f->n - f->first;
    struct overload o = {.blocks = trend_blocks(x, n),
                         .arrivals = sum_of(f->arrivals + f->first, n),
                         .chance = chance_of(x, n)};
    double blocks[OVERLOAD_BLOCKS];
    double scratch[TREND_PAIRS(OVERLOAD_BLOCKS)];
    double count = (double)o.blocks;
    struct trend_test t;
    struct trend_slope slope;

    series_blocks(x, n, blocks, o.blocks);
    t = trend_test(blocks, o.blocks, scratch);
    slope = trend_slope(blocks, o.blocks, 0.95, scratch);
    o.p = t.p;
    o.is_rising = trend_verdict(&t, OVERLOAD_LEVEL) == TREND_RISING;
    o.growth = slope.slope * count;
    o.rise = blocks[o.blocks - 1] - blocks[0];
    o.has_ci95 = slope.has_range;
    o.ci95.low = slope.range.low * count;
    o.ci95.high = slope.range.high * count;
    o.explained = explained_of(f, o.blocks);
    o.is_over = o.is_rising && is_material(&o);
    return o;
}

static void measure_flight(const struct series *s, struct load_judgement *l)
{
    double *in_flight = xcalloc(2 * s->n, sizeof(*in_flight));
    double *arrivals = in_flight + s->n;
    const double *x = in_flight + s->first;
    size_t n = s->n - s->first;
    double length_s = (double)n * s->width_ns / 1e9;

    series_in_flight(s, in_flight);
    for (size_t i = 0; i < s->n; i++)
        arrivals[i] = (double)s->bins[i].due;
    l->has_flight = true;
    l->in_flight = mean(x, n);
    l->first = mean(x, n / 10);
    l->last = mean(x + (n - n / 10), n / 10);
    l->has_little = s->ended > 0;
    if (l->has_little)
        l->little =
            little_check(l->in_flight, s->ended / length_s,
                         s->ended_flight_ns / s->ended / 1e9, LITTLE_LIMIT);
    l->overload = overload_judge(&(struct flight){
        .in_flight = in_flight,
        .arrivals = arrivals,
        .n = s->n,
        .first = s->first,
        .answer_bins =
            series_first_flight_s(s, FIRST_REQUESTS) * 1e9 * s->per_ns,
    });
    free(in_flight);
}

/* Why it is unknown whether the server was overloaded; NULL: it is known. */
static const char *why_unknown(const struct steady_ask *ask,
                               const struct load_judgement *l)
{
    if (!ask->is_open)
        return ask->is_offline
                   ? "all requests were due at once"
                   : "in a closed loop a slow server gets fewer requests";
    if (!ask->is_whole)
        return "the recording lacks requests";
    if (!l->has_flight || l->overload.arrivals < OVERLOAD_MIN_N)
        return "too few requests";
    return NULL;
}

struct load_judgement steady_load(const struct series *s,
                                  const struct steady_ask *ask)
{
    struct load_judgement l = {0};

    if (s->n - s->first >= OVERLOAD_BLOCKS)
        measure_flight(s, &l);
    l.why = why_unknown(ask, &l);
    if (!l.why)
        l.state = l.overload.is_over ? LOAD_OVER : LOAD_WITHIN;
    return l;
}

/* ---- the halves ---- */

/* Autocorrelation time without the difference between the halves. */
static double memory_of(double *x, size_t n)
{
    double first = mean(x, n / 2);
    double second = mean(x + n / 2, n - n / 2);

    for (size_t i = 0; i < n; i++)
        x[i] -= i < n / 2 ? first : second;
    return autocorr_time(x, n);
}

/* An even number of blocks, each long compared with the autocorrelation time of
 * the n values if possible.  Changes the values. */
static size_t half_blocks(double *x, size_t n)
{
    double blocks = (double)n / (BLOCK_TAUS * memory_of(x, n));

    return (size_t)fmin(MAX_BLOCKS, fmax(MIN_BLOCKS, blocks)) / 2 * 2;
}

/* `min` is the smallest difference that matters. */
static void judge_halves(struct halves *h, const double *blocks, double min)
{
    const struct interval *range = &h->drift.difference.range;

    h->drift = drift_of(blocks, h->blocks, STEADY_CONFIDENCE);
    if (!h->drift.difference.has_range)
        return;
    h->why = NULL;
    h->is_drifting = (range->low > 0 || range->high < 0) &&
                     fabs(h->drift.relative) > STEADY_DRIFT &&
                     fabs(h->drift.difference.value) >= min;
}

/* Replaces means of blocks by values whose mean over a half is that of its
 * requests: a block counts by its number of requests.  Their scatter is that of
 * such a mean (linearised). */
static void weigh_blocks(const struct series *s, size_t measure, double *x,
                         size_t blocks)
{
    size_t n = s->n - s->first;

    for (size_t h = 0; h < 2; h++) {
        size_t in_half = blocks / 2;
        double whole = 0;
        double all =
            (double)series_means(s, measure, s->first + h * n / 2,
                                 s->first + (h + 1) * n / 2, &whole, 1);

        for (size_t i = h * in_half; i < (h + 1) * in_half; i++) {
            double ignored;
            double count = (double)series_means(
                s, measure, s->first + i * n / blocks,
                s->first + (i + 1) * n / blocks, &ignored, 1);

            if (all > 0)
                x[i] = whole + count * (double)in_half / all * (x[i] - whole);
        }
    }
}

struct halves steady_halves(const struct series *s, size_t measure)
{
    struct halves h = {.why = "too few requests"};
    size_t groups = series_groups(s, measure, s->first, s->n, GROUP);
    double x[SERIES_MAX];

    if (groups < (size_t)MIN_BLOCKS * MIN_IN_BLOCK / GROUP)
        return h;
    series_means(s, measure, s->first, s->n, x, groups);
    h.blocks = half_blocks(x, groups);
    series_means(s, measure, s->first, s->n, x, h.blocks);
    weigh_blocks(s, measure, x, h.blocks);
    judge_halves(&h, x, 0);
    return h;
}

struct halves steady_flight_halves(const struct series *s)
{
    struct halves h = {.why = "too few requests"};
    double in_flight[SERIES_MAX];
    double x[SERIES_MAX];
    double due = 0;
    size_t n = s->n - s->first;

    for (size_t i = s->first; i < s->n; i++)
        due += (double)s->bins[i].due;
    if (n < MAX_BLOCKS || due < MIN_BLOCKS * MIN_IN_BLOCK)
        return h;
    series_in_flight(s, in_flight);
    series_blocks(in_flight + s->first, n, x, n);
    h.blocks = half_blocks(x, n);
    series_blocks(in_flight + s->first, n, x, h.blocks);
    judge_halves(&h, x, STEADY_FLIGHT);
    return h;
}

/* ---- requests of the warm-up ---- */

static struct cold cold_of(const struct steady_work *w)
{
    const struct hist window = tally_view(w->tally, w->measures[0], VIEW_OK);
    double mean_ns = hist_mean_ns(&window);
    int64_t p99_ns = hist_quantile(&window, 0.99);
    struct hist both = {0};
    struct cold c = {.requests = w->tally->before,
                     .ok = w->cold.n,
                     .mean_ns = hist_mean_ns(&w->cold),
                     .p99_ns = hist_quantile(&w->cold, 0.99),
                     .max_ns = hist_max_ns(&w->cold)};

    hist_add_all(&both, &window);
    hist_add_all(&both, &w->cold);
    c.mean_with_ns = hist_mean_ns(&both);
    c.p99_with_ns = hist_quantile(&both, 0.99);
    hist_fini(&both);
    c.has_shift = c.ok > 0 && mean_ns > 0 && c.mean_with_ns > 0;
    if (c.has_shift)
        c.mean_shift = c.mean_with_ns / mean_ns - 1;
    c.has_p99_shift = c.has_shift && p99_ns > 0 && c.p99_with_ns > 0;
    if (c.has_p99_shift)
        c.p99_shift = (double)c.p99_with_ns / (double)p99_ns - 1;
    return c;
}

/* ---- everything ---- */

void steady_make(const struct steady_work *w, const struct steady_ask *ask,
                 struct steady *out)
{
    const char *const at_once = "all requests were due at once";

    *out = (struct steady){.n_measures = w->n_measures,
                           .warmup.why = at_once,
                           .warmup_by = w->measures[0],
                           .in_flight.why = at_once};
    out->load = steady_load(&w->series, ask);
    out->cold = cold_of(w);
    for (size_t i = 0; i < w->n_measures; i++) {
        struct steady_measure *m = &out->measures[i];

        *m = (struct steady_measure){.measure = w->measures[i],
                                     .warmup.why = at_once,
                                     .halves.why = at_once};
        if (ask->is_offline)
            continue;
        m->halves = steady_halves(&w->series, i);
        m->warmup = steady_warmup(&w->series, i);
        if (out->load.state == LOAD_OVER)
            m->warmup.suggested_s = 0; /* none is long enough */
        if (i == 0 || m->warmup.suggested_s > out->warmup.suggested_s) {
            out->warmup = m->warmup;
            out->warmup_by = m->measure;
        }
    }
    if (ask->is_offline)
        return;
    out->in_flight = steady_flight_halves(&w->series);
    out->n_within = slices_make(&w->slices, out->within);
}
