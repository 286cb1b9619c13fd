/* Every message is fed whole, byte by byte, and cut in two at every place: the
 * events must be the same. */
#include <stdlib.h>
#include <string.h>

#include "common/base/xalloc.h"
#include "common/wire/http_message.h"
#include "tests/support/test.h"

#define SEVERAL 100000

/* What the hooks saw: "name=value\n" for headers, body bytes by themselves. */
struct seen {
    struct buf headers;
    struct buf body;
};

static void on_header(void *arg, const char *name, size_t name_len,
                      const char *value, size_t value_len)
{
    struct seen *seen = arg;

    buf_add(&seen->headers, name, name_len);
    buf_adds(&seen->headers, "=");
    buf_add(&seen->headers, value, value_len);
    buf_adds(&seen->headers, "\n");
}

static void on_body(void *arg, const char *data, size_t len)
{
    struct seen *seen = arg;

    assert_true(len > 0);
    buf_add(&seen->body, data, len);
}

static const struct http1_hooks hooks = {.header = on_header, .body = on_body};

static void begin(struct http1 *p, enum http1_kind kind, struct seen *seen)
{
    buf_init(&seen->headers, SEVERAL);
    buf_init(&seen->body, SEVERAL);
    http1_init(p, kind, &hooks, seen);
}

static void end(struct http1 *p, struct seen *seen)
{
    http1_fini(p);
    buf_fini(&seen->headers);
    buf_fini(&seen->body);
}

/* Feed a copy of exactly this size, so that a sanitizer sees a step beyond. */
static ssize_t feed(struct http1 *p, const char *text, size_t len)
{
    char *copy = xstrndup(text, len);
    char *exact = xrealloc(copy, len ? len : 1, 1);
    ssize_t n = http1_feed(p, exact, len);

    free(exact);
    return n;
}

/* In pieces of `first`, then `step` bytes.  Returns how many were taken in
 * all; -1 after an error. */
static ssize_t feed_in_pieces(struct http1 *p, const char *text, size_t len,
                              size_t first, size_t step)
{
    size_t used = 0;
    size_t piece = first;

    while (used < len && !http1_is_done(p)) {
        size_t left = len - used;
        size_t want = piece < left ? piece : left;
        ssize_t n = feed(p, text + used, want);

        if (n < 0)
            return -1;
        assert_true((size_t)n == want || http1_is_done(p));
        used += (size_t)n;
        piece = step;
    }
    return (ssize_t)used;
}

/* ---- good messages ---- */

enum ending { IS_DONE, AT_EOF, IS_CUT };

