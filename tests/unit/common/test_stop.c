/* Signals: which of them end a run, and what a child inherits. */
#include <signal.h>
#include <stdbool.h>

#include "common/base/stop.h"
#include "tests/support/test.h"

static bool is_ignored(int number)
{
    struct sigaction now;

    assert_int_equal(sigaction(number, NULL, &now), 0);
    return now.sa_handler == SIG_IGN;
}

static bool is_default(int number)
{
    struct sigaction now;

    assert_int_equal(sigaction(number, NULL, &now), 0);
    return now.sa_handler == SIG_DFL;
}

/* `number` is or is not ignored at the start, as under nohup. */
static void expect_inherited(int number, bool ignored)
{
    signal(number, ignored ? SIG_IGN : SIG_DFL);
    atomic_store(&stop_signal, 0);
    stop_catch_signals();
    assert_int_equal(raise(number), 0);
    assert_int_equal(atomic_load(&stop_signal), ignored ? 0 : number);
    stop_restore_signals();
    assert_true(ignored ? is_ignored(number) : is_default(number));
    signal(number, SIG_DFL);
    atomic_store(&stop_signal, 0);
}

TEST(an_ignored_signal_stays_ignored)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGTERM};

    for (size_t i = 0; i < COUNT(signals); i++) {
        expect_inherited(signals[i], true);
        expect_inherited(signals[i], false);
    }
}

/* A second SIGINT is not caught any more. */
TEST(the_second_interrupt_has_its_default_action)
{
    signal(SIGINT, SIG_DFL);
    stop_catch_signals();
    assert_int_equal(raise(SIGINT), 0);
    assert_true(is_default(SIGINT));
    atomic_store(&stop_signal, 0);
}

/* We ignore them; a child has them as we were given them. */
TEST(children_get_the_signals_of_writes_back)
{
    static const int signals[] = {SIGPIPE, SIGXFSZ};

    for (size_t i = 0; i < COUNT(signals); i++) {
        signal(SIGPIPE, SIG_DFL);
        signal(SIGXFSZ, SIG_DFL);
        signal(signals[i], SIG_IGN);
        stop_ignore_write_signals();
        assert_true(is_ignored(SIGPIPE));
        assert_true(is_ignored(SIGXFSZ));
        stop_restore_signals();
        for (size_t k = 0; k < COUNT(signals); k++)
            assert_true(k == i ? is_ignored(signals[k])
                               : is_default(signals[k]));
    }
}
