/* The front: connections that either side ends before its time. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "server-stub/front/front.h"
#include "tests/support/frontrig.h"
#include "tests/support/test.h"

#define BODY FRONTRIG_BODY
#define KEPT FRONTRIG_KEPT
#define ONE  FRONTRIG_ONE

TEST(a_client_that_only_stopped_sending_is_answered)
{
    struct frontrig rig;

    frontrig_begin(&rig, strlen(BODY));
    rig.holds = true;
    frontrig_say(&rig, ONE, strlen(ONE));
    shutdown(rig.client, SHUT_WR);
    frontrig_pass(&rig);
    frontrig_answer(&rig, rig.held);
    frontrig_expect(&rig, KEPT, true);
    frontrig_end(&rig);
}

/* One that went away is reported all the same, once, as not sent. */
TEST(a_client_that_went_away_is_no_trouble)
{
    struct frontrig rig;

    frontrig_begin(&rig, 2);
    rig.holds = true;
    frontrig_say(&rig, ONE, strlen(ONE));
    close(rig.client);
    frontrig_pass(&rig);
    assert_int_equal(rig.ended, 0);
    front_send(rig.held, "too", 3);
    front_send(rig.held, "late", 4);
    assert_int_equal(rig.ended, 0);
    front_end(rig.held);
    assert_int_equal(rig.ended, 1);
    assert_int_equal(rig.sent_ns, TIME_ABSENT);
    frontrig_pass(&rig);
    rig.client = -1;
    frontrig_end(&rig);
    assert_int_equal(rig.ended, 1);
}

/* A reset closes the connection before its answer is due. */
TEST(a_client_that_broke_off_is_no_trouble)
{
    for (int breaks = 0; breaks < 3; breaks++) {
        struct frontrig rig;

        frontrig_begin(&rig, 2);
        frontrig_say(&rig, ONE, strlen(ONE));
        rig.holds = true;
        frontrig_say(&rig, ONE, strlen(ONE));
        assert_int_equal(rig.ended, 1);
        close(rig.client); /* with an answer unread: a reset */
        frontrig_pass(&rig);
        if (breaks == 0)
            front_end(rig.held);
        else
            front_break(rig.held, breaks == 2);
        assert_int_equal(rig.ended, 2);
        assert_int_equal(rig.sent_ns, TIME_ABSENT);
        rig.client = -1;
        frontrig_end(&rig);
    }
}

/* FIN: what was sent arrives, then the end; what was asked for next is lost. */
TEST(an_answer_may_be_broken_off)
{
    for (int has_begun = 0; has_begun < 2; has_begun++) {
        struct frontrig rig;

        frontrig_begin(&rig, 2);
        rig.holds = true;
        frontrig_say(&rig, ONE ONE, strlen(ONE ONE));
        if (has_begun)
            front_send(rig.held, "half", 4);
        front_break(rig.held, false);
        assert_int_equal(rig.sent_ns, TIME_ABSENT); /* not whole */
        assert_int_equal(rig.requests, 1);
        frontrig_expect(&rig, has_begun ? "half" : "", true);
        frontrig_end(&rig);
    }
}

/* More than the socket takes: it breaks off after the last byte. */
TEST(a_break_waits_for_what_was_sent)
{
    const size_t len = (size_t)4 << 20;
    bool has_closed = false;
    struct buf bytes;
    struct buf heard;
    struct frontrig rig;

    buf_init(&bytes, len);
    memset(buf_reserve(&bytes, len), 'x', len);
    buf_init(&heard, len);
    frontrig_begin(&rig, 2);
    rig.holds = true;
    frontrig_say(&rig, ONE, strlen(ONE));
    front_send(rig.held, bytes.data, len);
    front_break(rig.held, false);
    assert_int_equal(rig.ended, 0);
    while (!has_closed) {
        has_closed = frontrig_hear(&rig, &heard);
        frontrig_pass(&rig);
    }
    assert_int_equal(heard.len, len);
    assert_int_equal(rig.ended, 1);
    buf_fini(&bytes);
    buf_fini(&heard);
    frontrig_end(&rig);
}

TEST(a_break_may_be_a_reset)
{
    char some[16];
    struct frontrig rig;

    frontrig_begin_tcp(&rig);
    rig.holds = true;
    frontrig_say(&rig, ONE, strlen(ONE));
    front_send(rig.held, "half", 4);
    assert_int_equal(recv(rig.client, some, sizeof(some), 0), 4);
    front_break(rig.held, true);
    assert_int_equal(rig.ended, 1);
    assert_int_equal(rig.sent_ns, TIME_ABSENT);
    assert_int_equal(recv(rig.client, some, sizeof(some), 0), -1);
    assert_int_equal(errno, ECONNRESET);
    frontrig_end(&rig);
}

/* Both kinds, from within the hook. */
static void on_request_break(void *arg, struct exchange *x)
{
    struct frontrig *rig = arg;

    rig->requests++;
    x->owner = rig;
    front_send(x, "half", 4);
    front_break(x, rig->holds);
}

TEST(a_break_may_come_at_once)
{
    static const struct front_hooks breaking = {.request = on_request_break,
                                                .ended = frontrig_on_ended};

    for (int with_reset = 0; with_reset < 2; with_reset++) {
        struct frontrig rig;

        frontrig_begin_hooked(&rig, &breaking, 2);
        rig.holds = with_reset;
        frontrig_say(&rig, ONE ONE, strlen(ONE ONE));
        assert_int_equal(rig.requests, 1);
        assert_int_equal(rig.ended, 1);
        assert_int_equal(rig.sent_ns, TIME_ABSENT);
        frontrig_expect(&rig, "half", true);
        frontrig_end(&rig);
    }
}

TEST(the_end_of_the_front_reports_who_still_waits)
{
    struct frontrig rig;

    frontrig_begin(&rig, 2);
    rig.holds = true;
    frontrig_say(&rig, ONE, strlen(ONE));
    frontrig_end(&rig); /* asserts that it came back */
    assert_int_equal(rig.sent_ns, TIME_ABSENT);
}
