/* The sentence to quote, of runs written down by hand; and what the host and
 * git say. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/studies/trials.h"
#include "analyzer/tally/summary.h"
#include "analyzer/verdict/checklist.h"
#include "analyzer/verdict/claim.h"
#include "common/base/buf.h"
#include "common/base/file.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "tests/support/maderun.h"
#include "tests/support/rendered.h"
#include "tests/support/test.h"
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

TEST(it_carries_every_condition)
{
    char *text = claimed("e2e p90 < 50ms", true);

    assert_says(text, "hardware 1xL4)");
    assert_says(text, " delivered 100 good requests/s of 100/s offered "
                      "(attainment 100%%");
    assert_says(text, "; SLO e2e p90 < 50ms (measured 5.00ms): met");
    assert_says(text, "open loop");
    assert_says(text, "500 requests due = 500 ok + 0 failed + 0 unsent");
    assert_says(text, "; one run, tailgate ");
    free(text);
}

TEST(what_misses_its_objective_is_not_deliverable)
{
    char *text = claimed("e2e p90 < 1ms", true);

    assert_says(text, "MISSED, so the server cannot deliver this load");
    free(text);
}

/* A claim states measurements, which an undecided run has. */
TEST(what_is_undecided_is_claimed_as_such)
{
    char *text = claimed("e2e p99.9 < 50ms", true);

    assert_says(text, "; SLO e2e p99.9 < 50ms (measured 5.00ms): not decided "
                      "by these samples; ");
    free(text);
}

/* It has less than its conditions say. */
TEST(there_is_none_of_what_was_killed)
{
    struct read_run *r = run_of("e2e p90 < 50ms");
    struct buf out;

    r->s.integrity.was_killed = true;
    buf_init(&out, MAX_TEXT);
    assert_false(run_claim(&r->s, &r->rec.manifest, &out));
    assert_string_equal(buf_text(&out), "no claim: the run is interrupted\n");
    buf_fini(&out);
    read_run_free(r);
}

/* ---- sets of trials ---- */

/* Six of the same run, of which some are slower, with its one term. */
static struct trials_summary set_of(const struct summary *s, size_t n)
{
    struct trials_summary t = {.dir = "d",
                               .trials = xcalloc(n, sizeof(struct trial)),
                               .n = n,
                               .n_terms = s->judgement.len};

    t.terms = xcalloc(t.n_terms + 1, sizeof(*t.terms));
    t.set.asked = t.set.recorded = (int64_t)n;
    t.set.launched_by = LAUNCHED_RESTART;
    for (size_t i = 0; i < t.n_terms; i++)
        t.terms[i].term = *s->judgement.terms[i].term;
    for (size_t i = 0; i < n; i++) {
        trial_take(&t.trials[i], s);
        t.trials[i].number = (int64_t)i + 1;
        t.trials[i].rate[TRIAL_GOODPUT] = 100 - (double)i;
    }
    return t;
}

/* What is claimed of a set that `change` has been at. */
static char *set_claimed(const char *slo, size_t n,
                         void (*change)(struct trials_summary *), bool want)
{
    struct read_run *r = run_of(slo);
    struct trials_summary t = set_of(&r->s, n);
    struct buf out;
    char *text;

    r->s.cost.usd_per_hour = 3;
    if (change)
        change(&t);
    trials_work_out(&t);
    buf_init(&out, MAX_TEXT);
    assert_int_equal(trials_claim(&t, &r->s, &r->rec.manifest, &out), want);
    text = xstrdup(buf_text(&out));
    buf_fini(&out);
    trials_summary_fini(&t);
    read_run_free(r);
    return text;
}

/* A trial of 500 requests has no p99.9. */
TEST(a_quantile_of_few_is_not_claimed)
{
    char *text = set_claimed("e2e p99.9 < 50ms", 6, NULL, true);

    assert_says(text, "; SLO e2e p99.9 < 50ms (measured unknown (n too small), "
                      "kept by 0 of 6, undecided in 6): ");
    free(text);
}

/* Of 100, 99, ..., 95 the median is 97.5; of six trials the 96.88 % interval
 * of it is from the least to the greatest. */
TEST(a_set_is_claimed_with_its_interval)
{
    char *text = set_claimed("e2e p90 < 50ms", 6, NULL, true);

    assert_says(text, " delivered 97.5 [95, 100] good requests/s of ");
    assert_says(text, "; SLO e2e p90 < 50ms (measured 5.00ms [5.00ms, 5.00ms], "
                      "kept by 6 of 6): met");
    assert_says(text, "3000 requests due = 3000 ok + 0 failed + 0 unsent");
    assert_says(text,
                "; medians over 6 trials with different seeds, the server "
                "restarted for each, with their 96.88%% intervals in "
                "brackets, tailgate ");
    free(text);
}

static void have_a_price(struct trials_summary *t)
{
    for (size_t i = 0; i < t->n; i++) {
        t->trials[i].has_cost = true;
        t->trials[i].rate[TRIAL_USD] = 2;
    }
}

