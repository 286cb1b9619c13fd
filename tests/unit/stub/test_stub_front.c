/* The front: what it takes for a request, and what it says to the rest. */
#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/settings/settings.h"
#include "server-stub/front/front.h"
#include "server-stub/front/front_tls.h"
#include "tests/support/frontrig.h"
#include "tests/support/test.h"

#define HEAD(connection) FRONTRIG_HEAD(connection)
#define BODY             FRONTRIG_BODY
#define KEPT             FRONTRIG_KEPT
#define CLOSED           FRONTRIG_CLOSED
#define ONE              FRONTRIG_ONE

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

TEST(each_request_gets_its_answer)
{
    for (size_t i = 0; i < sizeof(dialogues) / sizeof(dialogues[0]); i++) {
        struct frontrig rig;

        frontrig_begin(&rig, strlen(BODY));
        frontrig_say(&rig, dialogues[i].said, strlen(dialogues[i].said));
        frontrig_expect(&rig, dialogues[i].want, dialogues[i].closes);
        frontrig_end(&rig);
    }
}

TEST(a_byte_at_a_time_makes_no_difference)
{
    for (size_t i = 0; i < sizeof(dialogues) / sizeof(dialogues[0]); i++) {
        const char *said = dialogues[i].said;
        struct frontrig rig;

        frontrig_begin(&rig, strlen(BODY));
        for (size_t k = 0; k < strlen(said); k++)
            frontrig_say(&rig, said + k, 1);
        frontrig_expect(&rig, dialogues[i].want, dialogues[i].closes);
        frontrig_end(&rig);
    }
}

/* The refusal arrives although the client had more to say. */
TEST(what_is_not_http_is_refused)
{
    static const char *const cases[] = {
        "hello\r\n\r\n",
        "GET / HTTP/2.0\r\n\r\n",
        "GET / HTTP/1.1\r\nno colon\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct buf heard;
        struct frontrig rig;

        frontrig_begin(&rig, 2);
        frontrig_say(&rig, cases[i], strlen(cases[i]));
        frontrig_say(&rig, "more", 4);
        buf_init(&heard, 4096);
        assert_true(frontrig_hear(&rig, &heard));
        assert_memory_equal(buf_text(&heard), "HTTP/1.1 400 Bad Request\r\n",
                            26);
        assert_non_null(strstr(buf_text(&heard), "{\"error\":\""));
        assert_int_equal(rig.requests, 0);
        buf_fini(&heard);
        frontrig_end(&rig);
    }
}

TEST(a_client_may_wait_for_the_go_ahead)
{
    static const char head[] = "POST / HTTP/1.1\r\nContent-Length: 3\r\n"
                               "Expect: 100-continue\r\n\r\n";
    struct frontrig rig;

    frontrig_begin(&rig, strlen(BODY));
    frontrig_say(&rig, head, strlen(head));
    frontrig_expect(&rig, "HTTP/1.1 100 Continue\r\n\r\n", false);
    frontrig_say(&rig, "abc", 3);
    frontrig_expect(&rig, KEPT, false);
    frontrig_end(&rig);
}

TEST(the_exchange_says_what_was_asked)
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
    struct frontrig rig;

    frontrig_begin(&rig, 2);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        frontrig_say(&rig, cases[i].said, strlen(cases[i].said));
        assert_int_equal(rig.requests, i + 1);
        assert_string_equal(rig.asked.method, cases[i].method);
        assert_string_equal(rig.asked.path, cases[i].path);
        assert_string_equal(buf_text(&rig.body), cases[i].body);
        assert_int_equal(rig.asked.body_len, strlen(cases[i].body));
        assert_int_equal(rig.asked.priority, cases[i].priority);
        assert_int_equal(rig.asked.keeps_alive, cases[i].keeps_alive);
        assert_int_equal(rig.asked.takes_chunks, cases[i].takes_chunks);
        assert_false(rig.asked.is_head);
    }
    frontrig_end(&rig);
}

TEST(the_exchange_has_id_and_arrival)
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
    struct frontrig rig;

    frontrig_begin(&rig, 2);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[128];
        int n = snprintf(text, sizeof(text), "GET / HTTP/1.1\r\n%s\r\n",
                         cases[i].header);

        rig.clock.at_ns += 10;
        frontrig_say(&rig, text, (size_t)n);
        assert_int_equal(rig.asked.id, cases[i].want);
        assert_int_equal(rig.asked.arrival_ns, rig.clock.at_ns);
        assert_int_equal(rig.sent_ns, rig.clock.at_ns);
    }
    assert_int_equal(rig.ended, sizeof(cases) / sizeof(cases[0]));
    frontrig_end(&rig);
}

