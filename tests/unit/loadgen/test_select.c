#include <stdbool.h>
#include <stdlib.h>

#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "loadgen/payload/data_select.h"
#include "tests/support/test.h"

TEST(a_permutation_takes_each_place_once)
{
    static const int64_t sizes[] = {1, 2, 3, 5, 7, 16, 100, 1000, 4097};

    for (size_t i = 0; i < COUNT(sizes); i++) {
        int64_t n = sizes[i];
        bool *seen = xcalloc((size_t)n, sizeof(bool));

        for (int64_t x = 0; x < n; x++) {
            int64_t at = select_permute(42, n, x);

            assert_in_range(at, 0, n - 1);
            assert_false(seen[at]);
            seen[at] = true;
        }
        free(seen);
    }
}

/* The six orders of three come equally often: chi-squared of five degrees is
 * above 25.7 once in ten thousand. */
TEST(all_orders_are_as_likely)
{
    const int rounds = 60000;
    int count[27] = {0};
    double expected = rounds / 6.0;
    double chi2 = 0;
    int kinds = 0;

    for (int r = 0; r < rounds; r++)
        count[select_permute((uint64_t)r * 7919, 3, 0) * 9 +
              select_permute((uint64_t)r * 7919, 3, 1) * 3 +
              select_permute((uint64_t)r * 7919, 3, 2)]++;
    for (int i = 0; i < 27; i++) {
        if (count[i] == 0)
            continue;
        chi2 += (count[i] - expected) * (count[i] - expected) / expected;
        kinds++;
    }
    assert_int_equal(kinds, 6);
    assert_true(chi2 < 25.7);
}

/* Where the first of a hundred goes is uniform (99 degrees: 161 once in ten
 * thousand). */
TEST(places_are_as_likely)
{
    const int rounds = 20000;
    int count[100] = {0};
    double chi2 = 0;

    for (int r = 0; r < rounds; r++)
        count[select_permute((uint64_t)r, 100, 0)]++;
    for (int i = 0; i < 100; i++)
        chi2 += (count[i] - 200.0) * (count[i] - 200.0) / 200.0;
    assert_true(chi2 < 161);
}

TEST(each_round_has_each_sample_once)
{
    struct selection s = selection_of(SELECT_PERMUTATION, 7, 50, 0);
    int64_t first[50] = {0};
    bool is_other = false;

    for (int64_t round = 0; round < 4; round++) {
        bool seen[50] = {false};

        for (int64_t i = 0; i < 50; i++) {
            int64_t at = selection_at(&s, round * 50 + i);

            assert_false(seen[at]);
            seen[at] = true;
            if (round == 0)
                first[i] = at;
            is_other |= at != first[i];
        }
    }
    assert_true(is_other);
}

TEST(in_order_and_with_replacement)
{
    struct selection order = selection_of(SELECT_ORDER, 7, 5, 0);
    struct selection any = selection_of(SELECT_REPLACEMENT, 7, 100, 0);
    int count[100] = {0};
    double chi2 = 0;

    for (int64_t i = 0; i < 20; i++)
        assert_int_equal(selection_at(&order, i), i % 5);
    for (int64_t i = 0; i < 20000; i++)
        count[selection_at(&any, i)]++;
    for (int i = 0; i < 100; i++)
        chi2 += (count[i] - 200.0) * (count[i] - 200.0) / 200.0;
    assert_true(chi2 > 50 && chi2 < 161); /* not even, either */
}

/* Those of a shuffle: the same ones whatever the way, other ones of another
 * seed; in order, the first. */
TEST(a_limit_takes_so_many)
{
    static const int ways[] = {SELECT_PERMUTATION, SELECT_REPLACEMENT};
    bool seen[2][1000] = {{false}};
    int n = 0;
    int differ = 0;

    for (int w = 0; w < 2; w++) {
        struct selection s = selection_of(ways[w], 7, 1000, 10);

        for (int64_t i = 0; i < 500; i++)
            seen[w][selection_at(&s, i)] = true;
    }
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(seen[0][i], seen[1][i]);
        n += seen[0][i];
    }
    assert_int_equal(n, 10);
    for (int64_t i = 0; i < 10; i++) {
        struct selection s = selection_of(SELECT_ORDER, 7, 1000, 10);
        struct selection other = selection_of(SELECT_PERMUTATION, 8, 1000, 10);

        assert_int_equal(selection_at(&s, i + 10), i);
        differ += !seen[0][selection_at(&other, i)];
    }
    assert_true(differ > 5);
}
