/* A mix that was written down by hand: a row for each class, the total, and one
 * verdict. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/report.h"
#include "analyzer/report/run_doc.h"
#include "analyzer/studies/trials.h"
#include "common/base/buf.h"
#include "common/base/str.h"
#include "tests/support/golden.h"
#include "tests/support/maderun.h"
#include "tests/support/rendered.h"
#include "tests/support/rows.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define TWO                                                                    \
    "classes:\n"                                                               \
    "  - {name: fast, weight: 3, slo: ['e2e p50 < 10ms']}\n"                   \
    "  - {name: slow, weight: 1, slo: ['e2e p50 < 100ms']}\n"

static void add(struct made_run *m, struct facts row, int64_t class)
{
    row.class = class;
    made_run_add(m, row);
}

/* In a second 60 of the fast and 40 of the slow class, in turn; of each the
 * last two fail, or are never sent. */
static struct made_run *make(const char *slo, const char *classes,
                             int64_t slow_ms)
{
    struct made_run *m = made_run_new(0, 1000, slo);

    m->classes = classes;
    for (int64_t i = 0; i < 100; i++) {
        int64_t class = i % 5 >= 3;
        bool is_last = i >= 98 || (i >= 95 && class == 0 && i >= 96);
        int64_t due_ms = 10 * i;

        if (is_last && class == 0)
            add(m, row_failed(i, due_ms, 3, OUTCOME_RESET), class);
        else if (is_last)
            add(m, row_unsent(i, due_ms), class);
        else
            add(m, row_ok(i, due_ms, class ? slow_ms : 5), class);
    }
    return m;
}

TEST(counts_add_up_to_the_total)
{
    struct read_run *r = made_run_sum_up(make("", TWO, 50), NULL);
    const struct class_summary *c = r->s.classes;

    assert_int_equal(r->s.n_classes, 2);
    assert_string_equal(c[0].name, "fast");
    assert_true(c[0].share == 0.75);
    assert_int_equal(c[0].scheduled, 60);
    assert_int_equal(c[0].issued, 60);
    assert_int_equal(c[0].failed, 2);
    assert_int_equal(c[1].scheduled, 40);
    assert_int_equal(c[1].unsent, 2);
    assert_int_equal(c[1].issued, 38);
    assert_int_equal(c[1].ok, 38);
    assert_int_equal(c[0].scheduled + c[1].scheduled, r->s.scheduled);
    assert_int_equal(c[0].ok + c[1].ok, r->s.ok);
    assert_int_equal(c[0].failed + c[1].failed, r->s.failed);
    assert_int_equal(c[0].good + c[1].good, r->s.good);
    assert_true(c[0].offered_rps == 60);
    assert_true(c[1].offered_rps == 40);
    assert_true(c[0].goodput_rps == 58);
    assert_true(c[1].attainment == 0.95);
    assert_true(c[1].attainment_ci95.low < 0.95);
    assert_true(c[1].attainment_ci95.high > 0.95);
    assert_int_equal(c[0].spread[MEASURE_E2E].n, 60);
    assert_in_range(c[0].spread[MEASURE_E2E].quantile_ns[0], 4990000, 5010000);
    assert_in_range(c[1].spread[MEASURE_E2E].quantile_ns[0], 49900000,
                    50100000);
    read_run_free(r);
}

/* Of the run's verdict and those of the classes the worst, as far as the
 * numbers can be trusted. */
TEST(the_verdict_is_the_worst)
{
    static const struct {
        const char *slo;
        const char *classes;
        int64_t slow_ms;
        enum verdict slow;
        enum verdict all;
    } cases[] = {
        {"", TWO, 50, VERDICT_PASS, VERDICT_PASS},
        {"", TWO, 150, VERDICT_FAIL, VERDICT_FAIL},
        {"e2e p50 < 1s", TWO, 150, VERDICT_FAIL, VERDICT_FAIL},
        {"e2e p50 < 2ms", TWO, 50, VERDICT_PASS, VERDICT_FAIL},
        {"e2e p99 < 2s", TWO, 50, VERDICT_PASS, VERDICT_UNDECIDED},
        {"e2e p50 < 1s", "classes: [{name: a}, {name: b}]", 50, VERDICT_NONE,
         VERDICT_PASS},
        {"", "classes: [{name: a}, {name: b}]", 50, VERDICT_NONE, VERDICT_NONE},
        {"e2e p50 < 1s",
         "classes: [{name: a}, {name: b, slo: ['e2e p99 < 1s']}]", 50,
         VERDICT_UNDECIDED, VERDICT_UNDECIDED},
        {"e2e p50 < 1ms",
         "classes: [{name: a}, {name: b, slo: ['e2e p99 < 1s']}]", 50,
         VERDICT_UNDECIDED, VERDICT_FAIL},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct read_run *r = made_run_sum_up(
            make(cases[i].slo, cases[i].classes, cases[i].slow_ms), NULL);

        assert_int_equal(r->s.classes[1].judgement.verdict, cases[i].slow);
        assert_int_equal(r->s.answer, cases[i].all);
        read_run_free(r);
    }
}

