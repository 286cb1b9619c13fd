/* The front over a pair of sockets, with a clock and answers in our hands. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/clk.h"
#include "common/err.h"
#include "common/recording/schema.h"
#include "server-stub/answer.h"
#include "server-stub/front.h"
#include "server-stub/loop.h"

#define BODY "{\"pad\":\"xx\"}"
#define HEAD(connection)                                                       \
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"                    \
    "Content-Length: 12\r\nConnection: " connection "\r\n\r\n"
#define KEPT   HEAD("keep-alive") BODY
#define CLOSED HEAD("close") BODY

struct world {
    struct clk_fake clock;
    struct loop *loop;
    struct answers answers;
    struct front *front;
    int client;
    bool puts_off;
    struct conn *waiting; /* the last request that was put off */
    int requests;
    int answered;
    struct truth last; /* answered */
};

static bool on_request(void *arg, struct conn *conn, struct truth *truth)
{
    struct world *w = arg;

    (void)truth;
    w->requests++;
    w->waiting = w->puts_off ? conn : NULL;
    return !w->puts_off;
}

static void on_answered(void *arg, const struct truth *truth)
{
    struct world *w = arg;

    w->answered++;
    w->last = *truth;
}

static const struct front_hooks hooks = {
    .request = on_request,
    .answered = on_answered,
};

static void begin(struct world *w, int64_t body_bytes)
{
    struct err err = {0};
    int pair[2];

    *w = (struct world){.clock = clk_fake_at(1000)};
    w->loop = loop_new(&err);
    assert_non_null(w->loop);
    answers_init(&w->answers, body_bytes);
    w->front = front_new(w->loop, &w->clock.clk, &w->answers, &hooks, w);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair),
                     0);
    w->client = pair[0];
    front_take(w->front, pair[1]);
}

static void end(struct world *w)
{
    front_free(w->front);
    answers_fini(&w->answers);
    loop_free(w->loop);
    if (w->client >= 0)
        close(w->client);
    assert_int_equal(w->answered, w->requests);
}

/* As many passes as it takes to do whatever there is to do. */
static void pass(struct world *w)
{
    struct err err = {0};

    for (int i = 0; i < 4; i++)
        assert_int_equal(loop_poll(w->loop, &err), 0);
}

static void say(struct world *w, const char *text, size_t len)
{
    assert_int_equal(send(w->client, text, len, MSG_NOSIGNAL), len);
    pass(w);
}

/* Add what came to `heard`; true if the server has closed. */
static bool hear(struct world *w, struct buf *heard)
{
    char some[4096];
    ssize_t n;

    while ((n = recv(w->client, some, sizeof(some), 0)) > 0)
        assert_int_equal(buf_add(heard, some, (size_t)n), 0);
    if (n < 0)
        assert_int_equal(errno, EAGAIN);
    return n == 0;
}

static void expect(struct world *w, const char *want, bool closes)
{
    struct buf heard;

    buf_init(&heard, 1 << 20);
    assert_int_equal(hear(w, &heard), closes);
    assert_string_equal(buf_text(&heard), want);
    buf_fini(&heard);
}

static const struct {
    const char *said;
    const char *want;
    bool closes;
} dialogues[] = {
    {"GET / HTTP/1.1\r\n\r\n", KEPT, false},
    {"GET / HTTP/1.1\r\nConnection: close\r\n\r\n", CLOSED, true},
    {"GET / HTTP/1.0\r\n\r\n", CLOSED, true},
    {"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", KEPT, false},
    {"HEAD / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n", HEAD("keep-alive") KEPT,
     false},
    {"POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello", KEPT, false},
    {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
     "5\r\nhello\r\n0\r\n\r\n",
     KEPT, false},
    {"GET /1 HTTP/1.1\r\n\r\nPOST /2 HTTP/1.1\r\nContent-Length: 2\r\n\r\nab"
     "GET /3 HTTP/1.1\r\nConnection: close\r\n\r\n",
     KEPT KEPT CLOSED, true},
    {"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 0\r\n\r\n",
     KEPT, false},
    {"POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhel", "", false},
};

static void each_request_gets_its_answer(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(dialogues) / sizeof(dialogues[0]); i++) {
        struct world w;

        begin(&w, strlen(BODY));
        say(&w, dialogues[i].said, strlen(dialogues[i].said));
        expect(&w, dialogues[i].want, dialogues[i].closes);
        end(&w);
    }
}

static void a_byte_at_a_time_makes_no_difference(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(dialogues) / sizeof(dialogues[0]); i++) {
        const char *said = dialogues[i].said;
        struct world w;

        begin(&w, strlen(BODY));
        for (size_t k = 0; k < strlen(said); k++)
            say(&w, said + k, 1);
        expect(&w, dialogues[i].want, dialogues[i].closes);
        end(&w);
    }
}

