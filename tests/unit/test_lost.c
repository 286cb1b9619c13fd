/* Tables that do not belong to their manifest: more in them than the run had.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/lost.h"
#include "analyzer/reader.h"
#include "common/err.h"
#include "tests/support/rows.h"

static char dir[] = "made";

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Ten requests of three events each are in the tables. */
static void more_than_the_run_had_is_an_error(void **state)
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
        {9, 30, "requests.tgr: 10 requests where the run had 9"},
        {10, 31, "events.tgr: 31 content events where the requests have 30"},
    };

    (void)state;
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
        rc = lost_check_surplus(&t, cases[i].events, &client, &rec, &err);
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
static void rows_that_are_there_twice(void **state)
{
    struct recording rec = {.dir = dir};
    const struct slo none = {0};
    struct client client;
    struct tally t;
    struct err err = {0};

    (void)state;
    client_init(&client, (struct window){.end_ns = NS_PER_S}, 1);
    tally_init(&t, (struct window){.end_ns = NS_PER_S}, &none);
    for (int64_t k = 0; k < 20; k++) {
        struct facts f = row_ok(k % 10, 10 * k, 5);

        tally_add(&t, &f);
    }
    assert_int_equal(lost_check_surplus(&t, 0, &client, &rec, &err), -1);
    assert_int_equal(err.code, ERR_FORMAT);
    tally_fini(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_than_the_run_had_is_an_error),
        cmocka_unit_test(rows_that_are_there_twice),
    };

    return cmocka_run_group_tests_name("lost", tests, NULL, NULL);
}
