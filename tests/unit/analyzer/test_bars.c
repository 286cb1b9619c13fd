/* Bars hold every value once, and meet at the limit. */

#include "analyzer/tally/distribution.h"
#include "common/base/clk.h"
#include "common/stats/hist.h"
#include "tests/support/test.h"

/* They touch, and hold all that is finite. */
static void check(const struct bars *b, const struct hist *h)
{
    int64_t sum = b->failed + b->out_of_range;

    assert_true(b->len <= BARS_MAX);
    for (size_t i = 0; i < b->len; i++) {
        assert_true(b->list[i].from_ns < b->list[i].to_ns);
        assert_true(b->list[i].count >= 0);
        if (i > 0)
            assert_int_equal(b->list[i].from_ns, b->list[i - 1].to_ns);
        sum += b->list[i].count;
    }
    assert_int_equal(sum, h->n);
}

/* From 1 ms to 1 s, a value every millisecond. */
TEST(every_value_is_in_one_bar)
{
    static const int64_t limits[] = {
        0,        1,           NS_PER_MS, 20 * NS_PER_MS, 999 * NS_PER_MS,
        NS_PER_S, 7 * NS_PER_S};

    for (size_t k = 0; k < COUNT(limits); k++) {
        struct hist h = {0};
        struct bars b;

        for (int64_t i = 1; i <= 1000; i++)
            hist_add(&h, i * NS_PER_MS);
        hist_add_beyond(&h, 3);
        hist_add(&h, INT64_MAX);
        bars_make(&h, MEASURE_E2E, limits[k], &b);
        assert_true(b.len >= 10);
        assert_int_equal(b.failed, 3);
        assert_int_equal(b.out_of_range, 1);
        assert_int_equal(b.list[b.len - 1].to_ns, NS_PER_S);
        check(&b, &h);
        hist_fini(&h);
    }
}

/* 19 values lie below 20 ms, and the one at it does not keep it. */
TEST(bars_meet_at_the_limit)
{
    const int64_t limit = 20 * NS_PER_MS - NS_PER_MS / 2;
    struct hist h = {0};
    struct bars b;
    int64_t below = 0;
    size_t i = 0;

    for (int64_t v = 1; v <= 1000; v++)
        hist_add(&h, v * NS_PER_MS);
    bars_make(&h, MEASURE_TTFT, limit, &b);
    while (i < b.len && b.list[i].to_ns <= limit)
        below += b.list[i++].count;
    assert_int_equal(below, 19);
    assert_int_equal(b.list[i].from_ns, limit);
    assert_int_equal(b.measure, MEASURE_TTFT);
    hist_fini(&h);
}

TEST(values_that_are_alike_have_one_bar)
{
    static const int64_t values[] = {0, 1, 5, NS_PER_MS, 3600 * NS_PER_S};

    for (size_t i = 0; i < COUNT(values); i++) {
        struct hist h = {0};
        struct bars b;

        hist_add_many(&h, values[i], 9);
        bars_make(&h, MEASURE_E2E, 0, &b);
        assert_int_equal(b.len, 1);
        assert_int_equal(b.list[0].count, 9);
        check(&b, &h);
        hist_fini(&h);
    }
}

/* There are not a dozen numbers between 1 and 3. */
TEST(small_numbers_have_fewer_bars)
{
    struct hist h = {0};
    struct bars b;

    for (int64_t i = 0; i <= 3; i++)
        hist_add(&h, i);
    bars_make(&h, MEASURE_E2E, 2, &b);
    check(&b, &h);
    hist_fini(&h);
}

TEST(no_value_no_bar)
{
    struct hist h = {0};
    struct bars b;

    hist_add_beyond(&h, 4);
    bars_make(&h, MEASURE_E2E, NS_PER_S, &b);
    assert_int_equal(b.len, 0);
    check(&b, &h);
}
