#include "analyzer/tally/run_bins.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/tally/tally.h"
#include "analyzer/verdict/judge.h"
#include "analyzer/verdict/series.h"
#include "analyzer/verdict/steady.h"
#include "common/base/clk.h"
#include "common/base/xalloc.h"
#include "common/recording/schema.h"
#include "common/recording/tgr.h"
#include "common/stats/hist.h"
#include "common/stats/stats.h"

/* Widths of a bin of time, as people read them. */
static const int64_t steps_ms[] = {
    10,      20,      50,      100,      200,      500,     1000,   2000,
    5000,    10000,   15000,   30000,    60000,    120000,  300000, 600000,
    1800000, 3600000, 7200000, 14400000, 43200000, 86400000};

#define STEPS (sizeof(steps_ms) / sizeof(steps_ms[0]))

/* Without a limit rows start at this value. */
#define PLAIN_BASE_NS (10 * INT64_C(1000000))

static const enum measure measures[BINS_MEASURES] = {
    [BINS_TTFT] = MEASURE_TTFT,
    [BINS_TPOT] = MEASURE_TPOT,
    [BINS_E2E] = MEASURE_E2E,
    [BINS_LAG] = MEASURE_LAG,
};

/* ---- filling ---- */

void run_bins_init(struct run_bins *b, struct window window, int64_t end_ns,
                   const int64_t limit_ns[static GOOD_LIMITS])
{
    size_t i = 0;

    *b = (struct run_bins){.window = window, .end_ns = end_ns};
    memcpy(b->limit_ns, limit_ns, sizeof(b->limit_ns));
    for (int m = 0; m < BINS_MEASURES; m++) {
        struct value_bins *v = &b->values[m];

        v->measure = measures[m];
        v->has_limit = limit_ns[v->measure] > 0;
        v->base_ns = v->has_limit ? limit_ns[v->measure] : PLAIN_BASE_NS;
        v->per_ns = 1.0F / (float)v->base_ns;
    }
    if (end_ns <= 0 || window.end_ns <= window.start_ns)
        return;
    while (i + 1 < STEPS &&
           (double)end_ns / ((double)steps_ms[i] * 1e6) > BINS_TIME)
        i++;
    b->step_ns = steps_ms[i] * 1000000;
    b->per_ns = 1 / (double)b->step_ns;
    b->n = (size_t)fmin(BINS_TIME, ceil((double)end_ns / (double)b->step_ns));
    memset(b->preemptions, -1, sizeof(b->preemptions));
    memset(b->prompt_tokens, -1, sizeof(b->prompt_tokens));
    memset(b->cached_tokens, -1, sizeof(b->cached_tokens));
}

void run_bins_fini(struct run_bins *b)
{
    for (int m = 0; m < BINS_MEASURES; m++)
        free((void *)b->values[m].cells);
    free((void *)b->plane);
    free((void *)b->prompt);
    free(b->spectra);
    *b = (struct run_bins){0};
}

/* The place on a log scale in parts of an octave above the base.  Rounding
 * never moves a value across the base. */
static int place(int64_t ns, int64_t base_ns, float per_ns, int per_octave)
{
    float at = log2f((float)ns * per_ns) * (float)per_octave;
    int k = (int)floorf(at);

    if (ns >= base_ns)
        return k < 0 ? 0 : k;
    return k < 0 ? k : -1;
}

static int clamp(int k, int n)
{
    return k < 0 ? 0 : k < n ? k : n - 1;
}

static void add_value(struct value_bins *v, size_t bin, int64_t ns)
{
    int row =
        ns > 0 ? place(ns, v->base_ns, v->per_ns, BINS_PER_OCTAVE) : -BINS_BASE;

    if (!v->cells)
        v->cells = xcalloc(BINS_TIME, sizeof(*v->cells));
    v->cells[bin][clamp(row + BINS_BASE, BINS_ROWS)]++;
}

/* A latency on the coarser scale of two dimensions. */
static int cell_of(const struct value_bins *v, int64_t ns)
{
    return ns > 0 ? clamp(BINS_CELL_BASE + place(ns, v->base_ns, v->per_ns,
                                                 BINS_CELL_OCTAVE),
                          BINS_CELLS)
                  : 0;
}

