/* A damaged file costs the blocks that are damaged, and says how much. */
#include <stdio.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/recording/tgr.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define BLOCKS     4
#define BLOCK_ROWS 3
#define DAMAGED    "the beginning is damaged; nothing can be read"

struct row {
    int64_t a;
    int64_t b;
};

static const struct tgr_column columns[] = {
    {"a", "ns", TGR_PREVIOUS, offsetof(struct row, a), 0},
    {"b", "ns", TGR_COLUMN(0), offsetof(struct row, b), 0},
};

static const struct tgr_schema schema = {"rows", columns, COUNT(columns),
                                         sizeof(struct row), false};

/* The good file, and where its parts begin: [0] the schema, [1 + i] block i,
 * the last one its end. */
static struct buf good;
static size_t start[BLOCKS + 2];

static struct row row_of(int block, int i)
{
    return (struct row){block * 1000 + i * i, block * 2000 - 7 * i};
}

static uint32_t u32_at(const char *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof(v));
    return v;
}

static void find_parts(void)
{
    size_t at = 16;

    for (size_t i = 0; i < COUNT(start); i++) {
        start[i] = at;
        if (at < good.len) {
            assert_memory_equal(good.data + at, "TBLK", 4);
            at += 20 + u32_at(good.data + at + 12);
        }
    }
    assert_int_equal(start[BLOCKS + 1], good.len);
}

static int make_good_file(void **state)
{
    struct tgr_writer *w;
    struct err err = {0};

    if (tmpdir_setup(state) ||
        tgr_create(&w, tmpdir_path("good"), &schema, &err))
        return -1;
    for (int b = 0; b < BLOCKS; b++) {
        struct row rows[BLOCK_ROWS];

        for (int i = 0; i < BLOCK_ROWS; i++)
            rows[i] = row_of(b, i);
        if (tgr_append(w, (unsigned)b, rows, BLOCK_ROWS, &err))
            return -1;
    }
    buf_init(&good, 100000);
    if (tgr_finish(w, &err) || file_read(tmpdir_path("good"), &good, &err))
        return -1;
    find_parts();
    return 0;
}

static int drop_good_file(void **state)
{
    buf_fini(&good);
    return tmpdir_teardown(state);
}

/* What became of these bytes. */
struct outcome {
    int opened; /* 0 or -1 */
    struct err err;
    bool has_block[BLOCKS];
    struct tgr_damage damage;
};

static void take_block(struct outcome *o, const struct row *rows, size_t n)
{
    int64_t block = rows[0].a / 1000;

    assert_int_equal(n, BLOCK_ROWS);
    assert_in_range(block, 0, BLOCKS - 1);
    assert_false(o->has_block[block]);
    for (int i = 0; i < BLOCK_ROWS; i++) {
        struct row want = row_of((int)block, i);

        assert_memory_equal(&rows[i], &want, sizeof(want));
    }
    o->has_block[block] = true;
}

static struct outcome read_bytes(const void *data, size_t len)
{
    const char *path = tmpdir_write("t", data, len);
    struct outcome o = {0};
    struct tgr_reader *r;
    const void *rows;
    size_t n;
    int rc;

    o.opened = tgr_open(&r, path, &schema, &o.err);
    if (o.opened < 0)
        return o;
    while ((rc = tgr_next(r, &rows, &n, &o.err)) > 0)
        take_block(&o, rows, n);
    assert_int_equal(rc, 0);
    o.damage = tgr_damage(r);
    tgr_close(r);
    return o;
}

static size_t blocks_of(const struct outcome *o)
{
    size_t n = 0;

    for (int b = 0; b < BLOCKS; b++)
        n += o->has_block[b];
    return n;
}

static void check_error(const struct outcome *o, const char *what)
{
    char want[300];

    snprintf(want, sizeof(want), "%s: %s", tmpdir_path("t"), what);
    assert_int_equal(o->opened, -1);
    assert_int_equal(o->err.code, ERR_FORMAT);
    assert_string_equal(o->err.msg, want);
}

