/* Samples as LoadGen takes them.
 *
 * The numbers are those of a small C++ program that does what GenerateQueries
 * and GenerateLoadableSets of LoadGen 6.0.17 do, with std::mt19937,
 * std::shuffle and std::uniform_int_distribution of libstdc++ 12, compiled by
 * GCC: the first samples, and a hash (FNV-1a, a sample a step) of them all.
 */

#include "common/base/err.h"
#include "common/settings/settings.h"
#include "loadgen/payload/data_select.h"
#include "tests/support/test.h"

/* Of the round of 6.1. */
#define QSL   2085463073848966840U
#define INDEX 2747215439041700203U

static uint64_t hash_of(const struct mlperf_samples *m, int64_t n)
{
    uint64_t hash = 1469598103934665603U;

    for (int64_t i = 0; i < n; i++) {
        hash ^= (uint64_t)mlperf_samples_at(m, i);
        hash *= 1099511628211U;
    }
    return hash;
}

static const struct {
    struct mlperf_choice choice;
    int64_t set;
    int64_t n;
    int64_t first[8];
    uint64_t hash;
} cases[] = {
    /* server and single-stream, with replacement */
    {{.qsl_seed = QSL,
      .index_seed = INDEX,
      .query_size = 1,
      .min_queries = 270336,
      .queries = 20000},
     1024,
     20000,
     {507, 279, 914, 998, 564, 355, 476, 842},
     14790918106890372277U},
    {{.qsl_seed = 3,
      .index_seed = 4,
      .query_size = 1,
      .min_queries = 100,
      .queries = 50000},
     100000,
     50000,
     {20960, 45144, 87213, 42000, 9977, 96945, 56791, 17142},
     1085490544991037529U},
    {{.query_size = 1, .min_queries = 100, .queries = 20},
     1,
     20,
     {0},
     17980532650308945395U},
    /* the same with equal issue; longer than what was shuffled */
    {{.is_equal_issue = true,
      .qsl_seed = QSL,
      .index_seed = INDEX,
      .query_size = 1,
      .min_queries = 2500},
     1000,
     5000,
     {743, 468, 239, 838, 365, 622, 531, 859},
     2965031064781667229U},
    /* the largest set that is shuffled two at a time, and the next */
    {{.is_equal_issue = true,
      .qsl_seed = 3,
      .index_seed = 4,
      .query_size = 1,
      .min_queries = 100},
     65535,
     5000,
     {8351, 21608, 52943, 60185, 31645, 56664, 55367, 4409},
     4777979905154271448U},
    {{.is_equal_issue = true,
      .qsl_seed = 3,
      .index_seed = 4,
      .query_size = 1,
      .min_queries = 100},
     65536,
     5000,
     {31067, 36914, 39263, 16561, 27927, 47285, 63686, 12881},
     16769032668896657199U},
    {{.is_equal_issue = true, .query_size = 1, .min_queries = 3},
     2,
     20,
     {0, 1, 0, 1, 0, 1, 0, 1},
     9589321924014240283U},
    /* multi-stream, also of fewer samples than a query has */
    {{.qsl_seed = QSL,
      .index_seed = INDEX,
      .query_size = 8,
      .min_queries = 662,
      .queries = 2500},
     1024,
     20000,
     {678, 266, 573, 278, 241, 816, 958, 576},
     8476508841005866396U},
    {{.qsl_seed = 1,
      .index_seed = 2,
      .query_size = 8,
      .min_queries = 662,
      .queries = 250},
     5,
     2000,
     {2, 3, 4, 1, 0, 2, 3, 4},
     1227337149944525691U},
    /* offline */
    {{.is_offline = true,
      .qsl_seed = QSL,
      .index_seed = INDEX,
      .query_size = 1,
      .min_queries = 5000,
      .queries = 5000},
     777,
     5000,
     {217, 444, 458, 699, 499, 581, 711, 570},
     12833687305429527646U},
    {{.is_offline = true,
      .is_equal_issue = true,
      .qsl_seed = QSL,
      .index_seed = INDEX,
      .query_size = 1,
      .min_queries = 5000,
      .queries = 5000},
     777,
     5000,
     {642, 476, 188, 385, 171, 509, 451, 65},
     4345843979263113600U},
};

TEST(samples_are_loadgens)
{
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct mlperf_samples m;

        mlperf_samples_make(&m, &cases[i].choice, cases[i].set);
        for (int k = 0; k < 8; k++)
            if (mlperf_samples_at(&m, k) != cases[i].first[k])
                fail_msg("case %zu, sample %d: %lld", i, k,
                         (long long)mlperf_samples_at(&m, k));
        assert_true(hash_of(&m, cases[i].n) == cases[i].hash);
        mlperf_samples_fini(&m);
    }
}

/* ---- what LoadGen would be told ---- */

static struct mlperf_choice choice_of(const char *const *assignments)
{
    struct settings s;
    struct err err = {0};
    struct mlperf_choice c;

    settings_init(&s);
    for (; *assignments; assignments++)
        assert_int_equal(settings_assign(&s, *assignments, &err), 0);
    c = mlperf_choice_of(&s);
    settings_fini(&s);
    return c;
}

TEST(settings_become_loadgens)
{
    struct mlperf_choice c;

    c = choice_of((const char *const[]){
        "load.scenario=server", "load.rate=100", "load.min_duration=10s",
        "load.min_requests=500", "load.qsl_rng_seed=5",
        "load.sample_index_rng_seed=6", "data.select=replacement", NULL});
    assert_int_equal(c.qsl_seed, 5);
    assert_int_equal(c.index_seed, 6);
    assert_int_equal(c.min_queries, 500);
    assert_int_equal(c.query_size, 1);
    assert_false(c.is_equal_issue);
    /* 1000 of them, and ten deviations */
    assert_in_range(c.queries, 1000 + 316, 1500);

    c = choice_of((const char *const[]){"load.scenario=multi-stream",
                                        "load.min_requests=5296", NULL});
    assert_int_equal(c.min_queries, 662);
    assert_int_equal(c.query_size, 8);
    c = choice_of((const char *const[]){"load.scenario=single-stream", NULL});
    assert_int_equal(c.min_queries, 100); /* LoadGen's own */
    assert_true(c.is_equal_issue && c.is_single_stream);
    c = choice_of((const char *const[]){"load.scenario=offline",
                                        "load.requests=2000", NULL});
    assert_true(c.is_offline);
    assert_true(c.queries >= 2000);
}

/* Each set whole: of a single stream one more than was asked for. */
TEST(a_single_stream_has_whole_sets)
{
    const struct mlperf_choice c = {.is_equal_issue = true,
                                    .is_single_stream = true,
                                    .query_size = 1,
                                    .min_queries = 20};
    struct mlperf_samples m;
    int seen[10] = {0};

    mlperf_samples_make(&m, &c, 10);
    assert_int_equal(m.len, 30);
    for (int i = 0; i < 30; i++)
        seen[mlperf_samples_at(&m, i)]++;
    for (int i = 0; i < 10; i++)
        assert_int_equal(seen[i], 3);
    mlperf_samples_fini(&m);
}
