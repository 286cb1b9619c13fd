/* An objective in tiers: each as if it were all that was asked. */
#include <string.h>

#include "common/base/str.h"
#include "tests/support/maderun.h"
#include "tests/support/rows.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

/* 100 requests in a second: 60 of 5 ms, 30 of 50 ms, 10 fail; in turn, so that
 * nothing is clustered.  Every other one is of the second class. */
static struct made_run *make(const char *slo, const char *classes)
{
    struct made_run *m = made_run_new(0, 1000, slo);

    m->classes = classes;
    for (int64_t i = 0; i < 100; i++) {
        struct facts f = i % 10 < 6   ? row_ok(i, 10 * i, 5)
                         : i % 10 < 9 ? row_ok(i, 10 * i, 50)
                                      : row_failed(i, 10 * i, 3, OUTCOME_RESET);

        f.class = classes ? i % 2 : 0;
        made_run_add(m, f);
    }
    return m;
}

/* Of the verdicts there are: trust has no part in what is judged. */
TEST(every_tier_is_judged_by_itself)
{
    static const struct {
        const char *slo;
        enum verdict gold;
        enum verdict silver;
        enum verdict run;
        const char *best;
    } cases[] = {
        {"gold: e2e p50 < 10ms,silver: e2e p50 < 100ms", VERDICT_PASS,
         VERDICT_PASS, VERDICT_PASS, "gold"},
        {"gold: e2e p80 < 10ms,silver: e2e p80 < 100ms", VERDICT_FAIL,
         VERDICT_PASS, VERDICT_PASS, "silver"},
        {"gold: errors < 1%,silver: errors < 5%", VERDICT_FAIL, VERDICT_FAIL,
         VERDICT_FAIL, NULL},
        {"gold: errors < 1%,silver: errors < 20%,errors < 2%", VERDICT_FAIL,
         VERDICT_PASS, VERDICT_FAIL, "silver"},
        {"gold: errors < 1%,silver: errors < 5%,errors < 50%", VERDICT_FAIL,
         VERDICT_FAIL, VERDICT_PASS, NULL},
        {"gold: e2e p99 < 1s,silver: errors < 20%", VERDICT_FAIL, VERDICT_PASS,
         VERDICT_PASS, "silver"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct read_run *r = made_run_sum_up(make(cases[i].slo, NULL), NULL);
        const struct tiers *t = &r->s.tiers;
        const struct tier_summary *best = tiers_best(t);

        assert_int_equal(t->len, 2);
        assert_string_equal(tier_name(&t->items[0]), "gold");
        assert_int_equal(t->items[0].verdict, cases[i].gold);
        assert_int_equal(t->items[1].verdict, cases[i].silver);
        assert_int_equal(r->s.verdict, cases[i].run);
        if (cases[i].best)
            assert_string_equal(tier_name(best), cases[i].best);
        else
            assert_null(best);
        read_run_free(r);
    }
}

/* Its numbers are those of a report with its terms alone. */
TEST(a_tier_is_what_its_terms_alone_are)
{
    static const char *const slo =
        "gold: e2e p50 < 10ms,gold: good >= 70%,silver: e2e p90 < 100ms";
    static const char *const alone[] = {"e2e p50 < 10ms,good >= 70%",
                                        "e2e p90 < 100ms"};
    struct read_run *all = made_run_sum_up(make(slo, NULL), NULL);

    for (size_t i = 0; i < COUNT(alone); i++) {
        struct read_run *one = made_run_sum_up(make(alone[i], NULL), NULL);
        const struct tier_summary *t = &all->s.tiers.items[i];

        assert_int_equal(t->verdict, one->s.verdict);
        assert_int_equal(t->good, one->s.good);
        assert_true(t->goodput_rps == one->s.goodput_rps);
        assert_true(t->attainment == one->s.attainment);
        assert_true(t->attainment_ci95.low == one->s.attainment_ci95.low);
        assert_int_equal(t->judgement.len, one->s.judgement.len);
        for (size_t k = 0; k < t->judgement.len; k++) {
            const struct term_judgement *a = &t->judgement.terms[k];
            const struct term_judgement *b = &one->s.judgement.terms[k];

            assert_int_equal(a->verdict, b->verdict);
            assert_int_equal(a->measured_ns, b->measured_ns);
            assert_int_equal(a->high_ns, b->high_ns);
            assert_true(a->measured == b->measured);
        }
        read_run_free(one);
    }
    assert_int_equal(all->s.tiers.items[0].good, 60);
    assert_int_equal(all->s.tiers.items[1].good, 90);
    assert_int_equal(all->s.good, 90); /* by the last */
    read_run_free(all);
}

/* A class has tiers of its own, and keeps the run's of the same name. */
TEST(classes_have_tiers_too)
{
    static const char *const classes =
        "classes:\n"
        "  - {name: a, slo: ['gold: e2e p50 < 10ms', 'silver: e2e p50 < 1s']}\n"
        "  - {name: b}\n";
    struct read_run *r = made_run_sum_up(
        make("gold: errors < 50%,gold: e2e p9 < 20ms", classes), NULL);
    const struct tiers *a = &r->s.classes[0].tiers;

    assert_int_equal(a->len, 2);
    assert_int_equal(r->s.classes[1].tiers.len, 0);
    assert_int_equal(r->s.tiers.len, 1);
    /* Of class a are the even ones: 30 of 5 ms, 20 of 50 ms. */
    assert_int_equal(a->items[0].good, 30);
    assert_int_equal(a->items[1].good, 50);
    assert_true(a->items[0].attainment == 0.6);
    assert_int_equal(a->items[0].verdict, VERDICT_PASS);
    /* Gold of the run: a's limit for a, and the run's for b. */
    assert_int_equal(r->s.tiers.items[0].good, 60);
    assert_int_equal(r->s.classes[0].judgement.len, 1); /* silver decides */
    assert_int_equal(r->s.verdict, VERDICT_PASS);
    read_run_free(r);
}

/* Nothing passes of a run that was to go on. */
TEST(a_cut_run_meets_no_tier)
{
    struct made_run *m = make("gold: errors < 1%,silver: errors < 50%", NULL);
    struct read_run *r;

    m->end.stopped_by = 2;
    r = made_run_sum_up(m, NULL);
    assert_int_equal(r->s.tiers.items[1].judgement.verdict, VERDICT_PASS);
    assert_int_equal(r->s.tiers.items[1].verdict, VERDICT_UNDECIDED);
    assert_int_equal(r->s.tiers.items[0].verdict, VERDICT_FAIL);
    assert_null(tiers_best(&r->s.tiers));
    read_run_free(r);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
