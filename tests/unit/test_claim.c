/* The sentence to quote, of runs written down by hand; and what the host and
 * git say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "analyzer/checklist.h"
#include "analyzer/claim.h"
#include "analyzer/summary.h"
#include "common/buf.h"
#include "common/gitstate.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "tests/support/maderun.h"
#include "tests/support/rendered.h"
#include "tests/support/tmpdir.h"

#define MAX_TEXT 65536

static struct read_run *run_of(const char *slo)
{
    struct made_run *m = made_run_new(0, 5000, slo);

    made_run_add_fast(m, 0, 500);
    return made_run_sum_up(m, NULL);
}

static char *claimed(const char *slo, bool want)
{
    struct read_run *r = run_of(slo);
    struct buf out;
    char *text;

    strmap_put(&r->rec.settings.conditions, "hardware", "1xL4");
    buf_init(&out, MAX_TEXT);
    assert_int_equal(run_claim(&r->s, &r->rec.manifest, &out), want);
    text = xstrdup(buf_text(&out));
    buf_fini(&out);
    read_run_free(r);
    return text;
}

static void it_carries_every_condition(void **state)
{
    char *text = claimed("e2e p90 < 50ms", true);

    (void)state;
    assert_says(text, "hardware 1xL4)");
    assert_says(text, " delivered 100 good requests/s of 100/s offered "
                      "(attainment 100%%");
    assert_says(text, "; SLO e2e p90 < 50ms (measured 5.00ms): met");
    assert_says(text, "open loop");
    assert_says(text, "500 requests due = 500 ok + 0 failed + 0 unsent");
    assert_says(text, "; one run, tailgate ");
    free(text);
}

static void what_misses_its_objective_is_not_deliverable(void **state)
{
    char *text = claimed("e2e p90 < 1ms", true);

    (void)state;
    assert_says(text, "MISSED, so that this load is not deliverable");
    free(text);
}

static void there_is_none_of_what_is_undecided(void **state)
{
    char *text = claimed("e2e p99.9 < 50ms", false);

    (void)state;
    assert_string_equal(text, "no claim: the run is undecided\n");
    free(text);
}

/* Nobody knows anything of that server. */
static void the_checklist_lacks_what_nobody_said(void **state)
{
    struct read_run *r = run_of("e2e p90 < 50ms");
    struct checklist c;
    struct checklist labelled;

    (void)state;
    checklist_make(&c, &r->s, &r->rec.manifest);
    assert_true(c.missing > 0 && c.missing < c.len);
    strmap_put(&r->rec.settings.conditions, "gpu", "1xL4");
    strmap_put(&r->rec.settings.conditions, "dtype", "fp16");
    checklist_make(&labelled, &r->s, &r->rec.manifest);
    assert_int_equal(labelled.len, c.len);
    assert_int_equal(labelled.missing, c.missing - 2);
    read_run_free(r);
}

static void no_repository_no_state(void **state)
{
    const char *path = tmpdir_write("it's.yaml", "a", 1);

    (void)state;
    assert_null(git_state(path));
    assert_null(git_state("/nowhere/at all/x"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_carries_every_condition),
        cmocka_unit_test(what_misses_its_objective_is_not_deliverable),
        cmocka_unit_test(there_is_none_of_what_is_undecided),
        cmocka_unit_test(the_checklist_lacks_what_nobody_said),
        cmocka_unit_test(no_repository_no_state),
    };

    return cmocka_run_group_tests(tests, tmpdir_setup, tmpdir_teardown);
}