static const struct message {
    enum http1_kind kind;
    bool is_head_request;
    const char *text;
    int status;
    bool keeps_alive;
    enum ending ending;
    const char *headers;
    const char *body;
} messages[] = {
    {HTTP1_RESPONSE, false,
     "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A:  b c \r\n\r\nhello", 200,
     true, IS_DONE, "Content-Length=5\nX-A=b c\n", "hello"},
    {HTTP1_RESPONSE, false, "HTTP/1.1 200\r\ncontent-length:0\r\n\r\n", 200,
     true, IS_DONE, "content-length=0\n", ""},
    {HTTP1_RESPONSE, false,
     "HTTP/1.1 200 OK\nContent-Length: 2\n\nab", /* bare LF */
     200, true, IS_DONE, "Content-Length=2\n", "ab"},
    {HTTP1_RESPONSE, false,
     "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n"
     "5\r\nhello\r\n006;name=\"v\";x\r\n world\r\nA \r\n0123456789\r\n"
     "0\r\nX-Trailer: t\r\n\r\n",
     200, true, IS_DONE, "Transfer-Encoding=Chunked\nX-Trailer=t\n",
     "hello world0123456789"},
    {HTTP1_RESPONSE, false,
     "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n2\nab\n0;last\n\n", 200,
     true, IS_DONE, "Transfer-Encoding=chunked\n", "ab"},
    {HTTP1_RESPONSE, false, /* chunks win over a length */
     "HTTP/1.1 200 OK\r\nContent-Length: 99\r\nTransfer-Encoding: chunked\r\n"
     "\r\n1\r\nx\r\n0\r\n\r\n",
     200, true, IS_DONE, "Content-Length=99\nTransfer-Encoding=chunked\n", "x"},
    {HTTP1_RESPONSE, false, /* a trailer frames nothing */
     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
     "Content-Length: x\r\nConnection: close\r\n\r\n",
     200, true, IS_DONE,
     "Transfer-Encoding=chunked\nContent-Length=x\nConnection=close\n", ""},
    {HTTP1_RESPONSE, false,
     "HTTP/1.1 100 Continue\r\nContent-Length: 7\r\n\r\n"
     "HTTP/1.1 103 Early Hints\r\nTransfer-Encoding: chunked\r\n"
     "Connection: close\r\n\r\n"
     "HTTP/1.1 201 Created\r\nContent-Length: 1\r\n\r\nx",
     201, true, IS_DONE,
     "Content-Length=7\nTransfer-Encoding=chunked\nConnection=close\n"
     "Content-Length=1\n",
     "x"},
    {HTTP1_RESPONSE, false, "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx",
     200, false, IS_DONE, "Content-Length=1\n", "x"},
    {HTTP1_RESPONSE, false,
     "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\nx",
     200, true, IS_DONE, "Connection=Keep-Alive\nContent-Length=1\n", "x"},
    {HTTP1_RESPONSE, false,
     "HTTP/1.1 200 OK\r\nConnection: x, close ,y\r\nContent-Length: 1\r\n\r\nx",
     200, false, IS_DONE, "Connection=x, close ,y\nContent-Length=1\n", "x"},
    {HTTP1_RESPONSE, false, /* a word that only begins like one */
     "HTTP/1.1 200 OK\r\nConnection: closed\r\nContent-Length: 1\r\n\r\nx", 200,
     true, IS_DONE, "Connection=closed\nContent-Length=1\n", "x"},
    {HTTP1_RESPONSE, false, "HTTP/1.1 200 OK\r\nA:\r\n\r\nuntil the\r\n\r\nend",
     200, false, AT_EOF, "A=\n", "until the\r\n\r\nend"},
    {HTTP1_RESPONSE, false, "HTTP/1.0 200 OK\r\n\r\n", 200, false, AT_EOF, "",
     ""},
    {HTTP1_RESPONSE, false, "HTTP/1.1 204 No Content\r\n\r\n", 204, true,
     IS_DONE, "", ""},
    {HTTP1_RESPONSE, false,
     "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", 304, true,
     IS_DONE, "Content-Length=5\n", ""},
    {HTTP1_RESPONSE, true,
     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", 200, true,
     IS_DONE, "Transfer-Encoding=chunked\n", ""},
    {HTTP1_RESPONSE, true, "HTTP/1.1 200 OK\r\n\r\n", 200, true, IS_DONE, "",
     ""},
    {HTTP1_RESPONSE, false,
     "HTTP/1.1 503 Busy: try later\r\nContent-Length: 3\r\n"
     "Content-Length: 3\r\n\r\nno!",
     503, true, IS_DONE, "Content-Length=3\nContent-Length=3\n", "no!"},
    {HTTP1_RESPONSE, false, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhell",
     200, true, IS_CUT, "Content-Length=9\n", "hell"},
    {HTTP1_RESPONSE, false,
     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhell", 200,
     true, IS_CUT, "Transfer-Encoding=chunked\n", "hell"},
    {HTTP1_RESPONSE, false, "HTTP/1.1 200 OK\r\nA: b", 200, true, IS_CUT, "",
     ""},
    {HTTP1_REQUEST, false, "GET / HTTP/1.1\r\nHost: h\r\n\r\n", 0, true,
     IS_DONE, "Host=h\n", ""},
    {HTTP1_REQUEST, false,
     "\r\n\r\nPOST /a?b HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", 0, true,
     IS_DONE, "Content-Length=3\n", "abc"},
    {HTTP1_REQUEST, false,
     "POST /p HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n"
     "\r\n",
     0, false, IS_DONE, "Transfer-Encoding=chunked\n", "abc"},
    {HTTP1_REQUEST, false, "GET /x HTTP/1.1\r\nConnection: close\r\n\r\n", 0,
     false, IS_DONE, "Connection=close\n", ""},
    {HTTP1_REQUEST, false, "OPTIONS * HTTP/1.1\n\n", 0, true, IS_DONE, "", ""},
};

static void check_message(const struct message *m, size_t first, size_t step)
{
    size_t len = strlen(m->text);
    struct seen seen;
    struct http1 p;

    begin(&p, m->kind, &seen);
    p.is_head_request = m->is_head_request;
    assert_false(p.has_started);
    assert_int_equal(feed_in_pieces(&p, m->text, len, first, step), len);
    assert_int_equal(p.error, HTTP1_FINE);
    assert_true(p.has_started);
    assert_int_equal(http1_is_done(&p), m->ending == IS_DONE);
    assert_int_equal(http1_finish_at_eof(&p), m->ending == AT_EOF);
    assert_int_equal(http1_is_done(&p), m->ending != IS_CUT);
    assert_int_equal(p.status, m->status);
    assert_int_equal(p.keeps_alive, m->keeps_alive);
    assert_string_equal(buf_text(&seen.headers), m->headers);
    assert_string_equal(buf_text(&seen.body), m->body);
    end(&p, &seen);
}

