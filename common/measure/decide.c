#include "common/measure/decide.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/measure/good.h"
#include "common/stats/dependence.h"
#include "common/stats/share_test.h"
#include "common/stats/stats.h"

#define SLOT_NS       (100 * NS_PER_MS)
#define FIRST_CHECK   50 /* slots */
#define SLICES        20 /* as in the summary */
#define FIRST_WAITING 1024

/* Enough for one request of a minute among 30,000 per second. */
#define MAX_WAITING ((int64_t)1 << 21)

/* The requests of a slot, by one term. */
struct decide_cell {
    struct dependence_bin bin; /* shares of the limit, at most 1; errors:
                                  seconds */
    int32_t misses;
    int32_t open; /* not in the bin, nor among the misses */
};

struct decide_row {
    bool is_present;
    int64_t due_ns;
};

int decide_init(struct decide *d, const struct slo *slo, int64_t start_ns,
                struct err *err)
{
    *d = (struct decide){.slo = slo,
                         .start_ns = start_ns,
                         .end_ns = INT64_MAX,
                         .next_check = FIRST_CHECK};
    for (size_t i = 0; i < slo->len; i++) {
        const struct slo_term *t = &slo->terms[i];

        if (t->kind != SLO_ERRORS &&
            (t->kind != SLO_QUANTILE || measure_is_pooled(t->measure)))
            return err_set(err, ERR_CONFIG,
                           "load.stop: decided supports quantiles of requests "
                           "and errors, not '%s'",
                           t->text);
    }
    d->n_waiting = FIRST_WAITING;
    d->waiting = xcalloc((size_t)d->n_waiting, sizeof(*d->waiting));
    return 0;
}

void decide_window(struct decide *d, int64_t start_ns, int64_t end_ns)
{
    d->start_ns = start_ns;
    d->end_ns = end_ns;
}

void decide_fini(struct decide *d)
{
    free(d->waiting);
    free(d->cells);
    *d = (struct decide){0};
}

/* ---- the test ---- */

/* What the settled slots show about a term.  The open requests are not among
 * the misses. */
static struct share_sample sample_of(const struct decide *d, size_t term,
                                     double *open)
{
    struct dependence_bin *bins = xcalloc(d->settled, sizeof(*bins));
    struct batch slices[SLICES] = {0};
    struct share_sample s = {0};

    *open = 0;
    for (size_t i = 0; i < d->settled; i++) {
        const struct decide_cell *cell = &d->cells[i * d->slo->len + term];
        struct batch *slice = &slices[i * SLICES / d->settled];

        bins[i] = cell->bin;
        slice->n += cell->bin.n + cell->open;
        slice->hits += cell->misses;
        s.n += (double)(cell->bin.n + cell->open);
        s.misses += cell->misses;
        *open += cell->open;
    }
    s.n_effective = effective_samples(s.n, slices, SLICES, s.n,
                                      dependence_of_bins(bins, d->settled));
    free(bins);
    return s;
}

/* The error that the next look of these may make. */
static double error_of(int looks)
{
    double k = looks + 1;

    return SHARE_LEVEL * 6 / (M_PI * M_PI * k * k);
}

/* One failing term is enough to fail, so they share that error; to pass, all
 * must.  Names the term that decides: the worst that passes. */
static void check(struct decide *d)
{
    double pass_error = error_of(d->pass_looks);
    double fail_error = error_of(d->fail_looks) / (double)d->slo->len;
    bool could_pass = true;
    bool could_fail = false;
    double worst = 0;
    struct share_sample s = {0};
    size_t named = 0;

    for (size_t i = 0; i < d->slo->len && !d->decision; i++) {
        double open;
        struct share_sample best = sample_of(d, i, &open);
        struct share_sample at_worst = best;
        double share = slo_allowed(&d->slo->terms[i]);
        double p;

        at_worst.misses += open;
        p = share_pass_p(&at_worst, share);
        could_pass &= pow(1 - share, best.n_effective) <= pass_error;
        could_fail |= pow(share, best.n_effective) <= fail_error;
        if (p >= worst) {
            worst = p;
            s = at_worst;
            named = i;
        }
        if (share_fail_p(&best, share) > fail_error)
            continue;
        d->decision = DECISION_FAIL;
        s = best;
        named = i;
    }
    if (!d->decision && worst <= pass_error)
        d->decision = DECISION_PASS;
    d->pass_looks += could_pass;
    d->fail_looks += could_fail;
    if (d->decision)
        snprintf(d->why, sizeof(d->why),
                 "%s %s: %.0f of %.0f miss it (as good as %.0f independent "
                 "requests)",
                 d->slo->terms[named].text,
                 d->decision == DECISION_FAIL ? "fails" : "passes", s.misses,
                 s.n, s.n_effective);
}

