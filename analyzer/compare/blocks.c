#include "analyzer/compare/blocks.h"

#include <math.h>

#include "analyzer/stats/steady.h"
#include "analyzer/stats/trend.h"

/* A queue that fills grows steadily; a steady one wanders, and by less. */
#define OVERLOAD_LEVEL 0.001
#define OVERLOAD_RISE  0.25

void blocks_init(struct blocks *b, struct window window,
                 const struct good_table *good, const struct quantities *qs)
{
    *b = (struct blocks){.window = window, .good = good};
    for (size_t i = 0; i < qs->len; i++) {
        if (qs->list[i].kind == QUANTITY_QUANTILE)
            b->wants[qs->list[i].measure] = true;
    }
}

void blocks_fini(struct blocks *b)
{
    for (int i = 0; i <= BLOCKS; i++) {
        for (int m = 0; m < MEASURE_COUNT; m++)
            hist_fini(&b->block[i].hist[m]);
    }
}

static double length_ns(const struct blocks *b, int i)
{
    double all = (double)(b->window.end_ns - b->window.start_ns);

    return i == BLOCKS_ALL ? all : all / BLOCKS;
}

static int block_at(const struct blocks *b, int64_t at_ns)
{
    int i = (int)((double)(at_ns - b->window.start_ns) / length_ns(b, 0));

    return i < BLOCKS ? i : BLOCKS - 1;
}

static void add_value(struct hist *h, enum measure m, const struct facts *f)
{
    int64_t ns;

    if (measure_is_of_answer(m) && f->outcome != OUTCOME_OK) {
        hist_add_beyond(h, 1);
        return;
    }
    ns = measure_value(m, FROM_DUE, f);
    if (ns != TIME_ABSENT)
        hist_add(h, ns);
}

static void add_due(const struct blocks *b, struct block *to,
                    const struct facts *f)
{
    to->due++;
    to->good += good_is(good_limits_of(b->good, f), f);
    to->failed += f->outcome != OUTCOME_OK;
    to->checked += f->check == CHECK_PASSED || f->check == CHECK_FAILED;
    to->passed += f->check == CHECK_PASSED;
    for (int m = 0; m < MEASURE_COUNT; m++) {
        if (b->wants[m] && !measure_is_pooled((enum measure)m))
            add_value(&to->hist[m], (enum measure)m, f);
    }
}

/* From when it was sent until it was over, the time of it in each block. */
static void add_flight(struct blocks *b, const struct facts *f)
{
    double from = fmax((double)f->sent, (double)b->window.start_ns);
    double to = fmin((double)f->end, (double)b->window.end_ns);
    double length = length_ns(b, 0);

    if (f->sent == TIME_ABSENT || f->end == TIME_ABSENT || !(to > from))
        return;
    b->block[BLOCKS_ALL].in_flight_ns += to - from;
    for (int i = block_at(b, (int64_t)from); i < BLOCKS; i++) {
        double start = (double)b->window.start_ns + length * i;
        double part = fmin(to, start + length) - fmax(from, start);

        if (!(part > 0))
            break;
        b->block[i].in_flight_ns += part;
    }
}

void blocks_add(struct blocks *b, const struct facts *f)
{
    if (f->outcome < 0 || f->outcome >= OUTCOME_COUNT)
        return; /* of a later version */
    if (window_holds(&b->window, f->due)) {
        add_due(b, &b->block[block_at(b, f->due)], f);
        add_due(b, &b->block[BLOCKS_ALL], f);
    }
    if (window_holds(&b->window, f->end) && f->outcome == OUTCOME_OK) {
        b->block[block_at(b, f->end)].ended_ok++;
        b->block[BLOCKS_ALL].ended_ok++;
    }
    add_flight(b, f);
}

static struct reading rate(int64_t count, double ns)
{
    return ns > 0 ? (struct reading){(double)count * 1e9 / ns, 1, false}
                  : (struct reading){0};
}

static struct reading share(int64_t part, int64_t n)
{
    return n > 0 ? (struct reading){(double)part / (double)n, n, false}
                 : (struct reading){0};
}

static struct reading quantile(const struct hist *h, double q)
{
    int64_t ns = hist_quantile(h, q);
    struct reading r = {.n = h->n};

    r.is_too_few = ns == HIST_TOO_FEW;
    r.value = ns >= 0 ? (double)ns : r.is_too_few ? 0 : INFINITY;
    return r;
}

struct reading blocks_reading(const struct blocks *b, const struct quantity *q,
                              int i)
{
    const struct block *k = &b->block[i];

    switch (q->kind) {
    case QUANTITY_THROUGHPUT:
        return rate(k->ended_ok, length_ns(b, i));
    case QUANTITY_GOODPUT:
        return rate(k->good, length_ns(b, i));
    case QUANTITY_ATTAINMENT:
        return share(k->good, k->due);
    case QUANTITY_QUALITY:
        return share(k->passed, k->checked);
    case QUANTITY_ERRORS:
        return share(k->failed, k->due);
    default:
        return k->hist[q->measure].n > 0 ? quantile(&k->hist[q->measure], q->q)
                                         : (struct reading){0};
    }
}

bool blocks_are_overloaded(const struct blocks *b)
{
    double in_flight[BLOCKS];
    double scratch[BLOCKS];
    struct trend_test test;

    for (int i = 0; i < BLOCKS; i++)
        in_flight[i] = b->block[i].in_flight_ns;
    test = trend_test(in_flight, BLOCKS, scratch);
    return trend_verdict(&test, OVERLOAD_LEVEL) == TREND_RISING &&
           drift_of(in_flight, BLOCKS, 0.95).relative > OVERLOAD_RISE;
}
