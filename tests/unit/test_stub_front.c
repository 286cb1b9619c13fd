/* The front over a pair of sockets, with a clock and answers in our hands. */
#include <arpa/inet.h>
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
#include "server-stub/answer.h"
#include "server-stub/front.h"
#include "server-stub/loop.h"

#define BODY "{\"pad\":\"xx\"}"
#define HEAD(connection)                                                       \
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"                    \
    "Connection: " connection "\r\nContent-Length: 12\r\n\r\n"
#define KEPT   HEAD("keep-alive") BODY
#define CLOSED HEAD("close") BODY
#define ONE    "GET / HTTP/1.1\r\n\r\n"

struct world {
    struct clk_fake clock;
    struct loop *loop;
    struct answer answers[2];
    struct front *front;
    int client;
    bool holds;            /* the test answers, not the hook */
    struct exchange *held; /* the last request that was held */
    int requests;
    int ended;
    struct exchange asked; /* the last request, as it came ... */
    struct buf body;       /* ... and its body */
    int64_t sent_ns;       /* of the last that ended */
};

static void answer(struct world *w, struct exchange *x)
{
    const struct answer *a = &w->answers[x->keeps_alive];

    front_send(x, a->text.data, x->is_head ? a->head_len : a->text.len);
    front_end(x);
}

static void on_request(void *arg, struct exchange *x)
{
    struct world *w = arg;

    w->requests++;
    w->asked = *x;
    buf_reset(&w->body);
    assert_int_equal(buf_add(&w->body, x->body, x->body_len), 0);
    x->owner = w;
    if (w->holds)
        w->held = x;
    else
        answer(w, x);
}

static void on_ended(void *arg, struct exchange *x, int64_t sent_ns)
{
    struct world *w = arg;

    assert_ptr_equal(x->owner, w);
    w->ended++;
    w->sent_ns = sent_ns;
}

static const struct front_hooks hooks = {
    .request = on_request,
    .ended = on_ended,
};

static void begin_with(struct world *w, const struct front_hooks *with,
                       int64_t body_bytes, const int *pair)
{
    struct err err = {0};

    *w = (struct world){.clock = clk_fake_at(1000)};
    w->loop = loop_new(&err);
    assert_non_null(w->loop);
    for (int keeps_alive = 0; keeps_alive < 2; keeps_alive++)
        answer_init(&w->answers[keeps_alive], body_bytes, keeps_alive);
    buf_init(&w->body, FRONT_MAX_BODY);
    w->front = front_new(w->loop, &w->clock.clk, with, w);
    w->client = pair[0];
    front_take(w->front, pair[1]);
}

static void begin_hooked(struct world *w, const struct front_hooks *with,
                         int64_t body_bytes)
{
    int pair[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair),
                     0);
    begin_with(w, with, body_bytes, pair);
}

static void begin(struct world *w, int64_t body_bytes)
{
    begin_hooked(w, &hooks, body_bytes);
}

/* Over TCP, which can be reset.  What one end sends is at the other when the
 * call returns, since both are here. */
static void begin_tcp(struct world *w)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t len = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    int pair[2];

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, len), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &len),
                     0);
    pair[0] = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(pair[0], (struct sockaddr *)&address, len), 0);
    pair[1] = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
    assert_true(pair[1] >= 0);
    close(listener);
    begin_with(w, &hooks, 2, pair);
}