/* ---- requests ---- */

/* The cells of a slot, one per term. */
static struct decide_cell *slot_at(struct decide *d, size_t i)
{
    size_t len = d->slo->len;

    if (i >= d->cap) {
        size_t cap = 2 * (i + 1);

        d->cells = xrealloc(d->cells, cap * len, sizeof(*d->cells));
        memset(&d->cells[d->cap * len], 0,
               (cap - d->cap) * len * sizeof(*d->cells));
        d->cap = cap;
    }
    if (i >= d->n_slots)
        d->n_slots = i + 1;
    return &d->cells[i * len];
}

static bool is_inside(const struct decide *d, int64_t due_ns)
{
    return due_ns >= d->start_ns && due_ns < d->end_ns;
}

static size_t slot_of(const struct decide *d, int64_t due_ns)
{
    return (size_t)((due_ns - d->start_ns) / SLOT_NS);
}

static void take(struct decide *d, const struct facts *f)
{
    struct decide_cell *cells;

    if (!is_inside(d, f->due))
        return;
    cells = slot_at(d, slot_of(d, f->due));
    for (size_t i = 0; i < d->slo->len; i++) {
        const struct slo_term *t = &d->slo->terms[i];
        struct decide_cell *cell = &cells[i];
        bool is_errors = t->kind == SLO_ERRORS;
        int64_t until = f->first != TIME_ABSENT ? f->first : f->end;
        bool is_missed = is_errors ? f->outcome != OUTCOME_OK
                                   : !good_keeps(t->measure, f, t->limit_ns);
        double value = 1;

        if (!is_errors && !good_concerns(t->measure, f))
            continue;
        if (is_errors ? f->outcome == OUTCOME_UNFINISHED
                      : good_is_open(t->measure, f, t->limit_ns)) {
            cell->open++;
            continue;
        }
        if (is_errors)
            value = until != TIME_ABSENT ? (double)(until - f->due) / 1e9 : 0;
        else if (!is_missed)
            value = (double)good_value(t->measure, f) / (double)t->limit_ns;
        cell->misses += is_missed;
        cell->bin.n++;
        cell->bin.sum += value;
        cell->bin.squares += value * value;
    }
}

/* All requests up to this one have arrived, so the slots before its own are
 * complete: later rows are due later. */
static void settle(struct decide *d, int64_t due_ns)
{
    if (!is_inside(d, due_ns))
        return;
    while (d->settled < slot_of(d, due_ns) && d->settled < d->n_slots &&
           !d->decision) {
        if (++d->settled < d->next_check)
            continue;
        check(d);
        d->next_check *= 2;
    }
}

/* Make the ring wide enough for a row that is `ahead` of the next one. */
static void make_room(struct decide *d, int64_t ahead)
{
    int64_t n = d->n_waiting;
    struct decide_row *wider;

    while (n <= ahead)
        n *= 2;
    if (n == d->n_waiting)
        return;
    wider = xcalloc((size_t)n, sizeof(*wider));
    for (int64_t seq = d->next_seq; seq < d->next_seq + d->n_waiting; seq++)
        wider[seq & (n - 1)] = d->waiting[seq & (d->n_waiting - 1)];
    free(d->waiting);
    d->waiting = wider;
    d->n_waiting = n;
}

void decide_add(struct decide *d, const struct facts *f)
{
    int64_t ahead = f->seq - d->next_seq;
    struct decide_row *row;

    if (d->decision || d->has_given_up || ahead < 0)
        return;
    if (ahead >= MAX_WAITING) {
        d->has_given_up = true;
        return;
    }
    take(d, f);
    make_room(d, ahead);
    d->waiting[f->seq & (d->n_waiting - 1)] =
        (struct decide_row){.is_present = true, .due_ns = f->due};
    while ((row = &d->waiting[d->next_seq & (d->n_waiting - 1)])->is_present) {
        row->is_present = false;
        d->next_seq++;
        settle(d, row->due_ns);
    }
}

void decide_end(struct decide *d)
{
    if (d->decision || d->has_given_up || d->n_slots == 0)
        return;
    d->settled = d->n_slots;
    check(d);
}
