/* The eye on a probe: what it counts, and when it gives up. */

#include "analyzer/search/search_read.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/settings/classes.h"
#include "common/settings/settings.h"
#include "study/probe_watch.h"
#include "tests/support/test.h"

#define START  (2 * NS_PER_S)
#define WINDOW (10 * NS_PER_S)

struct rig {
    struct settings settings;
    struct search_terms terms;
    struct search machine;
    struct probe_watch watch;
};

static void rig_init(struct rig *rig, const char *slo)
{
    const struct search_ask ask = {.step = SEARCH_PROBE,
                                   .value = 100,
                                   .window_ns = WINDOW,
                                   .may_end_early = true};
    struct search_config config;
    struct err err = {0};

    settings_init(&rig->settings);
    strlist_add(&rig->settings.slo, slo);
    assert_int_equal(search_terms_of(&rig->settings, &rig->terms, &err), 0);
    config = search_config_of(&rig->settings, &rig->terms);
    search_init(&rig->machine, &config);
    assert_int_equal(probe_watch_init(&rig->watch, &rig->machine, &ask,
                                      &rig->terms, &rig->settings.classes,
                                      &err),
                     0);
}

static void rig_fini(struct rig *rig)
{
    probe_watch_fini(&rig->watch);
    search_fini(&rig->machine);
    settings_fini(&rig->settings);
}

static bool see(struct rig *rig, int64_t start_ns, const struct facts *f)
{
    const struct probe_progress sight = {
        .start_ns = start_ns, .rows = f, .n = 1};

    return probe_watch_see(&rig->watch, &sight);
}

static struct facts answer(int64_t due, int64_t took)
{
    struct facts f = facts_unknown(0, due);

    f.outcome = OUTCOME_OK;
    f.issued = f.sent = due;
    f.head = f.first = f.last = f.end = due + took;
    return f;
}

/* 100/s from before the window to beyond its end, each so slow.  Returns how
 * many were seen when it gave up; 0: it did not. */
static int64_t feed(struct rig *rig, int64_t took)
{
    for (int64_t i = 0; i < 1300; i++) {
        struct facts f = answer(i * NS_PER_S / 100, took);

        if (see(rig, START, &f))
            return i + 1;
    }
    return 0;
}

TEST(all_that_is_due_in_the_window_counts)
{
    const struct search_counts *c;
    struct rig rig;

    rig_init(&rig, "e2e p99 < 50ms");
    c = &rig.watch.so_far.terms[0];
    assert_int_equal(feed(&rig, 10 * NS_PER_MS), 0);
    assert_int_equal(c->n, 1000);
    assert_int_equal(c->misses, 0);
    rig_fini(&rig);
}

/* Every one misses: the end of the window is not awaited. */
TEST(it_gives_up_when_all_miss)
{
    struct rig rig;
    int64_t at;

    rig_init(&rig, "e2e p99 < 50ms");
    at = feed(&rig, 80 * NS_PER_MS);
    assert_in_range(at, 201, 1000);
    assert_true(rig.watch.is_over);
    rig_fini(&rig);
}

/* One in twenty misses, because the client was late or because it took long:
 * what will be set aside need not go on, what the server has missed must. */
TEST(it_gives_up_what_a_late_client_caused)
{
    for (int64_t late = 0; late < 2; late++) {
        bool is_over = false;
        struct rig rig;

        rig_init(&rig, "e2e p99 < 50ms");
        for (int64_t i = 0; i < 1300 && !is_over; i++) {
            int64_t took = i % 20 == 0 ? 60 * NS_PER_MS : 10 * NS_PER_MS;
            struct facts f = answer(i * NS_PER_S / 100, took);

            if (i % 20 == 0)
                f.issued += late * 6 * NS_PER_MS;
            is_over = see(&rig, START, &f);
        }
        assert_int_equal(is_over, late);
        rig_fini(&rig);
    }
}

