/* A search on a machine that others use: what was disturbed is set aside and
 * made again, in bounds; no disturbance is taken for the server's doing, nor
 * for the client's limit. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "analyzer/search/probe_disturbed.h"
#include "analyzer/search/search_read.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/stats/hist.h"
#include "tests/support/madeserver.h"
#include "tests/support/madesummary.h"
#include "tests/support/test.h"

#define CAPACITY 900.0
#define SEEDS    20

/* Whatever the runs that are set aside have counted is drawn from anywhere
 * between nothing and everything missed. */
static struct madeserver made(double disturbed, uint64_t seed)
{
    struct madeserver m = madeserver_of(CAPACITY, 20, seed);

    m.disturbed = disturbed;
    return m;
}

/* What is said must be right, or be called undecided.  An interval of 90 % may
 * be off the truth by chance, but not far: 6 % is about four times its
 * deviation. */
static bool is_right(const struct search_answer *a)
{
    return a->ci.low < 1.06 * CAPACITY && a->ci.high > 0.94 * CAPACITY;
}

/* Chances are of 5 s: 0.1 is 34 % of a probe of 20 s, 0.2 is 59 %, and nearly
 * all of long confirmations.  A probe that was disturbed three times is taken
 * for the client's limit, so disturbances that last for three runs look like
 * one.  Of 600 searches with each row 528, 266, 345 and none were found, and 2,
 * 17, 94 and 210 took them for the limit; fewer than `found` of 20, or more
 * than `limits`, are in at most 5 % of the cases (binomial). */
TEST(a_disturbed_search_is_right_or_undecided)
{
    static const struct {
        double disturbed;
        double busy;  /* share of those in which the client seems to be */
        size_t lasts; /* runs */
        int found;
        int limits; /* taken for the client's, at most */
    } rows[] = {{0.1, 0.05, 0, 15, 1},
                {0.2, 0.05, 0, 5, 2},
                {0.05, 0, 3, 8, 6},
                {0.5, 0, 0, 0, 11}};

    for (size_t i = 0; i < COUNT(rows); i++) {
        int found = 0;
        int limits = 0;

        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct madeserver m = made(rows[i].disturbed, 100 * i + seed);
            struct search_answer a;

            m.disturbed_busy = rows[i].busy;
            m.disturbed_for = rows[i].lasts;
            madeserver_answer(&m, (struct search_config){.start = 130}, &a);
            found += a.outcome == SEARCH_FOUND;
            limits += a.outcome == SEARCH_CLIENT;
            assert_true(a.outcome == SEARCH_FOUND ||
                        a.outcome == SEARCH_UNDECIDED ||
                        (a.outcome == SEARCH_CLIENT && a.at_least < CAPACITY));
            assert_true(isnan(a.capacity) || is_right(&a));
        }
        print_message("row %zu: found %d, limits %d of %d\n", i, found, limits,
                      SEEDS);
        assert_true(found >= rows[i].found);
        assert_true(limits <= rows[i].limits);
    }
}

/* Nothing counts, and there is an end to it. */
TEST(a_machine_that_is_never_quiet_is_undecided)
{
    static const double starts[] = {0, 100, 5000};

    for (size_t i = 0; i < COUNT(starts); i++) {
        struct madeserver m = made(1, i + 1);
        struct search_answer a;

        madeserver_answer(&m, (struct search_config){.start = starts[i]}, &a);
        assert_int_equal(a.outcome, SEARCH_UNDECIDED);
        assert_int_equal(a.discarded, a.probes);
        assert_in_range(a.probes, 5, 20);
        assert_true(isnan(a.capacity) && isnan(a.at_least) &&
                    isnan(a.at_most) && isnan(a.client_limit));
        assert_non_null(strstr(a.why, "too busy"));
        assert_non_null(strstr(a.why, "'lag'"));
    }
}

/* ---- a disturbed confirmation ---- */

/* A search, and what it searches. */
struct begun {
    struct slo slo;
    struct search_config config;
    struct madeserver m;
    struct search s;
};

/* The server is as it has been set up; up to the confirmation, which is next.
 */
static void begin(struct begun *b)
{
    b->slo = madeserver_slo(1);
    b->config = (struct search_config){
        .slo = &b->slo, .start = 130, .confirm_ns = 90 * NS_PER_S};
    search_init(&b->s, &b->config);
    while (madeserver_next(&b->s).step == SEARCH_PROBE)
        madeserver_feed(&b->s, &b->m, NULL);
    assert_int_equal(madeserver_next(&b->s).step, SEARCH_CONFIRM);
}

