#include <stdbool.h>

#include "common/base/rng.h"
#include "server-stub/sim/stalls.h"
#include "tests/support/test.h"

/* A stall of 3 in every 10 after the epoch: [110, 113), [120, 123), ... */
TEST(stalls_by_hand)
{
    static const struct {
        const char *what;
        int64_t at;
        int64_t work;
        int64_t start;
        int64_t finish;
    } cases[] = {
        {"no stall opens the first interval", 100, 4, 100, 104},
        {"within an interval", 104, 5, 104, 109},
        {"ends as the stall begins", 104, 6, 104, 110},
        {"crosses a stall", 104, 7, 104, 114},
        {"the last moment before a stall", 109, 2, 109, 114},
        {"comes as a stall begins", 110, 2, 113, 115},
        {"comes within a stall", 112, 2, 113, 115},
        {"comes as a stall ends", 113, 2, 113, 115},
        {"fills the time between two stalls", 113, 7, 113, 120},
        {"crosses two stalls", 104, 14, 104, 124},
        {"ends as the second stall begins", 104, 13, 104, 120},
        {"crosses ten stalls", 104, 6 + 9 * 7 + 1, 104, 204},
        {"no work, outside", 115, 0, 115, 115},
        {"no work, within", 121, 0, 123, 123},
        {"for ever", 104, INT64_MAX, 104, INT64_MAX},
        {"very long", 104, INT64_MAX / 2, 104, INT64_C(6588122883467697107)},
    };
    const struct stalls s = {100, 3, 10};

    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t start = stalls_skip(&s, cases[i].at);
        int64_t finish = stalls_work(&s, start, cases[i].work);

        if (start != cases[i].start || finish != cases[i].finish)
            fail_msg("%s: %lld to %lld", cases[i].what, (long long)start,
                     (long long)finish);
    }
}

TEST(without_stalls_nothing_moves)
{
    static const struct stalls never[] = {{0, 0, 0}, {5, 0, 10}};

    for (size_t i = 0; i < COUNT(never); i++) {
        assert_int_equal(stalls_skip(&never[i], 25), 25);
        assert_int_equal(stalls_work(&never[i], 25, 0), 25);
        assert_int_equal(stalls_work(&never[i], 25, 100), 125);
        assert_int_equal(stalls_work(&never[i], 25, INT64_MAX), INT64_MAX);
    }
}

TEST(time_has_an_end)
{
    const struct stalls s = {0, INT64_MAX / 2 - 1, INT64_MAX / 2};

    assert_int_equal(time_after(INT64_MAX - 5, 5), INT64_MAX);
    assert_int_equal(time_after(INT64_MAX - 5, 6), INT64_MAX);
    assert_int_equal(time_after(-7, INT64_MAX), INT64_MAX - 7);
    assert_int_equal(time_times(3, 5), 15);
    assert_int_equal(time_times(0, INT64_MAX), 0);
    assert_int_equal(time_times(2, INT64_MAX / 2), INT64_MAX - 1);
    assert_int_equal(time_times(INT64_C(1) << 32, INT64_C(1) << 31), INT64_MAX);
    assert_int_equal(stalls_skip(&s, INT64_MAX - 1), INT64_MAX);
    assert_int_equal(stalls_work(&s, 1, INT64_MAX / 2 + 5), INT64_MAX);
}

static bool is_stalled(const struct stalls *s, int64_t at)
{
    int64_t since = at - s->epoch_ns;

    return since >= s->every_ns && since % s->every_ns < s->stall_ns;
}

/* A nanosecond at a time. */
static int64_t skip_slowly(const struct stalls *s, int64_t at)
{
    while (is_stalled(s, at))
        at++;
    return at;
}

static int64_t work_slowly(const struct stalls *s, int64_t at, int64_t work)
{
    for (; work > 0; at++)
        work -= !is_stalled(s, at);
    return at;
}

TEST(agrees_with_a_walk_through_every_moment)
{
    struct rng rng = rng_stream(1, RNG_SERVICE);

    for (int i = 0; i < 100000; i++) {
        int64_t every = 1 + (int64_t)(rng_next(&rng) % 12);
        int64_t stall = (int64_t)(rng_next(&rng) % (uint64_t)every);
        int64_t work = (int64_t)(rng_next(&rng) % 40);
        const struct stalls s = {1000, stall, every};
        int64_t at = 1000 + (int64_t)(rng_next(&rng) % 100);
        int64_t start = skip_slowly(&s, at);

        assert_int_equal(stalls_skip(&s, at), start);
        assert_int_equal(stalls_work(&s, start, work),
                         work_slowly(&s, start, work));
    }
}

/* What is done in two parts takes as long as in one. */
TEST(work_can_be_divided)
{
    const struct stalls s = {0, 7, 31};

    for (int64_t part = 0; part <= 200; part++) {
        int64_t middle = stalls_skip(&s, stalls_work(&s, 40, part));

        assert_int_equal(stalls_work(&s, middle, 201 - part),
                         stalls_work(&s, 40, 201));
    }
}