static void one_has_nothing_good(struct trials_summary *t)
{
    have_a_price(t);
    t->trials[1].rate[TRIAL_USD] = NAN;
}

/* What one replica costs is next to what a thousand cost; neither is there
 * without the other. */
TEST(a_set_says_what_its_price_rests_on)
{
    char *text = set_claimed("e2e p90 < 50ms", 6, have_a_price, true);

    assert_says(text, "; 2 [2, 2] USD per thousand good requests at 3 "
                      "USD/hour; medians over 6 trials");
    free(text);
    text = set_claimed("e2e p90 < 50ms", 6, one_has_nothing_good, true);
    assert_null(strstr(text, "USD"));
    free(text);
}

static void are_of_one_launch(struct trials_summary *t)
{
    t->set.launched_by = LAUNCHED_ONCE;
}

TEST(a_set_of_one_launch_says_so)
{
    char *text = set_claimed("e2e p90 < 1ms", 6, are_of_one_launch, true);

    assert_says(text, "kept by 0 of 6): MISSED, so the server cannot deliver "
                      "this load");
    assert_says(text, "all with one start of the server");
    free(text);
}

static void one_misses(struct trials_summary *t)
{
    t->trials[2].terms[0].verdict = VERDICT_FAIL;
    t->trials[2].terms[0].sample.misses = t->trials[2].terms[0].sample.n / 2;
}

static void discard(struct trial *t)
{
    snprintf(t->discarded, sizeof(t->discarded), "invalid");
}

static void one_is_invalid(struct trials_summary *t)
{
    discard(&t->trials[2]);
}

static void most_are_invalid(struct trials_summary *t)
{
    for (size_t i = 2; i < t->n; i++)
        discard(&t->trials[i]);
}

static void one_was_stopped(struct trials_summary *t)
{
    t->trials[5].stopped_by = 2;
}

static void one_was_aborted(struct trials_summary *t)
{
    t->trials[4].was_aborted = true;
}

/* What was seen is claimed, also if chance could explain it. */
TEST(a_set_that_shows_nothing_says_so)
{
    char *text = set_claimed("e2e p90 < 50ms", 6, one_misses, true);

    assert_says(text, "kept by 5 of 6): met (as observed, not shown with 95%% "
                      "confidence); ");
    free(text);
}

TEST(discarded_trials_are_not_claimed)
{
    char *text = set_claimed("e2e p90 < 50ms", 6, one_is_invalid, true);

    assert_says(text, "2500 requests due = 2500 ok + 0 failed + 0 unsent");
    assert_says(text, "; medians over 5 trials ");
    free(text);
}

TEST(of_some_sets_there_is_none)
{
    static const struct {
        size_t n;
        void (*change)(struct trials_summary *);
        const char *want;
    } cases[] = {
        {6, most_are_invalid, "no claim: the set of trials is invalid\n"},
        {6, one_was_stopped, "no claim: the set of trials was interrupted\n"},
        {6, one_was_aborted,
         "no claim: the set of trials has an aborted trial\n"},
        {1, NULL,
         "no claim: the set of trials is a single trial, which has no "
         "interval\n"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *text =
            set_claimed("e2e p90 < 50ms", cases[i].n, cases[i].change, false);

        assert_string_equal(text, cases[i].want);
        free(text);
    }
}

/* Nothing is known of that server. */
TEST(the_checklist_lacks_what_nobody_said)
{
    struct read_run *r = run_of("e2e p90 < 50ms");
    struct checklist c;
    struct checklist labelled;

    checklist_make(&c, &r->s, &r->rec.manifest);
    assert_true(c.missing > 0 && c.missing < c.len);
    strmap_put(&r->rec.settings.conditions, "gpu", "1xL4");
    strmap_put(&r->rec.settings.conditions, "dtype", "fp16");
    checklist_make(&labelled, &r->s, &r->rec.manifest);
    assert_int_equal(labelled.len, c.len);
    assert_int_equal(labelled.missing, c.missing - 2);
    read_run_free(r);
}

/* What was cut off proves nothing, whatever its checks say. */
TEST(the_checklist_of_what_was_killed)
{
    struct read_run *r = run_of("e2e p90 < 50ms");
    struct checklist whole;
    struct checklist killed;

    checklist_make(&whole, &r->s, &r->rec.manifest);
    r->s.integrity.was_killed = true;
    checklist_make(&killed, &r->s, &r->rec.manifest);
    assert_int_equal(killed.missing, whole.missing + 1);
    assert_string_equal(killed.items[killed.len - 1].name, "trust");
    assert_false(killed.items[killed.len - 1].is_present);
    assert_string_equal(killed.items[killed.len - 1].text,
                        "the run was interrupted");
    read_run_free(r);
}

TEST(no_repository_no_state)
{
    const char *path = tmpdir_write("it's.yaml", "a", 1);

    assert_null(git_state(path));
    assert_null(git_state("/nowhere/at all/x"));
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
