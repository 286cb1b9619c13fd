#include "analyzer/compare/window_blocks.h"

#include <math.h>

#include "analyzer/tally/tally.h"
#include "common/stats/stats.h"

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

static void add_due(const struct blocks *b, struct block *to,
                    const struct facts *f)
{
    to->due += facts_n(f);
    to->good += good_is(good_limits_of(b->good, f), f);
    to->failed += f->outcome != OUTCOME_OK ? facts_n(f) : 0;
    to->checked += f->check == CHECK_PASSED || f->check == CHECK_FAILED;
    to->passed += f->check == CHECK_PASSED;
    for (int m = 0; m < MEASURE_COUNT; m++) {
        if (b->wants[m] && !measure_is_pooled((enum measure)m))
            tally_add_value(&to->hist[m], (enum measure)m, f);
    }
}

/* So many between two times: the part of each block. */
static void add_over(struct blocks *b, double from, double to, double tokens)
{
    double start = fmax(from, (double)b->window.start_ns);
    double end = fmin(to, (double)b->window.end_ns);
    double length = length_ns(b, 0);

    if (!(end > start))
        return;
    b->block[BLOCKS_ALL].tokens += tokens * (end - start) / (to - from);
    for (int i = block_at(b, (int64_t)start); i < BLOCKS; i++) {
        double begin = (double)b->window.start_ns + length * i;
        double part = fmin(end, begin + length) - fmax(start, begin);

        if (!(part > 0))
            break;
        b->block[i].tokens += tokens * part / (to - from);
    }
}

/* Which event has how many is not looked at. */
static void add_tokens(struct blocks *b, const struct facts *f)
{
    bool is_stream = facts_count(f->events) > 0;
    int64_t n = facts_count(is_stream ? f->event_tokens : f->output_tokens);
    int64_t last = is_stream ? f->last : f->end;

    if (n == TIME_ABSENT || (!is_stream && f->outcome != OUTCOME_OK))
        return;
    if (is_stream && f->last > f->first) {
        add_over(b, (double)f->first, (double)last, (double)n);
    } else if (window_holds(&b->window, last)) {
        b->block[block_at(b, last)].tokens += (double)n;
        b->block[BLOCKS_ALL].tokens += (double)n;
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
    add_tokens(b, f);
}

static struct reading rate(double count, double ns)
{
    return ns > 0 ? (struct reading){count * 1e9 / ns, 1, false}
                  : (struct reading){0};
}

static struct reading share(int64_t part, int64_t n)
{
    return n > 0 ? (struct reading){(double)part / (double)n, n, false}
                 : (struct reading){0};
}

/* Dollars of a thousand good ones; nothing good has no price. */
static struct reading cost(double usd_per_hour, int64_t good, double ns)
{
    double usd = usd_per_hour * ns / 3600e9;

    return good > 0 ? (struct reading){usd * 1000 / (double)good, good, false}
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
        return rate((double)k->ended_ok, length_ns(b, i));
    case QUANTITY_GOODPUT:
        return rate((double)k->good, length_ns(b, i));
    case QUANTITY_TOKENS:
        return rate(k->tokens, length_ns(b, i));
    case QUANTITY_ATTAINMENT:
        return share(k->good, k->due);
    case QUANTITY_QUALITY:
        return share(k->passed, k->checked);
    case QUANTITY_COST:
        return cost(b->usd_per_hour, k->good, length_ns(b, i));
    case QUANTITY_ERRORS:
        return share(k->failed, k->due);
    default:
        return k->hist[q->measure].n > 0 ? quantile(&k->hist[q->measure], q->q)
                                         : (struct reading){0};
    }
}

/* Requests that wait long come in clusters.  How much the number of them
 * scatters over the blocks tells how large those are, whoever the server is and
 * whatever its load. */
static double worth_beyond(const struct blocks *b, const struct quantity *q)
{
    int64_t at =
        hist_rank_quantile(&b->block[BLOCKS_ALL].hist[q->measure], q->q);
    struct batch batches[BLOCKS];
    double n = 0;

    for (int i = 0; i < BLOCKS; i++) {
        const struct hist *h = &b->block[i].hist[q->measure];

        batches[i].n = h->n;
        batches[i].hits =
            at < 0 ? h->beyond : h->n - hist_count_below(h, at + 1);
        n += (double)h->n;
    }
    return n * fmin(q->q, 1 - q->q) / stats_inflation(batches, BLOCKS);
}

void blocks_readings(const struct blocks *b, const struct quantity *q,
                     struct block_readings *out)
{
    *out = (struct block_readings){.has_all = true, .least = INT64_MAX};
    for (int i = 0; i < BLOCKS; i++) {
        struct reading r = blocks_reading(b, q, i);

        out->value[i] = r.value;
        if (r.n < out->least)
            out->least = r.n;
        if (r.n == 0 || r.is_too_few)
            out->has_all = false;
    }
    if (q->kind == QUANTITY_QUANTILE)
        out->beyond = worth_beyond(b, q);
}
