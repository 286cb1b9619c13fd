#include "common/base/heap.h"
#include "common/base/rng.h"
#include "tests/support/test.h"

TEST(an_empty_heap_has_nothing_due)
{
    struct heap p = {0};

    assert_int_equal(heap_first_key(&p), INT64_MAX);
    heap_fini(&p);
}

TEST(same_time_comes_out_as_it_went_in)
{
    static char what[1000];
    struct heap p = {0};

    for (size_t i = 0; i < sizeof(what); i++)
        heap_push(&p, 7, &what[i]);
    for (size_t i = 0; i < sizeof(what); i++)
        assert_ptr_equal(heap_pop(&p), &what[i]);
    assert_int_equal(p.len, 0);
    heap_fini(&p);
}

/* Push and pop in turn, at random: what comes out is never later than what is
 * still in, and everything comes out once. */
TEST(the_earliest_comes_first)
{
    static int64_t due[20000];
    static int seen[20000];
    struct rng rng = rng_stream(5, RNG_SERVICE);
    const size_t n = sizeof(due) / sizeof(due[0]);
    struct heap p = {0};
    size_t popped = 0;
    size_t pushed = 0;

    while (popped < n) {
        if (pushed < n && (p.len == 0 || rng_next(&rng) % 5 < 3)) {
            due[pushed] = (int64_t)(rng_next(&rng) % 500);
            heap_push(&p, due[pushed], &due[pushed]);
            pushed++;
        } else {
            int64_t next = heap_first_key(&p);
            const int64_t *what = heap_pop(&p);

            assert_int_equal(*what, next);
            assert_true(heap_first_key(&p) >= next);
            assert_int_equal(seen[what - due]++, 0);
            popped++;
        }
    }
    assert_int_equal(p.len, 0);
    heap_fini(&p);
}