/* Before the window is known, and during the warm-up, nothing is. */
TEST(the_warm_up_is_not_looked_at)
{
    struct rig rig;

    rig_init(&rig, "e2e p99 < 50ms");
    for (int64_t i = 0; i < 1000; i++) {
        struct facts f = answer(i * NS_PER_MS, 80 * NS_PER_MS);

        assert_false(see(&rig, START, &f));
        f.due += START;
        assert_false(see(&rig, INT64_MAX, &f));
    }
    assert_int_equal(rig.watch.so_far.requests, 0);
    rig_fini(&rig);
}

TEST(failures_are_errors)
{
    struct rig rig;
    struct facts f = answer(START, NS_PER_MS);

    rig_init(&rig, "errors < 1%");
    see(&rig, START, &f);
    f.outcome = OUTCOME_STATUS;
    see(&rig, START, &f);
    f.outcome = OUTCOME_UNFINISHED; /* not known */
    see(&rig, START, &f);
    assert_int_equal(rig.watch.so_far.terms[0].n, 2);
    assert_int_equal(rig.watch.so_far.terms[0].misses, 1);
    rig_fini(&rig);
}

/* ---- what does not end ---- */

/* 100/s of which the first `answered` in a hundred are over a second later, and
 * nothing is heard of the rest; each of the workers tells once a second, in
 * turn.  Returns the second in which it gave up; 0: it did not. */
static int64_t watch_silence(struct rig *rig, int64_t answered, int64_t workers)
{
    for (int64_t look = 1; look <= 12 * workers; look++) {
        int64_t now_ns = look * NS_PER_S / workers;
        int64_t second = (look + workers - 1) / workers;
        bool is_full = look % workers == 0;
        struct facts over[100];
        const struct probe_progress sight = {.start_ns = START,
                                             .rows = over,
                                             .n =
                                                 is_full ? (size_t)answered : 0,
                                             .issued = 100 * look / workers,
                                             .issued_ns = now_ns,
                                             .followed_ns = now_ns};

        for (int64_t i = 0; i < answered; i++)
            over[i] = answer((second - 1) * NS_PER_S + i * 10 * NS_PER_MS,
                             20 * NS_PER_MS);
        if (probe_watch_see(&rig->watch, &sight))
            return second;
    }
    return 0;
}

/* The window begins after 2 s.  Of the limit of 50 ms the look before counts,
 * of 5 s one that is as old; ttft is not known while the answer lasts. */
TEST(what_never_ends_is_hopeless)
{
    static const struct {
        const char *slo;
        int64_t answered; /* of a hundred */
        int64_t workers;
        int64_t gives_up; /* in this second; 0: never */
    } rows[] = {
        {"e2e p99 < 50ms", 0, 1, 4},  {"e2e p99 < 5s", 0, 1, 8},
        {"e2e p99 < 50ms", 10, 1, 4}, {"e2e p99 < 50ms", 90, 1, 0},
        {"e2e p99 < 9s", 0, 1, 12},   {"ttft p99 < 50ms", 0, 1, 0},
        {"errors < 1%", 0, 1, 0},     {"e2e p99 < 5s", 0, 32, 8},
        {"e2e p99 < 9s", 0, 32, 12},  {"e2e p99 < 50ms", 90, 32, 0},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct rig rig;

        rig_init(&rig, rows[i].slo);
        assert_int_equal(watch_silence(&rig, rows[i].answered, rows[i].workers),
                         rows[i].gives_up);
        rig_fini(&rig);
    }
}

/* Answers that take most of their limit are under way, not overdue. */
TEST(what_is_under_way_is_not_overdue)
{
    struct rig rig;

    rig_init(&rig, "e2e p99 < 3s");
    for (int64_t second = 1; second <= 12; second++) {
        struct facts over[100];
        const struct probe_progress sight = {.start_ns = START,
                                             .rows = over,
                                             .n = second > 2 ? 100 : 0,
                                             .issued = 100 * second,
                                             .issued_ns = second * NS_PER_S,
                                             .followed_ns = second * NS_PER_S};

        for (int64_t i = 0; i < 100; i++)
            over[i] = answer((second - 3) * NS_PER_S + i * 10 * NS_PER_MS,
                             2 * NS_PER_S);
        assert_false(probe_watch_see(&rig.watch, &sight));
    }
    rig_fini(&rig);
}