TEST(a_file_may_stop_anywhere)
{
    for (size_t len = 0; len <= good.len; len++) {
        struct outcome o = read_bytes(good.data, len);
        size_t whole = 0;

        if (len < 16) {
            check_error(&o, "not a tailgate recording");
            continue;
        }
        if (len < start[1]) {
            check_error(&o, DAMAGED);
            continue;
        }
        while (whole < BLOCKS && start[whole + 2] <= len)
            whole++;
        assert_int_equal(o.opened, 0);
        assert_int_equal(blocks_of(&o), whole);
        assert_int_equal(o.damage.skipped_bytes, 0);
        assert_int_equal(o.damage.cut_off_bytes, len - start[whole + 1]);
    }
}

/* Which block holds this byte? */
static int block_at(size_t at)
{
    int b = 0;

    while (start[b + 2] <= at)
        b++;
    return b;
}

static void check_flip(size_t at, const struct outcome *o)
{
    int hit;

    if (at < 8) {
        check_error(o, "not a tailgate recording");
        return;
    }
    if (at < 12) {
        assert_int_equal(o->opened, -1);
        assert_non_null(strstr(o->err.msg, ": unknown format version "));
        return;
    }
    if (at >= 16 && at < start[1]) {
        check_error(o, DAMAGED);
        return;
    }
    assert_int_equal(o->opened, 0);
    if (at < 16) { /* reserved: no meaning yet */
        assert_int_equal(blocks_of(o), BLOCKS);
        return;
    }
    hit = block_at(at);
    assert_int_equal(blocks_of(o), BLOCKS - 1);
    assert_false(o->has_block[hit]);
    assert_int_equal(o->damage.skipped_bytes + o->damage.cut_off_bytes,
                     start[hit + 2] - start[hit + 1]);
    assert_int_equal(o->damage.cut_off_bytes > 0, hit == BLOCKS - 1);
}

TEST(every_flipped_byte_is_noticed)
{
    static const unsigned char masks[] = {0x01, 0x80, 0xff};

    for (size_t at = 0; at < good.len; at++) {
        for (size_t m = 0; m < COUNT(masks); m++) {
            struct outcome o;

            good.data[at] = (char)(good.data[at] ^ masks[m]);
            o = read_bytes(good.data, good.len);
            good.data[at] = (char)(good.data[at] ^ masks[m]);
            check_flip(at, &o);
        }
    }
}

/* Bytes between blocks are skipped, also such that look like a block's
 * beginning. */
TEST(garbage_between_blocks_is_skipped)
{
    static const struct {
        const char *bytes;
        size_t len;
    } garbage[] = {
        {"x", 1},
        {"TBLK", 4},
        {"TBLKTBLKTBLKTBLKTBLKTBLK", 24},
        {"TBLK\2\0\0\0\3\0\0\0\xff\xff\0\0\0\0\0\0", 20},
        {"TBLK\2\0\0\0\3\0\0\0\xff\xff\xff\xff\0\0\0\0", 20},
    };

    for (size_t g = 0; g < COUNT(garbage); g++) {
        struct buf file;
        struct outcome o;

        buf_init(&file, 100000);
        for (size_t i = 1; i < COUNT(start); i++) {
            size_t from = i == 1 ? 0 : start[i - 1];

            buf_add(&file, good.data + from, start[i] - from);
            buf_add(&file, garbage[g].bytes, garbage[g].len);
        }
        o = read_bytes(file.data, file.len);
        assert_int_equal(blocks_of(&o), BLOCKS);
        assert_int_equal(o.damage.skipped_bytes, BLOCKS * garbage[g].len);
        assert_int_equal(o.damage.cut_off_bytes, garbage[g].len);
        buf_fini(&file);
    }
}

/* ---- whole, but not for us ---- */

static void put_u32(char *p, uint32_t v)
{
    memcpy(p, &v, sizeof(v)); /* hosts are little-endian where we build */
}

/* CRC-32 as in IEEE 802.3, bit by bit: not the library that writes it. */
static uint32_t crc_of(const char *data, size_t len)
{
    uint32_t crc = UINT32_MAX;

    for (size_t i = 0; i < 8 * len; i++) {
        uint32_t bit = (uint32_t)data[i / 8] >> i % 8 & 1;

        crc = crc >> 1 ^ ((crc ^ bit) & 1 ? 0xedb88320U : 0);
    }
    return ~crc;
}

