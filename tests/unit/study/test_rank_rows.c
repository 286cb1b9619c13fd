#include "study/launch/rank_rows.h"

#include <string.h>

#include "common/base/rng.h"
#include "common/measure/measure.h"
#include "tests/support/test.h"

#define ROWS 100

static void fill(struct facts *rows)
{
    struct rng rng = rng_stream(7, RNG_ARRIVAL);

    for (size_t i = 0; i < ROWS; i++) {
        int64_t *values = (int64_t *)&rows[i];

        for (size_t f = 0; f < sizeof(*rows) / sizeof(int64_t); f++)
            values[f] =
                rng_next(&rng) % 3 == 0 ? TIME_ABSENT : (int64_t)rng_next(&rng);
    }
    rows[1] = rows[0];
    memset(&rows[2], 0, sizeof(rows[2]));
}

TEST(what_is_packed_comes_back)
{
    struct facts rows[ROWS] = {0};
    struct facts back[ROWS];
    uint8_t bytes[3000];
    size_t done = 0;

    fill(rows);
    while (done < ROWS) {
        size_t len;
        size_t n = rank_rows_pack(rows + done, ROWS - done, bytes,
                                  sizeof(bytes), &len);

        assert_true(n > 0);
        assert_true(len <= sizeof(bytes));
        assert_int_equal(rank_rows_unpack(bytes, len, back, ROWS), n);
        assert_memory_equal(back, rows + done, n * sizeof(*rows));
        done += n;
    }
}

TEST(damaged_bytes_are_refused)
{
    struct facts rows[ROWS] = {0};
    struct facts back[ROWS];
    uint8_t bytes[3000];
    size_t len;
    size_t n;

    fill(rows);
    n = rank_rows_pack(rows, ROWS, bytes, sizeof(bytes), &len);
    assert_int_equal(rank_rows_unpack(bytes, len - 1, back, ROWS), -1);
    assert_int_equal(rank_rows_unpack(bytes, len, back, n - 1), -1);
    memset(bytes, 0xff, sizeof(bytes));
    assert_int_equal(rank_rows_unpack(bytes, len, back, ROWS), -1);
}
