#include "analyzer/tally/fluid.h"

#include <math.h>
#include <stdlib.h>

#include "common/measure/good.h"
#include "common/spec/slo.h"
#include "common/stats/stats.h"

/* ---- one stream ---- */

void fluid_begin(struct fluid_stream *s, const struct fluid_limits *l,
                 int64_t due_ns)
{
    *s = (struct fluid_stream){.deadline_ns =
                                   (double)due_ns + (double)l->first_ns};
}

/* Only the first token of an event can be late: the others come with it, and
 * have more time.  A limit is strictly below, so at the deadline is late. */
void fluid_event(struct fluid_stream *s, const struct fluid_limits *l,
                 double at_ns, int64_t tokens)
{
    double next_ns = (double)l->next_ns;

    s->tokens += (double)tokens;
    if (at_ns < s->deadline_ns) {
        s->met += (double)tokens;
        s->deadline_ns += (double)tokens * next_ns;
        return;
    }
    s->late++;
    s->missed += floor((at_ns - s->deadline_ns) / next_ns) + 1;
    s->met += (double)tokens - 1;
    s->deadline_ns = at_ns + (double)tokens * next_ns;
}

double fluid_index(const struct fluid_stream *s)
{
    double all = s->met + s->missed;

    return all > 0 ? s->met / all : 0;
}

/* ---- all of them ---- */

/* Of the highest quantile; 0: none. */
static int64_t pooled_limit(const struct slo *slo, enum measure m)
{
    double quantile = 0;
    int64_t limit_ns = 0;

    for (size_t i = 0; i < slo->len; i++) {
        const struct slo_term *term = &slo->terms[i];

        if (term->kind != SLO_QUANTILE || term->measure != m ||
            term->quantile < quantile)
            continue;
        quantile = term->quantile;
        limit_ns = term->limit_ns;
    }
    return limit_ns;
}

struct fluid_limits fluid_limits_of(const struct slo *slo)
{
    int64_t limits[GOOD_LIMITS];
    struct fluid_limits l = {0};

    good_limits(slo, limits);
    l.first_ns = limits[MEASURE_TTFT];
    l.next_ns = limits[MEASURE_TPOT];
    if (l.next_ns == 0)
        l.next_ns = pooled_limit(slo, MEASURE_GAP);
    if (l.next_ns == 0)
        l.next_ns = pooled_limit(slo, MEASURE_ITL);
    return l.first_ns > 0 && l.next_ns > 0 ? l : (struct fluid_limits){0};
}

void fluid_see(struct fluid *f, const struct facts *row)
{
    if (row->outcome == OUTCOME_OK) {
        bool has_events = facts_count(row->events) > 0;

        f->ok += has_events;
        f->is_assumed |= has_events && !row->is_split;
        return;
    }
    f->failed += facts_n(row);
    if (facts_count(row->events) <= 0)
        return;
    if (f->n_failed_seqs < FLUID_FAILED)
        f->failed_seqs[f->n_failed_seqs++] = row->seq;
    else
        f->n_forgotten++;
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static bool has_failed(struct fluid *f, int64_t seq)
{
    if (!f->is_sorted)
        qsort(f->failed_seqs, f->n_failed_seqs, sizeof(seq), compare);
    f->is_sorted = true;
    return bsearch(&seq, f->failed_seqs, f->n_failed_seqs, sizeof(seq),
                   compare) != NULL;
}

static int bin_of(double index)
{
    return (int)(index * (FLUID_BINS - 1) + 1e-9);
}

void fluid_end(struct fluid *f, int64_t seq, const struct fluid_stream *s)
{
    double index = fluid_index(s);

    if (s->tokens < 1 || has_failed(f, seq))
        return;
    f->seen++;
    f->fluid += index >= FLUID_INDEX;
    f->tokens += s->tokens;
    f->late += s->late;
    f->sum += index;
    f->bins[bin_of(index)]++;
}

/* Nearest rank; failures come first. */
static double at_rank(const struct fluid *f, int64_t rank)
{
    int64_t below = f->failed;

    if (rank <= below)
        return 0;
    for (int i = 0; i < FLUID_BINS; i++) {
        below += f->bins[i];
        if (rank <= below)
            return (double)i / (FLUID_BINS - 1);
    }
    return 1;
}

static int64_t positive(int64_t n)
{
    return n > 0 ? n : 0;
}

/* Failed ones that were forgotten were counted as seen, at worst as fluid. */
struct fluid_summary fluid_sum_up(const struct fluid *f, double window_s)
{
    int64_t n = f->seen + f->failed;
    struct fluid_summary s = {
        .is_there = f->limits.first_ns > 0 && f->seen > 0,
        .limits = f->limits,
        .due = f->ok + f->failed,
        .failed = f->failed,
        .unknown = positive(f->ok - positive(f->seen - f->n_forgotten)),
        .fluid = positive(f->fluid - f->n_forgotten),
        .is_assumed = f->is_assumed,
    };

    if (!s.is_there)
        return s;
    s.share = s.due > 0 ? (double)s.fluid / (double)s.due : 0;
    s.fluid_rps = window_s > 0 ? (double)s.fluid / window_s : 0;
    s.tokens_in_time = 1 - f->late / f->tokens;
    s.mean = f->sum / (double)n;
    s.p50 = at_rank(f, stats_rank(0.5, n));
    s.p1 = at_rank(f, stats_rank(0.01, n));
    return s;
}
