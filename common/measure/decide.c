#include "common/measure/decide.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/units.h"
#include "common/base/xalloc.h"
#include "common/measure/good.h"
#include "common/stats/stats.h"

#define SLOT_NS       (100 * NS_PER_MS)
#define FIRST_CHECK   50 /* slots */
#define ERROR         0.01
#define MIN_BATCH     10 /* slots */
#define TIMES_TAU     10
#define FAIL_BATCHES  4
#define PASS_BATCHES  15
#define FIRST_WAITING 1024

struct decide_slot {
    double in_flight; /* on average */
    int32_t n[SLO_MAX_TERMS];
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
                         .next_check = FIRST_CHECK,
                         .fail_error = ERROR / 2 / fmax(1, (double)slo->len),
                         .pass_error = ERROR / 2};
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

struct batches {
    size_t len;
    size_t slots; /* per batch */
    int64_t n;    /* requests in all batches */
    int64_t misses;
    double t; /* statistic of misses above those allowed */
};

static struct batches batches_of(const struct decide *d, size_t term,
                                 size_t slots)
{
    struct batches b = {.len = d->settled / slots, .slots = slots};
    double share = allowed(&d->slo->terms[term]);
    double sum = 0;
    double squares = 0;
    double variance;

    for (size_t i = 0; i < b.len; i++) {
        double excess = 0;

        for (size_t k = i * slots; k < (i + 1) * slots; k++) {
            b.n += d->slots[k].n[term];
            b.misses += d->slots[k].misses[term];
            excess += d->slots[k].misses[term] - share * d->slots[k].n[term];
        }
        sum += excess;
        squares += excess * excess;
    }
    if (b.len < 2)
        return b;
    variance = (squares - sum * sum / (double)b.len) / ((double)b.len - 1);
    b.t = variance > 0 ? sum / sqrt(variance * (double)b.len)
                       : (sum > 0   ? INFINITY
                          : sum < 0 ? -INFINITY
                                    : 0);
    return b;
}

/* A period without misses looks the same whether they are rare or come in rare
 * clusters, which the batches cannot show.  So the result must also hold for as
 * many independent requests as there were autocorrelation times. */
static enum decision test(const struct decide *d, size_t term,
                          const struct batches *b, double tau)
{
    double share = allowed(&d->slo->terms[term]);
    double freedom = (double)b->len - 1;
    double rate = b->n > 0 ? (double)b->misses / (double)b->n : 0;
    int64_t n =
        (int64_t)fmin((double)b->n, (double)(b->len * b->slots) / (2 * tau));
    int64_t max_misses = (int64_t)ceil(rate * (double)n);

    if (b->len >= FAIL_BATCHES &&
        student_upper_tail(b->t, freedom) < d->fail_error &&
        stats_binomial_upper_tail(n, share, (int64_t)(rate * (double)n)) <
            d->fail_error)
        return DECISION_FAIL;
    if (b->len >= PASS_BATCHES &&
        student_upper_tail(-b->t, freedom) < d->pass_error &&
        stats_binomial_upper_tail(n, 1 - share, n - max_misses) < d->pass_error)
        return DECISION_PASS;
    return DECISION_NONE;
}

/* ---- a check ---- */

/* One failing term is enough to fail; to pass, all must.  Names the last one.
 */
static void check(struct decide *d)
{
    double *in_flight = xcalloc(d->settled, sizeof(*in_flight));
    size_t passed = 0;
    size_t slots;
    double tau;

    for (size_t i = 0; i < d->settled; i++)
        in_flight[i] = d->slots[i].in_flight;
    tau = autocorr_time(in_flight, d->settled);
    free(in_flight);
    slots = (size_t)fmax(MIN_BATCH, ceil(TIMES_TAU * tau));
    for (size_t i = 0; i < d->slo->len && !d->decision; i++) {
        struct batches b = batches_of(d, i, slots);
        enum decision found = test(d, i, &b, tau);
        char text[UNITS_TEXT];

        passed += found == DECISION_PASS;
        if (found != DECISION_FAIL && passed < d->slo->len)
            continue;
        d->decision = found;
        snprintf(d->why, sizeof(d->why),
                 "%s %s: %lld of %lld miss, in %zu batches of %s",
                 d->slo->terms[i].text,
                 found == DECISION_FAIL ? "fails" : "passes",
                 (long long)b.misses, (long long)b.n, b.len,
                 units_print_duration((int64_t)b.slots * SLOT_NS, text));
    }
    if (d->settled / slots >= FAIL_BATCHES)
        d->fail_error /= 2;
    if (d->settled / slots >= PASS_BATCHES)
        d->pass_error /= 2;
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

static void add_flight(struct decide *d, const struct facts *f)
{
    if (f->sent == TIME_ABSENT || f->end == TIME_ABSENT ||
        f->end <= d->start_ns || f->end < f->sent)
        return;
    for (size_t i = slot_of(d, f->sent); i <= slot_of(d, f->end); i++) {
        int64_t from_ns = d->start_ns + (int64_t)i * SLOT_NS;
        int64_t to_ns = from_ns + SLOT_NS;

        if (from_ns < f->sent)
            from_ns = f->sent;
        if (to_ns > f->end)
            to_ns = f->end;
        slot_at(d, i)->in_flight += (double)(to_ns - from_ns) / SLOT_NS;
    }
}

/* The slots before that of the request are complete: later rows are due later.
 */
static void take(struct decide *d, const struct facts *f)
{
    struct decide_slot *slot;

    add_flight(d, f);
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

        if (t->kind == SLO_QUANTILE && !good_concerns(t->measure, f))
            continue;
        slot->n[i]++;
        slot->misses[i] += t->kind == SLO_ERRORS
                               ? f->outcome != OUTCOME_OK
                               : !good_keeps(t->measure, f, t->limit_ns);
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
    make_room(d, f->seq - d->next_seq);
    row = &d->waiting[f->seq & (d->n_waiting - 1)];
    *row = (struct decide_row){.is_present = true, .facts = *f};
    while ((row = &d->waiting[d->next_seq & (d->n_waiting - 1)])->is_present) {
        row->is_present = false;
        d->next_seq++;
        take(d, &row->facts);
    }
}
