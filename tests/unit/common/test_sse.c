/* Every stream is fed whole, byte by byte, cut in two at every place, and cut
 * at random places: the events must be the same. */
#include <string.h>

#include "common/base/buf.h"
#include "common/wire/sse.h"
#include "tests/support/ssefeed.h"
#include "tests/support/test.h"

#define SEVERAL   100000
#define MAX_EVENT 10000

static void begin(struct sse *s, size_t max_event, struct buf *seen)
{
    buf_init(seen, SEVERAL);
    sse_init(s, max_event, ssefeed_note, seen);
}

static void end(struct sse *s, struct buf *seen)
{
    sse_fini(s);
    buf_fini(seen);
}

/* ---- streams ---- */

static const struct stream {
    const char *text;
    const char *events;
    int finish; /* what sse_finish() says */
    uint64_t comments;
} streams[] = {
    {"", "", 0, 0},
    {"\n\n\n", "", 0, 0},
    {"data: a\n\n", "[] a\n", 0, 0},
    {"data:a\n\n", "[] a\n", 0, 0},
    {"data:  a \n\n", "[]  a \n", 0, 0}, /* one space goes */
    {"data:\ta\n\n", "[] \ta\n", 0, 0},
    {"data: a\r\n\r\n", "[] a\n", 0, 0},
    {"data: a\r\r", "[] a\n", 0, 0},
    {"data: a\r\n\rdata: b\n\r\ndata: c\r\r\ndata: d\n\n",
     "[] a\n[] b\n[] c\n[] d\n", 0, 0},
    {"data: a\n\ndata: b\n\n\n\ndata: c\n\n", "[] a\n[] b\n[] c\n", 0, 0},
    {"data: a\ndata:b\ndata\ndata: c\n\n", "[] a\\nb\\n\\nc\n", 0, 0},
    {"data: a\rdata: b\r\ndata: c\n\r\n", "[] a\\nb\\nc\n", 0, 0},
    {"data:\n\n", "[] \n", 0, 0}, /* a keep-alive */
    {"data\n\n", "[] \n", 0, 0},
    {"data: \n\n", "[] \n", 0, 0},
    {"data\ndata\n\n", "[] \\n\n", 0, 0},
    {"data: : ping\n\n", "[] : ping\n", 0, 0},
    {": ping\n\n:\n\n:data: a\n\ndata: b\n: c\n\n", "[] b\n", 0, 4},
    {"event: e\ndata: a\n\ndata: b\n\n", "[e] a\n[] b\n", 0, 0},
    {"data: a\nevent:e\n\n", "[e] a\n", 0, 0},
    {"event: e\n\ndata: b\n\n", "[] b\n", 0, 0}, /* without data: forgotten */
    {"event: e\nevent: f\ndata: a\n\n", "[f] a\n", 0, 0},
    {"event: e\nevent\ndata: a\n\n", "[] a\n", 0, 0},
    {"event: e\nevent:\ndata: a\n\n", "[] a\n", 0, 0},
    {"id: 1\nretry: 10\ndata: a\n\nid\n\nretry: x\n\n", "[] a\n", 0, 0},
    {"dat: x\ndatas: x\nDATA: x\n data: x\nx\n x\ndata : x\ndata: a\n\n",
     "[] a\n", 0, 0},
    {"data: a:b: c\n\n", "[] a:b: c\n", 0, 0},
    {"\xef\xbb\xbf"
     "data: a\n\n\xef\xbb\xbf"
     "data: b\n\ndata: \xef\xbb\xbf"
     "c\n\n",
     "[] a\n[] \xef\xbb\xbf"
     "c\n",
     0, 0}, /* the first mark goes, another does not */
    {"\xef\xbb\xbf\n\ndata: a\n\n", "[] a\n", 0, 0},
    {"\xef\xbb\xbf: c\ndata: a\n\n", "[] a\n", 0, 1},
    {"\xef\xbb"
     "data: a\n\n",
     "", 0, 0}, /* half a mark is part of an unknown name */
    {"\n\xef\xbb\xbf"
     "data: a\n\n",
     "", 0, 0},
    {"data: \xf0\x9f\x98\x80 \xe4\xbd\xa0\n\n",
     "[] \xf0\x9f\x98\x80 \xe4\xbd\xa0\n", 0, 0},
    {"data: \xff\xfe\n\n", "[] \xff\xfe\n", 0, 0},
    /* cut off */
    {"data: a", "[] a\n", 1, 0},
    {"data: a\n", "[] a\n", 1, 0},
    {"data: a\r", "[] a\n", 1, 0},
    {"data: a\ndata: b", "[] a\\nb\n", 1, 0},
    {"event: e\ndata: a\n", "[e] a\n", 1, 0},
    {"data: a\nevent: e", "[e] a\n", 1, 0},
    {"data: a\n\ndata", "[] a\n[] \n", 1, 0},
    {"data: a\n\ndat", "[] a\n", 0, 0},
    {"data: a\n\nevent: e", "[] a\n", 0, 0},
    {"data: a\n: c", "[] a\n", 1, 1},
    {"\xef\xbb\xbf", "", 0, 0},
    {"\xef\xbb\xbf"
     "data: a",
     "[] a\n", 1, 0},
};