TEST(messages_are_read_however_they_are_cut)
{
    for (size_t i = 0; i < COUNT(messages); i++) {
        size_t len = strlen(messages[i].text);

        check_message(&messages[i], 1, 1);
        for (size_t cut = 1; cut <= len; cut++)
            check_message(&messages[i], cut, len);
    }
}

/* Two messages in one piece: the feed stops between them. */
TEST(a_feed_stops_at_the_end_of_its_message)
{
    for (size_t i = 0; i < COUNT(messages); i++) {
        const struct message *m = &messages[i];
        size_t len = strlen(m->text);
        struct buf twice;
        struct seen seen;
        struct http1 p;

        if (m->ending != IS_DONE)
            continue;
        buf_init(&twice, SEVERAL);
        buf_addf(&twice, "%s%s", m->text, m->text);
        begin(&p, m->kind, &seen);
        p.is_head_request = m->is_head_request;
        assert_int_equal(feed(&p, twice.data, twice.len), len);
        assert_true(http1_is_done(&p));
        assert_int_equal(feed(&p, twice.data + len, len), 0);
        assert_string_equal(buf_text(&seen.body), m->body);

        http1_begin(&p);
        assert_false(p.has_started || http1_has_head(&p) || p.is_head_request);
        p.is_head_request = m->is_head_request;
        assert_int_equal(feed(&p, twice.data + len, len), len);
        assert_true(http1_is_done(&p));
        assert_int_equal(p.status, m->status);
        assert_int_equal(p.keeps_alive, m->keeps_alive);
        end(&p, &seen);
        buf_fini(&twice);
    }
}

TEST(the_head_is_complete_after_its_empty_line)
{
    static const char text[] = "HTTP/1.1 100 Go on\r\n\r\n"
                               "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx";
    struct seen seen;
    struct http1 p;

    begin(&p, HTTP1_RESPONSE, &seen);
    for (size_t i = 0; i + 2 < sizeof(text); i++) {
        assert_false(http1_has_head(&p));
        assert_int_equal(feed(&p, text + i, 1), 1);
    }
    assert_true(http1_has_head(&p));
    assert_int_equal(p.content_length, 1);
    end(&p, &seen);
}

TEST(hooks_are_optional)
{
    static const struct http1_hooks none = {0};
    struct http1 p;

    http1_init(&p, HTTP1_RESPONSE, &none, NULL);
    for (size_t i = 0; i < COUNT(messages); i++) {
        if (messages[i].kind != HTTP1_RESPONSE)
            continue;
        http1_begin(&p);
        p.is_head_request = messages[i].is_head_request;
        assert_true(feed(&p, messages[i].text, strlen(messages[i].text)) > 0);
    }
    http1_fini(&p);
}

/* The second time a head is recognised, and says the same. */
TEST(known_heads)
{
    static const struct http1_hooks none = {0};
    struct http1_known known = {0};
    struct http1 plain;
    struct http1 p;

    http1_init(&plain, HTTP1_RESPONSE, &none, NULL);
    http1_init(&p, HTTP1_RESPONSE, &none, NULL);
    p.known = &known;
    for (size_t i = 0; i < COUNT(messages); i++) {
        const char *text = messages[i].text;

        if (messages[i].kind != HTTP1_RESPONSE)
            continue;
        http1_begin(&plain);
        plain.is_head_request = messages[i].is_head_request;
        feed(&plain, text, strlen(text));
        for (int turn = 0; turn < 3; turn++) {
            http1_begin(&p);
            p.is_head_request = messages[i].is_head_request;
            feed(&p, text, strlen(text));
            assert_int_equal(p.status, plain.status);
            assert_int_equal(p.state, plain.state);
            assert_int_equal(p.keeps_alive, plain.keeps_alive);
            assert_int_equal(p.is_chunked, plain.is_chunked);
            assert_int_equal(p.content_length, plain.content_length);
            assert_int_equal(p.left, plain.left);
            assert_true(p.has_started);
        }
    }
    http1_fini(&plain);
    http1_fini(&p);
}

/* ---- bad ones ---- */

#define OK      "HTTP/1.1 200 OK\r\n"
#define CHUNKED OK "Transfer-Encoding: chunked\r\n\r\n"