static void end(struct world *w)
{
    front_free(w->front);
    for (int keeps_alive = 0; keeps_alive < 2; keeps_alive++)
        answer_fini(&w->answers[keeps_alive]);
    buf_fini(&w->body);
    loop_free(w->loop);
    if (w->client >= 0)
        close(w->client);
    assert_int_equal(w->ended, w->requests);
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

static void the_exchange_says_what_was_asked(void **state)
{
    static const struct {
        const char *said;
        const char *method;
        const char *path;
        const char *body;
        int64_t priority;
        bool keeps_alive;
        bool takes_chunks;
    } cases[] = {
        {"GET / HTTP/1.1\r\n\r\n", "GET", "/", "", 0, true, true},
        {"POST /v1/x?a=b%20c HTTP/1.1\r\nX-Priority: 7\r\n"
         "Content-Length: 5\r\n\r\nhello",
         "POST", "/v1/x", "hello", 7, true, true},
        {"PUT /y HTTP/1.1\r\nx-priority: high\r\nTransfer-Encoding: "
         "chunked\r\n\r\n2\r\nab\r\n3\r\ncde\r\n0\r\n\r\n",
         "PUT", "/y", "abcde", 0, true, true},
        /* nothing is left of the one before */
        {"GET /z HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "GET", "/z", "",
         0, true, false},
        {"GET /last HTTP/1.1\r\nConnection: close\r\n\r\n", "GET", "/last", "",
         0, false, true},
    };
    struct world w;

    (void)state;
    begin(&w, 2);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        say(&w, cases[i].said, strlen(cases[i].said));
        assert_int_equal(w.requests, i + 1);
        assert_string_equal(w.asked.method, cases[i].method);
        assert_string_equal(w.asked.path, cases[i].path);
        assert_string_equal(buf_text(&w.body), cases[i].body);
        assert_int_equal(w.asked.body_len, strlen(cases[i].body));
        assert_int_equal(w.asked.priority, cases[i].priority);
        assert_int_equal(w.asked.keeps_alive, cases[i].keeps_alive);
        assert_int_equal(w.asked.takes_chunks, cases[i].takes_chunks);
        assert_false(w.asked.is_head);
    }
    end(&w);
}

static void the_exchange_has_id_and_arrival(void **state)
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
        assert_int_equal(w.asked.id, cases[i].want);
        assert_int_equal(w.asked.arrival_ns, w.clock.at_ns);
        assert_int_equal(w.sent_ns, w.clock.at_ns);
    }
    assert_int_equal(w.ended, sizeof(cases) / sizeof(cases[0]));
    end(&w);
}

static void a_long_path_is_cut(void **state)
{
    char text[1024];
    struct world w;
    int n;

    (void)state;
    begin(&w, 2);
    n = snprintf(text, sizeof(text), "GET /%0500d HTTP/1.1\r\n\r\n", 0);
    say(&w, text, (size_t)n);
    assert_int_equal(strlen(w.asked.path), FRONT_MAX_PATH - 1);
    assert_memory_equal(w.asked.path, "/0000", 5);
    end(&w);
}

/* The first bytes are kept, with no hole; the connection goes on. */
static void a_body_beyond_the_bound_is_cut(void **state)
{
    const size_t len = FRONT_MAX_BODY + 100001;
    char text[80];
    size_t said = 0;
    struct buf body;
    struct world w;
    int n;

    (void)state;
    buf_init(&body, len);
    for (size_t i = 0; i < len; i++)
        buf_reserve(&body, len)[i] = (char)('a' + i % 23);
    body.len = len;
    begin(&w, 2);
    n = snprintf(text, sizeof(text),
                 "POST / HTTP/1.1\r\nContent-Length: %zu\r\n\r\n", len);
    say(&w, text, (size_t)n);
    while (said < len) {
        ssize_t sent = send(w.client, body.data + said, len - said,
                            MSG_NOSIGNAL | MSG_DONTWAIT);

        assert_true(sent > 0);
        said += (size_t)sent;
        pass(&w);
    }
    pass(&w);
    assert_int_equal(w.ended, 1);
    assert_int_equal(w.body.len, FRONT_MAX_BODY);
    assert_memory_equal(w.body.data, body.data, FRONT_MAX_BODY);
    say(&w, ONE, strlen(ONE));
    assert_int_equal(w.ended, 2);
    assert_int_equal(w.body.len, 0);
    buf_fini(&body);
    end(&w);
}

