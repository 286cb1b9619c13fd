/* Lines of files: plain, gzip and Zstandard, whole and cut off. */
#include <string.h>
#include <sys/stat.h>

#include <zlib.h>
#include <zstd.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "loadgen/trace/trace_lines.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define MAX_TEXT ((size_t)64 << 20)

/* ---- packing ---- */

static void pack_plain(const struct buf *text, struct buf *out)
{
    buf_add(out, buf_text(text), text->len);
}

static void pack_gz(const struct buf *text, struct buf *out)
{
    z_stream z = {0};
    size_t room = text->len + 1000;

    assert_int_equal(deflateInit2(&z, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY),
                     Z_OK);
    z.next_in = (Bytef *)text->data;
    z.avail_in = (uInt)text->len;
    z.next_out = (Bytef *)buf_reserve(out, room);
    z.avail_out = (uInt)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    buf_commit(out, room - z.avail_out);
    deflateEnd(&z);
}

static void pack_zst(const struct buf *text, struct buf *out)
{
    size_t room = ZSTD_compressBound(text->len);
    size_t n = ZSTD_compress(buf_reserve(out, room), room, buf_text(text),
                             text->len, 1);

    assert_false(ZSTD_isError(n));
    buf_commit(out, n);
}

/* pzstd begins with a skippable frame, which holds the size of the next. */
static void pack_pzstd(const struct buf *text, struct buf *out)
{
    buf_add(out, "\x50\x2a\x4d\x18\x04\0\0\0size", 12);
    pack_zst(text, out);
}

static const struct packer {
    const char *name;
    void (*pack)(const struct buf *text, struct buf *out);
} packers[] = {{"plain", pack_plain},
               {"gz", pack_gz},
               {"zst", pack_zst},
               {"pzstd", pack_pzstd}};

/* A file of these bytes, opened. */
static void open_bytes(struct lines *l, const struct buf *bytes)
{
    const char *path = tmpdir_write("t", buf_text(bytes), bytes->len);
    struct err err = {0};

    if (lines_open(l, path, &err))
        fail_msg("%s", err.msg);
}

static void open_packed(struct lines *l, const struct packer *p,
                        const struct buf *text)
{
    struct buf bytes;

    buf_init(&bytes, MAX_TEXT);
    p->pack(text, &bytes);
    open_bytes(l, &bytes);
    buf_fini(&bytes);
}

static void assert_end(struct lines *l)
{
    struct err err = {0};
    struct line line;

    assert_int_equal(lines_next(l, &line, &err), 0);
    assert_int_equal(lines_next(l, &line, &err), 0);
    lines_fini(l);
}

static struct line next(struct lines *l)
{
    struct err err = {0};
    struct line line;

    if (lines_next(l, &line, &err) != 1)
        fail_msg("no line after %lld: %s", (long long)l->number, err.msg);
    return line;
}

static void assert_next(struct lines *l, int64_t number, const char *want)
{
    struct line line = next(l);

    assert_int_equal(line.number, number);
    assert_false(line.is_too_long);
    assert_int_equal(line.len, strlen(want));
    assert_memory_equal(line.at, want, line.len);
}

/* ---- the tests ---- */

TEST(ends_of_lines_are_taken_off)
{
    struct buf text;

    buf_init(&text, MAX_TEXT);
    buf_adds(&text, "\xef\xbb\xbfone\ntwo\r\n\nfour\r\nlast");
    for (size_t i = 0; i < COUNT(packers); i++) {
        struct lines l;

        open_packed(&l, &packers[i], &text);
        assert_next(&l, 1, "one");
        assert_next(&l, 2, "two");
        assert_next(&l, 3, "");
        assert_next(&l, 4, "four");
        assert_next(&l, 5, "last");
        assert_end(&l);
    }
    buf_fini(&text);
}

/* More than a chunk, of lines that end anywhere in one. */
static void make_many(struct buf *text, int n)
{
    for (int i = 0; i < n; i++)
        buf_addf(text, "%d %.*s\n", i, i % 97,
                 "..................................................."
                 "..............................................");
}

TEST(many_lines_come_as_they_are)
{
    struct buf text;

    buf_init(&text, MAX_TEXT);
    make_many(&text, 20000);
    for (size_t i = 0; i < COUNT(packers); i++) {
        struct lines l;
        const char *at = text.data;

        open_packed(&l, &packers[i], &text);
        for (int n = 0; n < 20000; n++) {
            struct line line = next(&l);

            assert_memory_equal(line.at, at, line.len);
            at += line.len + 1;
        }
        assert_ptr_equal(at, text.data + text.len);
        assert_end(&l);
    }
    buf_fini(&text);
}

