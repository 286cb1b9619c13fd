/* Tables on disk: what goes in comes out, with another schema too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/base/xalloc.h"
#include "common/recording/schema.h"
#include "common/recording/tgr.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define MANY ((size_t)10000)
#define FAR  ((INT64_C(1) << 62) - 1)

struct row {
    int64_t a;
    int64_t b;
    int64_t c;
    int64_t d;
};

#define COLUMN(name, to)                                                       \
    {                                                                          \
#name, "ns", to, offsetof(struct row, name), -77                       \
    }

static const struct tgr_column columns[] = {
    COLUMN(a, TGR_PREVIOUS),
    COLUMN(b, TGR_COLUMN(0)),
    COLUMN(c, TGR_COLUMN(1)),
    COLUMN(d, TGR_PLAIN),
};

static const struct tgr_schema schema = {"rows", columns, COUNT(columns),
                                         sizeof(struct row), false};

/* One file of these blocks; returns its path. */
static const char *write_file(const char *name, const struct tgr_schema *s,
                              const void *rows, size_t n, size_t block)
{
    const char *path = tmpdir_path(name);
    struct tgr_writer *w;
    struct err err = {0};

    assert_int_equal(tgr_create(&w, path, s, &err), 0);
    for (size_t i = 0; i < n; i += block) {
        size_t len = n - i < block ? n - i : block;

        assert_int_equal(
            tgr_append(w, 0, (const char *)rows + i * s->row_size, len, &err),
            0);
    }
    assert_int_equal(tgr_finish(w, &err), 0);
    return path;
}

/* All rows of a file that is not damaged; the caller frees them. */
static void *read_file(const char *path, const struct tgr_schema *s, size_t *n)
{
    struct tgr_reader *r;
    struct err err = {0};
    const void *rows;
    char *all = xcalloc(MANY + TGR_MAX_ROWS, s->row_size);
    size_t len;
    int rc;

    *n = 0;
    assert_int_equal(tgr_open(&r, path, s, &err), 0);
    while ((rc = tgr_next(r, &rows, &len, &err)) > 0) {
        assert_in_range(*n + len, 1, MANY + TGR_MAX_ROWS);
        memcpy(all + *n * s->row_size, rows, len * s->row_size);
        *n += len;
    }
    assert_int_equal(rc, 0);
    assert_int_equal(tgr_damage(r).skipped_bytes, 0);
    assert_int_equal(tgr_damage(r).cut_off_bytes, 0);
    tgr_close(r);
    return all;
}

static void check_round_trip(const struct tgr_schema *s, const void *rows,
                             size_t n, size_t block)
{
    size_t back_len;
    void *back =
        read_file(write_file("t.tgr", s, rows, n, block), s, &back_len);

    assert_int_equal(back_len, n);
    if (n > 0)
        assert_memory_equal(back, rows, n * s->row_size);
    free(back);
}

/* Small steps, large ones, absent ones and the ends of the range. */
static int64_t random_value(struct rng *rng)
{
    static const int64_t special[] = {
        TIME_ABSENT, FAR, -FAR, FAR - 1, 1 - FAR, 0, -1, 1,
    };
    uint64_t kind = rng_next(rng) % 4;

    if (kind == 0)
        return special[rng_next(rng) % COUNT(special)];
    if (kind == 1)
        return (int64_t)(rng_next(rng) % 1000);
    return (int64_t)(rng_next(rng) >> (2 + rng_next(rng) % 62));
}

TEST(random_rows_come_back)
{
    static const size_t blocks[] = {1, 7, TGR_MAX_ROWS};
    const size_t n = MANY;
    struct row *rows = xcalloc(n, sizeof(*rows));
    struct rng rng = rng_stream(1, RNG_ARRIVAL);

    for (size_t i = 0; i < n * sizeof(*rows) / sizeof(int64_t); i++)
        (&rows[0].a)[i] = random_value(&rng);
    for (size_t i = 0; i < COUNT(blocks); i++)
        check_round_trip(&schema, rows, n, blocks[i]);
    free(rows);
}