/* Unfinished requests of one class are open in its own terms, and in those of
 * the run. */
TEST(open_requests_are_those_of_the_class)
{
    struct made_run *m = made_run_new(0, 1000, "errors < 50%");
    struct trial trial = {0};
    struct read_run *r;

    m->classes = TWO;
    for (int64_t i = 0; i < 100; i++)
        add(m,
            i % 10 == 9 ? row_failed(i, 10 * i, 1, OUTCOME_UNFINISHED)
                        : row_ok(i, 10 * i, 5),
            i % 2);
    r = made_run_sum_up(m, NULL);
    trial_take(&trial, &r->s);
    assert_true(trial.terms[0].open == 10);
    assert_true(trial.terms[1].open == 0);
    assert_true(trial.terms[2].open == 10);
    read_run_free(r);
}

/* Of two terms one fails by chance more easily, also if they are of different
 * classes. */
TEST(terms_of_classes_share_the_error_of_failing)
{
    static const char two[] =
        "classes:\n"
        "  - {name: fast, weight: 1, slo: ['e2e p90 < 10ms']}\n"
        "  - {name: slow, weight: 1, slo: ['e2e p90 < 10ms']}\n";
    bool is_seen = false;

    for (int64_t slow = 55; slow <= 85; slow++) {
        struct made_run *m = made_run_new(0, 10000, "");
        const struct judgement *j;
        struct read_run *r;

        m->classes = two;
        for (int64_t i = 0; i < 1000; i++) {
            int64_t k = i / 2;
            bool is_slow = i % 2 && k * slow / 500 != (k + 1) * slow / 500;

            add(m, row_ok(i, 10 * i, is_slow ? 50 : 5), i % 2);
        }
        r = made_run_sum_up(m, NULL);
        j = &r->s.classes[1].judgement;
        assert_int_equal(r->s.verdict, VERDICT_FAIL);
        assert_int_equal(r->s.is_shown, j->terms[0].p <= 0.05 / 2);
        is_seen |= j->is_shown && !r->s.is_shown;
        read_run_free(r);
    }
    assert_true(is_seen);
}

/* A class is not good by the run's limit alone, nor by its own. */
TEST(good_is_who_keeps_both)
{
    struct read_run *r = made_run_sum_up(make("e2e:40", TWO, 50), NULL);

    assert_int_equal(r->s.classes[0].good, 58);
    assert_int_equal(r->s.classes[1].good, 0);
    assert_int_equal(r->s.good, 58);
    /* Its own term is about its own limit. */
    assert_int_equal(r->s.classes[1].judgement.verdict, VERDICT_PASS);
    read_run_free(r);
}

/* --slo replaces what is asked of the run. */
TEST(another_slo_leaves_those_of_the_classes)
{
    struct strlist slo = {0};
    struct read_run *r;

    strlist_add(&slo, "e2e p50 < 2ms");
    r = made_run_sum_up(make("e2e p50 < 1s", TWO, 50), &slo);
    assert_string_equal(r->s.judgement.terms[0].term->text, "e2e p50 < 2ms");
    assert_string_equal(r->s.classes[0].judgement.terms[0].term->text,
                        "e2e p50 < 10ms");
    assert_int_equal(r->s.answer, VERDICT_FAIL);
    strlist_fini(&slo);
    read_run_free(r);
}

/* The class of a request that was lost is not known: it is in the total alone,
 * and leaves what it could change undecided. */
TEST(what_was_lost_may_be_of_any_class)
{
    struct made_run *m = make("", TWO, 50);
    struct read_run *r;

    m->end.scheduled += 60;
    m->end.issued += 60;
    r = made_run_sum_up(m, NULL);
    assert_int_equal(r->s.scheduled, 160);
    assert_int_equal(r->s.classes[0].scheduled, 60);
    assert_int_equal(r->s.classes[1].scheduled, 40);
    assert_int_equal(r->s.classes[0].judgement.verdict, VERDICT_UNDECIDED);
    read_run_free(r);
}

TEST(reports_have_a_row_for_each)
{
    struct read_run *r = made_run_sum_up(make("", TWO, 150), NULL);
    char *text = doc_text_of(run_doc(&r->s));

    assert_golden_doc("run-classes", doc_of_part(run_doc_classes, &r->s));
    assert_says(text, "\n           class slow: fail; see its terms below\n");
    free(text);
    read_run_free(r);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