/* What was sent ahead arrives when its turn comes. */
static void an_answer_put_off_keeps_the_rest_waiting(void **state)
{
    struct world w;

    (void)state;
    begin(&w, strlen(BODY));
    w.holds = true;
    say(&w, ONE ONE, strlen(ONE ONE));
    assert_int_equal(w.requests, 1);
    assert_int_equal(w.asked.arrival_ns, 1000);
    expect(&w, "", false);

    w.clock.at_ns = 5000;
    answer(&w, w.held);
    assert_int_equal(w.sent_ns, 5000);
    assert_int_equal(w.requests, 2); /* from within front_end() */
    assert_int_equal(w.asked.arrival_ns, 5000);
    expect(&w, KEPT, false);

    w.clock.at_ns = 6000;
    answer(&w, w.held);
    assert_int_equal(w.sent_ns, 6000);
    expect(&w, KEPT, false);
    end(&w);
}

/* The one that was held ends, and those behind it are answered at once, all
 * inside that one call. */
static void requests_sent_ahead_are_served_inside_front_end(void **state)
{
    static const char three[] = "GET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\n"
                                "\r\nGET /3 HTTP/1.0\r\n\r\n";
    struct world w;

    (void)state;
    begin(&w, strlen(BODY));
    w.holds = true;
    say(&w, three, strlen(three));
    assert_int_equal(w.requests, 1);
    w.holds = false;
    answer(&w, w.held);
    assert_int_equal(w.requests, 3);
    assert_int_equal(w.ended, 3);
    assert_string_equal(w.asked.path, "/3");
    expect(&w, KEPT KEPT CLOSED, true);
    end(&w);
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
    struct world *w = arg;

    assert_true(x->arrival_ns > w->sent_ns);
    on_request(arg, x);
}

static void one_read_of_many_requests_gives_each_its_arrival(void **state)
{
    static const struct front_hooks ticking = {.request = on_ticking,
                                               .ended = on_ended};
    struct world w;

    (void)state;
    begin_hooked(&w, &ticking, 2);
    w.clock.clk.now_ns = tick;
    say(&w, ONE ONE ONE, strlen(ONE ONE ONE));
    assert_int_equal(w.ended, 3);
    end(&w);
}

static void an_answer_may_be_sent_bit_by_bit(void **state)
{
    struct world w;

    (void)state;
    begin(&w, 2);
    w.holds = true;
    say(&w, ONE ONE, strlen(ONE ONE));
    front_send(w.held, "head ", 5);
    expect(&w, "head ", false);
    front_send(w.held, "one ", 4);
    front_send(w.held, "two ", 4);
    expect(&w, "one two ", false);
    assert_int_equal(w.ended, 0);
    w.clock.at_ns = 7000;
    front_send(w.held, "three", 5);
    front_end(w.held);
    assert_int_equal(w.ended, 1);
    assert_int_equal(w.sent_ns, 7000);
    assert_int_equal(w.requests, 2); /* the connection goes on */
    expect(&w, "three", false);
    front_send(w.held, "more", 4);
    w.held->keeps_alive = false; /* the owner changed its mind */
    front_end(w.held);
    expect(&w, "more", true);
    end(&w);
}

/* Far more than the front keeps: the rest stays in the socket. */
static void sending_far_ahead_loses_nothing(void **state)
{
    const int n = 20000;
    size_t said = 0;
    size_t heard_len = 0;
    struct buf all;
    struct world w;

    (void)state;
    buf_init(&all, 1 << 20);
    for (int i = 0; i < n; i++)
        buf_adds(&all, ONE);
    begin(&w, 2);
    w.holds = true;
    while (w.ended < n) {
        ssize_t sent =
            send(w.client, all.data + said, all.len - said, MSG_NOSIGNAL);
        struct buf heard;

        if (sent > 0)
            said += (size_t)sent;
        pass(&w);
        if (w.ended < w.requests)
            answer(&w, w.held);
        buf_init(&heard, 1 << 20);
        assert_false(hear(&w, &heard));
        heard_len += heard.len;
        buf_fini(&heard);
    }
    assert_int_equal(said, all.len);
    assert_int_equal(heard_len, (size_t)n * w.answers[1].text.len);
    buf_fini(&all);
    end(&w);
}

