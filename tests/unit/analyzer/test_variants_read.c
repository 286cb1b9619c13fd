/* A study with variants from disk: which runs are compared with which, what
 * does not count, and one run each. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/studies/variants.h"
#include "cli/exit_status.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "tests/support/maderun.h"
#include "tests/support/near.h"
#include "tests/support/rows.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define REQUESTS ((int64_t)500)
#define PART     100.0 /* requests */
#define ROUNDS   4

/* Which requests of a run take longer differs from round to round. */
struct made_variant {
    const char *name;
    int64_t ms; /* of most requests */
    size_t runs;
    size_t invalid; /* the last ones: a part of the load was never sent */
    bool is_turned; /* its rounds are recorded in another order */
};

static void write_run(const struct made_variant *v, size_t run, const char *dir)
{
    struct made_run *m = made_run_new(0, REQUESTS * 10, "e2e p90 < 1s");
    size_t round = v->is_turned ? v->runs - 1 - run : run;
    int64_t unsent = run + v->invalid >= v->runs ? REQUESTS / 2 : 0;

    m->seed = 100 + round;
    for (int64_t i = 0; i < REQUESTS - unsent; i++) {
        int64_t more = i * 7 % 10 < 4 ? (i * 13 + (int64_t)round * 5) % 7 : 0;

        made_run_add(m, row_ok(i, i * 10, v->ms * (20 + more) / 20));
    }
    made_run_add_unsent(m, unsent);
    made_run_write(m, dir);
    free(m);
}

static char *write_study(const char *name, const struct made_variant *list,
                         size_t n)
{
    char *dir = xstrdup(tmpdir_path(name));
    struct variant_set all = {.of = STUDY_TRIALS};
    struct err err = {0};

    assert_int_equal(mkdir(dir, 0777), 0);
    for (size_t i = 0; i < n; i++) {
        char *sub = xasprintf("%s/%s", dir, list[i].name);
        struct study_set set = {.kind = STUDY_TRIALS,
                                .asked = (int64_t)list[i].runs,
                                .recorded = (int64_t)list[i].runs};

        variant_set_add(&all, list[i].name);
        assert_int_equal(mkdir(sub, 0777), 0);
        for (size_t run = 0; run < list[i].runs; run++) {
            char *path = study_trial_path(sub, (int64_t)run + 1);

            study_set_add(&set, POINT_TRIAL, 0)->is_recorded = true;
            write_run(&list[i], run, path);
            free(path);
        }
        assert_int_equal(study_set_save(&set, sub, &err), 0);
        study_set_fini(&set);
        free(sub);
    }
    assert_int_equal(variant_set_save(&all, dir, &err), 0);
    variant_set_fini(&all);
    return dir;
}

static void read_study(struct variants_summary *s, const char *dir,
                       const char *slo, double smallest)
{
    struct strlist terms = {0};
    struct err err = {0};

    if (slo)
        strlist_add(&terms, slo);
    if (variants_read(s, dir, slo ? &terms : NULL, NULL, smallest, &err))
        fail_msg("%s", err.msg);
    strlist_fini(&terms);
}

/* Rounds are matched by their seeds, so what they have in common cancels. */
TEST(rounds_are_those_of_one_seed)
{
    static const struct made_variant list[] = {
        {"plain", 100, ROUNDS, 0, false},
        {"double", 200, ROUNDS, 0, true},
        {"near", 101, ROUNDS, 0, false},
    };
    char *dir = write_study("seeds", list, COUNT(list));
    struct variants_summary s;
    struct variant_pair p;

    read_study(&s, dir, NULL, -1);
    p = variants_pair(&s, 0, 0, 1);
    assert_near(s.smallest, 0.02, 1e-12);
    assert_near(s.values[0], 100, 0);
    assert_int_equal(s.rankings[0].by, RANKED_BY_SLO);
    assert_int_equal(p.contrast.rounds, ROUNDS);
    assert_near(p.ratio, 2, 0.01);
    assert_true(p.range.high - p.range.low < 0.1);
    assert_int_equal(p.standing, STANDING_AHEAD);
    assert_int_equal(variants_standing(&s, 0, 0, 2), STANDING_UNKNOWN);
    assert_int_equal(s.rankings[0].places[2].variant, 1);
    assert_int_equal(s.rankings[0].places[2].rank, 3);
    assert_int_equal(exit_status_of_variants(&s), 0);
    variants_summary_fini(&s);

    read_study(&s, dir, NULL, 1.5); /* 100 % is not worth mentioning */
    assert_int_equal(variants_standing(&s, 0, 0, 1), STANDING_UNKNOWN);
    variants_summary_fini(&s);
    free(dir);
}

