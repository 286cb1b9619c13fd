/* What the client saw of itself, in the window and at its end. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "analyzer/read/client_log.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "tests/support/keep.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

/* From 1 s to 5 s. */
static const struct window window = {.start_ns = NS_PER_S,
                                     .end_ns = 5 * NS_PER_S};

/* Nothing is known of the host. */
static struct observation seen_at(int64_t at_ms)
{
    return (struct observation){.at = at_ms * NS_PER_MS,
                                .host_ticks = TIME_ABSENT,
                                .host_steal = TIME_ABSENT,
                                .throttled = TIME_ABSENT,
                                .pressure = TIME_ABSENT,
                                .cpu_wait = TIME_ABSENT,
                                .cpu_turns = TIME_ABSENT};
}

/* The counters before the window and after it are far off: they do not count.
 */
static struct client watched(unsigned shard, struct observation first,
                             struct observation last, int64_t n_shards)
{
    struct observation before = first;
    struct observation after = last;
    struct client c;

    before.at = window.start_ns - 1;
    after.at = window.end_ns + NS_PER_S;
    before.cpu = before.cap_waits = before.host_steal = -9 * NS_PER_S;
    after.cpu = after.cap_waits = after.host_steal = 99 * NS_PER_S;
    client_init(&c, window, n_shards);
    client_add(&c, shard, &before);
    client_add(&c, shard, &first);
    client_add(&c, shard, &last);
    client_add(&c, shard, &after);
    return c;
}