/* As long and at the same load, up to three times. */
TEST(a_disturbed_confirmation_is_repeated)
{
    for (size_t disturbed = 2; disturbed <= 3; disturbed++) {
        struct begun b = {.m = made(0, 1)};
        struct search_ask first, again;
        struct search_answer a;

        begin(&b);
        first = madeserver_next(&b.s);
        for (size_t i = 0; i < disturbed; i++) {
            again = madeserver_next(&b.s);
            assert_int_equal(again.step, SEARCH_CONFIRM);
            assert_true(again.value == first.value);
            assert_int_equal(again.window_ns, first.window_ns);
            madeserver_feed(&b.s, &b.m, "steal");
        }
        if (disturbed == 2)
            madeserver_feed(&b.s, &b.m, NULL);
        assert_int_equal(madeserver_next(&b.s).step, SEARCH_DONE);
        search_answer(&b.s, &a);
        assert_int_equal(a.outcome,
                         disturbed == 2 ? SEARCH_FOUND : SEARCH_UNDECIDED);
        assert_int_equal(isfinite(a.confirmed), disturbed == 2);
        assert_true(is_right(&a));
        if (disturbed == 3)
            assert_non_null(strstr(a.why, "too busy"));
        search_fini(&b.s);
    }
}

/* ---- what cannot be judged ---- */

/* The server may be why: neither the machine nor the client is blamed. */
TEST(what_is_not_answered_is_nobodys_fault)
{
    static const double answers_to[] = {0, 100}; /* the highest load */

    for (size_t i = 0; i < COUNT(answers_to); i++) {
        struct slo slo = madeserver_slo(1);
        struct search_config config = {.slo = &slo, .start = 100};
        struct madeserver m = made(0, 1);
        struct search_answer a;
        struct search s;

        search_init(&s, &config);
        for (struct search_ask ask = madeserver_next(&s);
             ask.step != SEARCH_DONE; ask = madeserver_next(&s))
            madeserver_feed(
                &s, &m, ask.value > answers_to[i] ? SEARCH_UNMEASURED : NULL);
        search_answer(&s, &a);
        assert_int_equal(a.outcome, SEARCH_UNDECIDED);
        assert_true(isnan(a.client_limit));
        assert_null(strstr(a.why, "too busy"));
        assert_non_null(strstr(a.why, "no answer allows the SLO to be judged"));
        search_fini(&s);
    }
}

/* ---- what is set aside ---- */

/* A term 'e2e p95 < 200ms': what a late client caused matters if it is more
 * than 2.5 % of the requests, or half of those that missed. */
struct probe {
    double client_late;  /* share of the requests, by the client */
    const char *failed;  /* a check of the run */
    double missed;       /* share of the requests */
    double stub_late;    /* share of them by 30 ms, the others by none */
    int64_t measured_ms; /* at p95 */
    const char *term;    /* NULL: e2e p95 */
    bool is_silent;      /* nothing is known of any request, ... */
    bool has_no_lag;     /* ... or of when any was sent */
    bool is_unjudgeable; /* too few requests have the measure */
    int of_class;        /* 1: the term is of a class, which ... */
    int64_t of_class_n;  /* ... had this number of requests, */
    bool is_proof;       /* in a confirmation */
    int64_t scheduled;
    const char *because; /* expected; NULL: it counts */
};

