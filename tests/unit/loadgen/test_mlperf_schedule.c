#include "loadgen/schedule/mlperf_schedule.h"
#include "tests/support/test.h"

/* As the standard of C++ asks: the 10000th number of the default seed. */
TEST(the_generator_is_the_standards)
{
    struct mt19937 mt = mt19937_seeded(5489);
    uint32_t last = 0;

    for (int i = 0; i < 10000; i++)
        last = mt19937_next(&mt);
    assert_int_equal(last, 4123659995U);
}

/* Gaps of LoadGen 6.0 itself. */
TEST(gaps_are_loadgens)
{
    static const int64_t gaps_ns[] = {1843654, 457923, 1285862,
                                      712994,  386406, 2248341};
    struct mlperf_schedule s =
        mlperf_schedule_make(16159082839903944936U, 1000);
    int64_t due_ns = 0;

    assert_int_equal(mlperf_schedule_next_ns(&s), 0);
    for (size_t i = 0; i < COUNT(gaps_ns); i++) {
        due_ns += gaps_ns[i];
        assert_int_equal(mlperf_schedule_next_ns(&s), due_ns);
    }
}

TEST(the_low_half_of_the_seed_counts)
{
    struct mlperf_schedule a = mlperf_schedule_make(7, 50);
    struct mlperf_schedule b = mlperf_schedule_make(7 + (1ULL << 32), 50);

    for (int i = 0; i < 1000; i++)
        assert_int_equal(mlperf_schedule_next_ns(&a),
                         mlperf_schedule_next_ns(&b));
}
