#include "loadgen/payload/mlperf_samples.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/clk.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "loadgen/schedule/mlperf_schedule.h"

/* LoadGen's, where nothing is asked. */
#define DEFAULT_MIN_QUERIES 100

/* Of a stream nobody knows how many queries there will be. */
#define STREAM_QUERIES ((int64_t)1 << 22)
#define MOST_QUERIES   ((int64_t)1 << 24)

/* ---- of the library ---- */

/* Uniform in [0, range), which is at least 1: the upper half of a product,
 * without the few low halves that would make some results likelier (Lemire
 * 2019). */
static uint32_t below(struct mt19937 *mt, uint32_t range)
{
    uint32_t uneven = (uint32_t)-range % range;
    uint64_t product;

    do
        product = (uint64_t)mt19937_next(mt) * range;
    while ((uint32_t)product < uneven);
    return (uint32_t)(product >> 32);
}

static void swap(uint32_t *a, uint32_t *b)
{
    uint32_t kept = *a;

    *a = *b;
    *b = kept;
}

/* Where one number is enough for two places, it is used for both. */
static void shuffle_in_pairs(struct mt19937 *mt, uint32_t *items, size_t n)
{
    size_t i = 1;

    if (n % 2 == 0) {
        swap(&items[i], &items[below(mt, 2)]);
        i++;
    }
    for (; i < n; i += 2) {
        uint32_t second = (uint32_t)i + 2;
        uint32_t both = below(mt, ((uint32_t)i + 1) * second);

        swap(&items[i], &items[both / second]);
        swap(&items[i + 1], &items[both % second]);
    }
}

static void shuffle(struct mt19937 *mt, uint32_t *items, size_t n)
{
    if (n < 2)
        return;
    if (UINT32_MAX / n >= n) {
        shuffle_in_pairs(mt, items, n);
        return;
    }
    for (size_t i = 1; i < n; i++)
        swap(&items[i], &items[below(mt, (uint32_t)i + 1)]);
}

/* ---- what LoadGen would be told ---- */

/* As many as the schedule can come to, and some more. */
static int64_t server_queries(const struct load_settings *load)
{
    int64_t longest_ns = load->min_duration_ns > 0 ? load->min_duration_ns
                                                   : load_longest_ns(load);
    double mean = load->rate_rps * (double)longest_ns / (double)NS_PER_S;
    double most = mean + 10 * sqrt(mean) + 100;

    if (load->requests > 0)
        return load->requests;
    return most > (double)load->min_requests ? (int64_t)most
                                             : load->min_requests + 1;
}

static int64_t queries_of(const struct load_settings *load)
{
    if (load->requests > 0)
        return load->requests;
    return load->scenario == SCENARIO_SERVER ? server_queries(load)
                                             : STREAM_QUERIES;
}

static int64_t min_queries_of(const struct load_settings *load)
{
    if (load->min_requests > 0)
        return load->min_requests;
    return load->requests > 0 ? load->requests : 0;
}

struct mlperf_choice mlperf_choice_of(const struct settings *s)
{
    const struct load_settings *load = &s->load;
    int64_t size =
        load->scenario == SCENARIO_MULTI_STREAM ? load->query_size : 1;
    int64_t min = min_queries_of(load) / size;

    return (struct mlperf_choice){
        .is_offline = load->scenario == SCENARIO_OFFLINE,
        .is_single_stream = load->scenario == SCENARIO_SINGLE_STREAM,
        .is_equal_issue = s->data.select == SELECT_PERMUTATION,
        .qsl_seed = load->qsl_seed,
        .index_seed = load->sample_index_seed,
        .query_size = size,
        .min_queries = min > 0 ? min : DEFAULT_MIN_QUERIES,
        .queries = queries_of(load) / size + 1,
    };
}

/* ---- drawing ---- */

static uint32_t *in_order(int64_t n)
{
    uint32_t *items = xcalloc((size_t)n, sizeof(*items));

    for (int64_t i = 0; i < n; i++)
        items[i] = (uint32_t)i;
    return items;
}