/* The refusal arrives although the client had more to say. */
static void what_is_not_http_is_refused(void **state)
{
    static const char *const cases[] = {
        "hello\r\n\r\n",
        "GET / HTTP/2.0\r\n\r\n",
        "GET / HTTP/1.1\r\nno colon\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct buf heard;
        struct world w;

        begin(&w, 2);
        say(&w, cases[i], strlen(cases[i]));
        say(&w, "more", 4);
        buf_init(&heard, 4096);
        assert_true(hear(&w, &heard));
        assert_memory_equal(buf_text(&heard), "HTTP/1.1 400 Bad Request\r\n",
                            26);
        assert_non_null(strstr(buf_text(&heard), "{\"error\":\""));
        assert_int_equal(w.requests, 0);
        buf_fini(&heard);
        end(&w);
    }
}

static void a_client_may_wait_for_the_go_ahead(void **state)
{
    static const char head[] = "POST / HTTP/1.1\r\nContent-Length: 3\r\n"
                               "Expect: 100-continue\r\n\r\n";
    struct world w;

    (void)state;
    begin(&w, strlen(BODY));
    say(&w, head, strlen(head));
    expect(&w, "HTTP/1.1 100 Continue\r\n\r\n", false);
    say(&w, "abc", 3);
    expect(&w, KEPT, false);
    end(&w);
}

static void the_truth_has_id_arrival_and_sent(void **state)
{
    static const struct {
        const char *header;
        int64_t want;
    } cases[] = {
        {"x-tailgate-id: 42\r\n", 42},
        {"X-Tailgate-ID:0\r\n", 0},
        {"x-tailgate-id: 123456789012345678\r\n", 123456789012345678},
        {"", TIME_ABSENT}, /* also after one that had an id */
        {"x-tailgate-id: \r\n", TIME_ABSENT},
        {"x-tailgate-id: 4x\r\n", TIME_ABSENT},
        {"x-tailgate-id: -4\r\n", TIME_ABSENT},
        {"x-tailgate-id: 1234567890123456789\r\n", TIME_ABSENT},
    };
    struct world w;

    (void)state;
    begin(&w, 2);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[128];
        int n = snprintf(text, sizeof(text), "GET / HTTP/1.1\r\n%s\r\n",
                         cases[i].header);

        w.clock.at_ns += 10;
        say(&w, text, (size_t)n);
        assert_int_equal(w.last.id, cases[i].want);
        assert_int_equal(w.last.arrival, w.clock.at_ns);
        assert_int_equal(w.last.sent, w.clock.at_ns);
    }
    assert_int_equal(w.answered, sizeof(cases) / sizeof(cases[0]));
    end(&w);
}

/* What was sent ahead arrives when its turn comes. */
static void an_answer_put_off_keeps_the_rest_waiting(void **state)
{
    static const char two[] = "GET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\n\r\n";
    struct world w;

    (void)state;
    begin(&w, strlen(BODY));
    w.puts_off = true;
    say(&w, two, strlen(two));
    assert_int_equal(w.requests, 1);
    expect(&w, "", false);

    w.clock.at_ns = 5000;
    front_answer(w.waiting);
    assert_int_equal(w.requests, 2);
    assert_int_equal(w.last.arrival, 1000);
    assert_int_equal(w.last.sent, 5000);
    expect(&w, KEPT, false);

    w.clock.at_ns = 6000;
    front_answer(w.waiting);
    assert_int_equal(w.last.arrival, 5000);
    expect(&w, KEPT, false);
    end(&w);
}

/* Far more than the front keeps: the rest stays in the socket. */
static void sending_far_ahead_loses_nothing(void **state)
{
    static const char one[] = "GET / HTTP/1.1\r\n\r\n";
    const int n = 20000;
    size_t said = 0;
    size_t heard_len = 0;
    struct buf all;
    struct world w;

    (void)state;
    buf_init(&all, 1 << 20);
    for (int i = 0; i < n; i++)
        buf_adds(&all, one);
    begin(&w, 2);
    w.puts_off = true;
    while (w.answered < n) {
        ssize_t sent =
            send(w.client, all.data + said, all.len - said, MSG_NOSIGNAL);
        struct buf heard;

        if (sent > 0)
            said += (size_t)sent;
        pass(&w);
        if (w.waiting)
            front_answer(w.waiting);
        buf_init(&heard, 1 << 20);
        assert_false(hear(&w, &heard));
        heard_len += heard.len;
        buf_fini(&heard);
    }
    assert_int_equal(said, all.len);
    assert_int_equal(heard_len, (size_t)n * w.answers.ok[1].text.len);
    buf_fini(&all);
    end(&w);
}