static const struct {
    enum http1_kind kind;
    const char *text;
    enum http1_error want;
} broken[] = {
    {HTTP1_RESPONSE, "\r\n", HTTP1_BAD_START},
    {HTTP1_RESPONSE, "HTTP/1.1\r\n", HTTP1_BAD_START},
    {HTTP1_RESPONSE, "HTTP/1.1 20\r\n", HTTP1_BAD_START},
    {HTTP1_RESPONSE, "HTTP/1.1 2000\r\n", HTTP1_BAD_START},
    {HTTP1_RESPONSE, "HTTP/1.1 2x0 OK\r\n", HTTP1_BAD_START},
    {HTTP1_RESPONSE, "HTTP/1.1 099 Low\r\n", HTTP1_BAD_START},
    {HTTP1_RESPONSE, "HTTP/1.1 101 Switch\r\n", HTTP1_BAD_START},
    {HTTP1_RESPONSE, "HTTP/1.2 200 OK\r\n", HTTP1_BAD_START},
    {HTTP1_RESPONSE, "HTTP/2.0 200 OK\r\n", HTTP1_BAD_START},
    {HTTP1_RESPONSE, "HTTP/1.1  200 OK\r\n", HTTP1_BAD_START},
    {HTTP1_RESPONSE, "http/1.1 200 OK\r\n", HTTP1_BAD_START},
    {HTTP1_RESPONSE, "SSH-2.0-OpenSSH_9.2p1\r\n", HTTP1_BAD_START},
    {HTTP1_REQUEST, "GET /\r\n", HTTP1_BAD_START},
    {HTTP1_REQUEST, "GET / HTTP/1.2\r\n", HTTP1_BAD_START},
    {HTTP1_REQUEST, "GET /HTTP/1.1\r\n", HTTP1_BAD_START},
    {HTTP1_REQUEST, "GETTING HTTP/1.1\r\n", HTTP1_BAD_START},
    {HTTP1_REQUEST, " /path/x HTTP/1.1\r\n", HTTP1_BAD_START},
    {HTTP1_REQUEST, "\x16\x03\x01 hello of TLS\n", HTTP1_BAD_START},
    {HTTP1_RESPONSE, OK "no colon\r\n", HTTP1_BAD_HEADER},
    {HTTP1_RESPONSE, OK ": no name\r\n", HTTP1_BAD_HEADER},
    {HTTP1_RESPONSE, OK "name : x\r\n", HTTP1_BAD_HEADER},
    {HTTP1_RESPONSE, OK "name\t: x\r\n", HTTP1_BAD_HEADER},
    {HTTP1_RESPONSE, OK "a: b\r\n folded: x\r\n", HTTP1_BAD_HEADER},
    {HTTP1_RESPONSE, OK "a: b\r\n\tfolded: x\r\n", HTTP1_BAD_HEADER},
    {HTTP1_RESPONSE, CHUNKED "0\r\nno colon\r\n", HTTP1_BAD_HEADER},
    {HTTP1_RESPONSE, OK "Content-Length:\r\n", HTTP1_BAD_LENGTH},
    {HTTP1_RESPONSE, OK "Content-Length: -1\r\n", HTTP1_BAD_LENGTH},
    {HTTP1_RESPONSE, OK "Content-Length: +1\r\n", HTTP1_BAD_LENGTH},
    {HTTP1_RESPONSE, OK "Content-Length: 1x\r\n", HTTP1_BAD_LENGTH},
    {HTTP1_RESPONSE, OK "Content-Length: 0x10\r\n", HTTP1_BAD_LENGTH},
    {HTTP1_RESPONSE, OK "Content-Length: 1 1\r\n", HTTP1_BAD_LENGTH},
    {HTTP1_RESPONSE, OK "Content-Length: 9999999999999999999\r\n",
     HTTP1_BAD_LENGTH},
    {HTTP1_RESPONSE, OK "Content-Length: 1\r\nContent-Length: 2\r\n",
     HTTP1_BAD_LENGTH},
    {HTTP1_RESPONSE, OK "Transfer-Encoding: gzip\r\n", HTTP1_BAD_ENCODING},
    {HTTP1_RESPONSE, OK "Transfer-Encoding: gzip, chunked\r\n",
     HTTP1_BAD_ENCODING},
    {HTTP1_RESPONSE, OK "Transfer-Encoding:\r\n", HTTP1_BAD_ENCODING},
    {HTTP1_RESPONSE, CHUNKED "\r\n", HTTP1_BAD_CHUNK},
    {HTTP1_RESPONSE, CHUNKED "x\r\n", HTTP1_BAD_CHUNK},
    {HTTP1_RESPONSE, CHUNKED "-1\r\n", HTTP1_BAD_CHUNK},
    {HTTP1_RESPONSE, CHUNKED "1g\r\n", HTTP1_BAD_CHUNK},
    {HTTP1_RESPONSE, CHUNKED ";ext\r\n", HTTP1_BAD_CHUNK},
    {HTTP1_RESPONSE, CHUNKED "ffffffffffffffff\r\n", HTTP1_BAD_CHUNK},
    {HTTP1_RESPONSE, CHUNKED "2\r\nabc\r\n", HTTP1_BAD_CHUNK},
    {HTTP1_RESPONSE, CHUNKED "2\r\nab0\r\n\r\n", HTTP1_BAD_CHUNK},
};