static int64_t parts_of(int64_t n, int64_t size)
{
    return (n + size - 1) / size;
}

/* LoadGen shuffles for ways of choosing that it does not take as well, before
 * it begins to choose: here for each sample once ... */
static void pass_unique(struct mt19937 *mt, const struct mlperf_choice *c,
                        int64_t set)
{
    int64_t n = parts_of(set, c->query_size);
    uint32_t *items = in_order(n);

    shuffle(mt, items, (size_t)n);
    free(items);
}

/* An offline run is one query.  To those of a single stream with equal issue
 * LoadGen adds what is missing to whole sets, or a set if nothing is. */
static int64_t least_queries(const struct mlperf_choice *c, int64_t set)
{
    if (c->is_offline)
        return 1;
    return c->is_single_stream && c->is_equal_issue
               ? c->min_queries + set - c->min_queries % set
               : c->min_queries;
}

/* ... and here for equal issue; these are kept if that is what was asked. */
static uint32_t *draw_equal(struct mt19937 *mt, const struct mlperf_choice *c,
                            int64_t set, int64_t *len)
{
    int64_t n = set + c->query_size - 1; /* with the padding of queries */
    int64_t rounds = parts_of(least_queries(c, set), n);
    uint32_t *items = in_order(n);
    uint32_t *all = xcalloc((size_t)(rounds * n), sizeof(*all));

    for (int64_t r = 0; r < rounds; r++) {
        shuffle(mt, items, (size_t)n);
        for (int64_t i = 0; i < n; i++)
            all[r * n + i] = items[i];
    }
    free(items);
    *len = rounds * n;
    return all;
}

static uint32_t *draw_any(struct mt19937 *mt, const struct mlperf_choice *c,
                          int64_t set, int64_t *len)
{
    uint32_t *all;

    *len = c->queries < MOST_QUERIES ? c->queries : MOST_QUERIES;
    all = xcalloc((size_t)*len, sizeof(*all));
    for (int64_t i = 0; i < *len; i++)
        all[i] = below(mt, (uint32_t)set);
    return all;
}

/* The set over and over; of equal issue each time in another order. */
static uint32_t *draw_offline(struct mt19937 *mt, const struct mlperf_choice *c,
                              int64_t set, int64_t *len)
{
    int64_t rounds = c->is_equal_issue ? parts_of(c->queries, set) : 1;
    uint32_t *all = xcalloc((size_t)(rounds * set), sizeof(*all));

    for (int64_t r = 0; r < rounds; r++) {
        uint32_t *part = all + r * set;

        for (int64_t i = 0; i < set; i++)
            part[i] = (uint32_t)i;
        if (c->is_equal_issue)
            shuffle(mt, part, (size_t)set);
    }
    *len = rounds * set;
    return all;
}

/* Queries of several begin anywhere, whatever is asked. */
void mlperf_samples_make(struct mlperf_samples *m,
                         const struct mlperf_choice *c, int64_t set)
{
    struct mt19937 qsl = mt19937_seeded(c->qsl_seed);
    struct mt19937 index = mt19937_seeded(c->index_seed);

    *m = (struct mlperf_samples){
        .loaded = in_order(set), .set = set, .query_size = c->query_size};
    shuffle(&qsl, m->loaded, (size_t)set);
    pass_unique(&index, c, set);
    m->at = draw_equal(&index, c, set, &m->len);
    if (c->is_equal_issue && !c->is_offline && c->query_size == 1)
        return;
    free(m->at);
    m->at = c->is_offline ? draw_offline(&index, c, set, &m->len)
                          : draw_any(&index, c, set, &m->len);
}

void mlperf_samples_fini(struct mlperf_samples *m)
{
    free(m->loaded);
    free(m->at);
    *m = (struct mlperf_samples){0};
}

int64_t mlperf_samples_at(const struct mlperf_samples *m, int64_t seq)
{
    int64_t begin = m->at[seq / m->query_size % m->len];

    return m->loaded[(begin + seq % m->query_size) % m->set];
}
