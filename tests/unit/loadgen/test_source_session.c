/* Which turn of which session is due next. */
#include <stdlib.h>
#include <string.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/heap.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "loadgen/engine/request.h"
#include "loadgen/schedule/session.h"
#include "tests/support/sourcerig.h"
#include "tests/support/test.h"

static char three[] = "3";
static char some[] = "uniform 1 6";
static char fixed[] = "fixed 100ns";
static char random_times[] = "exponential 3ms";

/* One session a microsecond, from the first on. */
static struct load_settings sessions(void)
{
    return (struct load_settings){.scenario = SCENARIO_SESSIONS,
                                  .arrival = ARRIVAL_CONSTANT,
                                  .rate_rps = 1e6,
                                  .duration_ns = 10000,
                                  .turns = three,
                                  .think = fixed,
                                  .seed = 1};
}

/* Take the next one, as a request. */
static struct request take(struct source *s)
{
    struct due due;
    struct request r;

    assert_true(s->ops->peek_ns(s->self) < DUE_NEVER);
    due = s->ops->take(s->self);
    memset(&r, 0, sizeof(r));
    r.facts = facts_unknown(due.seq, due.at_ns);
    r.facts.outcome = OUTCOME_OK;
    r.session = due.session;
    r.facts.session = due.session->id;
    r.facts.turn = due.session->turn;
    r.facts.turns = due.session->n_turns;
    return r;
}

static struct request take_turn(struct source *s, int64_t session, int64_t turn,
                                int64_t at_ns)
{
    struct request r = take(s);

    assert_int_equal(r.facts.session, session);
    assert_int_equal(r.facts.turn, turn);
    assert_int_equal(r.facts.due, at_ns);
    return r;
}

TEST(turns_come_in_sequence)
{
    struct load_settings load = sessions();
    struct source s = source_make(&load);
    struct request a = take_turn(&s, 0, 0, 0);
    struct request b;

    assert_int_equal(a.facts.seq, 0);
    assert_int_equal(a.facts.turns, 3);
    b = take_turn(&s, 1, 0, 1000); /* arrivals do not wait */
    s.ops->ended(s.self, &b, 1500);
    b = take_turn(&s, 1, 1, 1600);
    assert_int_equal(b.facts.seq, 2);
    s.ops->ended(s.self, &a, 1650);
    a = take_turn(&s, 0, 1, 1750);
    s.ops->ended(s.self, &a, 1800);
    a = take_turn(&s, 0, 2, 1900);
    s.ops->ended(s.self, &a, 1910); /* that was its last */
    take_turn(&s, 2, 0, 2000);
    source_end(&s);
}

TEST(a_failure_ends_its_session)
{
    static const enum outcome failures[] = {OUTCOME_STATUS, OUTCOME_TIMEOUT,
                                            OUTCOME_UNSENT};

    for (size_t i = 0; i < COUNT(failures); i++) {
        struct load_settings load = sessions();
        struct source s = source_make(&load);
        struct request r = take_turn(&s, 0, 0, 0);

        r.facts.outcome = failures[i];
        s.ops->ended(s.self, &r, 10);
        take_turn(&s, 1, 0, 1000);
        source_end(&s);
    }
}

/* The memory of a history is given back with its session, whichever way that
 * ends. */
TEST(histories_give_their_memory_back)
{
    struct load_settings load = sessions();
    struct source s = source_make(&load);
    struct request a = take_turn(&s, 0, 0, 0);
    struct request b = take_turn(&s, 1, 0, 1000);

    budget_set(100);
    assert_true(budget_take(100));
    a.session->charged = 60;
    b.session->charged = 40;
    a.facts.outcome = OUTCOME_STATUS;
    s.ops->ended(s.self, &a, 1100);
    assert_false(budget_take(61));
    assert_true(budget_take(60));
    source_end(&s);
    assert_true(budget_take(40));
    budget_give(100);
    budget_set(INT64_MAX);
}

/* Who is waited for may still be due before the end. */
TEST(the_window_ends_them_all)
{
    struct load_settings load = sessions();
    struct source s;
    struct request a;
    struct request b;

    load.duration_ns = 1500;
    s = source_make(&load);
    a = take_turn(&s, 0, 0, 0);
    b = take_turn(&s, 1, 0, 1000);
    assert_nothing_due(&s);
    s.ops->ended(s.self, &a, 1350);
    a = take_turn(&s, 0, 1, 1450);
    s.ops->ended(s.self, &b, 1400); /* due at the end itself: no more */
    assert_nothing_due(&s);
    s.ops->ended(s.self, &a, 1600);
    assert_over(&s);
    assert_int_equal(s.ops->due_end_ns(s.self), 1500);
    source_end(&s);
}