static void a_client_that_only_stopped_sending_is_answered(void **state)
{
    struct world w;

    (void)state;
    begin(&w, strlen(BODY));
    w.holds = true;
    say(&w, ONE, strlen(ONE));
    shutdown(w.client, SHUT_WR);
    pass(&w);
    answer(&w, w.held);
    expect(&w, KEPT, true);
    end(&w);
}

/* One that went away is reported all the same, once, as not sent. */
static void a_client_that_went_away_is_no_trouble(void **state)
{
    struct world w;

    (void)state;
    begin(&w, 2);
    w.holds = true;
    say(&w, ONE, strlen(ONE));
    close(w.client);
    pass(&w);
    assert_int_equal(w.ended, 0);
    front_send(w.held, "too", 3);
    front_send(w.held, "late", 4);
    assert_int_equal(w.ended, 0);
    front_end(w.held);
    assert_int_equal(w.ended, 1);
    assert_int_equal(w.sent_ns, TIME_ABSENT);
    pass(&w);
    w.client = -1;
    end(&w);
    assert_int_equal(w.ended, 1);
}

/* A reset closes the connection before its answer is due. */
static void a_client_that_broke_off_is_no_trouble(void **state)
{
    (void)state;
    for (int breaks = 0; breaks < 3; breaks++) {
        struct world w;

        begin(&w, 2);
        say(&w, ONE, strlen(ONE));
        w.holds = true;
        say(&w, ONE, strlen(ONE));
        assert_int_equal(w.ended, 1);
        close(w.client); /* with an answer unread: a reset */
        pass(&w);
        if (breaks == 0)
            front_end(w.held);
        else
            front_break(w.held, breaks == 2);
        assert_int_equal(w.ended, 2);
        assert_int_equal(w.sent_ns, TIME_ABSENT);
        w.client = -1;
        end(&w);
    }
}

/* FIN: what was sent arrives, then the end; what was asked for next is lost. */
static void an_answer_may_be_broken_off(void **state)
{
    (void)state;
    for (int has_begun = 0; has_begun < 2; has_begun++) {
        struct world w;

        begin(&w, 2);
        w.holds = true;
        say(&w, ONE ONE, strlen(ONE ONE));
        if (has_begun)
            front_send(w.held, "half", 4);
        front_break(w.held, false);
        assert_int_equal(w.sent_ns, TIME_ABSENT); /* not whole */
        assert_int_equal(w.requests, 1);
        expect(&w, has_begun ? "half" : "", true);
        end(&w);
    }
}

/* More than the socket takes: it breaks off after the last byte. */
static void a_break_waits_for_what_was_sent(void **state)
{
    const size_t len = (size_t)4 << 20;
    bool has_closed = false;
    struct buf bytes;
    struct buf heard;
    struct world w;

    (void)state;
    buf_init(&bytes, len);
    memset(buf_reserve(&bytes, len), 'x', len);
    buf_init(&heard, len);
    begin(&w, 2);
    w.holds = true;
    say(&w, ONE, strlen(ONE));
    front_send(w.held, bytes.data, len);
    front_break(w.held, false);
    assert_int_equal(w.ended, 0);
    while (!has_closed) {
        has_closed = hear(&w, &heard);
        pass(&w);
    }
    assert_int_equal(heard.len, len);
    assert_int_equal(w.ended, 1);
    buf_fini(&bytes);
    buf_fini(&heard);
    end(&w);
}

