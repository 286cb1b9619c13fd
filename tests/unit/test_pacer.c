/* The pacer's decisions, alone and in a run in virtual time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/rng.h"
#include "common/settings.h"
#include "common/xalloc.h"
#include "loadgen/pacer.h"
#include "loadgen/source.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MAX_SLOTS    64

static void decisions(void **state)
{
    static const struct {
        int64_t now;
        int64_t due;
        int64_t timeout;
        bool has_room;
        enum pace want;
    } cases[] = {
        {100, 101, 50, true, PACE_WAIT},
        {100, 101, 50, false, PACE_WAIT},
        {100, 100, 50, true, PACE_ISSUE},
        {100, 99, 50, true, PACE_ISSUE},
        {100, 100, 50, false, PACE_FULL},
        {149, 100, 50, true, PACE_ISSUE},
        {149, 100, 50, false, PACE_FULL},
        {150, 100, 50, true, PACE_UNSENT},
        {150, 100, 50, false, PACE_UNSENT},
        {100, DUE_UNKNOWN, 50, true, PACE_IDLE},
        {100, DUE_UNKNOWN, 50, false, PACE_IDLE},
        {-100, 0, 50, true, PACE_WAIT}, /* before the start of the run */
        {INT64_MAX - 1, 0, INT64_MAX, true, PACE_ISSUE},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(pacer_decide(cases[i].now, cases[i].due,
                                      cases[i].timeout, cases[i].has_room),
                         cases[i].want);
}

/* ---- a run: pacer and source against a server of k slots ---- */

struct setup {
    int arrival; /* index into arrival_names */
    double rate_rps;
    int64_t n;
    size_t slots;
    int64_t service_ns; /* mean; drawn uniformly from 0 to twice this */
    int64_t timeout_ns;
    int64_t freeze_at_ns; /* then the client stands still for freeze_ns */
    int64_t freeze_ns;
};

struct sim {
    const struct setup *setup;
    const struct source_ops *source_ops;
    void *source;
    struct rng rng;
    int64_t now_ns;
    int64_t busy_until[MAX_SLOTS]; /* DUE_UNKNOWN: free */
    size_t in_flight;
    int64_t next_seq;

    /* next_seq = issued + unsent, issued = done + in_flight. */
    int64_t issued;
    int64_t unsent;
    int64_t done;
    int64_t held; /* of those issued: late */
    int64_t lag_max_ns;
    bool has_frozen;

    /* The same by the recursion of a queue with k servers. */
    int64_t free_at[MAX_SLOTS];
    bool follows_queue;
};

static size_t index_of_least(const int64_t *values, size_t len)
{
    size_t best = 0;

    for (size_t i = 1; i < len; i++) {
        if (values[i] < values[best])
            best = i;
    }
    return best;
}

static int64_t next_end_ns(const struct sim *s)
{
    return s->busy_until[index_of_least(s->busy_until, s->setup->slots)];
}

static void end_one(struct sim *s)
{
    size_t i = index_of_least(s->busy_until, s->setup->slots);

    assert_true(s->busy_until[i] != DUE_UNKNOWN);
    if (s->busy_until[i] > s->now_ns)
        s->now_ns = s->busy_until[i];
    s->busy_until[i] = DUE_UNKNOWN;
    s->in_flight--;
    s->done++;
}

/* In a queue with k servers a customer starts when it has come and one server
 * is free: that, and not a tick later, is when it must be issued. */
static void check_start(struct sim *s, int64_t due_ns, int64_t service_ns)
{
    size_t i = index_of_least(s->free_at, s->setup->slots);
    int64_t start_ns = due_ns > s->free_at[i] ? due_ns : s->free_at[i];

    assert_int_equal(s->now_ns, start_ns);
    s->free_at[i] = start_ns + service_ns;
}

static void issue(struct sim *s)
{
    struct due due = s->source_ops->take(s->source);
    int64_t service_ns =
        (int64_t)(rng_uniform(&s->rng) * 2 * (double)s->setup->service_ns);
    int64_t end_ns = s->now_ns + service_ns;
    int64_t lag_ns = s->now_ns - due.at_ns;
    size_t slot = 0;

    assert_int_equal(due.seq, s->next_seq++);
    assert_true(lag_ns >= 0 && lag_ns < s->setup->timeout_ns);
    if (s->follows_queue)
        check_start(s, due.at_ns, service_ns);
    while (s->busy_until[slot] != DUE_UNKNOWN)
        slot++;
    if (end_ns > due.at_ns + s->setup->timeout_ns)
        end_ns = due.at_ns + s->setup->timeout_ns;
    s->busy_until[slot] = end_ns;
    s->in_flight++;
    s->issued++;
    s->held += lag_ns > 0;
    if (lag_ns > s->lag_max_ns)
        s->lag_max_ns = lag_ns;
}

static void leave_unsent(struct sim *s)
{
    struct due due = s->source_ops->take(s->source);

    assert_int_equal(due.seq, s->next_seq++);
    assert_true(s->now_ns - due.at_ns >= s->setup->timeout_ns);
    s->unsent++;
}

static void freeze(struct sim *s)
{
    if (s->has_frozen || s->now_ns < s->setup->freeze_at_ns)
        return;
    s->now_ns += s->setup->freeze_ns;
    s->has_frozen = true;
}