static void check_stream(const struct stream *t, size_t first, size_t step)
{
    struct buf seen;
    struct sse s;

    begin(&s, MAX_EVENT, &seen);
    assert_int_equal(
        ssefeed_in_pieces(&s, t->text, strlen(t->text), first, step), 0);
    assert_int_equal(sse_finish(&s), t->finish);
    assert_string_equal(buf_text(&seen), t->events);
    assert_int_equal(s.comments, t->comments);
    end(&s, &seen);
}

TEST(streams_are_read_however_they_are_cut)
{
    for (size_t i = 0; i < COUNT(streams); i++) {
        size_t len = strlen(streams[i].text);

        check_stream(&streams[i], 1, 1);
        for (size_t cut = 1; cut <= len; cut++)
            check_stream(&streams[i], cut, len);
    }
}

TEST(bytes_of_any_value_pass)
{
    static const char text[] =
        "data: a\0b\n\nevent: \0\ndata\0: x\ndata: y\n\n";
    static const char want[] = "[] a\0b\n[\0] y\n";
    struct buf seen;
    struct sse s;

    begin(&s, MAX_EVENT, &seen);
    assert_int_equal(ssefeed(&s, text, sizeof(text) - 1), 0);
    assert_int_equal(seen.len, sizeof(want) - 1);
    assert_memory_equal(seen.data, want, sizeof(want) - 1);
    end(&s, &seen);
}