/* An ok stream that was due in the window. */
static void add_shape(struct run_bins *b, const struct facts *f, int64_t ttft,
                      int64_t tpot)
{
    int64_t prompt =
        facts_count(f->prompt_tokens) > 0 ? f->prompt_tokens : f->prompt_asked;
    int x = cell_of(&b->values[BINS_TTFT], ttft);

    if (tpot != TIME_ABSENT) {
        const struct value_bins *t = &b->values[BINS_TTFT];
        const struct value_bins *p = &b->values[BINS_TPOT];

        if (!b->plane)
            b->plane = xcalloc(BINS_CELLS, sizeof(*b->plane));
        b->plane[x][cell_of(p, tpot)]++;
        b->corner[t->has_limit && ttft >= t->base_ns]
                 [p->has_limit && tpot >= p->base_ns]++;
    }
    if (facts_count(prompt) > 0) {
        int tokens = (int)(log2f((float)prompt) * BINS_TOKEN_OCTAVE);

        if (!b->prompt)
            b->prompt = xcalloc(BINS_TOKEN_ROWS, sizeof(*b->prompt));
        b->prompt[clamp(tokens, BINS_TOKEN_ROWS)][x]++;
    }
}

void run_bins_add(struct run_bins *b, const struct facts *f, bool is_good)
{
    size_t bin = (size_t)((double)f->due * b->per_ns);

    if (b->n == 0 || f->due < 0 || f->due >= b->end_ns || f->outcome < 0 ||
        f->outcome >= OUTCOME_COUNT)
        return;
    bin = bin < b->n ? bin : b->n - 1;
    b->due[bin] += facts_n(f);
    b->outcome[bin][f->outcome] += facts_n(f);
    if (f->issued != TIME_ABSENT && f->issued >= f->due) {
        add_value(&b->values[BINS_LAG], bin, f->issued - f->due);
        if (f->issued - f->due > b->lag_max_ns[bin])
            b->lag_max_ns[bin] = f->issued - f->due;
    }
    if (f->outcome != OUTCOME_OK)
        return;
    b->ok[bin]++;
    b->good[bin] += is_good;
    if (f->last != TIME_ABSENT && f->last >= f->due)
        add_value(&b->values[BINS_E2E], bin, f->last - f->due);
    if (f->events > 0 && f->first != TIME_ABSENT && f->first >= f->due) {
        int64_t tpot = measure_value(MEASURE_TPOT, FROM_DUE, f);

        add_value(&b->values[BINS_TTFT], bin, f->first - f->due);
        if (tpot != TIME_ABSENT)
            add_value(&b->values[BINS_TPOT], bin, tpot);
        if (window_holds(&b->window, f->due))
            add_shape(b, f, f->first - f->due, tpot);
    }
}

/* ---- the spectrum ---- */

#define NAMED 8

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Ascending: 32 points per decade of 1 / (1 - p), those with a name, and those
 * that the SLO judges. */
static size_t points(int64_t n, const struct judgement *j,
                     double p[static BINS_POINTS])
{
    double named[NAMED + SLO_MAX_TERMS] = {0.5,  0.75,  0.9,    0.95,
                                           0.99, 0.999, 0.9999, 0.99999};
    double reach = n > 1 ? fmin(log10((double)n), 7) : 0;
    size_t n_named = NAMED;
    size_t len = 0;
    size_t k = 0;

    for (size_t i = 0; i < j->len; i++) {
        if (j->terms[i].term->kind == SLO_QUANTILE)
            named[n_named++] = j->terms[i].term->quantile;
    }
    qsort(named, n_named, sizeof(*named), by_size);
    for (int i = 0; i <= (int)(reach * 32) && len < BINS_POINTS; i++) {
        double next = 1 - pow(10, -i / 32.0);

        while (k < n_named && named[k] <= next && len < BINS_POINTS) {
            if (named[k] < next - 1e-12 &&
                (len == 0 || named[k] > p[len - 1] + 1e-12))
                p[len++] = named[k];
            k++;
        }
        if (len < BINS_POINTS)
            p[len++] = next;
    }
    return len;
}

static void take_ranks(const struct hist *h, const double *p, size_t len,
                       int64_t *out)
{
    int64_t ranks[BINS_POINTS] = {0};

    for (size_t i = 0; i < len; i++)
        ranks[i] = stats_rank(p[i], h->n);
    hist_at_ranks(h, ranks, len, out);
}

/* The 95 % band, as if n_effective requests had been independent. */
static void set_band(struct run_bins *b, const struct tally *t,
                     enum bins_measure m, double n_effective)
{
    const struct hist *h = &t->hist[measures[m]][VIEW_DUE];
    struct spectrum *s = &b->spectra[m];
    double low[BINS_POINTS] = {0};
    double high[BINS_POINTS] = {0};