/* False at the end of the run. */
static bool step(struct sim *s)
{
    int64_t due_ns = s->source_ops->peek_ns(s->source);
    bool has_room = s->in_flight < s->setup->slots;

    freeze(s);
    switch (pacer_decide(s->now_ns, due_ns, s->setup->timeout_ns, has_room)) {
    case PACE_ISSUE:
        assert_true(has_room);
        issue(s);
        return true;
    case PACE_UNSENT:
        leave_unsent(s);
        return true;
    case PACE_WAIT:
        if (next_end_ns(s) <= due_ns)
            end_one(s);
        else
            s->now_ns = due_ns;
        return true;
    case PACE_FULL:
        assert_false(has_room);
        end_one(s);
        return true;
    default:
        if (s->in_flight == 0)
            return false;
        end_one(s);
        return true;
    }
}

static struct sim simulate(const struct setup *setup, bool follows_queue)
{
    struct load_settings load = {.scenario = SCENARIO_SERVER,
                                 .arrival = setup->arrival,
                                 .rate_rps = setup->rate_rps,
                                 .requests = setup->n,
                                 .seed = 3};
    struct sim s = {.setup = setup,
                    .source_ops = source_for(&load),
                    .rng = rng_stream(4, RNG_SERVICE),
                    .follows_queue = follows_queue};
    struct err err = {0};

    for (size_t i = 0; i < setup->slots; i++)
        s.busy_until[i] = DUE_UNKNOWN;
    s.source = xcalloc(1, s.source_ops->state_size);
    assert_int_equal(s.source_ops->init(s.source, &load, &err), 0);
    while (step(&s))
        continue;
    s.source_ops->fini(s.source);
    free(s.source);
    assert_int_equal(s.next_seq, setup->n); /* scheduled */
    assert_int_equal(s.issued + s.unsent, setup->n);
    assert_int_equal(s.done, s.issued);
    return s;
}

static void nothing_waits_where_there_is_room(void **state)
{
    const struct setup setup = {.rate_rps = 1000,
                                .n = 20000,
                                .slots = MAX_SLOTS, /* 5 are used on average */
                                .service_ns = 5 * NS_PER_MS,
                                .timeout_ns = NS_PER_S};
    struct sim s = simulate(&setup, true);

    (void)state;
    assert_int_equal(s.unsent, 0);
    assert_int_equal(s.held, 0);
}

/* The cap holds some back: the wait is charged to the client as lag, exactly
 * as long as a queue with k servers makes it. */
static void a_full_cap_is_charged_as_lag(void **state)
{
    static const size_t slots[] = {1, 2, 5};

    (void)state;
    for (size_t i = 0; i < COUNT(slots); i++) {
        struct setup setup = {.rate_rps = 100 * (double)slots[i],
                              .n = 20000,
                              .slots = slots[i],
                              .service_ns = 8 * NS_PER_MS, /* load 0.8 */
                              .timeout_ns = 3600 * NS_PER_S};
        struct sim s = simulate(&setup, true);

        assert_int_equal(s.unsent, 0);
        assert_in_range(s.held, 1000, 19000);
    }
}

/* Four times what the slots can take.  A slot is free at the latest when the
 * deadline of the request in it has passed, which is before that of the next
 * one in line: nobody is left unsent, everybody is late. */
static void overload_is_charged_up_to_the_deadline(void **state)
{
    const struct setup setup = {.rate_rps = 800,
                                .n = 20000,
                                .slots = 2,
                                .service_ns = 10 * NS_PER_MS,
                                .timeout_ns = 500 * NS_PER_MS};
    struct sim s = simulate(&setup, false);

    (void)state;
    assert_int_equal(s.unsent, 0);
    assert_true(s.held > 19000);
    assert_true(s.lag_max_ns > setup.timeout_ns * 9 / 10);
}

/* 10/s, and the client is away for a second from when the request of 2.0 s has
 * ended, within 50 ms, with a timeout of 500 ms: those of 2.1 to 2.5 s have
 * expired, those of 2.6 to 3.0 s are late. */
static void what_expired_while_the_client_was_away_is_unsent(void **state)
{
    const struct setup setup = {.arrival = 1,
                                .rate_rps = 10,
                                .n = 100,
                                .slots = MAX_SLOTS,
                                .service_ns = 25 * NS_PER_MS,
                                .timeout_ns = 500 * NS_PER_MS,
                                .freeze_at_ns = 2000 * NS_PER_MS + 1,
                                .freeze_ns = NS_PER_S};
    struct sim s = simulate(&setup, false);

    (void)state;
    assert_string_equal(arrival_names[1], "constant");
    assert_int_equal(s.unsent, 5);
    assert_int_equal(s.held, 5);
    assert_in_range(s.lag_max_ns, 400 * NS_PER_MS, 450 * NS_PER_MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decisions),
        cmocka_unit_test(nothing_waits_where_there_is_room),
        cmocka_unit_test(a_full_cap_is_charged_as_lag),
        cmocka_unit_test(overload_is_charged_up_to_the_deadline),
        cmocka_unit_test(what_expired_while_the_client_was_away_is_unsent),
    };

    return cmocka_run_group_tests_name("pacer", tests, NULL, NULL);
}