/* Members and frames may follow one another, as cat makes them. */
TEST(parts_follow_one_another)
{
    for (size_t i = 1; i < COUNT(packers); i++) {
        struct buf first;
        struct buf second;
        struct buf bytes;
        struct lines l;

        buf_init(&first, MAX_TEXT);
        buf_init(&second, MAX_TEXT);
        buf_init(&bytes, MAX_TEXT);
        buf_adds(&first, "one\ntw");
        buf_adds(&second, "o\nthree\n");
        packers[i].pack(&first, &bytes);
        packers[i].pack(&second, &bytes);
        open_bytes(&l, &bytes);
        assert_next(&l, 1, "one");
        assert_next(&l, 2, "two");
        assert_next(&l, 3, "three");
        assert_end(&l);
        buf_fini(&first);
        buf_fini(&second);
        buf_fini(&bytes);
    }
}

static int read_to_end(struct lines *l, struct err *err)
{
    struct line line;
    int rc;

    do
        rc = lines_next(l, &line, err);
    while (rc > 0);
    return rc;
}

TEST(what_is_cut_off_or_damaged_is_said)
{
    struct buf text;

    buf_init(&text, MAX_TEXT);
    make_many(&text, 20000);
    for (size_t i = 1; i < COUNT(packers); i++) {
        struct buf bytes;
        struct lines l;
        struct err err = {0};

        buf_init(&bytes, MAX_TEXT);
        packers[i].pack(&text, &bytes);
        bytes.len -= 7;
        open_bytes(&l, &bytes);
        assert_int_equal(read_to_end(&l, &err), -1);
        assert_int_equal(err.code, ERR_IO);
        assert_non_null(strstr(err.msg, "ends in the middle"));
        assert_non_null(strstr(err.msg, "after line"));
        lines_fini(&l);

        err = (struct err){0};
        memset(bytes.data + 10, 0xff, 64); /* where blocks begin */
        open_bytes(&l, &bytes);
        assert_int_equal(read_to_end(&l, &err), -1);
        assert_non_null(strstr(err.msg, "damaged"));
        lines_fini(&l);
        buf_fini(&bytes);
    }
    buf_fini(&text);
}

static void add_long(struct buf *text, size_t len)
{
    memset(buf_reserve(text, len), 'x', len);
    buf_commit(text, len);
}

TEST(a_line_too_long_is_passed_over)
{
    struct buf text;

    buf_init(&text, MAX_TEXT);
    buf_adds(&text, "one\n");
    add_long(&text, LINES_MAX / 2);
    buf_adds(&text, "\n");
    add_long(&text, 3 * LINES_MAX + 5);
    buf_adds(&text, "\nfour\n");
    add_long(&text, 2 * LINES_MAX);
    for (size_t i = 0; i < COUNT(packers); i++) {
        struct lines l;
        struct line line;

        open_packed(&l, &packers[i], &text);
        assert_next(&l, 1, "one");
        assert_int_equal(next(&l).len, LINES_MAX / 2);
        line = next(&l);
        assert_true(line.is_too_long);
        assert_int_equal(line.len, 0);
        assert_int_equal(line.number, 3);
        assert_next(&l, 4, "four");
        assert_true(next(&l).is_too_long);
        assert_true(l.out_cap <= 4 * LINES_MAX);
        assert_end(&l);
    }
    buf_fini(&text);
}

TEST(what_is_no_file_is_refused)
{
    struct lines l;
    struct err err = {0};

    assert_int_equal(lines_open(&l, tmpdir_path("none"), &err), -1);
    assert_int_equal(err.code, ERR_CONFIG);
    assert_non_null(strstr(err.msg, "No such file"));
    lines_fini(&l);
    err = (struct err){0};
    assert_int_equal(lines_open(&l, tmpdir_root(), &err), -1);
    assert_non_null(strstr(err.msg, "not a regular file"));
    lines_fini(&l);
    err = (struct err){0}; /* which has no writer, and is not waited for */
    assert_int_equal(mkfifo(tmpdir_path("pipe"), 0600), 0);
    assert_int_equal(lines_open(&l, tmpdir_path("pipe"), &err), -1);
    assert_non_null(strstr(err.msg, "not a regular file"));
    lines_fini(&l);
}

TEST(an_empty_file_has_no_lines)
{
    struct buf nothing;

    buf_init(&nothing, 1);
    for (size_t i = 0; i < COUNT(packers); i++) {
        struct lines l;

        open_packed(&l, &packers[i], &nothing);
        assert_end(&l);
    }
    buf_fini(&nothing);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