/* Append a frame with a right checksum. */
static void add_frame(struct buf *file, unsigned kind, uint32_t rows,
                      const char *payload, size_t len)
{
    char frame[100] = "TBLK";

    frame[4] = (char)kind;
    put_u32(frame + 8, rows);
    put_u32(frame + 12, (uint32_t)len);
    memcpy(frame + 16, payload, len);
    put_u32(frame + 16, crc_of(frame, 16 + len));
    buf_add(file, frame, 20);
    buf_add(file, payload, len);
}

#define HEAD "TGRECORD\1\0\0\0\0\0\0\0"

TEST(foreign_files_are_refused)
{
    static const struct {
        const char *head;
        size_t head_len;
        unsigned kind;
        const char *payload;
        size_t len;
        const char *want;
    } cases[] = {
        {"TGRECORD\2\0\0\0\0\0\0\0", 16, 1, "\4rows\0\0", 7,
         "unknown format version 2; this tailgate reads version 1"},
        {"TGRECORX\1\0\0\0\0\0\0\0", 16, 1, "\4rows\0\0", 7,
         "not a tailgate recording"},
        {HEAD, 16, 1, "\5other\0\0", 8,
         "contains the table other instead of rows"},
        {HEAD, 16, 2, "\4rows\0\0", 7, DAMAGED},
        {HEAD, 16, 1, "", 0, DAMAGED},
        {HEAD, 16, 1, "\4rows\0", 6, DAMAGED},
        {HEAD, 16, 1, "\11rows\0\0", 7, DAMAGED},
        {HEAD, 16, 1, "\4rows\1\0", 7, DAMAGED},
        {HEAD, 16, 1, "\4rows\101\0", 7, DAMAGED},
        {HEAD, 16, 1, "\4rows\1\0\1a\0\2\0", 12, DAMAGED},
        {HEAD, 16, 1, "\4rows\2\0\1a\0\0\0\1b\0\3\0", 17, DAMAGED},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct buf file;
        struct outcome o;

        buf_init(&file, 1000);
        buf_add(&file, cases[i].head, cases[i].head_len);
        add_frame(&file, cases[i].kind, 0, cases[i].payload, cases[i].len);
        o = read_bytes(file.data, file.len);
        check_error(&o, cases[i].want);
        buf_fini(&file);
    }
}

/* Blocks whose checksum is right and whose content is not. */
TEST(wrong_blocks_are_damage)
{
    static const struct {
        uint32_t rows;
        const char *payload;
        size_t len;
    } cases[] = {
        {0, "\0\1\0\1", 4},           /* no rows */
        {4097, "\0\1\0\1", 4},        /* more than a block holds */
        {3, "\0\1", 2},               /* a column too few */
        {3, "\0\1\0\1\0", 5},         /* something left over */
        {3, "\0\1\2\1", 4},           /* an encoding of a later time */
        {3, "\0\1\0\200", 4},         /* a number that does not end */
        {3, "\0\1\1\3\0\0\0\1\1", 9}, /* a row too few */
        {3, "\0\1\1\3", 4},
        {3, "\0\1\0\200\200\200\200\200\200\200\200\200\200\1", 14},
        {3, "", 0},
        /* 2^62 in the first row, -2^62, and 2^61 more in each row. */
        {3, "\0\201\200\200\200\200\200\200\200\200\1\0\1", 13},
        {3, "\0\200\200\200\200\200\200\200\200\200\1\0\1", 13},
        {3, "\0\201\200\200\200\200\200\200\200\100\0\1", 12},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct buf file;
        struct outcome o;

        buf_init(&file, 10000);
        buf_add(&file, good.data, start[1]);
        add_frame(&file, 2, cases[i].rows, cases[i].payload, cases[i].len);
        buf_add(&file, good.data + start[1], good.len - start[1]);
        o = read_bytes(file.data, file.len);
        assert_int_equal(o.opened, 0);
        assert_int_equal(blocks_of(&o), BLOCKS);
        assert_int_equal(o.damage.skipped_bytes, 20 + cases[i].len);
        buf_fini(&file);
    }
}

TEST(blocks_of_a_later_kind_are_passed_over)
{
    struct buf file;
    struct outcome o;

    buf_init(&file, 10000);
    buf_add(&file, good.data, start[1]);
    add_frame(&file, 9, 5, "whatever", 8);
    buf_add(&file, good.data + start[1], good.len - start[1]);
    o = read_bytes(file.data, file.len);
    assert_int_equal(blocks_of(&o), BLOCKS);
    assert_int_equal(o.damage.skipped_bytes + o.damage.cut_off_bytes, 0);
    buf_fini(&file);
}