static bool is_near(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

TEST(shares_are_of_the_window)
{
    struct observation first = seen_at(1000);
    struct observation last = seen_at(5000);
    struct client c;
    double share;

    first.cpu = 2 * NS_PER_S;
    last.cpu = 5 * NS_PER_S; /* 3 s in 4 s, a second of it spinning */
    last.spun = NS_PER_S;
    first.issued = 100;
    last.issued = 250;
    last.unsent = 50; /* 200 taken */
    first.cap_waits = 5;
    last.cap_waits = 25;
    first.host_ticks = 1000;
    last.host_ticks = 1800;
    first.host_steal = 10;
    last.host_steal = 50;
    first.throttled = NS_PER_S;
    last.throttled = 9 * NS_PER_S; /* on several CPUs */
    first.pressure = 0;
    last.pressure = NS_PER_S;
    c = watched(0, first, last, 1);
    assert_true(client_busy(&c, &share) && is_near(share, 0.5));
    assert_true(client_held_back(&c, &share) && is_near(share, 0.1));
    assert_true(client_stolen(&c, &share) && is_near(share, 0.05));
    assert_true(client_throttled(&c, &share) && is_near(share, 2));
    assert_true(client_pressed(&c, &share) && is_near(share, 0.25));
}

/* Of two workers, the one that waited more: 1 s in 4 s, in 200 turns.  It was
 * busy for that time too. */
/* Of a run that was killed and had no duration: everything is in it. */
TEST(a_window_without_an_end)
{
    struct observation first = seen_at(1000);
    struct observation last = seen_at(5000);
    struct client c;
    double share = 0;

    last.cpu = 3 * NS_PER_S;
    client_init(&c, (struct window){NS_PER_S, INT64_MAX}, 1);
    client_add(&c, 0, &first);
    client_add(&c, 0, &last);
    assert_true(client_busy(&c, &share));
    assert_true(is_near(share, 0.75));
}

TEST(waiting_for_a_cpu)
{
    struct client c;
    double share;
    double turns_hz;

    client_init(&c, window, 2);
    for (unsigned shard = 0; shard < 2; shard++) {
        struct observation first = seen_at(1000);
        struct observation last = seen_at(5000);

        first.cpu_wait = first.cpu_turns = 100;
        last.cpu_wait = 100 + (shard + 1) * NS_PER_S / 2;
        last.cpu_turns = 100 + 100 * (shard + 1);
        last.cpu = NS_PER_S;
        client_add(&c, shard, &first);
        client_add(&c, shard, &last);
    }
    assert_true(client_cpu_wait(&c, &share, &turns_hz));
    assert_true(is_near(share, 0.25) && is_near(turns_hz, 50));
    assert_true(client_busy(&c, &share) && is_near(share, 0.5));
    c = watched(0, seen_at(1000), seen_at(5000), 1);
    assert_false(client_cpu_wait(&c, &share, &turns_hz));
}

/* The worker's own counters begin at 0 with the run, the host's do not; the
 * last look may come just after the end. */
TEST(without_warm_up_the_start_is_a_look)
{
    struct observation last = {.at = 1010 * NS_PER_MS,
                               .cpu = 505 * NS_PER_MS,
                               .issued = 100,
                               .cap_waits = 20};
    struct client c;
    double share;

    client_init(&c, (struct window){0, NS_PER_S}, 1);
    client_add(&c, 0, &last);
    assert_true(client_busy(&c, &share) && is_near(share, 0.5));
    assert_true(client_held_back(&c, &share) && is_near(share, 0.2));
    assert_false(client_stolen(&c, &share));
}

TEST(one_look_says_nothing)
{
    static const int64_t last_ms[] = {2000, 2499};
    double share;

    for (size_t i = 0; i < COUNT(last_ms); i++) {
        struct observation first = {.at = 2 * NS_PER_S};
        struct observation last = {.at = last_ms[i] * NS_PER_MS};
        struct client c = watched(0, first, last, 1);

        assert_false(client_busy(&c, &share));
        assert_false(client_held_back(&c, &share));
        assert_false(client_stolen(&c, &share));
        assert_false(client_throttled(&c, &share));
        assert_false(client_pressed(&c, &share));
    }
}

TEST(what_the_host_does_not_tell_is_not_known)
{
    struct client c = watched(0, seen_at(1000), seen_at(5000), 1);
    double share;

    assert_true(client_busy(&c, &share) && share == 0);
    assert_false(client_stolen(&c, &share));
    assert_false(client_throttled(&c, &share));
    assert_false(client_pressed(&c, &share));
}

/* An older recording cannot tell spinning from work. */
TEST(an_older_recording_is_not_called_busy)
{
    struct observation first = seen_at(1000);
    struct observation last = seen_at(5000);
    struct client c;
    double share;

    first.spun = last.spun = TIME_ABSENT;
    first.suspended_max = last.suspended_max = TIME_ABSENT;
    last.cpu = 4 * NS_PER_S;
    c = watched(0, first, last, 1);
    assert_false(client_busy(&c, &share));
    assert_int_equal(client_suspended_max_ns(&c), TIME_ABSENT);
}

/* A request that waits all the while is held back, though none was taken. */
TEST(waiting_is_at_most_everything)
{
    struct observation last = seen_at(5000);
    struct client c;
    double share;

    last.cap_waits = 1;
    c = watched(0, seen_at(1000), last, 1);
    assert_true(client_held_back(&c, &share) && share == 1);
}

TEST(the_busiest_of_three_and_all_their_waits)
{
    static const int64_t cpu_ms[] = {1000, 3600, 400};
    struct client c;
    double share;

    client_init(&c, window, 3);
    for (unsigned i = 0; i < 3; i++) {
        struct observation first = seen_at(1000);
        struct observation last = seen_at(5000);

        last.cpu = cpu_ms[i] * NS_PER_MS;
        last.issued = 100;
        last.cap_waits = 2 * (int64_t)i;
        client_add(&c, i, &first);
        client_add(&c, i, &last);
    }
    assert_true(client_busy(&c, &share) && is_near(share, 0.9));
    assert_true(client_held_back(&c, &share) && is_near(share, 0.02));
}

TEST(suspension_is_of_the_whole_run)
{
    struct observation before = seen_at(100);
    struct observation inside = seen_at(2000);
    struct client c;

    before.suspended_max = 300;
    inside.suspended_max = 200;
    client_init(&c, window, 1);
    client_add(&c, 0, &before);
    client_add(&c, 0, &inside);
    assert_int_equal(client_suspended_max_ns(&c), 300);
}

/* ---- how far it got ---- */

TEST(the_last_look_of_each_worker)
{
    static const struct {
        int64_t n_shards;
        struct {
            unsigned shard;
            int64_t at_ms;
            int64_t taken;
        } looks[4];
        size_t n;
        int64_t scheduled;
        int64_t until_ms;
    } cases[] = {
        {1, {{0}}, 0, 0, 0},
        {1, {{0, 1000, 10}, {0, 2000, 20}}, 2, 20, 2000},
        {-1, {{0, 1000, 10}, {0, 2000, 20}}, 2, 20, 2000}, /* auto */
        /* each counts up to its own last look; all are known up to the least */
        {2, {{0, 1000, 10}, {1, 1001, 5}, {0, 2000, 20}}, 3, 25, 1001},
        {2,
         {{0, 1000, 10}, {1, 1001, 5}, {1, 2001, 9}, {0, 2000, 20}},
         4,
         29,
         2000},
        /* of one that was never seen nothing is known */
        {3, {{0, 1000, 10}, {1, 1001, 5}}, 2, 15, 0},
        /* more of them than the settings say */
        {1, {{0, 1000, 10}, {1, 900, 5}}, 2, 15, 900},
        /* none of ours */
        {1, {{0, 1000, 10}, {1024, 900, 5}, {65535, 900, 5}}, 3, 10, 1000},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct client c;

        client_init(&c, window, cases[i].n_shards);
        for (size_t k = 0; k < cases[i].n; k++) {
            struct observation seen = seen_at(cases[i].looks[k].at_ms);

            seen.issued = cases[i].looks[k].taken - 2;
            seen.unsent = 2;
            client_add(&c, cases[i].looks[k].shard, &seen);
        }
        assert_int_equal(client_scheduled_in_all(&c), cases[i].scheduled);
        assert_int_equal(client_known_until_ns(&c),
                         cases[i].until_ms * NS_PER_MS);
    }
}

TEST(absurd_counts_add_up)
{
    const int64_t far = (INT64_C(1) << 62) - 1;
    struct client c;

    client_init(&c, window, RECORDING_MAX_SHARDS);
    for (unsigned i = 0; i < RECORDING_MAX_SHARDS; i++) {
        struct observation seen = {.at = far, .issued = far, .unsent = far};

        client_add(&c, i, &seen);
        seen = (struct observation){
            .at = TIME_ABSENT, .issued = -far, .unsent = TIME_ABSENT};
        client_add(&c, i, &seen);
    }
    assert_true(client_scheduled_in_all(&c) > far / 2);
}

/* ---- the file ---- */

TEST(rows_keep_their_worker)
{
    char *dir = xstrdup(tmpdir_root());
    char *path = keepf("%s/client.tgr", dir);
    struct observation rows[3] = {seen_at(1000), seen_at(1500), seen_at(4000)};
    struct tgr_writer *w;
    struct err err = {0};
    struct client c;

    rows[0].issued = 7;
    rows[2].issued = 30;
    assert_int_equal(tgr_create(&w, path, &schema_client, &err), 0);
    assert_int_equal(tgr_append(w, 1, &rows[0], 1, &err), 0);
    assert_int_equal(tgr_append(w, 0, &rows[1], 2, &err), 0);
    assert_int_equal(tgr_finish(w, &err), 0);
    client_init(&c, window, 2);
    client_read(&c, dir);
    assert_int_equal(client_scheduled(&c, 0), 30);
    assert_int_equal(client_scheduled(&c, 1), 7);
    assert_int_equal(client_known_until_ns(&c), NS_PER_S);
    client_init(&c, window, 2);
    client_read(&c, tmpdir_path("nowhere"));
    assert_int_equal(client_scheduled_in_all(&c), 0);
    free(dir);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
