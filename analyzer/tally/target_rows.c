#include "analyzer/tally/target_rows.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/xalloc.h"
#include "common/measure/good.h"
#include "common/stats/stats.h"

/* ---- counting ---- */

void target_tallies_init(struct target_tallies *t, size_t n)
{
    *t = (struct target_tallies){.places = 1};
    if (n < 2 || n > TARGETS_MAX)
        return;
    t->items = xcalloc(n, sizeof(*t->items));
    t->n = n;
}

void target_tallies_fini(struct target_tallies *t)
{
    for (size_t i = 0; i < t->n; i++) {
        hist_fini(&t->items[i].e2e);
        hist_fini(&t->items[i].ttft);
    }
    free(t->items);
    *t = (struct target_tallies){0};
}

/* Some blocks as one. */
static struct target_block joined(const struct target_tally *x, size_t begin,
                                  size_t end)
{
    struct target_block sum = {0};

    for (size_t b = begin; b < end; b++) {
        sum.n += x->blocks[b].n;
        sum.log_sum += x->blocks[b].log_sum;
        sum.ended += x->blocks[b].ended;
        if (x->blocks[b].end_ns > sum.end_ns)
            sum.end_ns = x->blocks[b].end_ns;
    }
    return sum;
}

/* Twice as many places in a block. */
static void join_blocks(struct target_tallies *t)
{
    t->places *= 2;
    for (size_t i = 0; i < t->n; i++) {
        struct target_tally *x = &t->items[i];

        for (size_t b = 0; b < TARGET_BLOCKS; b++)
            x->blocks[b] = 2 * b < TARGET_BLOCKS ? joined(x, 2 * b, 2 * b + 2)
                                                 : (struct target_block){0};
    }
}

void target_tallies_add(struct target_tallies *t, const struct tally *tally,
                        const struct facts *f)
{
    const int64_t *limits =
        tally->by_class ? good_limits_of(tally->by_class, f) : tally->limit_ns;
    struct target_block *block;
    struct target_tally *x;

    if (f->target < 0 || f->target >= (int64_t)t->n || f->seq < 0 ||
        !window_holds(&tally->window, f->due) || f->issued == TIME_ABSENT)
        return;
    x = &t->items[f->target];
    x->due++;
    x->ok += f->outcome == OUTCOME_OK;
    x->good += good_is(limits, f);
    tally_add_value(&x->e2e, MEASURE_E2E, f);
    tally_add_value(&x->ttft, MEASURE_TTFT, f);
    while (f->seq / t->places >= TARGET_BLOCKS)
        join_blocks(t);
    block = &x->blocks[f->seq / t->places];
    if (f->end != TIME_ABSENT) {
        block->ended++;
        block->end_ns = f->end > block->end_ns ? f->end : block->end_ns;
    }
    if (f->outcome == OUTCOME_OK && f->last != TIME_ABSENT &&
        f->last > f->issued) {
        block->n++;
        block->log_sum += log((double)f->last - (double)f->issued);
    }
}

/* ---- is one slower? ---- */

enum pace_view { VIEW_TOOK, VIEW_PACE, PACE_VIEWS };

/* The blocks that any target has. */
static void used_blocks(const struct target_tallies *t, size_t *first,
                        size_t *end)
{
    *first = TARGET_BLOCKS;
    *end = 0;
    for (size_t i = 0; i < t->n; i++) {
        for (size_t b = 0; b < TARGET_BLOCKS; b++) {
            if (t->items[i].blocks[b].ended == 0)
                continue;
            *first = b < *first ? b : *first;
            *end = b + 1 > *end ? b + 1 : *end;
        }
    }
}

/* The logarithm of what a target took in a block; NAN: too few requests.  The
 * first block counts from the start of the run, for all targets alike. */
static double log_of(const struct target_tally *x, enum pace_view view,
                     size_t begin, size_t end)
{
    struct target_block sum = joined(x, begin, end);
    double pace_ns;

    if (sum.n < TARGET_IN_ONE)
        return NAN;
    if (view == VIEW_TOOK)
        return sum.log_sum / (double)sum.n;
    pace_ns = (double)(sum.end_ns - joined(x, 0, begin).end_ns);
    return pace_ns > 0 ? log(pace_ns / (double)sum.ended) : NAN;
}

/* A target against the mean of the others. */
static double against(const struct target_tallies *t, size_t which,
                      enum pace_view view, size_t begin, size_t end)
{
    double others = 0;
    double n = 0;

    for (size_t i = 0; i < t->n; i++) {
        if (i == which || t->items[i].due == 0)
            continue;
        others += log_of(&t->items[i], view, begin, end);
        n++;
    }
    return log_of(&t->items[which], view, begin, end) - others / n;
}

