/* Timers against the real clock, a millisecond or so each. */
#include <stdbool.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "server-stub/front/stub_loop.h"
#include "tests/support/test.h"

struct bell {
    struct loop *loop;
    struct loop_timer *timer;
    int rings;
    int enough; /* rings that end the loop */
    int64_t last_ns;
};

static void ring(void *arg)
{
    struct bell *b = arg;

    b->last_ns = clk_now(&clk_monotonic);
    if (++b->rings == b->enough)
        loop_stop(b->loop);
}

static void begin(struct bell *b, bool is_sharp)
{
    struct err err = {0};

    *b = (struct bell){.enough = 1};
    b->loop = loop_new(&err);
    assert_non_null(b->loop);
    b->timer = loop_timer_new(b->loop, ring, b, &err);
    assert_non_null(b->timer);
    if (is_sharp)
        loop_timer_sharpen(b->timer);
}

static void run_and_end(struct bell *b)
{
    struct err err = {0};

    assert_int_equal(loop_run(b->loop, &err), 0);
    assert_int_equal(b->rings, b->enough);
    loop_timer_free(b->timer);
    loop_free(b->loop);
}

TEST(never_early)
{
    static const int64_t waits_ns[] = {-1000, 0,      1,      50000,
                                       99999, 150000, 1000000};

    for (int is_sharp = 0; is_sharp < 2; is_sharp++) {
        for (size_t i = 0; i < sizeof(waits_ns) / sizeof(waits_ns[0]); i++) {
            int64_t at_ns = clk_now(&clk_monotonic) + waits_ns[i];
            struct bell b;

            begin(&b, is_sharp);
            loop_timer_set(b.timer, at_ns);
            run_and_end(&b);
            assert_true(b.last_ns >= at_ns);
        }
    }
}

/* Set anew before it is polled for, and while it is. */
TEST(the_last_setting_counts)
{
    for (int is_sharp = 0; is_sharp < 2; is_sharp++) {
        struct err err = {0};
        int64_t at_ns;
        struct bell b;

        begin(&b, is_sharp);
        b.enough = 0; /* a ring that came in time to be heard ends nothing */
        loop_timer_set(b.timer, clk_now(&clk_monotonic) + NS_PER_S);
        loop_timer_set(b.timer, clk_now(&clk_monotonic) + 90 * NS_PER_US);
        assert_int_equal(loop_poll(b.loop, &err), 0);
        if (b.rings == 0) { /* else this machine made us wait */
            loop_timer_set(b.timer, INT64_MAX);
            for (int i = 0; i < 100; i++)
                assert_int_equal(loop_poll(b.loop, &err), 0);
            assert_int_equal(b.rings, 0);
        }
        b.enough = b.rings + 1;
        at_ns = clk_now(&clk_monotonic) + NS_PER_MS;
        loop_timer_set(b.timer, at_ns);
        run_and_end(&b);
        assert_true(b.last_ns >= at_ns);
    }
}

TEST(a_repeating_timer_goes_on)
{
    int64_t start_ns;
    struct bell b;

    begin(&b, false);
    b.enough = 3;
    start_ns = clk_now(&clk_monotonic);
    loop_timer_repeat(b.timer, NS_PER_MS);
    run_and_end(&b);
    assert_true(b.last_ns >= start_ns + 3 * NS_PER_MS);
}
