#include <math.h>

#include "common/base/rng.h"
#include "tests/support/test.h"

/* splitmix64 as published, from state 0: Vigna's reference values. */
TEST(next_is_splitmix64)
{
    static const uint64_t want[] = {
        0xe220a8397b1dcdafU, 0x6e789e6aa1b965f4U, 0x06c45d188009454fU,
        0xf88bb8a8724c81ecU, 0x1b39896a51a8749bU,
    };
    struct rng rng = {.state = 0};

    for (size_t i = 0; i < COUNT(want); i++)
        assert_true(rng_next(&rng) == want[i]);
}

/* Computed apart, from the definition in rng.c: a seed must go on meaning the
 * same schedule. */
TEST(streams_are_golden)
{
    static const struct {
        uint64_t seed;
        enum rng_purpose purpose;
        uint64_t want[3];
    } cases[] = {
        {0,
         RNG_ARRIVAL,
         {0x1cd364143cce4aaeU, 0x74152ffafb44a602U, 0x12f768f77aafc9edU}},
        {0,
         RNG_SERVICE,
         {0x671708e28042ff96U, 0x9f40c42aa9386210U, 0x1430d3c5fa0401c1U}},
        {1,
         RNG_ARRIVAL,
         {0x5c5b2489b31beb7bU, 0xe6c3d212b3317fccU, 0x278db1d3aa85d562U}},
        {1,
         RNG_SERVICE,
         {0x8c647d4bc9d6b599U, 0xfe65f7266b2d228bU, 0x15905a61a38c95c0U}},
        {42,
         RNG_ARRIVAL,
         {0x55417331f90c3204U, 0x2b2fbcc3bde9946fU, 0x8e46733d5eb15fe3U}},
        {42,
         RNG_SERVICE,
         {0xcc17a74ea256aebfU, 0x113a0138a127f2f4U, 0xecc61adcc3d8724dU}},
        {UINT64_MAX,
         RNG_ARRIVAL,
         {0x5fcee9803244c72eU, 0x8fe49eccbefd50edU, 0xa6e79f02441cc032U}},
        {UINT64_MAX,
         RNG_SERVICE,
         {0x6c46119e6fa89025U, 0xc6cf4559ab8f4f97U, 0xfe9b3f3b3ee3fe67U}},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct rng rng = rng_stream(cases[i].seed, cases[i].purpose);

        for (size_t j = 0; j < COUNT(cases[i].want); j++)
            assert_true(rng_next(&rng) == cases[i].want[j]);
    }
}

/* The state from which splitmix64 gives this number. */
static struct rng before(uint64_t number)
{
    uint64_t z = number;

    z = (z ^ (z >> 31) ^ (z >> 62)) * 0x319642b2d24d8ec3U;
    z = (z ^ (z >> 27) ^ (z >> 54)) * 0x96de1b173f119089U;
    z = z ^ (z >> 30) ^ (z >> 60);
    return (struct rng){.state = z - 0x9e3779b97f4a7c15U};
}

TEST(uniform_is_in_0_to_1)
{
    struct rng least = before(0);
    struct rng most = before(UINT64_MAX);
    struct rng rng = rng_stream(3, RNG_ARRIVAL);

    assert_true(rng_uniform(&least) == 0x1p-53);
    assert_true(rng_uniform(&most) == 1);
    for (int i = 0; i < 100000; i++) {
        double u = rng_uniform(&rng);

        assert_true(u > 0 && u <= 1);
    }
}

TEST(exponential_is_finite_at_both_ends)
{
    struct rng least = before(0);
    struct rng most = before(UINT64_MAX);

    assert_true(rng_exponential(&least) == 53 * log(2));
    assert_true(rng_exponential(&most) == 0);
}

/* Neither a neighbouring seed nor another purpose shares a number, at the
 * same place or one later. */
TEST(streams_differ)
{
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct rng a = rng_stream(seed, RNG_ARRIVAL);
        struct rng b = rng_stream(seed, RNG_SERVICE);
        struct rng c = rng_stream(seed + 1, RNG_ARRIVAL);
        uint64_t b_last = 0;
        uint64_t c_last = 0;

        for (int i = 0; i < 1000; i++) {
            uint64_t x = rng_next(&a);
            uint64_t y = rng_next(&b);
            uint64_t z = rng_next(&c);

            assert_true(x != y && x != z && x != b_last && x != c_last);
            b_last = y;
            c_last = z;
        }
    }
}

TEST(one_stream_does_not_move_another)
{
    struct rng alone = rng_stream(9, RNG_ARRIVAL);
    struct rng a = rng_stream(9, RNG_ARRIVAL);
    struct rng b = rng_stream(9, RNG_SERVICE);

    for (int i = 0; i < 100; i++) {
        rng_next(&b);
        assert_true(rng_next(&a) == rng_next(&alone));
    }
}

/* The mean of n draws scatters by 1/sqrt(n), the mean of their squares, 2, by
 * sqrt(20/n) (the fourth moment is 24); five of each. */
TEST(exponential_has_its_moments)
{
    struct rng rng = rng_stream(1, RNG_SERVICE);
    const int n = 1000000;
    double sum = 0;
    double squares = 0;

    for (int i = 0; i < n; i++) {
        double x = rng_exponential(&rng);

        sum += x;
        squares += x * x;
    }
    assert_true(fabs(sum / n - 1) < 5 / sqrt(n));
    assert_true(fabs(squares / n - 2) < 5 * sqrt(20.0 / n));
}
