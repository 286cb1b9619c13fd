/* The front: answers that are put off, sent in pieces, or asked for ahead. */
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "server-stub/front/front.h"
#include "tests/support/frontrig.h"
#include "tests/support/test.h"

#define BODY   FRONTRIG_BODY
#define KEPT   FRONTRIG_KEPT
#define CLOSED FRONTRIG_CLOSED
#define ONE    FRONTRIG_ONE

/* What was sent ahead arrives when its turn comes. */
TEST(an_answer_put_off_keeps_the_rest_waiting)
{
    struct frontrig rig;

    frontrig_begin(&rig, strlen(BODY));
    rig.holds = true;
    frontrig_say(&rig, ONE ONE, strlen(ONE ONE));
    assert_int_equal(rig.requests, 1);
    assert_int_equal(rig.asked.arrival_ns, 1000);
    frontrig_expect(&rig, "", false);

    rig.clock.at_ns = 5000;
    frontrig_answer(&rig, rig.held);
    assert_int_equal(rig.sent_ns, 5000);
    assert_int_equal(rig.requests, 2); /* from within front_end() */
    assert_int_equal(rig.asked.arrival_ns, 5000);
    frontrig_expect(&rig, KEPT, false);

    rig.clock.at_ns = 6000;
    frontrig_answer(&rig, rig.held);
    assert_int_equal(rig.sent_ns, 6000);
    frontrig_expect(&rig, KEPT, false);
    frontrig_end(&rig);
}

/* The one that was held ends, and those behind it are answered at once, all
 * inside that one call. */
TEST(requests_sent_ahead_are_served_inside_front_end)
{
    static const char three[] = "GET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\n"
                                "\r\nGET /3 HTTP/1.0\r\n\r\n";
    struct frontrig rig;

    frontrig_begin(&rig, strlen(BODY));
    rig.holds = true;
    frontrig_say(&rig, three, strlen(three));
    assert_int_equal(rig.requests, 1);
    rig.holds = false;
    frontrig_answer(&rig, rig.held);
    assert_int_equal(rig.requests, 3);
    assert_int_equal(rig.ended, 3);
    assert_string_equal(rig.asked.path, "/3");
    frontrig_expect(&rig, KEPT KEPT CLOSED, true);
    frontrig_end(&rig);
}

/* Each read of the clock is later: no request arrives before the answer to the
 * one before it was sent. */
static int64_t tick(const struct clk *clk)
{
    struct clk_fake *fake = (struct clk_fake *)clk;

    return fake->at_ns += 10;
}

static void on_ticking(void *arg, struct exchange *x)
{
    struct frontrig *rig = arg;

    assert_true(x->arrival_ns > rig->sent_ns);
    frontrig_on_request(arg, x);
}

TEST(one_read_of_many_requests_gives_each_its_arrival)
{
    static const struct front_hooks ticking = {.request = on_ticking,
                                               .ended = frontrig_on_ended};
    struct frontrig rig;

    frontrig_begin_hooked(&rig, &ticking, 2);
    rig.clock.clk.now_ns = tick;
    frontrig_say(&rig, ONE ONE ONE, strlen(ONE ONE ONE));
    assert_int_equal(rig.ended, 3);
    frontrig_end(&rig);
}

TEST(an_answer_may_be_sent_bit_by_bit)
{
    struct frontrig rig;

    frontrig_begin(&rig, 2);
    rig.holds = true;
    frontrig_say(&rig, ONE ONE, strlen(ONE ONE));
    front_send(rig.held, "head ", 5);
    frontrig_expect(&rig, "head ", false);
    front_send(rig.held, "one ", 4);
    front_send(rig.held, "two ", 4);
    frontrig_expect(&rig, "one two ", false);
    assert_int_equal(rig.ended, 0);
    rig.clock.at_ns = 7000;
    front_send(rig.held, "three", 5);
    front_end(rig.held);
    assert_int_equal(rig.ended, 1);
    assert_int_equal(rig.sent_ns, 7000);
    assert_int_equal(rig.requests, 2); /* the connection goes on */
    frontrig_expect(&rig, "three", false);
    front_send(rig.held, "more", 4);
    rig.held->keeps_alive = false; /* the owner changed its mind */
    front_end(rig.held);
    frontrig_expect(&rig, "more", true);
    frontrig_end(&rig);
}

/* Far more than the front keeps: the rest stays in the socket. */
TEST(sending_far_ahead_loses_nothing)
{
    const int n = 20000;
    size_t said = 0;
    size_t heard_len = 0;
    struct buf all;
    struct frontrig rig;

    buf_init(&all, 1 << 20);
    for (int i = 0; i < n; i++)
        buf_adds(&all, ONE);
    frontrig_begin(&rig, 2);
    rig.holds = true;
    while (rig.ended < n) {
        ssize_t sent =
            send(rig.client, all.data + said, all.len - said, MSG_NOSIGNAL);
        struct buf heard;

        if (sent > 0)
            said += (size_t)sent;
        frontrig_pass(&rig);
        if (rig.ended < rig.requests)
            frontrig_answer(&rig, rig.held);
        buf_init(&heard, 1 << 20);
        assert_false(frontrig_hear(&rig, &heard));
        heard_len += heard.len;
        buf_fini(&heard);
    }
    assert_int_equal(said, all.len);
    assert_int_equal(heard_len, (size_t)n * rig.answers[1].text.len);
    buf_fini(&all);
    frontrig_end(&rig);
}

TEST(a_long_answer_goes_out_in_pieces)
{
    const size_t body = (size_t)4 << 20;
    struct buf heard;
    struct frontrig rig;

    buf_init(&heard, 2 * body);
    frontrig_begin(&rig, (int64_t)body);
    frontrig_say(&rig, ONE, strlen(ONE));
    assert_int_equal(rig.requests, 1);
    assert_int_equal(rig.ended, 0);
    while (rig.ended == 0) {
        assert_false(frontrig_hear(&rig, &heard));
        frontrig_pass(&rig);
    }
    assert_false(frontrig_hear(&rig, &heard));
    assert_int_equal(heard.len, rig.answers[1].head_len + body);
    assert_memory_equal(heard.data, rig.answers[1].text.data, heard.len);
    buf_fini(&heard);
    frontrig_end(&rig);
}