    s->n_effective = fmax(1, fmin(n_effective, (double)s->n));
    for (size_t i = 0; i < s->len; i++) {
        struct interval ci = stats_share_interval(s->p[i], s->n_effective);

        low[i] = i > 0 ? fmax(low[i - 1], ci.low) : ci.low;
        /* No sample bounds a quantile above the highest one. */
        high[i] = ci.high > 1 - 1 / (s->n_effective + 1) ? 2 : ci.high;
        if (i > 0)
            high[i] = fmax(high[i - 1], high[i]);
    }
    take_ranks(h, low, s->len, s->low_ns);
    take_ranks(h, high, s->len, s->high_ns);
}

/* As many independent requests as they are worth to the verdict, or to the
 * precision of the median; 0: unknown. */
static double worth_of(const struct run_bins_end *end, enum measure m)
{
    double n = 0;

    for (size_t i = 0; i < end->steady->n_within && !(n > 0); i++) {
        if (end->steady->within[i].measure == m)
            n = end->steady->within[i].n_effective;
    }
    for (size_t i = 0; i < end->judgement->len; i++) {
        const struct term_judgement *j = &end->judgement->terms[i];

        if (j->term->kind == SLO_QUANTILE && j->term->measure == m &&
            j->n_effective > 0)
            n = j->n_effective;
    }
    return n;
}

static void take_spectra(struct run_bins *b, const struct run_bins_end *end)
{
    const struct tally *t = end->tally;

    b->spectra = xcalloc(BINS_LAG, sizeof(*b->spectra));
    for (int m = 0; m < BINS_LAG; m++) {
        const struct hist *due = &t->hist[measures[m]][VIEW_DUE];
        const struct hist *sent = &t->hist[measures[m]][VIEW_SENT];
        struct spectrum *s = &b->spectra[m];
        double n;

        *s = (struct spectrum){
            .n = due->n,
            .failed = due->beyond - due->out_of_range,
            .has_sent = measure_has_sent(measures[m]) && sent->n > 0,
        };
        if (s->n == 0)
            continue;
        s->len = points(s->n, end->judgement, s->p);
        take_ranks(due, s->p, s->len, s->due_ns);
        if (s->has_sent)
            take_ranks(sent, s->p, s->len, s->sent_ns);
        n = worth_of(end, measures[m]);
        set_band(b, t, (enum bins_measure)m, n > 0 ? n : (double)s->n);
    }
}

/* ---- requests in flight, the server, the client ---- */

/* The bins of the series are narrower: each is spread over ours. */
static void take_in_flight(struct run_bins *b, const struct series *s)
{
    double *mean = xcalloc(SERIES_MAX, sizeof(*mean));
    double weight[BINS_TIME] = {0};

    series_in_flight(s, mean);
    for (size_t i = 0; i < s->n; i++) {
        double from = (s->origin_ns + (double)i * s->width_ns) * b->per_ns;
        double to = from + s->width_ns * b->per_ns;

        for (size_t k = (size_t)fmax(0, from); k < b->n && (double)k < to;
             k++) {
            double part = fmin(to, (double)k + 1) - fmax(from, (double)k);

            if (part > 0) {
                b->in_flight[k] += mean[i] * part;
                weight[k] += part;
            }
        }
    }
    for (size_t k = 0; k < b->n; k++)
        b->in_flight[k] = weight[k] > 0 ? b->in_flight[k] / weight[k] : -1;
    free(mean);
}

/* -1: not shown. */
static ptrdiff_t bin_of(const struct run_bins *b, int64_t at_ns)
{
    if (at_ns < 0 || at_ns >= b->end_ns)
        return -1;
    return (ptrdiff_t)fmin((double)at_ns * b->per_ns, (double)b->n - 1);
}

static void mean_add(struct bin_mean *m, int64_t value, double scale)
{
    if (value == TIME_ABSENT || value < 0)
        return;
    m->sum += (double)value * scale;
    m->n++;
}

/* A counter of the server, at the end of the bin. */
static void keep_last(int64_t *last, int64_t value)
{
    if (value != TIME_ABSENT && value >= 0)
        *last = value;
}

static void add_scrape(void *arg, unsigned shard, const void *row)
{
    const struct server_scrape *look = row;
    struct run_bins *b = arg;
    ptrdiff_t k = bin_of(b, look->at);

    (void)shard;
    if (k < 0 || look->is_failed)
        return;
    b->has_server = true;
    mean_add(&b->running[k], look->running, 1);
    mean_add(&b->waiting[k], look->waiting, 1);
    mean_add(&b->cache_use[k], look->cache_use, 1e-6);
    keep_last(&b->preemptions[k], look->preemptions);
    keep_last(&b->prompt_tokens[k], look->prompt_tokens);
    keep_last(&b->cached_tokens[k], look->cached_tokens);
}

