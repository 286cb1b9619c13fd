/* The rule for runs that cannot be trusted. */
#include <stdlib.h>

#include "analyzer/studies/valid_runs.h"
#include "analyzer/tally/summary.h"
#include "common/base/xalloc.h"
#include "common/settings/option.h"
#include "tests/support/test.h"

TEST(how_many_must_remain)
{
    static const struct {
        size_t asked;
        size_t needed;
        size_t repeats;
    } cases[] = {{1, 1, 2}, {2, 2, 2}, {3, 2, 3},
                 {5, 3, 5}, {7, 4, 7}, {20, 10, 20}};

    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(valid_runs_needed(cases[i].asked), cases[i].needed);
        assert_int_equal(valid_runs_repeats(OPT_AUTO, cases[i].asked),
                         cases[i].repeats);
    }
    assert_int_equal(valid_runs_repeats(0, 5), 0);
    assert_int_equal(valid_runs_repeats(9, 5), 9);
}

static struct summary *valid(void)
{
    struct summary *s = xcalloc(1, sizeof(*s));

    s->trust.valid = true;
    s->scheduled = 10;
    return s;
}

static void expect(struct summary *taken, const char *discarded,
                   const char *obstacle)
{
    char why[RUN_OBSTACLE];

    assert_int_equal(run_is_discarded(taken, why), discarded[0] != '\0');
    assert_string_equal(why, discarded);
    run_obstacle(taken, why);
    assert_string_equal(why, obstacle);
    free(taken);
}

TEST(reasons)
{
    struct summary *s = valid();

    s->verdict = VERDICT_UNDECIDED; /* no reason */
    expect(s, "", "");
    s = valid();
    s->trust = (struct trust){
        .checks = {{.name = "pace", .ok = true, .is_fatal = true},
                   {.name = "lag p99",
                    .unit = "ms",
                    .is_fatal = true,
                    .value = 9,
                    .limit = 1}},
        .len = 2};
    expect(s, "invalid: lag p99: 9 ms, limit 1",
           "invalid: lag p99: 9 ms, limit 1");
    s = valid();
    s->integrity.lost_requests = 3;
    expect(s, "damaged: 3 requests are missing",
           "damaged: 3 requests are missing");
    s = valid();
    s->integrity.was_killed = true;
    s->stopped_by = 2;
    expect(s, "killed before its end", "killed before its end");
    s = valid();
    s->scheduled = 0;
    expect(s, "no request was due in its window",
           "no request was due in its window");
    s = valid();
    s->aborted = "errors"; /* its result: it cannot just be left out */
    expect(s, "", "aborted before its end");
}
