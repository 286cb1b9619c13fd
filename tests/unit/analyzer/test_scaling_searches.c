/* Capacities of searches as points of a scaling study: planted ones come back
 * with their intervals, and a search that found none is refused. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/compare/capacities.h"
#include "analyzer/scaling/scaling.h"
#include "analyzer/search/search_read.h"
#include "analyzer/studies/study_recordings.h"
#include "analyzer/studies/variant_capacity.h"
#include "cli/exit_status.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/xalloc.h"
#include "common/recording/study_set.h"
#include "tests/support/rows.h"
#include "tests/support/sided.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define OBJECTIVE "e2e p90 < 50ms"

/* Of 10 ms and an exponential the share beyond 50 ms is exp(-40 / mean): so
 * that it is 10 % at the capacity, and grows like the fourth power. */
static double spread_at(double rate, double capacity)
{
    return -40 / log(0.1 * pow(rate / capacity, 4));
}

/* Probes at these parts of the capacity. */
static char *search_write(const char *name, const char *replicas,
                          double capacity, const double *parts, size_t n)
{
    struct study_set set = {.kind = STUDY_SEARCH, .key = "load.rate"};
    char *dir = tmpdir_path(name);
    struct err err = {0};

    assert_int_equal(file_make_dir(dir, &err), 0);
    for (size_t i = 0; i < n; i++) {
        double rate = parts[i] * capacity;
        const struct sided run = {.e2e_ms = 10,
                                  .spread_ms = spread_at(rate, capacity),
                                  .seed = i + 1,
                                  .slo = OBJECTIVE,
                                  .rate = rate,
                                  .gap_ms = 1000 / rate,
                                  .replicas = replicas};
        char probe[64];

        study_set_add(&set, POINT_PROBE, rate)->is_recorded = true;
        snprintf(probe, sizeof(probe), "%s/probe-%zu", name, i + 1);
        free(sided_write(probe, &run));
    }
    assert_int_equal(study_set_save(&set, dir, &err), 0);
    study_set_fini(&set);
    return dir;
}

/* --resume may bring another budget, and find that it is spent: that of the
 * last attempt counts, not that of the last probe. */
TEST(the_last_budget_counts)
{
    static const double parts[] = {0.5, 0.8};
    static const struct {
        int64_t budget_ns;
        enum search_outcome outcome;
    } rows[] = {{0, SEARCH_GOES_ON}, {(int64_t)1e9, SEARCH_BUDGET}};
    char *dir = search_write("budget", "1", 100, parts, COUNT(parts));

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct search_summary s;
        struct study_set set;
        struct err err = {0};

        assert_int_equal(study_set_load(&set, dir, &err), 0);
        set.budget_ns = rows[i].budget_ns;
        set.points[0].took_s = 5;
        assert_int_equal(study_set_save(&set, dir, &err), 0);
        study_set_fini(&set);
        assert_int_equal(search_read(&s, dir, NULL, &err), 0);
        assert_int_equal(s.answer.outcome, rows[i].outcome);
        search_summary_fini(&s);
    }
}

static const double around[] = {0.5, 0.8, 0.9, 0.95, 1, 1.05, 1.1, 1.3};

/* The study of two searches, by an objective that is counted anew. */
static struct scaling *study_of(const char *one, const char *two)
{
    struct scaling *s = xcalloc(1, sizeof(*s));
    struct strlist sources = {0};
    struct strlist slo = {0};
    struct scale_ask ask = {.sources = &sources,
                            .slo = &slo,
                            .regime = SCALE_CAPACITY,
                            .threshold = 0.7,
                            .tolerance = 0.005};
    struct err err = {0};

    strlist_add(&sources, two);
    strlist_add(&sources, one);
    strlist_add(&slo, OBJECTIVE);
    if (scaling_make(s, &ask, &err))
        print_message("%s\n", err.msg);
    assert_int_equal(err.code, ERR_NONE);
    strlist_fini(&slo);
    strlist_fini(&sources);
    s->ask.slo = NULL;
    s->ask.sources = NULL;
    return s;
}

