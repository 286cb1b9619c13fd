/* The list of requests in flight keeps its order and reuses its memory. */

#include "common/base/clk.h"
#include "common/base/rng.h"
#include "loadgen/engine/inflight.h"
#include "tests/support/test.h"

#define MANY ((size_t)1000) /* several slabs */

/* These sequence numbers, and no others, forwards and backwards. */
static void assert_holds(const struct inflight *f, const int64_t *seq,
                         size_t len)
{
    const struct request *r = inflight_oldest(f);

    assert_int_equal(f->len, len);
    for (size_t i = 0; i < len; i++, r = r->next) {
        assert_non_null(r);
        assert_int_equal(r->facts.seq, seq[i]);
    }
    assert_null(r);
    r = f->newest;
    for (size_t i = len; i > 0; i--, r = r->previous) {
        assert_non_null(r);
        assert_int_equal(r->facts.seq, seq[i - 1]);
    }
    assert_null(r);
}

TEST(a_new_request_knows_only_when_it_is_due)
{
    struct inflight f = {0};
    struct request *r = inflight_add(&f, 7, 123);

    assert_int_equal(r->facts.seq, 7);
    assert_int_equal(r->facts.due, 123);
    assert_true(r->facts.issued == TIME_ABSENT);
    assert_true(r->facts.sent == TIME_ABSENT);
    assert_true(r->facts.head == TIME_ABSENT);
    assert_true(r->facts.first == TIME_ABSENT);
    assert_true(r->facts.last == TIME_ABSENT);
    assert_true(r->facts.end == TIME_ABSENT);
    assert_int_equal(r->facts.status, 0);
    assert_int_equal(r->facts.bytes_in, 0);
    assert_null(r->conn);
    assert_null(r->why);
    inflight_fini(&f);
}

TEST(order_survives_removal)
{
    struct inflight f = {0};
    struct request *r[5];

    assert_null(inflight_oldest(&f));
    for (int64_t i = 0; i < 5; i++)
        r[i] = inflight_add(&f, i, i * 10);
    assert_holds(&f, (const int64_t[]){0, 1, 2, 3, 4}, 5);
    inflight_remove(&f, r[2]); /* the middle */
    assert_holds(&f, (const int64_t[]){0, 1, 3, 4}, 4);
    inflight_remove(&f, r[0]); /* the oldest */
    assert_holds(&f, (const int64_t[]){1, 3, 4}, 3);
    inflight_remove(&f, r[4]); /* the newest */
    assert_holds(&f, (const int64_t[]){1, 3}, 2);
    inflight_add(&f, 5, 50);
    assert_holds(&f, (const int64_t[]){1, 3, 5}, 3);
    inflight_remove(&f, r[1]);
    inflight_remove(&f, r[3]);
    inflight_remove(&f, inflight_oldest(&f));
    assert_holds(&f, NULL, 0);
    inflight_fini(&f);
}

/* One that is given out again carries nothing of its first life. */
TEST(a_used_one_comes_back_clean)
{
    struct inflight f = {0};
    struct request *first = inflight_add(&f, 1, 10);
    struct request *second;

    first->facts.status = 503;
    first->facts.outcome = OUTCOME_STATUS;
    first->facts.end = 99;
    first->why = "status 503";
    first->conn = &f;
    inflight_remove(&f, first);
    second = inflight_add(&f, 2, 20);
    assert_ptr_equal(second, first);
    assert_int_equal(second->facts.seq, 2);
    assert_int_equal(second->facts.status, 0);
    assert_int_equal(second->facts.outcome, OUTCOME_OK);
    assert_true(second->facts.end == TIME_ABSENT);
    assert_null(second->why);
    assert_null(second->conn);
    inflight_fini(&f);
}

/* Random comings and goings below the highest mark take no more memory. */
TEST(memory_stays_at_the_highest_mark)
{
    struct inflight f = {0};
    struct request *r[MANY];
    struct rng rng = {.state = 5};
    const struct slab *slabs;

    for (size_t i = 0; i < MANY; i++)
        r[i] = inflight_add(&f, (int64_t)i, 0);
    slabs = f.slabs;
    for (int i = 0; i < 20000; i++) {
        size_t at = rng_next(&rng) % MANY;

        inflight_remove(&f, r[at]);
        r[at] = inflight_add(&f, (int64_t)at, i);
        assert_ptr_equal(f.newest, r[at]);
        assert_int_equal(f.len, MANY);
    }
    for (size_t i = 0; i < MANY; i++) {
        assert_int_equal(r[i]->facts.seq, i); /* none was given out twice */
        inflight_remove(&f, r[i]);
    }
    assert_ptr_equal(f.slabs, slabs);
    assert_int_equal(f.len, 0);
    inflight_fini(&f);
    inflight_fini(&f); /* twice is fine */
}
