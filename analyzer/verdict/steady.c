#include "analyzer/verdict/steady.h"

#include <math.h>

#include "analyzer/stats/mser.h"
#include "common/base/clk.h"
#include "common/stats/stats.h"

/* Requests of a value that MSER and the autocorrelation look at. */
#define GROUP 2

/* Blocks of the halves: at least so many, and of so many requests. */
#define LEAST_BLOCKS 8
#define MOST_BLOCKS  30
#define BLOCK_TAUS   20
#define BLOCK_LEAST  10

/* Requests at the start of a run, which meet a server that is still empty. */
#define FIRST_REQUESTS 20

/* ---- the pass ---- */

void steady_init(struct steady_work *w, struct tally *t, bool asks_stream)
{
    w->tally = t;
    w->measure = asks_stream ? MEASURE_TTFT : MEASURE_E2E;
    series_init(&w->series, t->window);
    sections_init(&w->sections, t, asks_stream);
}

void steady_fini(struct steady_work *w)
{
    sections_fini(&w->sections);
    hist_fini(&w->cold);
}

void steady_end(const struct steady_work *w)
{
    sections_end(&w->sections);
}

void steady_add(struct steady_work *w, const struct facts *f)
{
    int64_t ns = TIME_ABSENT;

    if (f->outcome < 0 || f->outcome >= OUTCOME_COUNT)
        return; /* as in the tally */
    if (f->outcome == OUTCOME_OK)
        ns = measure_value(w->measure, FROM_DUE, f);
    series_add(&w->series, f, ns);
    if (window_holds(&w->tally->window, f->due))
        sections_add(&w->sections, f);
    else if (ns != TIME_ABSENT && f->due < w->tally->window.start_ns)
        hist_add(&w->cold, ns);
}

/* ---- the warm-up ---- */

static double time_of_s(const struct series *s, size_t bin)
{
    return fmax(0, s->origin_ns + (double)bin * s->width_ns) / 1e9;
}

/* NAN: nothing was measured in them. */
static double mean_of(const struct series *s, size_t from, size_t to)
{
    double mean = NAN;

    if (from < to && series_means(s, from, to, &mean, 1) == 0)
        return NAN;
    return mean;
}

/* Up, to as many digits as one would type. */
static double rounded_up(double seconds)
{
    double step = seconds < 1 ? 0.01 : seconds < 10 ? 0.1 : 1;

    return ceil(seconds / step - 1e-9) * step;
}

static double mean(const double *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum / (double)n;
}

/* How many of its standard errors the mean of the values in [from, to) is
 * off that of those from `drop` on, which are taken for the steady state. */
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

/* A longer one is worth it where the mean would be another, and not by chance:
 * a server that warms up is off from the start on, not for a while later.
 * Of the `n` values the first `drop` are to go; those from `from` on are in
 * the window. */
static void suggest(const struct series *s, const double *x, size_t n,
                    size_t drop, struct warmup_found *w)
{
    size_t from = s->first * n / s->n;
    double whole = mean_of(s, s->first, s->n);
    double rest = mean_of(s, drop * s->n / n, s->n);

    if (drop <= from || !(rest > 0) || !isfinite(whole))
        return;
    w->shift = whole / rest - 1;
    if (fabs(w->shift) > STEADY_SHIFT &&
        errors_off(x, n, from, drop, drop) > STEADY_ERRORS &&
        errors_off(x, n, from, (from + drop + 1) / 2, drop) > STEADY_ERRORS)
        w->suggested_s = rounded_up(w->found_s);
}

struct warmup_found steady_warmup(const struct series *s)
{
    struct warmup_found w = {.why = "too few requests"};
    double x[SERIES_MAX];
    size_t groups = series_groups(s, 0, s->n, GROUP);
    struct mser m;

