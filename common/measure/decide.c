#include "common/measure/decide.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

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

struct decide_slot {
    struct dependence_bin bins[SLO_MAX_TERMS]; /* shares of the limit, at most
                                                  1; errors: seconds */
    int32_t misses[SLO_MAX_TERMS];
};

struct decide_row {
    bool is_present;
    struct facts facts;
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
    free(d->slots);
    *d = (struct decide){0};
}

/* ---- the test ---- */

/* Share of misses that a term allows. */
static double allowed(const struct slo_term *t)
{
    return t->kind == SLO_ERRORS ? t->limit : 1 - t->quantile;
}

/* What the settled slots show about a term. */
static struct share_sample sample_of(const struct decide *d, size_t term)
{
    struct dependence_bin *bins = xcalloc(d->settled, sizeof(*bins));
    struct batch slices[SLICES] = {0};
    struct share_sample s = {0};

    for (size_t i = 0; i < d->settled; i++) {
        struct batch *slice = &slices[i * SLICES / d->settled];

        bins[i] = d->slots[i].bins[term];
        slice->n += bins[i].n;
        slice->hits += d->slots[i].misses[term];
        s.n += (double)bins[i].n;
        s.misses += d->slots[i].misses[term];
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
        struct share_sample one = sample_of(d, i);
        double share = allowed(&d->slo->terms[i]);
        double p = share_pass_p(&one, share);

        could_pass &= pow(1 - share, one.n_effective) <= pass_error;
        could_fail |= pow(share, one.n_effective) <= fail_error;
        if (p >= worst) {
            worst = p;
            s = one;
            named = i;
        }
        if (share_fail_p(&one, share) > fail_error)
            continue;
        d->decision = DECISION_FAIL;
        s = one;
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

static struct decide_slot *slot_at(struct decide *d, size_t i)
{
    if (i >= d->cap) {
        size_t cap = 2 * (i + 1);

        d->slots = xrealloc(d->slots, cap, sizeof(*d->slots));
        for (size_t k = d->cap; k < cap; k++)
            d->slots[k] = (struct decide_slot){0};
        d->cap = cap;
    }
    if (i >= d->n_slots)
        d->n_slots = i + 1;
    return &d->slots[i];
}

static size_t slot_of(const struct decide *d, int64_t at_ns)
{
    return at_ns > d->start_ns ? (size_t)((at_ns - d->start_ns) / SLOT_NS) : 0;
}

/* The slots before that of the request are complete: later rows are due later.
 */
static void take(struct decide *d, const struct facts *f)
{
    struct decide_slot *slot;

    if (f->due < d->start_ns || f->due >= d->end_ns)
        return;
    while (d->settled < slot_of(d, f->due) && !d->decision) {
        if (++d->settled < d->next_check)
            continue;
        check(d);
        d->next_check *= 2;
    }
    slot = slot_at(d, slot_of(d, f->due));
    for (size_t i = 0; i < d->slo->len; i++) {
        const struct slo_term *t = &d->slo->terms[i];
        struct dependence_bin *bin = &slot->bins[i];
        int64_t until = f->first != TIME_ABSENT ? f->first : f->end;
        bool is_missed = t->kind == SLO_ERRORS
                             ? f->outcome != OUTCOME_OK
                             : !good_keeps(t->measure, f, t->limit_ns);
        double value = 1;

        if (t->kind == SLO_QUANTILE && !good_concerns(t->measure, f))
            continue;
        if (t->kind == SLO_ERRORS)
            value = until != TIME_ABSENT ? (double)(until - f->due) / 1e9 : 0;
        else if (!is_missed)
            value = (double)good_value(t->measure, f) / (double)t->limit_ns;
        slot->misses[i] += is_missed;
        bin->n++;
        bin->sum += value;
        bin->squares += value * value;
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
    struct decide_row *row;

    if (d->decision || f->seq < d->next_seq)
        return;
    if (f->seq > d->next_seq) {
        make_room(d, f->seq - d->next_seq);
        row = &d->waiting[f->seq & (d->n_waiting - 1)];
        row->is_present = true;
        row->facts = *f;
        return;
    }
    d->next_seq++;
    take(d, f); /* rows in order are not copied */
    while ((row = &d->waiting[d->next_seq & (d->n_waiting - 1)])->is_present) {
        row->is_present = false;
        d->next_seq++;
        take(d, &row->facts);
    }
}

void decide_end(struct decide *d)
{
    if (d->decision || d->n_slots == 0)
        return;
    d->settled = d->n_slots;
    check(d);
}
