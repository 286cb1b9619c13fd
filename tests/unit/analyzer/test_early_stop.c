/* The numbers of MLPerf's LoadGen. */

#include "analyzer/verdict/mlperf.h"
#include "tests/support/test.h"

TEST(as_many_as_loadgen)
{
    static const int64_t over[] = {0, 1, 2, 5, 10, 100, 1000, 10000};
    static const struct {
        double p;
        int64_t within[COUNT(over)];
    } rows[] = {
        {.50, {7, 10, 12, 17, 25, 137, 1108, 10333}},
        {.90, {44, 63, 79, 122, 187, 1146, 9722, 92231}},
        {.95, {90, 129, 163, 254, 388, 2404, 20483, 194584}},
        {.97, {152, 218, 275, 428, 657, 4082, 34831, 331053}},
        {.99, {459, 661, 836, 1302, 2000, 12471, 106569, 1013394}},
        {.999, {4603, 6635, 8401, 13100, 20130, 125726, 1075032, 10224999}},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        for (size_t k = 0; k < COUNT(over); k++) {
            int64_t n = over[k] + rows[i].within[k];

            assert_int_equal(early_stop_min_within(rows[i].p, over[k]),
                             rows[i].within[k]);
            assert_true(early_stop_proves(rows[i].p, n, over[k]));
            assert_false(early_stop_proves(rows[i].p, n - 1, over[k]));
            assert_int_equal(early_stop_max_over(rows[i].p, n), over[k]);
        }
    }
}

/* "Discard t - 1 highest": the value at n - t of those sorted from 0. */
TEST(an_estimate_needs_its_number)
{
    static const struct {
        double p;
        int64_t n;
        int64_t rank;
    } cases[] = {
        {.50, 10, 0},    {.50, 11, 11},      {.90, 63, 0},
        {.90, 64, 64},   {.95, 130, 130},    {.97, 219, 219},
        {.99, 661, 0},   {.99, 662, 662},    {.99, 10000, 10000 - 77 + 1},
        {.999, 6635, 0}, {.999, 6636, 6636},
    };

    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(early_stop_rank(cases[i].p, cases[i].n),
                         cases[i].rank);
}

TEST(too_few_prove_nothing)
{
    assert_int_equal(early_stop_max_over(.99, 0), -1);
    assert_int_equal(early_stop_max_over(.99, 458), -1);
    assert_int_equal(early_stop_max_over(.99, 459), 0);
    assert_int_equal(early_stop_rank(.99, 459), 0);
}