/* 100/s and 180/s: a capacity efficiency of 0.9. */
TEST(planted_capacities)
{
    char *one = search_write("one", "1", 100, around, COUNT(around));
    char *two = search_write("two", "2", 180, around, COUNT(around));
    struct scaling *s = study_of(one, two);
    const struct uncertain *e;

    for (size_t i = 0; i < s->refusals.len; i++)
        print_message("%s\n", s->refusals.items[i]);
    assert_int_equal(s->refusals.len, 0);
    assert_int_equal(s->n, 2);
    assert_int_equal(s->points[1].k, 2);
    e = &s->points[1].efficiency;
    assert_true(e->has_range);
    assert_true(e->range.low <= 0.9 && 0.9 <= e->range.high);
    assert_true(e->range.high - e->range.low < 0.2);
    assert_int_equal(s->verdict.recommended_k, 2);
    assert_true(s->items[3].is_present);
    scaling_fini(s);
    free(s);
}

/* The objective is met at every rate: the capacity is above them all. */
TEST(a_search_that_found_none)
{
    static const double light[] = {0.2, 0.3};
    char *one = search_write("found", "1", 100, around, COUNT(around));
    char *two = search_write("none", "2", 180, light, COUNT(light));
    struct scaling *s = study_of(one, two);

    assert_int_equal(exit_status_of(scaling_conclusion(s), 0), 4);
    assert_non_null(strstr(s->refusals.items[0], "none: no capacity: "));
    scaling_fini(s);
    free(s);
}

/* ---- the look ---- */

/* A search whose first recording is a closed loop. */
static char *with_look(const char *name)
{
    static const double parts[] = {0.5, 0.8};
    const struct sided closed = {
        .e2e_ms = 10, .slo = OBJECTIVE, .is_closed = 1};
    char *dir = search_write(name, "1", 100, parts, COUNT(parts));
    struct study_set set;
    struct study_point look;
    char path[64];
    struct err err = {0};

    snprintf(path, sizeof(path), "%s/look-1", name);
    free(sided_write(path, &closed));
    assert_int_equal(study_set_load(&set, dir, &err), 0);
    study_set_add(&set, POINT_LOOK, 16)->is_recorded = true;
    look = set.points[2];
    memmove(&set.points[1], &set.points[0], 2 * sizeof(look));
    set.points[0] = look;
    assert_int_equal(study_set_save(&set, dir, &err), 0);
    study_set_fini(&set);
    return dir;
}

TEST(searches_are_compared_by_their_probes)
{
    static const double parts[] = {0.5, 0.8};
    struct strlist dirs = {0};
    const struct compare_ask ask = {.dirs = &dirs, .regression = -1};
    struct capacities c;
    struct err err = {0};

    strlist_add(&dirs, with_look("looked"));
    strlist_add(&dirs, search_write("plain", "1", 100, parts, COUNT(parts)));
    assert_int_equal(capacities_make(&c, &ask, &err), 0);
    assert_int_equal(c.differences.must, 0);
    assert_int_not_equal(c.answer, COMPARE_REFUSED);
    capacities_fini(&c);
    strlist_fini(&dirs);
}

TEST(a_look_is_no_point)
{
    struct study_recordings l;
    struct err err = {0};

    assert_int_equal(
        study_recordings_list(&l, with_look("listed"), STUDY_SEARCH, &err), 0);
    assert_int_equal(l.n, 2);
    for (size_t i = 0; i < l.n; i++)
        assert_int_equal(l.list[i].point.role, POINT_PROBE);
    study_recordings_fini(&l);
}

/* 100/s at 3.6 USD per hour are a cent per thousand; of 100 clients it is not
 * known how many requests they make. */
TEST(only_a_rate_has_a_price)
{
    struct slo slo = slo_of(OBJECTIVE);
    struct search_result probe = {.value = 100, .n_terms = 1};

    probe.terms[0].n = 1000;
    for (int k = 0; k < 2; k++) {
        struct capacity_sums sums = {
            .config = {.by = k ? SEARCH_CONCURRENCY : SEARCH_RATE, .slo = &slo},
            .results = &probe,
            .n = 1,
            .usd_per_hour = 3.6,
        };
        struct capacity c;

        capacity_of_sums(&sums, &c);
        assert_true(c.range.low == 100);
        assert_true(k ? c.usd_per_1000 < 0
                      : fabs(c.usd_per_1000 - 0.01) < 1e-12);
    }
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