/* An answer after the end shows that no other can come before it. */
TEST(nobody_waits_past_the_end)
{
    struct load_settings load = sessions();
    struct source s;
    struct request a;

    load.duration_ns = 1500;
    s = source_make(&load);
    a = take_turn(&s, 0, 0, 0);
    take_turn(&s, 1, 0, 1000);
    s.ops->ended(s.self, &a, 1500);
    assert_over(&s);
    source_end(&s);
}

/* A count is of requests, whichever session they are of. */
TEST(a_count_is_of_turns)
{
    struct load_settings load = sessions();
    struct source s;
    struct request r;

    load.duration_ns = 0;
    load.requests = 2;
    s = source_make(&load);
    r = take_turn(&s, 0, 0, 0);
    s.ops->ended(s.self, &r, 200);
    r = take_turn(&s, 0, 1, 300);
    assert_over(&s);
    s.ops->ended(s.self, &r, 500);
    assert_over(&s);
    assert_int_equal(s.ops->due_end_ns(s.self), 301);
    source_end(&s);
}

/* ---- with any sender ---- */

#define MOST_SESSIONS 512
#define MOST_TURNS    8
#define MOST_IN_ALL   ((size_t)MOST_SESSIONS * MOST_TURNS)

/* When each turn was due; 0: never. */
struct schedule {
    int64_t due_ns[MOST_SESSIONS][MOST_TURNS];
    int64_t turns[MOST_SESSIONS];
    int64_t worker[MOST_SESSIONS];
    int64_t n;
};

/* Every answer takes a millisecond, so that all times follow. */
static void walk_lane(const struct load_settings *load, struct lane lane,
                      struct schedule *out)
{
    struct source s = lane_make(load, lane);
    struct request *all = xcalloc(MOST_IN_ALL, sizeof(*all));
    struct heap ends = {0};
    int64_t n = 0;

    for (;;) {
        int64_t due_ns = s.ops->peek_ns(s.self);
        struct request *r;

        if (due_ns == DUE_NEVER && ends.len == 0)
            break;
        if (heap_first_key(&ends) <= due_ns) {
            int64_t end_ns = heap_first_key(&ends);

            s.ops->ended(s.self, heap_pop(&ends), end_ns);
            continue;
        }
        assert_true(n < (int64_t)MOST_IN_ALL);
        r = &all[n];
        *r = take(&s);
        assert_int_equal(r->facts.seq, lane.worker + n++ * lane.workers);
        assert_true(r->facts.session < MOST_SESSIONS);
        assert_true(r->facts.turn < r->facts.turns);
        out->due_ns[r->facts.session][r->facts.turn] = r->facts.due;
        out->turns[r->facts.session] = r->facts.turns;
        if (r->facts.turn > 0)
            assert_int_equal(out->worker[r->facts.session], lane.worker);
        out->worker[r->facts.session] = lane.worker;
        out->n++;
        heap_push(&ends, r->facts.due + NS_PER_MS, r);
    }
    heap_fini(&ends);
    free(all);
    source_end(&s);
}

static struct schedule *walk(const struct load_settings *load, int64_t workers)
{
    struct schedule *out = xcalloc(1, sizeof(*out));

    for (int64_t i = 0; i < workers; i++)
        walk_lane(load, (struct lane){.worker = i, .workers = workers}, out);
    return out;
}

TEST(threads_have_no_part_in_it)
{
    struct load_settings load = sessions();
    struct schedule *one;

    load.arrival = ARRIVAL_POISSON;
    load.rate_rps = 1000;
    load.duration_ns = 300 * NS_PER_MS;
    load.turns = some;
    load.think = random_times;
    one = walk(&load, 1);
    assert_true(one->n > 300);
    for (int64_t workers = 2; workers <= 3; workers++) {
        struct schedule *other = walk(&load, workers);

        assert_int_equal(other->n, one->n);
        assert_memory_equal(other->due_ns, one->due_ns, sizeof(one->due_ns));
        assert_memory_equal(other->turns, one->turns, sizeof(one->turns));
        for (int64_t i = 0; i < MOST_SESSIONS && one->turns[i]; i++)
            assert_int_equal(other->worker[i], i % workers);
        free(other);
    }
    free(one);
}

TEST(wrong_distributions_are_refused)
{
    static char bad[] = "sometimes";
    struct load_settings load = sessions();
    void *self = xcalloc(1, source_session.state_size);
    struct err err = {0};

    load.turns = bad;
    assert_int_equal(
        source_session.init(self, &load,
                            (struct lane){.worker = 0, .workers = 1}, &err),
        -1);
    source_session.fini(self);
    free(self);
}