struct client_work {
    struct run_bins *bins;
    struct observation last[RECORDING_MAX_SHARDS];
    bool is_seen[RECORDING_MAX_SHARDS];
};

static double growth(int64_t from, int64_t to)
{
    return from == TIME_ABSENT || to == TIME_ABSENT || to < from
               ? 0
               : (double)to - (double)from;
}

/* The busiest thread counts. */
static void share_max(struct bin_mean *m, double share)
{
    if (!(share >= 0))
        return;
    m->sum = m->n > 0 ? fmax(m->sum, fmin(share, 1)) : fmin(share, 1);
    m->n = 1;
}

void run_bins_observe(struct run_bins *b, const struct observation *last,
                      const struct observation *seen)
{
    ptrdiff_t k = bin_of(b, seen->at - 1);
    double span = (double)seen->at - (double)last->at;

    if (k < 0 || span < 2e8) /* clocks are too coarse for less */
        return;
    b->has_client = true;
    share_max(&b->busy[k],
              (growth(last->cpu, seen->cpu) - growth(last->spun, seen->spun)) /
                  span);
    share_max(&b->cpu_wait[k], growth(last->cpu_wait, seen->cpu_wait) / span);
    if (growth(last->host_ticks, seen->host_ticks) > 0)
        share_max(&b->steal[k], growth(last->host_steal, seen->host_steal) /
                                    growth(last->host_ticks, seen->host_ticks));
}

static void add_observation(void *arg, unsigned shard, const void *row)
{
    const struct observation *seen = row;
    struct client_work *w = arg;

    if (shard >= RECORDING_MAX_SHARDS)
        return;
    if (w->is_seen[shard])
        run_bins_observe(w->bins, &w->last[shard], seen);
    w->is_seen[shard] = true;
    w->last[shard] = *seen;
}

void run_bins_read_server(struct run_bins *b, const char *dir)
{
    tgr_each(dir, "server.tgr", &schema_server, add_scrape, b);
}

void run_bins_end(struct run_bins *b, const struct run_bins_end *end)
{
    struct client_work *client = xcalloc(1, sizeof(*client));

    take_spectra(b, end);
    if (b->n > 0) {
        take_in_flight(b, end->series);
        run_bins_read_server(b, end->dir);
        client->bins = b;
        tgr_each(end->dir, "client.tgr", &schema_client, add_observation,
                 client);
    }
    free(client);
}

/* ---- a run that is still going on ---- */

static void halve_means(struct bin_mean *m)
{
    for (size_t k = 0; k < BINS_TIME / 2; k++) {
        m[k] = (struct bin_mean){m[2 * k].sum + m[2 * k + 1].sum,
                                 m[2 * k].n + m[2 * k + 1].n};
    }
    memset(m + BINS_TIME / 2, 0, BINS_TIME / 2 * sizeof(*m));
}

static void halve_counts(int64_t *counts)
{
    for (size_t k = 0; k < BINS_TIME / 2; k++)
        counts[k] = counts[2 * k] + counts[2 * k + 1];
    memset(counts + BINS_TIME / 2, 0, BINS_TIME / 2 * sizeof(*counts));
}

static void halve_values(struct value_bins *v)
{
    for (size_t k = 0; v->cells && k < BINS_TIME / 2; k++) {
        for (int row = 0; row < BINS_ROWS; row++)
            v->cells[k][row] = v->cells[2 * k][row] + v->cells[2 * k + 1][row];
    }
    if (v->cells)
        memset(v->cells[BINS_TIME / 2], 0, BINS_TIME / 2 * sizeof(v->cells[0]));
}

void run_bins_widen(struct run_bins *b)
{
    b->end_ns *= 2;
    b->step_ns *= 2;
    b->per_ns /= 2;
    b->n = BINS_TIME;
    halve_counts(b->due);
    halve_counts(b->ok);
    halve_counts(b->good);
    halve_means(b->busy);
    halve_means(b->cpu_wait);
    halve_means(b->steal);
    for (size_t k = 0; k < BINS_TIME / 2; k++) {
        int64_t first_ns = b->lag_max_ns[2 * k];
        int64_t second_ns = b->lag_max_ns[2 * k + 1];

        for (int o = 0; o < OUTCOME_COUNT; o++)
            b->outcome[k][o] = b->outcome[2 * k][o] + b->outcome[2 * k + 1][o];
        b->lag_max_ns[k] = first_ns > second_ns ? first_ns : second_ns;
    }
    for (size_t k = BINS_TIME / 2; k < BINS_TIME; k++) {
        memset(b->outcome[k], 0, sizeof(b->outcome[k]));
        b->lag_max_ns[k] = 0;
    }
    for (int m = 0; m < BINS_MEASURES; m++)
        halve_values(&b->values[m]);
}