static void check_broken(size_t i, size_t first, size_t step)
{
    struct seen seen;
    struct http1 p;

    begin(&p, broken[i].kind, &seen);
    assert_int_equal(
        feed_in_pieces(&p, broken[i].text, strlen(broken[i].text), first, step),
        -1);
    assert_int_equal(p.error, broken[i].want);
    assert_true(p.has_started);
    assert_false(http1_is_done(&p));
    end(&p, &seen);
}

TEST(broken_messages_say_what_is_wrong)
{
    for (size_t i = 0; i < COUNT(broken); i++) {
        size_t len = strlen(broken[i].text);

        check_broken(i, 1, 1);
        for (size_t cut = 1; cut <= len; cut++)
            check_broken(i, cut, len);
    }
}

/* `before`, then n times 'x', then a line end: within the bound or not, alike
 * in one piece and in many. */
static void check_bound(const char *before, size_t n, size_t step,
                        enum http1_error want)
{
    size_t len = strlen(before) + n + 1;
    char *text = xcalloc(len + 1, 1);
    struct seen seen;
    struct http1 p;
    ssize_t used;

    memset(text, 'x', len - 1);
    for (size_t i = 0; before[i]; i++)
        text[i] = before[i];
    text[len - 1] = '\n';
    begin(&p, HTTP1_RESPONSE, &seen);
    used = feed_in_pieces(&p, text, len, step, step);
    assert_int_equal(used, want == HTTP1_FINE ? (ssize_t)len : -1);
    assert_int_equal(p.error, want);
    end(&p, &seen);
    free(text);
}

TEST(heads_are_bounded)
{
    static const char start[] = OK "a: ";
    static const char chunk[] = CHUNKED "1;";
    static const size_t steps[] = {1, 1000, 1 << 20};
    size_t most = HTTP1_MAX_HEAD - strlen(start) - 1;
    size_t most_chunk = HTTP1_MAX_HEAD - strlen("1;") - 1;

    for (size_t i = 0; i < COUNT(steps); i++) {
        check_bound(start, most, steps[i], HTTP1_FINE);
        check_bound(start, most + 1, steps[i], HTTP1_LONG_HEAD);
        check_bound("HTTP/1.1 200 ", HTTP1_MAX_HEAD, steps[i], HTTP1_LONG_HEAD);
        check_bound(chunk, most_chunk, steps[i], HTTP1_FINE);
        check_bound(chunk, most_chunk + 1, steps[i], HTTP1_LONG_HEAD);
    }
}

/* The bound is on the sum: neither headers nor trailers nor 1xx answers may go
 * on for ever. */
TEST(endless_heads_end)
{
    static const struct {
        const char *before;
        const char *again;
    } cases[] = {
        {OK, "a: b\r\n"},
        {CHUNKED "0\r\n", "a: b\r\n"},
        {"", "HTTP/1.1 100 Wait\r\n\r\n"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct seen seen;
        struct http1 p;
        size_t fed = 0;

        begin(&p, HTTP1_RESPONSE, &seen);
        feed(&p, cases[i].before, strlen(cases[i].before));
        while (feed(&p, cases[i].again, strlen(cases[i].again)) >= 0)
            fed += strlen(cases[i].again);
        assert_int_equal(p.error, HTTP1_LONG_HEAD);
        assert_in_range(fed, HTTP1_MAX_HEAD - 100, HTTP1_MAX_HEAD);
        end(&p, &seen);
    }
}

TEST(errors_have_texts)
{
    for (int e = 0; e < HTTP1_ERROR_COUNT; e++)
        assert_true(strlen(http1_error_text((enum http1_error)e)) > 5);
    assert_string_equal(http1_error_text(HTTP1_BAD_CHUNK), "a damaged chunk");
    assert_string_equal(http1_error_text(HTTP1_ERROR_COUNT), "unknown error");
}
