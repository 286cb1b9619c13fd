/* Tailgate's permutations use swap-or-not (Hoang, Morris, Rogaway 2012), which
 * pairs up the n places in each round and swaps a pair or not: it works for any
 * n, and finds one place without computing the others. */
#include "loadgen/payload/data_select.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/clk.h"
#include "common/base/rng.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "loadgen/schedule/mlperf_schedule.h"

/* Six rounds per bit of n are enough; some more for the smallest n. */
#define ROUNDS_PER_BIT 6
#define MIN_ROUNDS     16

static uint64_t mix(uint64_t a, uint64_t b)
{
    struct rng rng = {a};

    rng.state = rng_next(&rng) ^ b;
    return rng_next(&rng);
}

int64_t select_permute(uint64_t key, int64_t n, int64_t x)
{
    struct rng keys = {key};
    uint64_t size = (uint64_t)n;
    uint64_t at = (uint64_t)x;
    int rounds = MIN_ROUNDS + ROUNDS_PER_BIT * (64 - __builtin_clzll(size));

    for (int i = 0; i < rounds; i++) {
        uint64_t round = rng_next(&keys);
        uint64_t other = (round % size + size - at) % size;
        uint64_t pair = at > other ? at : other;

        if (mix(round, pair) >> 63)
            at = other;
    }
    return (int64_t)at;
}

struct selection selection_of(int how, uint64_t seed, int64_t total,
                              int64_t limit)
{
    return (struct selection){.how = how,
                              .seed = seed,
                              .total = total,
                              .n = limit > 0 && limit < total ? limit : total};
}

/* The modulus is as good as uniform, since n is far below 2^64. */
int64_t selection_at(const struct selection *s, int64_t seq)
{
    uint64_t key = rng_stream(s->seed, RNG_SELECT).state;
    int64_t at;

    switch (s->how) {
    case SELECT_ORDER:
        return seq % s->n;
    case SELECT_REPLACEMENT:
        at = (int64_t)(mix(key, (uint64_t)seq) % (uint64_t)s->n);
        break;
    default:
        at = select_permute(mix(key, (uint64_t)(seq / s->n)), s->n, seq % s->n);
    }
    if (s->n == s->total)
        return at;
    return select_permute(rng_stream(s->seed, RNG_SUBSET).state, s->total, at);
}

/* ---- MLPerf: the functions of libstdc++ ---- */

/* LoadGen's default. */
#define DEFAULT_MIN_QUERIES 100

/* The number of queries of a stream is not known in advance. */
#define STREAM_QUERIES ((int64_t)1 << 22)
#define MAX_QUERIES    ((int64_t)1 << 24)

/* Uniform in [0, range), range >= 1: the upper half of a product, rejecting the
 * few low halves that would bias the result (Lemire 2019). */
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

/* std::shuffle draws one number for two places where 32 bits are enough. */
static void shuffle(struct mt19937 *mt, uint32_t *items, size_t n)
{
    size_t i = 1;

    if (n < 2)
        return;
    if (UINT32_MAX / n < n) {
        for (; i < n; i++)
            swap(&items[i], &items[below(mt, (uint32_t)i + 1)]);
        return;
    }
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

/* ---- MLPerf: the settings of LoadGen ---- */

/* An upper bound of what the schedule can contain. */
static int64_t queries_of(const struct load_settings *load)
{
    int64_t longest_ns = load->min_duration_ns > 0 ? load->min_duration_ns
                                                   : load_longest_ns(load);
    double mean = load->rate_rps * (double)longest_ns / (double)NS_PER_S;
    double max = mean + 10 * sqrt(mean) + 100;

    if (load->requests > 0)
        return load->requests;
    if (load->scenario != SCENARIO_SERVER)
        return STREAM_QUERIES;
    return max > (double)load->min_requests ? (int64_t)max
                                            : load->min_requests + 1;
}

struct mlperf_choice mlperf_choice_of(const struct settings *s)
{
    const struct load_settings *load = &s->load;
    int64_t size =
        load->scenario == SCENARIO_MULTI_STREAM ? load->query_size : 1;
    int64_t min =
        (load->min_requests > 0 ? load->min_requests : load->requests) / size;

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

/* ---- MLPerf: drawing ---- */

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

/* The order of equal issue.  An offline run is one query.  For a single stream
 * LoadGen fills up the queries to whole sets, or adds a set if they are whole
 * already. */
static uint32_t *draw_equal(struct mt19937 *mt, const struct mlperf_choice *c,
                            int64_t set, int64_t *len)
{
    int64_t n = set + c->query_size - 1; /* with the padding of queries */
    int64_t queries = c->is_offline ? 1 : c->min_queries;
    uint32_t *items = in_order(n);
    uint32_t *all;
    int64_t rounds;

    if (!c->is_offline && c->is_single_stream && c->is_equal_issue)
        queries += set - c->min_queries % set;
    rounds = parts_of(queries, n);
    all = xcalloc((size_t)(rounds * n), sizeof(*all));

    for (int64_t r = 0; r < rounds; r++) {
        shuffle(mt, items, (size_t)n);
        for (int64_t i = 0; i < n; i++)
            all[r * n + i] = items[i];
    }
    free(items);
    *len = rounds * n;
    return all;
}

/* The set again and again; with equal issue, each time in another order. */
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

/* Before it chooses, LoadGen shuffles for two ways of choosing, "each sample
 * once" and equal issue, even if it uses neither; so the generator must do the
 * same.  Queries of several samples begin anywhere in the set. */
void mlperf_samples_make(struct mlperf_samples *m,
                         const struct mlperf_choice *c, int64_t set)
{
    struct mt19937 qsl = mt19937_seeded(c->qsl_seed);
    struct mt19937 index = mt19937_seeded(c->index_seed);
    int64_t n_once = parts_of(set, c->query_size);
    uint32_t *once;

    *m = (struct mlperf_samples){
        .loaded = in_order(set), .set = set, .query_size = c->query_size};
    shuffle(&qsl, m->loaded, (size_t)set);
    once = in_order(n_once);
    shuffle(&index, once, (size_t)n_once);
    free(once);
    m->at = draw_equal(&index, c, set, &m->len);
    if (c->is_equal_issue && !c->is_offline && c->query_size == 1)
        return;
    free(m->at);
    if (c->is_offline) {
        m->at = draw_offline(&index, c, set, &m->len);
        return;
    }
    m->len = c->queries < MAX_QUERIES ? c->queries : MAX_QUERIES;
    m->at = xcalloc((size_t)m->len, sizeof(*m->at));
    for (int64_t i = 0; i < m->len; i++)
        m->at[i] = below(&index, (uint32_t)set);
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
