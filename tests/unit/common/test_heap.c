#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/heap.h"
#include "common/base/rng.h"

static void an_empty_heap_has_nothing_due(void **state)
{
    struct heap p = {0};

    (void)state;
    assert_int_equal(heap_first_key(&p), INT64_MAX);
    heap_fini(&p);
}

static void same_time_comes_out_as_it_went_in(void **state)
{
    static char what[1000];
    struct heap p = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(what); i++)
        heap_push(&p, 7, &what[i]);
    for (size_t i = 0; i < sizeof(what); i++)
        assert_ptr_equal(heap_pop(&p), &what[i]);
    assert_int_equal(p.len, 0);
    heap_fini(&p);
}

/* Push and pop in turn, at random: what comes out is never later than what is
 * still in, and everything comes out once. */
static void the_earliest_comes_first(void **state)
{
    static int64_t due[20000];
    static int seen[20000];
    struct rng rng = rng_stream(5, RNG_SERVICE);
    const size_t n = sizeof(due) / sizeof(due[0]);
    struct heap p = {0};
    size_t popped = 0;
    size_t pushed = 0;

    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_heap_has_nothing_due),
        cmocka_unit_test(same_time_comes_out_as_it_went_in),
        cmocka_unit_test(the_earliest_comes_first),
    };

    return cmocka_run_group_tests_name("stub_pending", tests, NULL, NULL);
}