static void a_client_that_only_stopped_sending_is_answered(void **state)
{
    static const char one[] = "GET / HTTP/1.1\r\n\r\n";
    struct world w;

    (void)state;
    begin(&w, strlen(BODY));
    w.puts_off = true;
    say(&w, one, strlen(one));
    shutdown(w.client, SHUT_WR);
    pass(&w);
    front_answer(w.waiting);
    expect(&w, KEPT, true);
    end(&w);
}

/* One that went away is in the truth log all the same, as not sent. */
static void a_client_that_went_away_is_no_trouble(void **state)
{
    static const char one[] = "GET / HTTP/1.1\r\nx-tailgate-id: 9\r\n\r\n";
    struct world w;

    (void)state;
    begin(&w, 2);
    w.puts_off = true;
    say(&w, one, strlen(one));
    close(w.client);
    pass(&w);
    assert_int_equal(w.answered, 0);
    front_answer(w.waiting);
    assert_int_equal(w.answered, 1);
    assert_int_equal(w.last.id, 9);
    assert_int_equal(w.last.sent, TIME_ABSENT);
    w.client = -1;
    end(&w);
}

/* A reset closes the connection before its answer is due. */
static void a_client_that_broke_off_is_no_trouble(void **state)
{
    static const char one[] = "GET / HTTP/1.1\r\n\r\n";
    struct world w;

    (void)state;
    begin(&w, 2);
    say(&w, one, strlen(one));
    w.puts_off = true;
    say(&w, one, strlen(one));
    assert_int_equal(w.answered, 1);
    close(w.client); /* with an answer unread: a reset */
    pass(&w);
    front_answer(w.waiting);
    assert_int_equal(w.answered, 2);
    assert_int_equal(w.last.sent, TIME_ABSENT);
    w.client = -1;
    end(&w);
}

static void an_answer_may_be_abandoned(void **state)
{
    static const char one[] = "GET / HTTP/1.1\r\n\r\n";
    struct world w;

    (void)state;
    begin(&w, 2);
    w.puts_off = true;
    say(&w, one, strlen(one));
    front_abandon(w.waiting);
    assert_int_equal(w.last.sent, TIME_ABSENT);
    expect(&w, "", true);
    end(&w);
}

static void the_end_of_the_front_reports_who_still_waits(void **state)
{
    static const char one[] = "GET / HTTP/1.1\r\n\r\n";
    struct world w;

    (void)state;
    begin(&w, 2);
    w.puts_off = true;
    say(&w, one, strlen(one));
    end(&w); /* asserts that it came back */
    assert_int_equal(w.last.sent, TIME_ABSENT);
}

static void a_long_answer_goes_out_in_pieces(void **state)
{
    static const char one[] = "GET / HTTP/1.1\r\n\r\n";
    const size_t body = (size_t)4 << 20;
    struct buf heard;
    struct world w;

    (void)state;
    buf_init(&heard, 2 * body);
    begin(&w, (int64_t)body);
    say(&w, one, strlen(one));
    assert_int_equal(w.answered, 0);
    while (w.answered == 0) {
        assert_false(hear(&w, &heard));
        pass(&w);
    }
    assert_false(hear(&w, &heard));
    assert_int_equal(heard.len, w.answers.ok[1].head_len + body);
    assert_memory_equal(heard.data, w.answers.ok[1].text.data, heard.len);
    buf_fini(&heard);
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_request_gets_its_answer),
        cmocka_unit_test(a_byte_at_a_time_makes_no_difference),
        cmocka_unit_test(what_is_not_http_is_refused),
        cmocka_unit_test(a_client_may_wait_for_the_go_ahead),
        cmocka_unit_test(the_truth_has_id_arrival_and_sent),
        cmocka_unit_test(an_answer_put_off_keeps_the_rest_waiting),
        cmocka_unit_test(sending_far_ahead_loses_nothing),
        cmocka_unit_test(a_client_that_only_stopped_sending_is_answered),
        cmocka_unit_test(a_client_that_went_away_is_no_trouble),
        cmocka_unit_test(a_client_that_broke_off_is_no_trouble),
        cmocka_unit_test(an_answer_may_be_abandoned),
        cmocka_unit_test(the_end_of_the_front_reports_who_still_waits),
        cmocka_unit_test(a_long_answer_goes_out_in_pieces),
    };

    return cmocka_run_group_tests_name("stub_front", tests, NULL, NULL);
}
