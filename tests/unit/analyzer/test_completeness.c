/* Tables that do not belong to their manifest: more in them than the run had.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/read/completeness.h"
#include "analyzer/read/reader.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/xalloc.h"
#include "tests/support/ondisk.h"
#include "tests/support/rows.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

static char dir[] = "made";

/* Ten requests of three events each are in the tables. */
TEST(more_than_the_run_had_is_an_error)
{
    static const struct {
        int64_t scheduled; /* as the manifest says; 0: it was killed */
        int64_t events;    /* in their table */
        const char *says;  /* NULL: fine */
    } cases[] = {
        {10, 30, NULL},
        {12, 30, NULL}, /* lost */
        {10, 20, NULL},
        {12, 36, NULL}, /* events of those that are lost */
        {0, 30, NULL},
        {0, 33, NULL}, /* of those that were in flight */
        {9, 30, "requests.tgr has 10 requests but the run had 9"},
        {10, 31, "events.tgr has 31 content events but the requests have 30"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct recording rec = {.dir = dir,
                                .has_end = cases[i].scheduled > 0,
                                .end = {.scheduled = cases[i].scheduled}};
        const struct slo none = {0};
        struct client client;
        struct tally t;
        struct err err = {0};
        int rc;

        client_init(&client, (struct window){.end_ns = NS_PER_S}, 1);
        tally_init(&t, (struct window){.end_ns = NS_PER_S}, &none);
        for (int64_t k = 0; k < 10; k++) {
            struct facts f = row_ok(k, 10 * k, 5);

            f.events = 3;
            tally_add(&t, &f);
        }
        rc = completeness_check_surplus(&t, cases[i].events, &client, &rec,
                                        &err);
        assert_int_equal(rc, cases[i].says ? -1 : 0);
        if (cases[i].says) {
            assert_int_equal(err.code, ERR_FORMAT);
            assert_non_null(strstr(err.msg, cases[i].says));
        }
        tally_fini(&t);
    }
}

/* Of a run that was killed places are counted: a block that is there twice has
 * more rows than places. */
TEST(rows_that_are_there_twice)
{
    struct recording rec = {.dir = dir};
    const struct slo none = {0};
    struct client client;
    struct tally t;
    struct err err = {0};

    client_init(&client, (struct window){.end_ns = NS_PER_S}, 1);
    tally_init(&t, (struct window){.end_ns = NS_PER_S}, &none);
    for (int64_t k = 0; k < 20; k++) {
        struct facts f = row_ok(k % 10, 10 * k, 5);

        tally_add(&t, &f);
    }
    assert_int_equal(completeness_check_surplus(&t, 0, &client, &rec, &err),
                     -1);
    assert_int_equal(err.code, ERR_FORMAT);
    tally_fini(&t);
}

/* requests.tgr with this row 4096 times in a block, and that block `blocks`
 * times. */
static void write_dense(const struct facts *row, size_t blocks)
{
    struct facts *rows = xcalloc(TGR_MAX_ROWS, sizeof(*rows));
    struct err err = {0};
    struct buf file;
    struct buf all;
    size_t one;
    size_t two;

    for (size_t i = 0; i < TGR_MAX_ROWS; i++)
        rows[i] = *row;
    buf_init(&file, 1 << 20);
    table_write(tmpdir_root(), "requests.tgr", &schema_requests, rows, 0, 1);
    assert_int_equal(file_read(tmpdir_path("requests.tgr"), &file, &err), 0);
    one = file.len;
    buf_reset(&file);
    table_write(tmpdir_root(), "requests.tgr", &schema_requests, rows,
                TGR_MAX_ROWS, TGR_MAX_ROWS);
    assert_int_equal(file_read(tmpdir_path("requests.tgr"), &file, &err), 0);
    two = file.len;
    buf_init(&all, 1 << 20);
    buf_add(&all, file.data, two);
    for (size_t i = 1; i < blocks; i++)
        buf_add(&all, file.data + one, two - one);
    tmpdir_write("requests.tgr", all.data, all.len);
    buf_fini(&all);
    buf_fini(&file);
    free(rows);
}

/* The work is counted in rows.  What was never sent has no times that vary. */
TEST(requests_that_were_sent_take_bytes)
{
    const size_t most = READER_MAX_DENSE_SENT / TGR_MAX_ROWS;
    const struct {
        struct facts row;
        size_t blocks;
        size_t rows; /* that are read */
        int rc;
    } cases[] = {
        {row_ok(0, 10, 5), most, READER_MAX_DENSE_SENT, 0},
        {row_ok(0, 10, 5), 2 * most, READER_MAX_DENSE_SENT, -1},
        {row_unsent(0, 10), most + 1, READER_MAX_DENSE_SENT + TGR_MAX_ROWS, 0},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct facts *rows;
        struct recording rec;
        struct err err = {0};
        size_t sum = 0;
        size_t n;
        int rc;

        write_dense(&cases[i].row, cases[i].blocks);
        assert_int_equal(recording_open_bare(&rec, tmpdir_root(), &err), 0);
        while ((rc = recording_next(&rec, &rows, &n, &err)) > 0)
            sum += n;
        assert_int_equal(rc, cases[i].rc);
        assert_int_equal(sum, cases[i].rows);
        if (rc < 0)
            assert_non_null(strstr(err.msg, "it was not written by tailgate"));
        recording_close(&rec);
    }
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