/* False headers that overlap: each claims the megabyte that follows it. */
static void add_false_headers(struct buf *file, size_t n)
{
    char header[20] = "TBLK\2\0\0\0\3";

    put_u32(header + 12, 1 << 20);
    for (size_t i = 0; i < n; i++)
        buf_add(file, header, sizeof(header));
}

/* What is checksummed is bounded by the size of the file, and a file that needs
 * more is refused. */
TEST(false_headers_cost_linear_work)
{
    static const struct {
        size_t headers;
        int rc; /* of reading on after the good blocks */
    } cases[] = {{1, 0}, {100, 0}, {120000, -1}, {250000, -1}};

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = {0};
        struct tgr_reader *r;
        struct buf file;
        const void *rows;
        size_t n;
        int rc;

        buf_init(&file, (size_t)12 << 20);
        buf_add(&file, good.data, good.len);
        add_false_headers(&file, cases[i].headers);
        assert_int_equal(
            tgr_open(&r, tmpdir_write("t", file.data, file.len), &schema, &err),
            0);
        for (int b = 0; b < BLOCKS; b++)
            assert_int_equal(tgr_next(r, &rows, &n, &err), 1);
        rc = tgr_next(r, &rows, &n, &err);
        assert_int_equal(rc, cases[i].rc);
        assert_in_range(tgr_damage(r).vain_bytes, 0,
                        4 * file.len + ((uint64_t)8 << 20));
        if (rc < 0) {
            assert_int_equal(err.code, ERR_FORMAT);
            assert_non_null(strstr(err.msg, ": too many false block headers"));
        }
        tgr_close(r);
        buf_fini(&file);
    }
}

/* Every block is damaged, and its own header is all that is tried. */
TEST(damage_alone_is_not_refused)
{
    struct buf file;
    struct outcome o;

    buf_init(&file, (size_t)12 << 20);
    buf_add(&file, good.data, start[1]);
    while (file.len < (size_t)1 << 20) {
        buf_add(&file, good.data + start[1], good.len - start[1]);
        for (int b = 1; b <= BLOCKS; b++)
            file.data[file.len - good.len + start[b] + 16] ^= 1;
    }
    o = read_bytes(file.data, file.len);
    assert_int_equal(blocks_of(&o), 0);
    assert_int_equal(o.damage.vain_bytes, file.len - start[1]);
    buf_fini(&file);
}

/* ---- a few bytes for thousands of rows ---- */

/* Rows that are read of `blocks` blocks of 24 bytes and 4096 rows each. */
static size_t read_dense(size_t blocks, bool is_dense, struct err *err)
{
    struct tgr_schema s = schema;
    struct tgr_reader *r;
    struct buf file;
    const void *rows;
    size_t sum = 0;
    size_t n;

    buf_init(&file, 1 << 20);
    buf_add(&file, good.data, start[1]);
    for (size_t i = 0; i < blocks; i++)
        add_frame(&file, 2, TGR_MAX_ROWS, "\0\3\0\1", 4);
    s.is_dense = is_dense;
    assert_int_equal(
        tgr_open(&r, tmpdir_write("t", file.data, file.len), &s, err), 0);
    while (tgr_next(r, &rows, &n, err) > 0)
        sum += n;
    tgr_close(r);
    buf_fini(&file);
    return sum;
}

/* The work is counted in rows: a block too many is not expanded. */
TEST(dense_rows_are_bounded)
{
    static const struct {
        size_t blocks;
        bool is_dense;
        size_t rows;
        int code;
    } cases[] = {
        {2 * TGR_MAX_DENSE_ROWS / TGR_MAX_ROWS, false, TGR_MAX_DENSE_ROWS,
         ERR_FORMAT},
        {TGR_MAX_DENSE_ROWS / TGR_MAX_ROWS + 1, true,
         TGR_MAX_DENSE_ROWS + TGR_MAX_ROWS, 0},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = {0};

        assert_int_equal(read_dense(cases[i].blocks, cases[i].is_dense, &err),
                         cases[i].rows);
        assert_int_equal(err.code, cases[i].code);
        if (cases[i].code)
            assert_non_null(strstr(err.msg, "rows of less than a byte each"));
    }
}

GROUP_FIXTURE(make_good_file, drop_good_file)