TEST(another_slo_ranks_by_its_measure)
{
    static const struct made_variant list[] = {{"plain", 100, 3, 0, false},
                                               {"double", 200, 3, 0, false}};
    static const struct {
        const char *slo;
        enum ranked_by by;
        const char *shown;
    } rows[] = {
        {"e2e p50 < 1s", RANKED_BY_SLO, "e2e p50"},
        {"e2e p99.9 < 1s", RANKED_BY_MEDIAN, "e2e p50"}, /* 500 are too few */
        {"errors < 1%", RANKED_BY_MISSES, "requests that are not good"},
    };
    char *dir = write_study("slos", list, COUNT(list));

    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[VARIANTS_MEASURE];
        struct variants_summary s;

        read_study(&s, dir, rows[i].slo, -1);
        assert_int_equal(s.rankings[0].by, rows[i].by);
        assert_string_equal(variants_show_measure(&s, s.rankings[0].by, text),
                            rows[i].shown);
        assert_int_equal(variants_standing(&s, 0, 0, 1),
                         i == 2 ? STANDING_UNKNOWN : STANDING_AHEAD);
        variants_summary_fini(&s);
    }
    free(dir);
}

/* One of four may be invalid; two that are left are too few. */
TEST(invalid_runs_are_listed_and_not_ranked)
{
    static const struct {
        size_t invalid;
        size_t rank;
        int status;
    } rows[] = {{0, 1, 0}, {1, 1, 0}, {2, 0, 4}, {4, 0, 4}};

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_variant list[] = {{"good", 100, 4, 0, false},
                                      {"bad", 100, 4, rows[i].invalid, false}};
        char name[16];
        struct variants_summary s;
        char *dir;

        snprintf(name, sizeof(name), "invalid-%zu", i);
        dir = write_study(name, list, COUNT(list));
        read_study(&s, dir, NULL, -1);
        assert_int_equal(s.list[1].cells[0].runs, 4);
        assert_int_equal(s.list[1].cells[0].counted, 4 - rows[i].invalid);
        assert_int_equal(s.list[1].invalid.len, rows[i].invalid);
        if (rows[i].invalid > 0)
            assert_non_null(strstr(s.list[1].invalid.items[rows[i].invalid - 1],
                                   "trial-4 ("));
        assert_int_equal(s.rankings[0].places[1].variant, 1);
        assert_int_equal(s.rankings[0].places[1].rank, rows[i].rank);
        assert_int_equal(exit_status_of_variants(&s), rows[i].status);
        variants_summary_fini(&s);
        free(dir);
    }
}

/* Its window has five parts of 100 requests each. */
TEST(one_run_each_is_compared_in_parts)
{
    static const struct made_variant list[] = {
        {"plain", 100, 1, 0, false},
        {"double", 200, 1, 0, false},
        {"near", 101, 1, 0, false},
    };
    char *dir = write_study("one", list, COUNT(list));
    struct variants_summary s;

    read_study(&s, dir, NULL, -1);
    assert_true(s.rankings[0].is_within);
    assert_true(s.list[0].cells[0].rounds[0].are_parts_apart);
    assert_near(s.list[0].cells[0].rounds[0].parts[4].due, PART, 0);
    assert_near(s.list[0].cells[0].rounds[0].parts[4].good, PART, 0);
    assert_int_equal(variants_pair(&s, 0, 0, 1).contrast.rounds,
                     VARIANTS_PARTS);
    assert_near(variants_pair(&s, 0, 0, 1).ratio, 2, 0.02);
    assert_int_equal(variants_standing(&s, 0, 0, 1), STANDING_AHEAD);
    assert_int_equal(variants_standing(&s, 0, 0, 2), STANDING_UNKNOWN);
    assert_int_equal(exit_status_of_variants(&s), 0);
    variants_summary_fini(&s);
    free(dir);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