static const struct probe probes[] = {
    {.missed = 0.05},
    {.missed = 1},
    /* It may look large compared with what was measured; it does no harm. */
    {.missed = 0.05, .failed = "lag p99"},
    /* One in a hundred, where five may miss. */
    {.client_late = 0.01, .missed = 0.05},
    {.client_late = 0.025, .missed = 0.03},
    {.client_late = 0.026, .missed = 0.03, .because = "lag"},
    {.client_late = 0.05, .missed = 0.08, .because = "lag"},
    {.client_late = 0.05, .missed = 0.3}, /* most missed without it */
    {.client_late = 0.2, .missed = 0.31, .because = "lag"},
    {.client_late = 1, .missed = 0.9, .because = "lag"},
    /* Met in spite of it. */
    {.client_late = 1},
    {.client_late = 1, .missed = 0.005},
    {.client_late = 0.01,
     .missed = 0.01,
     .term = "e2e p99 < 20ms",
     .because = "lag"},
    /* No part in it. */
    {.client_late = 0.05, .missed = 0.08, .term = "tpot p95 < 50ms"},
    {.has_no_lag = true,
     .missed = 0.05,
     .failed = "lag p50",
     .because = "lag p50"},
    {.is_silent = true, .because = "no requests"},
    {.is_silent = true, .scheduled = 30, .because = SEARCH_UNMEASURED},
    {.is_unjudgeable = true,
     .is_proof = true,
     .scheduled = 30,
     .because = SEARCH_UNMEASURED},
    {.is_unjudgeable = true, .scheduled = 30}, /* by chance, in a probe */
    {.is_silent = true,
     .term = "quality >= 0.9",
     .scheduled = 30,
     .because = SEARCH_UNMEASURED},
    /* A rare class may be missing in a probe. */
    {.of_class = 1, .scheduled = 30},
    {.of_class = 1,
     .of_class_n = 3,
     .scheduled = 30,
     .because = SEARCH_UNMEASURED},
    {.of_class = 1,
     .is_proof = true,
     .scheduled = 30,
     .because = SEARCH_UNMEASURED},
    /* The other term is missed: that is enough. */
    {.of_class = 1, .of_class_n = 3, .missed = 0.5, .scheduled = 30},
    {.failed = "steal", .because = "steal"},
    /* Why it was late. */
    {.client_late = 1, .missed = 0.9, .failed = "busy", .because = SEARCH_BUSY},
    {.failed = "busy", .because = SEARCH_BUSY},
    {.client_late = 1,
     .missed = 0.9,
     .failed = "connection cap",
     .because = SEARCH_CAPPED},
    {.missed = 0.3, .failed = "client resources", .because = SEARCH_EXHAUSTED},
    {.client_late = 1,
     .missed = 0.9,
     .failed = "client resources",
     .because = SEARCH_EXHAUSTED},
    {.failed = "lag p99", .term = "errors < 1%", .because = "lag p99"},
    {.stub_late = 0.01, .missed = 0.05},
    {.stub_late = 0.04, .missed = 0.05, .because = "stub late"},
    {.stub_late = 0.04,
     .missed = 0.05,
     .measured_ms = 259,
     .because = "stub late"},
    {.stub_late = 0.04, .missed = 0.05, .measured_ms = 261},
    {.stub_late = 0.04},
    {.stub_late = 0.04, .missed = 0.5},
    {.stub_late = 0.04, .missed = 0.5, .failed = "steal", .because = "steal"},
};

static const char *reason_of(const struct probe *p)
{
    struct made_summary *m = made_summary_bare("http://h/");
    struct search_terms terms = {.slo = {.len = 1 + (size_t)p->of_class},
                                 .class = {-1, 0}};
    struct search_result r = {.step =
                                  p->is_proof ? SEARCH_CONFIRM : SEARCH_PROBE,
                              .n_terms = terms.slo.len};
    struct class_summary class = {.scheduled = p->of_class_n};
    struct hist late = {0};
    struct err err = {0};
    const char *reason;

    assert_int_equal(slo_parse_term(p->term ? p->term : "e2e p95 < 200ms",
                                    &terms.slo.terms[0], &err),
                     0);
    terms.slo.terms[1] = terms.slo.terms[0];
    m->s.scheduled = p->scheduled;
    m->s.classes = &class;
    r.terms[0].is_unjudgeable = p->is_unjudgeable;
    r.terms[0].n = p->is_silent ? 0 : 1000;
    r.terms[0].misses = llround(1000 * p->missed);
    r.terms[0].measured_ns = p->measured_ms * NS_PER_MS;
    r.terms[0].client_late = llround(1000 * p->client_late);
    m->s.spread[MEASURE_LAG][VIEW_DUE].n = p->has_no_lag ? 0 : 1000;
    for (int i = 0; i < 1000; i++)
        hist_add(&late, i < 1000 * p->stub_late ? 30 * NS_PER_MS : 0);
    m->s.trust = (struct trust){.valid = p->failed == NULL};
    if (p->failed)
        m->s.trust.checks[m->s.trust.len++] =
            (struct check){.name = p->failed, .is_fatal = true};
    reason = disturbed_by(&m->s, &late, &terms, &r);
    hist_fini(&late);
    m->s.classes = NULL;
    made_summary_free(m);
    return reason;
}

TEST(delays_are_held_against_the_limit)
{
    for (size_t i = 0; i < COUNT(probes); i++) {
        const char *reason = reason_of(&probes[i]);
        const char *because = probes[i].because;

        if ((reason == NULL) != (because == NULL) ||
            (reason && strcmp(reason, because) != 0))
            fail_msg("row %zu: %s instead of %s", i, reason ? reason : "none",
                     because ? because : "none");
    }
}