/* The values of bins [from, to), by row; zeros for a measure without values. */
struct row_sums {
    int64_t rows[BINS_ROWS];
    int64_t n;      /* of all rows */
    int64_t failed; /* rank after every value */
};

static void sum_rows(const struct run_bins *b, enum bins_measure m, size_t from,
                     size_t to, struct row_sums *sums)
{
    *sums = (struct row_sums){0};
    if (!b->values[m].cells)
        return;
    for (size_t k = from; k < to; k++) {
        const uint32_t *cells = b->values[m].cells[k];

        for (int row = 0; row < BINS_ROWS; row++)
            sums->rows[row] += cells[row];
        sums->failed += m == BINS_LAG ? 0 : b->due[k] - b->ok[k];
    }
    for (int row = 0; row < BINS_ROWS; row++)
        sums->n += sums->rows[row];
}

static double quantile_of(const struct value_bins *v,
                          const struct row_sums *sums, double q)
{
    int64_t rank = stats_rank(q, sums->n + sums->failed);
    int64_t seen = 0;

    if (sums->n + sums->failed < stats_min_n(q))
        return HIST_EMPTY;
    if (rank > sums->n)
        return HIST_BEYOND;
    for (int row = 0; row < BINS_ROWS; row++) {
        int64_t here = sums->rows[row];

        if (seen + here >= rank) {
            double part = ((double)(rank - seen) - 0.5) / (double)here;

            return value_bins_edge_ns(v, row) * exp2(part / BINS_PER_OCTAVE);
        }
        seen += here;
    }
    return HIST_BEYOND;
}

static void sum_window(const struct run_bins *b, enum bins_measure m,
                       struct row_sums *sums)
{
    size_t from = (size_t)fmax(0, (double)b->window.start_ns * b->per_ns);
    size_t to =
        (size_t)fmin((double)b->n, ceil((double)b->window.end_ns * b->per_ns));

    sum_rows(b, m, from, to, sums);
}

void run_bins_take_quantiles(struct run_bins *b)
{
    static const double wanted[] = {0.5, 0.9, 0.95, 0.99, 0.999};
    struct row_sums sums;

    b->spectra = xcalloc(BINS_LAG, sizeof(*b->spectra));
    for (int m = 0; m < BINS_LAG; m++) {
        struct spectrum *s = &b->spectra[m];

        sum_window(b, (enum bins_measure)m, &sums);
        s->n = sums.n + sums.failed;
        s->len = sizeof(wanted) / sizeof(wanted[0]);
        for (size_t i = 0; i < s->len; i++) {
            s->p[i] = wanted[i];
            s->due_ns[i] =
                (int64_t)quantile_of(&b->values[m], &sums, wanted[i]);
        }
    }
}

void run_bins_copy_until(struct run_bins *to, const struct run_bins *from,
                         int64_t end_ns)
{
    *to = *from;
    to->is_partial = true;
    to->plane = NULL;
    to->prompt = NULL;
    to->spectra = NULL;
    to->end_ns = end_ns < from->end_ns ? end_ns : from->end_ns;
    if (to->window.start_ns > to->end_ns)
        to->window.start_ns = to->end_ns;
    if (to->window.end_ns > to->end_ns)
        to->window.end_ns = to->end_ns;
    to->n = (size_t)fmax(
        0, fmin((double)from->n, ceil((double)to->end_ns * to->per_ns)));
    for (int m = 0; m < BINS_MEASURES; m++) {
        struct value_bins *v = &to->values[m];

        if (!from->values[m].cells)
            continue;
        v->cells = xcalloc(to->n + 1, sizeof(*v->cells));
        memcpy(v->cells, from->values[m].cells, to->n * sizeof(*v->cells));
    }
}

/* ---- reading ---- */

double value_bins_edge_ns(const struct value_bins *v, int row)
{
    return (double)v->base_ns *
           exp2((double)(row - BINS_BASE) / BINS_PER_OCTAVE);
}

double run_bins_quantile_ns(const struct run_bins *b, enum bins_measure m,
                            size_t from, size_t to, double q)
{
    struct row_sums sums;

    sum_rows(b, m, from, to, &sums);
    return quantile_of(&b->values[m], &sums, q);
}

double run_bins_window_quantile_ns(const struct run_bins *b,
                                   enum bins_measure m, double q)
{
    struct row_sums sums;

    sum_window(b, m, &sums);
    return quantile_of(&b->values[m], &sums, q);
}