/* An event is handed out with the first byte that ends it. */
TEST(events_do_not_wait)
{
    static const struct {
        const char *text;
        const char *rest;
    } cases[] = {
        {"data: a\n\n", "data: b\n\n"},
        {"data: a\r\n\r", "\ndata: b\r\n\r\n"},
        {"data: a\r\r", "data: b\r\r"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct buf seen;
        struct sse s;

        begin(&s, MAX_EVENT, &seen);
        ssefeed(&s, cases[i].text, strlen(cases[i].text) - 1);
        assert_string_equal(buf_text(&seen), "");
        ssefeed(&s, cases[i].text + strlen(cases[i].text) - 1, 1);
        assert_string_equal(buf_text(&seen), "[] a\n");
        assert_int_equal(ssefeed(&s, "", 0), 0);
        ssefeed(&s, cases[i].rest, strlen(cases[i].rest));
        assert_string_equal(buf_text(&seen), "[] a\n[] b\n");
        assert_int_equal(sse_finish(&s), 0);
        end(&s, &seen);
    }
}

/* ---- no copies, no memory ---- */

struct borrowed {
    const char *from;
    const char *to;
    size_t inside; /* events whose name and data lie there */
    size_t events;
};

static void look_where(void *arg, const struct sse_event *event)
{
    struct borrowed *b = arg;

    b->events++;
    b->inside += event->data >= b->from && event->data <= b->to &&
                 (event->name_len == 0 ||
                  (event->name >= b->from && event->name <= b->to));
}

TEST(whole_events_are_not_copied)
{
    static const char text[] =
        "data: a\n\nevent: e\ndata: b\n\n:x\ndata:\r\n\r\n"
        "data: two\ndata: lines\n\ndata: cut";
    struct borrowed b = {.from = text, .to = text + sizeof(text)};
    struct sse s;

    sse_init(&s, MAX_EVENT, look_where, &b);
    sse_feed(&s, text, sizeof(text) - 1);
    assert_int_equal(b.events, 4);
    assert_int_equal(b.inside, 3);
    sse_fini(&s);
}

TEST(memory_is_kept)
{
    static const char text[] = "event: name\ndata: some data\ndata: more\n\n";
    struct buf seen;
    struct sse s;
    struct sse warm;

    begin(&s, MAX_EVENT, &seen);
    for (size_t cut = 0; cut < sizeof(text); cut++) {
        sse_begin(&s);
        ssefeed_in_pieces(&s, text, sizeof(text) - 1, cut + 1, 1);
    }
    warm = s;
    for (size_t cut = 0; cut < sizeof(text); cut++) {
        sse_begin(&s);
        ssefeed_in_pieces(&s, text, sizeof(text) - 1, cut + 1, 1);
    }
    assert_ptr_equal(s.line.data, warm.line.data);
    assert_ptr_equal(s.data.data, warm.data.data);
    assert_ptr_equal(s.name.data, warm.name.data);
    end(&s, &seen);
}

TEST(the_next_stream_starts_anew)
{
    static const char *const left[] = {
        "data: a",
        "data: a\n",
        "event: e\n",
        "data: a\r",
        ": c",
        "\xef\xbb",
        "data: longer than anything that was allowed",
    };
    static const char second[] = "\n\xef\xbb\xbf"
                                 "data: b\n\n"; /* a mark in line 2 */
    struct buf seen;
    struct sse s;

    begin(&s, 30, &seen);
    for (size_t i = 0; i < COUNT(left); i++) {
        ssefeed(&s, left[i], strlen(left[i]));
        sse_begin(&s);
        buf_reset(&seen);
        assert_int_equal(s.comments, 0);
        assert_int_equal(ssefeed(&s, second, strlen(second)), 0);
        assert_string_equal(buf_text(&seen), "");
        sse_begin(&s);
        assert_int_equal(ssefeed(&s, second + 1, strlen(second) - 1), 0);
        assert_string_equal(buf_text(&seen), "[] b\n");
        assert_int_equal(sse_finish(&s), 0);
    }
    end(&s, &seen);
}

/* ---- bounds ---- */

static const struct {
    const char *text;
    bool is_fine; /* with a bound of 10 */
    const char *events;
} bounds[] = {
    {"data: abcd\n\ndata: abcd\n\n", true, "[] abcd\n[] abcd\n"},
    {"data: a\n\ndata: abcde\n\n", false, "[] a\n"},
    {"data: a\n\ndata: abcde", false, "[] a\n"},
    {"data:abcde\r\n\r\n", true, "[] abcde\n"},
    {"data\ndata\n\n", true, "[] \\n\n"},
    {"data\ndata\nid\n\n", true, "[] \\n\n"},
    {"data\ndata\nid:\n\n", false, ""},
    {"data\nevent:\n\n", true, "[] \n"},
    {"data\nevent:e\n\n", false, ""},
    {":a comment\n:a comment\ndata: abcd\n\n", true, "[] abcd\n"},
    {"data: abc\n:\n:\n\n", true, "[] abc\n"},
    {"data: abc\n::\n\n", false, ""},
    {":a comment!\n", false, ""},
};

static void check_bound(size_t i, size_t first, size_t step)
{
    size_t len = strlen(bounds[i].text);
    struct buf seen;
    struct sse s;
    int rc;

    begin(&s, 10, &seen);
    rc = ssefeed_in_pieces(&s, bounds[i].text, len, first, step);
    assert_int_equal(rc, bounds[i].is_fine ? 0 : -1);
    assert_string_equal(buf_text(&seen), bounds[i].events);
    if (!bounds[i].is_fine) {
        assert_int_equal(ssefeed(&s, "\n\ndata: b\n\n", 11), -1);
        assert_int_equal(ssefeed(&s, "", 0), -1);
        assert_int_equal(sse_finish(&s), -1);
        assert_string_equal(buf_text(&seen), bounds[i].events);
    }
    end(&s, &seen);
}

TEST(events_are_bounded)
{
    for (size_t i = 0; i < COUNT(bounds); i++) {
        size_t len = strlen(bounds[i].text);

        check_bound(i, 1, 1);
        for (size_t cut = 1; cut <= len; cut++)
            check_bound(i, cut, len);
    }
}