TEST(a_long_path_is_cut)
{
    char text[1024];
    struct frontrig rig;
    int n;

    frontrig_begin(&rig, 2);
    n = snprintf(text, sizeof(text), "GET /%0500d HTTP/1.1\r\n\r\n", 0);
    frontrig_say(&rig, text, (size_t)n);
    assert_int_equal(strlen(rig.asked.path), FRONT_MAX_PATH - 1);
    assert_memory_equal(rig.asked.path, "/0000", 5);
    frontrig_end(&rig);
}

/* The first bytes are kept, with no hole; the connection goes on. */
TEST(a_body_beyond_the_bound_is_cut)
{
    const size_t len = FRONT_MAX_BODY + 100001;
    char text[80];
    size_t said = 0;
    struct buf body;
    struct frontrig rig;
    int n;

    buf_init(&body, len);
    for (size_t i = 0; i < len; i++)
        buf_reserve(&body, len)[i] = (char)('a' + i % 23);
    body.len = len;
    frontrig_begin(&rig, 2);
    n = snprintf(text, sizeof(text),
                 "POST / HTTP/1.1\r\nContent-Length: %zu\r\n\r\n", len);
    frontrig_say(&rig, text, (size_t)n);
    while (said < len) {
        ssize_t sent = send(rig.client, body.data + said, len - said,
                            MSG_NOSIGNAL | MSG_DONTWAIT);

        assert_true(sent > 0);
        said += (size_t)sent;
        frontrig_pass(&rig);
    }
    frontrig_pass(&rig);
    assert_int_equal(rig.ended, 1);
    assert_int_equal(rig.body.len, FRONT_MAX_BODY);
    assert_memory_equal(rig.body.data, body.data, FRONT_MAX_BODY);
    frontrig_say(&rig, ONE, strlen(ONE));
    assert_int_equal(rig.ended, 2);
    assert_int_equal(rig.body.len, 0);
    buf_fini(&body);
    frontrig_end(&rig);
}

/* A client that says goodbye after many requests and takes its answers then.
 * The front has stopped reading by the time, and TLS holds the goodbye. */
static void pipeline(struct front_tls *tls, SSL_CTX *ctx, int requests)
{
    struct frontrig rig;
    SSL *ssl = SSL_new(ctx);
    char text[100];
    char *bytes;
    int pair[2];
    long len;
    ssize_t n;

    frontrig_begin(&rig, 2);
    rig.holds = true;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair),
                     0);
    front_use_tls(rig.front, tls);
    front_take(rig.front, pair[1]);
    SSL_set_fd(ssl, pair[0]);
    for (int i = 0; i < 10 && SSL_connect(ssl) != 1; i++)
        frontrig_pass(&rig);
    SSL_set0_wbio(ssl, BIO_new(BIO_s_mem()));
    snprintf(text, sizeof(text), "GET /%070d HTTP/1.1\r\n\r\n", 0);
    for (int i = 0; i < requests; i++)
        assert_true(SSL_write(ssl, text, (int)strlen(text)) > 0);
    SSL_shutdown(ssl);
    len = BIO_get_mem_data(SSL_get_wbio(ssl), &bytes);
    assert_int_equal(send(pair[0], bytes, (size_t)len, MSG_NOSIGNAL), len);
    frontrig_pass(&rig);
    do {
        frontrig_answer(&rig, rig.held);
        frontrig_pass(&rig);
        while ((n = recv(pair[0], text, sizeof(text), 0)) > 0)
            continue;
    } while (rig.ended < rig.requests);
    assert_int_equal(rig.ended, requests);
    if (n != 0)
        fail_msg("%d requests: still open", requests);
    SSL_free(ssl);
    close(pair[0]);
    frontrig_end(&rig);
}

TEST(what_tls_holds_is_not_forgotten)
{
    const struct stub_settings settings = {.tls = STUB_TLS_SELF_SIGNED};
    struct err err = {0};
    struct front_tls *tls;
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());

    assert_int_equal(front_tls_new(&tls, &settings, &err), 0);
    for (int requests = 740; requests <= 770; requests += 2)
        pipeline(tls, ctx, requests);
    SSL_CTX_free(ctx);
    front_tls_free(tls);
}
