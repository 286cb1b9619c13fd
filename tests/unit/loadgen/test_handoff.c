/* One at a time, nothing forgotten, and who has something due goes first. */
#include <event2/event.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "loadgen/engine/handoff.h"
#include "loadgen/transport/transport.h"
#include "tests/support/test.h"

#define MAX_POSTS 40

struct rig;

struct numbered {
    struct post post;
    struct rig *rig;
    int number;
};

struct rig {
    struct event_base *base;
    struct handoff handoff;
    struct numbered posts[MAX_POSTS];
    int n_run; /* touched inside only */
    bool is_ordered;
    bool meets_waiter;  /* the first post waits for somebody at the door, ... */
    atomic_bool is_met; /* ... and says that it does */
};

static struct handoff *no_gate(void *self)
{
    (void)self;
    return NULL;
}

static bool has_waiter(struct handoff *g)
{
    bool has;

    pthread_mutex_lock(&g->mutex);
    has = g->n_waiting > 0;
    pthread_mutex_unlock(&g->mutex);
    return has;
}

static void run(struct post *post)
{
    struct numbered *n = (struct numbered *)(void *)post;
    struct rig *rig = n->rig;

    while (rig->meets_waiter && !has_waiter(&rig->handoff))
        atomic_store(&rig->is_met, true);
    rig->meets_waiter = false;
    rig->is_ordered &= n->number == rig->n_run;
    rig->n_run++;
}

static int setup(void **state)
{
    static const struct transport_ops threaded = {.handoff = no_gate};
    static struct rig rig;
    struct err err = {0};

    rig =
        (struct rig){.base = transport_base_new(&threaded), .is_ordered = true};
    for (int i = 0; i < MAX_POSTS; i++)
        rig.posts[i] =
            (struct numbered){.post.run = run, .rig = &rig, .number = i};
    assert_non_null(rig.base);
    assert_int_equal(handoff_init(&rig.handoff, rig.base, &err), 0);
    *state = &rig;
    return 0;
}

static int teardown(void **state)
{
    struct rig *rig = *state;

    handoff_fini(&rig->handoff);
    event_base_free(rig->base);
    return 0;
}

static void bring(struct rig *rig, int n)
{
    for (int i = 0; i < n; i++)
        handoff_post(&rig->handoff, &rig->posts[i].post);
    handoff_serve(&rig->handoff);
}

TEST_WITH(test_who_brings_does, setup, teardown)
{
    struct rig *rig = *state;

    bring(rig, 3);
    assert_int_equal(rig->n_run, 3);
    assert_true(rig->is_ordered);
    assert_int_equal(event_base_loop(rig->base, EVLOOP_NONBLOCK), 1);
}

/* Some a turn of the loop, so that its timers get theirs. */
TEST_WITH(test_loop_does_what_came_meanwhile, setup, teardown)
{
    struct rig *rig = *state;
    int seen[3];

    handoff_enter(&rig->handoff);
    bring(rig, MAX_POSTS);
    assert_int_equal(rig->n_run, 0);
    handoff_leave(&rig->handoff);
    for (int i = 0; i < 3; i++) {
        event_base_loop(rig->base, EVLOOP_ONCE);
        seen[i] = rig->n_run;
    }
    assert_true(seen[0] > 0 && seen[0] < MAX_POSTS / 2);
    assert_true(seen[1] - seen[0] <= seen[0]);
    assert_int_equal(seen[2], MAX_POSTS);
    assert_true(rig->is_ordered);
}

static void *bring_all(void *arg)
{
    bring(arg, MAX_POSTS);
    return NULL;
}

TEST_WITH(test_waiter_goes_first, setup, teardown)
{
    struct rig *rig = *state;
    pthread_t thread;
    int n_before;

    rig->meets_waiter = true;
    assert_int_equal(pthread_create(&thread, NULL, bring_all, rig), 0);
    while (!atomic_load(&rig->is_met))
        sched_yield();
    handoff_enter(&rig->handoff);
    n_before = rig->n_run;
    handoff_leave(&rig->handoff);
    pthread_join(thread, NULL);
    while (rig->n_run < MAX_POSTS)
        event_base_loop(rig->base, EVLOOP_ONCE);
    assert_int_equal(n_before, 1);
    assert_true(rig->is_ordered);
}

#define ROUNDS 20000

struct crowd {
    struct handoff *handoff;
    struct post post;
    int64_t n; /* touched inside only */
    atomic_bool is_run;
};

static void count(struct post *post)
{
    struct crowd *c =
        (struct crowd *)(void *)((char *)post - offsetof(struct crowd, post));

    c->n++;
    atomic_store(&c->is_run, true);
}

static void *bring_many(void *arg)
{
    struct crowd *c = arg;

    for (int i = 0; i < ROUNDS; i++) {
        handoff_post(c->handoff, &c->post);
        handoff_serve(c->handoff);
        while (!atomic_exchange(&c->is_run, false))
            sched_yield();
    }
    return NULL;
}

/* Every post is run, once, and never outside the loop's thread. */
TEST_WITH(test_nothing_is_lost, setup, teardown)
{
    struct rig *rig = *state;
    struct crowd c = {.handoff = &rig->handoff, .post.run = count};
    int64_t n_others = 0;
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, bring_many, &c), 0);
    for (int64_t n = 0; n < ROUNDS;) {
        handoff_enter(&rig->handoff);
        n = c.n - n_others;
        c.n += n < ROUNDS;
        n_others += n < ROUNDS;
        handoff_leave(&rig->handoff);
        event_base_loop(rig->base, EVLOOP_NONBLOCK);
    }
    pthread_join(thread, NULL);
    assert_int_equal(c.n, ROUNDS + n_others);
}

TEST_WITH(test_wait, setup, teardown)
{
    struct rig *rig = *state;
    pthread_t thread;

    handoff_enter(&rig->handoff);
    handoff_wait(&rig->handoff, NS_PER_MS);
    assert_int_equal(rig->n_run, 0);
    bring(rig, 1);
    handoff_wait(&rig->handoff,
                 INT64_C(1000) * NS_PER_S); /* those that are there */
    assert_int_equal(rig->n_run, 1);
    rig->n_run = 0;
    assert_int_equal(pthread_create(&thread, NULL, bring_all, rig), 0);
    while (rig->n_run < MAX_POSTS) /* and those that are brought */
        handoff_wait(&rig->handoff, INT64_C(1000) * NS_PER_S);
    handoff_leave(&rig->handoff);
    pthread_join(thread, NULL);
    assert_true(rig->is_ordered);
}

TEST(test_without_one)
{
    handoff_enter(NULL);
    handoff_leave(NULL);
}
