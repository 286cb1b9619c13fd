#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/show_view.h"
#include "common/base/clk.h"
#include "common/base/xalloc.h"
#include "loadgen/prepare/exchange.h"
#include "tests/support/test.h"

static void fill(struct exchange_side *side, const char *bytes, size_t len)
{
    buf_init(&side->bytes, 1000);
    buf_add(&side->bytes, bytes, len);
    side->total = (int64_t)len;
}

static struct exchange made(const char *received, size_t len)
{
    struct exchange x = {.facts = facts_unknown(0, 0),
                         .first_byte = TIME_ABSENT,
                         .kept = 1000,
                         .why = xstrdup(""),
                         .transport = "native"};

    fill(&x.sent, "GET / HTTP/1.1\r\n\r\n", 18);
    fill(&x.received, received, len);
    x.facts.issued = 0;
    x.facts.end = 3 * NS_PER_MS;
    return x;
}

/* A received text, and how it is shown. */
TEST(both_sides_are_shown)
{
    static const struct {
        const char *bytes;
        size_t len;
        const char *want;
    } cases[] = {
        {"a\r\nb\n\nc", 7, "< a\n< b\n< \n< c\n"},
        {"\0\x01\x1b[31m\t\x7f", 9, "< \\x00\\x01\\x1b[31m\t\\x7f\n"},
        {"gr\xc3\xbc\xc3\x9f", 6, "< gr\xc3\xbc\xc3\x9f\n"},
        {"\xc2\x9b"
         "31m",
         5, "< \\xc2\\x9b31m\n"},
        {"\xff\xc3(\xe2\x82", 5, "< \\xff\\xc3(\\xe2\\x82\n"},
        {"a\rb\r\n", 5,
         "< a\\x0d"
         "b\n"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct exchange x = made(cases[i].bytes, cases[i].len);
        struct buf out;

        buf_init(&out, 10000);
        show_view(&x, &out);
        assert_memory_equal(buf_text(&out), "> GET / HTTP/1.1\n> \n", 20);
        assert_memory_equal(buf_text(&out) + 20, cases[i].want,
                            strlen(cases[i].want));
        buf_fini(&out);
        exchange_fini(&x);
    }
}

TEST(the_end_says_how_it_went)
{
    struct exchange x = made("x", 1);
    struct buf out;

    x.facts.outcome = OUTCOME_OK;
    x.facts.status = 204;
    x.facts.connected = NS_PER_MS;
    x.facts.secured = 2 * NS_PER_MS;
    x.first_byte = 2500 * NS_PER_US;
    x.received.total = 5000;
    buf_init(&out, 10000);
    show_view(&x, &out);
    assert_non_null(strstr(
        buf_text(&out),
        "< x\n< ... 5000 bytes in all\n\n"
        "outcome    ok, HTTP status 204\n"
        "timing     connect 1.00ms, tls 1.00ms, first byte 2.50ms, total "
        "3.00ms\n"
        "bytes      18 out, 5000 in, over the native transport\n"));
    assert_null(strstr(buf_text(&out), "INSECURE"));
    x.is_insecure = true;
    show_view(&x, &out);
    assert_non_null(strstr(
        buf_text(&out), "INSECURE: the server's certificate was not verified"));
    buf_fini(&out);
    exchange_fini(&x);
}

TEST(the_exit_code_is_the_answer)
{
    static const struct {
        enum outcome outcome;
        int64_t sent;
        int want;
    } cases[] = {
        {OUTCOME_OK, 1, EXIT_YES},
        {OUTCOME_STATUS, 1, EXIT_NO},
        {OUTCOME_RESET, 1, EXIT_NO},
        {OUTCOME_TIMEOUT, 1, EXIT_NO},
        {OUTCOME_TIMEOUT, TIME_ABSENT, EXIT_CANNOT},
        {OUTCOME_CONNECT, TIME_ABSENT, EXIT_CANNOT},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct exchange x = {
            .facts = {.outcome = cases[i].outcome, .sent = cases[i].sent}};

        assert_int_equal(show_exit_code(&x), cases[i].want);
    }
}