    if (groups < MSER_LEAST_N)
        return w;
    series_means(s, 0, s->n, x, groups);
    m = mser_truncate(x, groups);
    w.why = "not found: the run is too short";
    if (!m.is_found)
        return w;
    w = (struct warmup_found){.is_found = true,
                              .found_s = time_of_s(s, m.drop * s->n / groups)};
    suggest(s, x, groups, m.drop, &w);
    return w;
}

/* ---- the load ---- */

static void look_at_flight(const struct series *s, struct load_judgement *l)
{
    double in_flight[SERIES_MAX];
    double arrivals[SERIES_MAX];
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
}

/* Why it cannot be said whether the server was overloaded; NULL: it can. */
static const char *what_hides(const struct steady_ask *ask,
                              const struct load_judgement *l)
{
    if (!ask->is_open)
        return ask->is_offline
                   ? "all was due at once"
                   : "closed loop: a slow server is asked less often";
    if (!ask->is_whole)
        return "requests are missing in the recording";
    if (!l->has_flight || l->overload.arrivals < OVERLOAD_LEAST_N)
        return "too few requests";
    return NULL;
}

struct load_judgement steady_load(const struct series *s,
                                  const struct steady_ask *ask)
{
    struct load_judgement l = {0};

    if (s->n - s->first >= OVERLOAD_BLOCKS)
        look_at_flight(s, &l);
    l.why = what_hides(ask, &l);
    if (!l.why)
        l.state = l.overload.is_over ? LOAD_OVER : LOAD_WITHIN;
    return l;
}

/* ---- the halves ---- */

/* What the series remembers, a difference of the halves apart. */
static double memory_of(double *x, size_t n)
{
    double first = mean(x, n / 2);
    double second = mean(x + n / 2, n - n / 2);

    for (size_t i = 0; i < n; i++)
        x[i] -= i < n / 2 ? first : second;
    return autocorr_time(x, n);
}

/* Even, and long against what the series remembers as far as there is room; 0:
 * there is none. */
static size_t blocks_of(const struct series *s)
{
    double x[SERIES_MAX];
    size_t groups = series_groups(s, s->first, s->n, GROUP);
    double blocks;

    if (groups < (size_t)LEAST_BLOCKS * BLOCK_LEAST / GROUP)
        return 0;
    series_means(s, s->first, s->n, x, groups);
    blocks = (double)groups / (BLOCK_TAUS * memory_of(x, groups));
    return (size_t)fmin(MOST_BLOCKS, fmax(LEAST_BLOCKS, blocks)) / 2 * 2;
}

struct halves steady_halves(const struct series *s)
{
    struct halves h = {.why = "too few requests", .blocks = blocks_of(s)};
    const struct interval *range = &h.drift.difference.range;
    double x[MOST_BLOCKS];

    if (h.blocks == 0)
        return h;
    series_means(s, s->first, s->n, x, h.blocks);
    h.drift = drift_of(x, h.blocks, STEADY_CONFIDENCE);
    if (!h.drift.difference.has_range)
        return h;
    h.why = NULL;
    h.is_drifting = (range->low > 0 || range->high < 0) &&
                    fabs(h.drift.relative) > STEADY_DRIFT;
    return h;
}

/* ---- the cold ones ---- */

static struct cold cold_of(const struct steady_work *w)
{
    const struct hist window = tally_view(w->tally, w->measure, VIEW_OK);
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

/* ---- all ---- */

void steady_make(const struct steady_work *w, const struct steady_ask *ask,
                 struct steady *out)
{
    const char *const at_once = "all was due at once";

    *out = (struct steady){
        .measure = w->measure, .warmup.why = at_once, .halves.why = at_once};
    out->load = steady_load(&w->series, ask);
    out->cold = cold_of(w);
    if (ask->is_offline)
        return;
    out->warmup = steady_warmup(&w->series);
    out->halves = steady_halves(&w->series);
    if (out->load.state == LOAD_OVER)
        out->warmup.suggested_s = 0; /* no warm-up is long enough */
    out->n_within = sections_make(&w->sections, out->within);
}
