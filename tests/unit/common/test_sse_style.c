#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/str.h"
#include "common/wire/sse.h"
#include "tests/support/test.h"

/* Names up to a NULL. */
static int parse(const char *const *texts, unsigned *ways, struct err *err)
{
    struct strlist list = {0};
    int rc;

    for (; *texts; texts++)
        strlist_add(&list, *texts);
    rc = sse_style_parse(&list, ways, err);
    strlist_fini(&list);
    return rc;
}

static const struct {
    const char *ways[4];
    const char *data;
    const char *want;
} cases[] = {
    {{NULL}, "{\"a\":1}", "data: {\"a\":1}\n\n"},
    {{NULL}, "[DONE]", "data: [DONE]\n\n"},
    {{"crlf"}, "x", "data: x\r\n\r\n"},
    {{"cr"}, "x", "data: x\r\r"},
    {{"no-space"}, "x", "data:x\n\n"},
    {{"named"}, "x", "event: message\ndata: x\n\n"},
    {{"named", "no-space", "crlf"}, "x", "event:message\r\ndata:x\r\n\r\n"},
    {{"split"}, "{\"a\":1}", "data: {\ndata: \"a\":1}\n\n"},
    {{"split"}, "[DONE]", "data: [DONE]\n\n"},
    {{"comments"}, "x", ": ping\n\ndata: x\n\n"},
    {{"empty"}, "x", "data:\n\ndata: x\n\n"},
    {{"pings"}, "x", "data: : ping\n\ndata: x\n\n"},
    {{"pings", "comments", "crlf"},
     "x",
     ": ping\r\n\r\ndata: : ping\r\n\r\ndata: x\r\n\r\n"},
};

TEST(events_are_written_in_each_way)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct err err = {0};
        struct buf out;
        unsigned ways;

        buf_init(&out, 1000);
        assert_int_equal(parse(cases[i].ways, &ways, &err), 0);
        sse_style_write_keepalives(ways, &out);
        sse_style_write(ways, cases[i].data, &out);
        assert_string_equal(buf_text(&out), cases[i].want);
        buf_fini(&out);
    }
}

TEST(other_ways_are_refused)
{
    struct err err = {0};
    unsigned ways;

    assert_int_equal(sse_style_check("crlf", &err), 0);
    assert_int_equal(sse_style_check("CRLF", &err), -1);
    assert_string_equal(
        err.msg, "'CRLF' is not a style of events; choose from crlf, cr, "
                 "no-space, named, split, comments, empty and pings");
    err = (struct err){0};
    assert_int_equal(
        parse((const char *const[]){"cr", "crlf", NULL}, &ways, &err), -1);
    assert_string_equal(err.msg, "crlf cannot be combined with cr");
}