static void a_break_may_be_a_reset(void **state)
{
    char some[16];
    struct world w;

    (void)state;
    begin_tcp(&w);
    w.holds = true;
    say(&w, ONE, strlen(ONE));
    front_send(w.held, "half", 4);
    assert_int_equal(recv(w.client, some, sizeof(some), 0), 4);
    front_break(w.held, true);
    assert_int_equal(w.ended, 1);
    assert_int_equal(w.sent_ns, TIME_ABSENT);
    assert_int_equal(recv(w.client, some, sizeof(some), 0), -1);
    assert_int_equal(errno, ECONNRESET);
    end(&w);
}

/* Both kinds, from within the hook. */
static void on_request_break(void *arg, struct exchange *x)
{
    struct world *w = arg;

    w->requests++;
    x->owner = w;
    front_send(x, "half", 4);
    front_break(x, w->holds);
}

static void a_break_may_come_at_once(void **state)
{
    static const struct front_hooks breaking = {.request = on_request_break,
                                                .ended = on_ended};

    (void)state;
    for (int with_reset = 0; with_reset < 2; with_reset++) {
        struct world w;

        begin_hooked(&w, &breaking, 2);
        w.holds = with_reset;
        say(&w, ONE ONE, strlen(ONE ONE));
        assert_int_equal(w.requests, 1);
        assert_int_equal(w.ended, 1);
        assert_int_equal(w.sent_ns, TIME_ABSENT);
        expect(&w, "half", true);
        end(&w);
    }
}

static void the_end_of_the_front_reports_who_still_waits(void **state)
{
    struct world w;

    (void)state;
    begin(&w, 2);
    w.holds = true;
    say(&w, ONE, strlen(ONE));
    end(&w); /* asserts that it came back */
    assert_int_equal(w.sent_ns, TIME_ABSENT);
}

static void a_long_answer_goes_out_in_pieces(void **state)
{
    const size_t body = (size_t)4 << 20;
    struct buf heard;
    struct world w;

    (void)state;
    buf_init(&heard, 2 * body);
    begin(&w, (int64_t)body);
    say(&w, ONE, strlen(ONE));
    assert_int_equal(w.requests, 1);
    assert_int_equal(w.ended, 0);
    while (w.ended == 0) {
        assert_false(hear(&w, &heard));
        pass(&w);
    }
    assert_false(hear(&w, &heard));
    assert_int_equal(heard.len, w.answers[1].head_len + body);
    assert_memory_equal(heard.data, w.answers[1].text.data, heard.len);
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
        cmocka_unit_test(the_exchange_says_what_was_asked),
        cmocka_unit_test(the_exchange_has_id_and_arrival),
        cmocka_unit_test(a_long_path_is_cut),
        cmocka_unit_test(a_body_beyond_the_bound_is_cut),
        cmocka_unit_test(an_answer_put_off_keeps_the_rest_waiting),
        cmocka_unit_test(requests_sent_ahead_are_served_inside_front_end),
        cmocka_unit_test(one_read_of_many_requests_gives_each_its_arrival),
        cmocka_unit_test(an_answer_may_be_sent_bit_by_bit),
        cmocka_unit_test(sending_far_ahead_loses_nothing),
        cmocka_unit_test(a_client_that_only_stopped_sending_is_answered),
        cmocka_unit_test(a_client_that_went_away_is_no_trouble),
        cmocka_unit_test(a_client_that_broke_off_is_no_trouble),
        cmocka_unit_test(an_answer_may_be_broken_off),
        cmocka_unit_test(a_break_waits_for_what_was_sent),
        cmocka_unit_test(a_break_may_be_a_reset),
        cmocka_unit_test(a_break_may_come_at_once),
        cmocka_unit_test(the_end_of_the_front_reports_who_still_waits),
        cmocka_unit_test(a_long_answer_goes_out_in_pieces),
    };

    return cmocka_run_group_tests_name("stub_front", tests, NULL, NULL);
}