/* Any value after any other, those as far apart as can be and what is absent
 * included. */
TEST(extreme_neighbours_come_back)
{
    static const int64_t ends[] = {
        TIME_ABSENT, FAR, -FAR, FAR - 1, 1 - FAR, 0, 1, -1, 5,
    };
    struct row rows[COUNT(ends) * COUNT(ends) * 2];
    size_t n = 0;

    for (size_t i = 0; i < COUNT(ends); i++) {
        for (size_t j = 0; j < COUNT(ends); j++) {
            rows[n++] = (struct row){ends[i], ends[j], ends[i], ends[j]};
            rows[n++] = (struct row){ends[j], ends[i], ends[j], ends[i]};
        }
    }
    check_round_trip(&schema, rows, n, n);
    check_round_trip(&schema, rows, n, 1);
}

TEST(constant_columns_come_back_small)
{
    struct row rows[TGR_MAX_ROWS];
    FILE *file;

    for (size_t i = 0; i < COUNT(rows); i++)
        rows[i] = (struct row){(int64_t)i, TIME_ABSENT, (int64_t)i + 3, -9};
    check_round_trip(&schema, rows, COUNT(rows), COUNT(rows));
    file = fopen(tmpdir_path("t.tgr"), "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    assert_in_range(ftell(file), 1, 6000); /* a varies in its first row */
    fclose(file);
}

TEST(a_file_without_rows_is_empty)
{
    check_round_trip(&schema, NULL, 0, 1);
}

TEST(the_real_tables_come_back)
{
    struct facts f = {.seq = 1,
                      .due = 5,
                      .issued = 6,
                      .sent = TIME_ABSENT,
                      .head = TIME_ABSENT,
                      .first = TIME_ABSENT,
                      .last = TIME_ABSENT,
                      .end = 9,
                      .outcome = OUTCOME_RESET,
                      .detail = 3,
                      .status = 0,
                      .is_fresh = 1,
                      .bytes_out = 100,
                      .bytes_in = 0};
    struct observation o = {1,  2,  3,  4,  5,  6,  7,  8,  9,
                            10, 11, 12, 13, 14, 15, 16, 17, 18};
    struct truth t = {TIME_ABSENT, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    struct truth_step step = {12, 13};

    check_round_trip(&schema_requests, &f, 1, 1);
    check_round_trip(&schema_client, &o, 1, 1);
    check_round_trip(&schema_truth, &t, 1, 1);
    check_round_trip(&schema_truth_steps, &step, 1, 1);
}

/* A field that no column carries would be lost without a word. */
TEST(every_field_has_its_column)
{
    assert_int_equal(schema_requests.len * sizeof(int64_t),
                     sizeof(struct facts));
    assert_int_equal(schema_client.len * sizeof(int64_t),
                     sizeof(struct observation));
    assert_int_equal(schema_truth.len * sizeof(int64_t), sizeof(struct truth));
    assert_int_equal(schema_truth_steps.len * sizeof(int64_t),
                     sizeof(struct truth_step));
}

/* ---- another schema ---- */

static const struct tgr_column fewer[] = {COLUMN(c, TGR_PLAIN)};
static const struct tgr_column other_order[] = {
    COLUMN(d, TGR_PREVIOUS), COLUMN(c, TGR_COLUMN(0)), COLUMN(a, TGR_PLAIN),
    COLUMN(b, TGR_COLUMN(2))};
static const struct tgr_column renamed[] = {
    COLUMN(a, TGR_PREVIOUS),
    {"new", "ns", TGR_PLAIN, offsetof(struct row, b), TIME_ABSENT},
    {"newer", "ns", TGR_COLUMN(1), offsetof(struct row, c), 12},
    COLUMN(d, TGR_PLAIN)};

static const struct {
    const struct tgr_column *columns;
    size_t len;
    struct row want; /* of the row {1, 2, 3, 4} */
} readers[] = {
    {columns, COUNT(columns), {1, 2, 3, 4}},
    {fewer, COUNT(fewer), {0, 0, 3, 0}},
    {other_order, COUNT(other_order), {1, 2, 3, 4}},
    {renamed, COUNT(renamed), {1, TIME_ABSENT, 12, 4}},
};

TEST(columns_are_matched_by_name)
{
    static const struct row rows[] = {{1, 2, 3, 4}, {1, 2, 3, 4}};

    for (size_t i = 0; i < COUNT(readers); i++) {
        struct tgr_schema s = {"rows", readers[i].columns, readers[i].len,
                               sizeof(struct row), false};
        size_t n;
        struct row *back =
            read_file(write_file("t.tgr", &schema, rows, 2, 2), &s, &n);

        assert_int_equal(n, 2);
        assert_memory_equal(&back[0], &readers[i].want, sizeof(*back));
        assert_memory_equal(&back[1], &readers[i].want, sizeof(*back));
        free(back);
    }
}

/* The other way: an old file, a reader that knows more. */
TEST(missing_columns_get_their_default)
{
    static const struct row rows[] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
    static const struct tgr_schema old = {"rows", fewer, COUNT(fewer),
                                          sizeof(struct row), false};
    size_t n;
    struct row *back =
        read_file(write_file("t.tgr", &old, rows, 2, 2), &schema, &n);

    assert_int_equal(n, 2);
    assert_int_equal(back[0].a, -77);
    assert_int_equal(back[0].c, 3);
    assert_int_equal(back[1].c, 7);
    assert_int_equal(back[1].d, -77);
    free(back);
}

TEST(files_that_cannot_be_made_or_opened_are_named)
{
    struct tgr_writer *w = NULL;
    struct tgr_reader *r = NULL;
    struct err err = {0};
    char want[300];

    snprintf(want, sizeof(want), "%s: No such file or directory",
             tmpdir_path("no/t.tgr"));
    assert_int_equal(tgr_create(&w, tmpdir_path("no/t.tgr"), &schema, &err),
                     -1);
    assert_int_equal(err.code, ERR_IO);
    assert_string_equal(err.msg, want);
    err = (struct err){0};
    assert_int_equal(tgr_open(&r, tmpdir_path("no/t.tgr"), &schema, &err), -1);
    assert_int_equal(err.code, ERR_IO);
    assert_string_equal(err.msg, want);
    assert_int_equal(tgr_finish(NULL, &err), 0);
    tgr_close(NULL);
}

TEST(a_full_disk_is_an_error)
{
    struct tgr_writer *w;
    struct err err = {0};

    assert_int_equal(tgr_create(&w, "/dev/full", &schema, &err), -1);
    assert_int_equal(err.code, ERR_IO);
    assert_string_equal(err.msg, "/dev/full: No space left on device");
}

TEST(blocks_keep_their_shard)
{
    static const unsigned shards[] = {3, 0, 65535, 1};
    const char *path = tmpdir_path("shards.tgr");
    struct row row = {0};
    struct tgr_writer *w;
    struct tgr_reader *r;
    struct err err = {0};
    const void *rows;
    size_t n;

    assert_int_equal(tgr_create(&w, path, &schema, &err), 0);
    for (size_t i = 0; i < COUNT(shards); i++)
        assert_int_equal(tgr_append(w, shards[i], &row, 1, &err), 0);
    assert_int_equal(tgr_finish(w, &err), 0);
    assert_int_equal(tgr_open(&r, path, &schema, &err), 0);
    for (size_t i = 0; i < COUNT(shards); i++) {
        assert_int_equal(tgr_next(r, &rows, &n, &err), 1);
        assert_int_equal(tgr_shard(r), shards[i]);
    }
    assert_int_equal(tgr_next(r, &rows, &n, &err), 0);
    tgr_close(r);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