/* The blocks of the test, for every target: how far it is from the others. */
struct contrasts {
    double x[TARGETS_MAX][TARGET_FINE]; /* NAN: too few requests */
    double mean[TARGETS_MAX];
    double independent; /* number of blocks that are worth as many */
};

/* Correlation is estimated from all targets together. */
static void contrast_all(struct contrasts *c, const struct target_tallies *t,
                         enum pace_view view)
{
    double *all = xcalloc(t->n * TARGET_FINE, sizeof(*all));
    size_t len = 0;
    size_t first, end;

    used_blocks(t, &first, &end);
    for (size_t i = 0; i < t->n; i++) {
        c->mean[i] = 0;
        for (size_t b = 0; b < TARGET_FINE; b++) {
            size_t from = first + b * (end - first) / TARGET_FINE;
            size_t to = first + (b + 1) * (end - first) / TARGET_FINE;

            c->x[i][b] =
                end < first + TARGET_FINE ? NAN : against(t, i, view, from, to);
            c->mean[i] += c->x[i][b] / TARGET_FINE;
        }
        for (size_t b = 0; !isnan(c->mean[i]) && b < TARGET_FINE; b++)
            all[len++] = c->x[i][b] - c->mean[i];
    }
    c->independent = TARGET_FINE / (2 * autocorr_time(all, len));
    free(all);
}

/* By a t test on the blocks. */
static bool is_slower(const struct contrasts *c, size_t which, double level)
{
    double n = c->independent;
    double mean = c->mean[which];
    double squares = 0;
    double std;

    if (!(exp(mean) >= TARGET_SLOWER))
        return false;
    for (size_t b = 0; b < TARGET_FINE; b++)
        squares += pow(c->x[which][b] - mean, 2);
    std = sqrt(squares / (TARGET_FINE - 1));
    if (std < TARGET_STILL)
        return true;
    return n >= TARGET_INDEPENDENT &&
           mean > student_quantile(1 - level, n - 1) * std / sqrt(n);
}

/* ---- results ---- */

/* How many times as long as the others.  A target that answers in bursts has a
 * pace over many requests, but hardly one in a block. */
static double ratio_of(const struct target_tallies *t, size_t which,
                       enum pace_view view, const struct contrasts *c)
{
    size_t first, end;

    if (view != VIEW_PACE)
        return exp(c->mean[which]);
    used_blocks(t, &first, &end);
    return exp(against(t, which, view, first, end));
}

static void take_quantiles(const struct hist *h, int64_t ns[TARGET_QUANTILES])
{
    ns[TARGET_P50] = hist_quantile(h, 0.5);
    ns[TARGET_P99] = hist_quantile(h, 0.99);
}

void target_rows_make(struct target_rows *rows, const struct target_tallies *t,
                      const struct strlist *names)
{
    struct contrasts *c;
    size_t used = 0;

    *rows = (struct target_rows){0};
    for (size_t i = 0; i < t->n; i++)
        used += t->items[i].due > 0;
    if (used < 2)
        return;
    c = xcalloc(PACE_VIEWS, sizeof(*c));
    for (int v = 0; v < PACE_VIEWS; v++)
        contrast_all(&c[v], t, (enum pace_view)v);
    rows->items = xcalloc(used, sizeof(*rows->items));
    for (size_t i = 0; i < t->n; i++) {
        const struct target_tally *x = &t->items[i];
        struct target_row *row = &rows->items[rows->n];

        if (x->due == 0)
            continue;
        row->name = xstrdup(i < names->len ? names->items[i] : "");
        row->n = x->due;
        row->ok = x->ok;
        row->good = x->good;
        take_quantiles(&x->e2e, row->e2e_ns);
        take_quantiles(&x->ttft, row->ttft_ns);
        row->slower = exp(c[VIEW_TOOK].mean[i]);
        for (int v = 0; v < PACE_VIEWS && !row->is_straggler; v++) {
            row->is_straggler =
                is_slower(&c[v], i, TARGET_LEVEL / PACE_VIEWS / (double)used);
            if (row->is_straggler)
                row->slower = ratio_of(t, i, (enum pace_view)v, &c[v]);
        }
        if (row->is_straggler &&
            (rows->stragglers == 0 ||
             row->slower > rows->items[rows->slowest].slower))
            rows->slowest = rows->n;
        rows->stragglers += row->is_straggler;
        rows->n++;
    }
    free(c);
}

void target_rows_fini(struct target_rows *rows)
{
    for (size_t i = 0; i < rows->n; i++)
        free(rows->items[i].name);
    free(rows->items);
    *rows = (struct target_rows){0};
}
