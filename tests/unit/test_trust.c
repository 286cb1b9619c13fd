/* The checks that may withdraw a measurement. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/trust.h"
#include "common/clk.h"
#include "tests/support/rows.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct run {
    const char *slo;
    int64_t n;
    int64_t lag_us;  /* of every request */
    int64_t late_us; /* of the last 2 %, instead */
    int64_t ttfb_ms;
    int64_t e2e_ms;
};

/* A client of which nothing is known. */
static struct client no_client(void)
{
    struct client c;

    client_init(&c, (struct window){0}, 1);
    return c;
}

static struct trust judged(const struct tally *t, const struct client *client,
                           const struct integrity *integrity, bool is_closed)
{
    struct judgement j;
    struct trust trust;

    judge(t, 10, &j);
    trust_check(&(struct evidence){.tally = t,
                                   .judgement = &j,
                                   .integrity = integrity,
                                   .client = client,
                                   .is_open_loop = !is_closed},
                &trust);
    return trust;
}

static struct trust check_run(const struct run *r,
                              const struct integrity *integrity)
{
    const struct window w = {.end_ns = 10 * NS_PER_S};
    struct client client = no_client();
    struct slo slo = slo_of(r->slo);
    struct trust trust;
    struct tally t;

    tally_init(&t, w, &slo);
    for (int64_t i = 0; i < r->n; i++) {
        struct facts f = row_ok(i, i % 10000, r->e2e_ms);
        bool is_late = r->late_us && i >= r->n - r->n / 50;

        f.issued = f.due + (is_late ? r->late_us : r->lag_us) * NS_PER_US;
        f.head = f.due + r->ttfb_ms * NS_PER_MS;
        tally_add(&t, &f);
    }
    trust = judged(&t, &client, integrity, false);
    tally_fini(&t);
    return trust;
}

static const struct check *find(const struct trust *t, const char *name)
{
    for (size_t i = 0; i < t->len; i++) {
        if (strcmp(t->checks[i].name, name) == 0)
            return &t->checks[i];
    }
    return NULL;
}

/* p50 may be 200 us or 10 % of the measured p50, p99 2 ms or 10 % of p99; a
 * limit that was asked for makes the floor 10 % of itself at most. */
static const struct {
    struct run run;
    const char *check;
    double limit_ms;
    bool ok;
} lags[] = {
    /* the floor */
    {{"", 1000, 199, 0, 1, 1}, "lag p50", 0.2, true},
    {{"", 1000, 220, 0, 1, 1}, "lag p50", 0.2, false},
    {{"", 1000, 99, 1990, 1, 1}, "lag p99", 2, true},
    {{"", 1000, 99, 2200, 1, 1}, "lag p99", 2, false},
    /* the share of e2e */
    {{"", 1000, 900, 0, 1, 10}, "lag p50", 1, true},
    {{"", 1000, 1100, 0, 1, 10}, "lag p50", 1, false},
    {{"", 1000, 99, 9900, 1, 100}, "lag p99", 10, true},
    {{"", 1000, 99, 11000, 1, 100}, "lag p99", 10, false},
    /* of the tightest measure in the SLO, and of no other */
    {{"e2e p99 < 1s", 1000, 900, 0, 1, 10}, "lag p50", 1, true},
    {{"e2e p99 < 1s,ttfb p99 < 1s", 1000, 900, 0, 5, 10},
     "lag p50",
     0.5,
     false},
    {{"ttfb p99 < 1s,e2e p99 < 1s", 1000, 400, 0, 5, 10}, "lag p50", 0.5, true},
    {{"ttfb p99 < 1s,ttft p99 < 1s", 1000, 900, 0, 5, 10},
     "lag p50",
     0.5,
     false},
    /* a tight limit lowers the floor */
    {{"e2e p99 < 500us", 1000, 40, 0, 0, 0}, "lag p50", 0.05, true},
    {{"e2e p99 < 500us", 1000, 60, 0, 0, 0}, "lag p50", 0.05, false},
    {{"e2e p99 < 5ms", 1000, 1, 400, 1, 1}, "lag p99", 0.5, true},
    {{"e2e p99 < 5ms", 1000, 1, 600, 1, 1}, "lag p99", 0.5, false},
};

/* Each on a fresh connection, and none of them an error. */
static void what_was_sent_again_is_noted(void **state)
{
    static const struct {
        int64_t again; /* of 1000 */
        bool ok;
    } cases[] = {{0, true}, {10, true}, {11, false}, {1000, false}};
    const struct window w = {.end_ns = 10 * NS_PER_S};
    const struct integrity whole = {0};
    struct client client = no_client();
    struct slo slo = slo_of("");

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct tally t;
        struct trust trust;
        const struct check *c;

        tally_init(&t, w, &slo);
        for (int64_t k = 0; k < 1000; k++) {
            struct facts f = row_ok(k, k, 1);

            f.retries = k < cases[i].again;
            tally_add(&t, &f);
        }
        trust = judged(&t, &client, &whole, false);
        tally_fini(&t);
        c = find(&trust, "sent again");
        assert_non_null(c);
        assert_int_equal(c->ok, cases[i].ok);
        assert_true(fabs(c->value - (double)cases[i].again / 10) < 1e-9);
        assert_true(trust.valid);
    }
}

static void lag_is_small_against_what_is_measured(void **state)
{
    const struct integrity whole = {0};

    (void)state;
    for (size_t i = 0; i < COUNT(lags); i++) {
        struct trust t = check_run(&lags[i].run, &whole);
        const struct check *c = find(&t, lags[i].check);

        assert_non_null(c);
        if (c->ok != lags[i].ok)
            print_error("case %zu: %g ms, at most %g\n", i, c->value, c->limit);
        assert_int_equal(c->ok, lags[i].ok);
        assert_true(fabs(c->limit - lags[i].limit_ms) <=
                    lags[i].limit_ms / 1000);
        assert_int_equal(c->advice[0] == '\0', lags[i].ok);
        assert_int_equal(t.valid, lags[i].ok);
    }
}

/* The second largest of a hundred is no p99. */
static void few_requests_bound_no_lag(void **state)
{
    const struct run run = {"", 298, 10, 9900, 1, 1};
    const struct run fewer = {"", 4, 900, 900, 1, 1};
    const struct integrity whole = {0};
    struct trust t = check_run(&run, &whole);

    (void)state;
    assert_non_null(find(&t, "lag p50"));
    assert_null(find(&t, "lag p99"));
    t = check_run(&fewer, &whole);
    assert_null(find(&t, "lag p50"));
    assert_true(t.valid);
}

static void a_clean_run_is_trusted(void **state)
{
    const struct run run = {"e2e p99 < 1s", 1000, 10, 0, 1, 10};
    const struct integrity whole = {0};
    struct trust t = check_run(&run, &whole);

    (void)state;
    assert_true(t.valid);
    assert_int_equal(t.len, 9); /* nothing is known of client and host */
    for (size_t i = 0; i < t.len; i++) {
        assert_true(t.checks[i].ok);
        assert_string_equal(t.checks[i].advice, "");
    }
}

static void one_unsent_request_invalidates(void **state)
{
    const struct window w = {.end_ns = NS_PER_S};
    const struct integrity whole = {0};
    struct slo slo = slo_of("");
    struct facts ok = row_ok(0, 0, 5);
    struct facts unsent = row_unsent(1, 1);
    struct client client = no_client();
    struct trust trust;
    struct tally t;

    (void)state;
    tally_init(&t, w, &slo);
    tally_add(&t, &ok);
    tally_add(&t, &unsent);
    trust = judged(&t, &client, &whole, false);
    assert_false(trust.valid);
    assert_false(find(&trust, "unsent")->ok);
    assert_true(find(&trust, "unsent")->value == 1);
    assert_true(find(&trust, "unsent")->limit == 0);
    tally_fini(&t);
}

/* Too few samples leave the verdict open; they do not make it invalid. */
static void samples_are_of_the_neediest_term(void **state)
{
    static const struct {
        const char *slo;
        int64_t n;
        bool ok;
        double limit;
    } cases[] = {
        {"e2e p99 < 1s", 299, true, 299},
        {"e2e p99 < 1s", 298, false, 299},
        {"e2e p50 < 1s,e2e p99.9 < 1s,e2e p90 < 1s", 1000, false, 2995},
        {"e2e p50 < 1s,errors < 1%", 5, true, 5},
    };
    const struct integrity whole = {0};

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct run run = {cases[i].slo, cases[i].n, 0, 0, 1, 10};
        struct trust t = check_run(&run, &whole);
        const struct check *c = find(&t, "samples");

        assert_non_null(c);
        assert_int_equal(c->ok, cases[i].ok);
        assert_true(c->limit == cases[i].limit);
        assert_true(c->value == (double)cases[i].n);
        assert_true(t.valid);
    }
}

static void no_quantile_asks_for_no_samples(void **state)
{
    const struct run run = {"errors < 1%", 3, 0, 0, 1, 10};
    const struct integrity whole = {0};
    struct trust t = check_run(&run, &whole);

    (void)state;
    assert_null(find(&t, "samples"));
    assert_true(t.valid);
}

static void lost_requests_are_said(void **state)
{
    const struct run run = {"", 10, 0, 0, 1, 10};
    const struct integrity killed = {.lost_requests = 4, .was_killed = true};
    const struct integrity damaged = {.lost_requests = 4};
    struct trust t = check_run(&run, &killed);

    (void)state;
    assert_false(find(&t, "recording")->ok);
    assert_true(find(&t, "recording")->value == 4);
    assert_non_null(strstr(find(&t, "recording")->advice, "killed"));
    assert_true(t.valid); /* they are judged both ways instead */
    t = check_run(&run, &damaged);
    assert_non_null(strstr(find(&t, "recording")->advice, "damaged"));
}

static void nothing_issued_has_no_lag(void **state)
{
    const struct run run = {"e2e p99 < 1s", 0, 0, 0, 1, 10};
    const struct integrity whole = {0};
    struct trust t = check_run(&run, &whole);

    (void)state;
    assert_null(find(&t, "lag p50"));
    assert_null(find(&t, "lag p99"));
    assert_true(t.valid);
}

/* Longer than the histogram goes is not "nothing". */
static void an_endless_lag_is_no_trust(void **state)
{
    const struct run run = {"", 100, 7200 * 1000000LL, 0, 1, 10};
    const struct integrity whole = {0};
    struct trust t = check_run(&run, &whole);

    (void)state;
    assert_non_null(find(&t, "lag p50"));
    assert_false(find(&t, "lag p50")->ok);
    assert_true(isfinite(find(&t, "lag p50")->value));
    assert_false(t.valid);
}

/* ---- what was sent and when ---- */

/* A hundred a second for 10 s, of which the first so many of second 4 leave in
 * second 5, and the last so many after the window. */
static struct trust check_pace(int64_t late, int64_t behind, bool is_closed)
{
    const struct window w = {.end_ns = 10 * NS_PER_S};
    const struct integrity whole = {0};
    struct client client = no_client();
    struct slo slo = slo_of("");
    struct trust trust;
    struct tally t;

    tally_init(&t, w, &slo);
    for (int64_t i = 0; i < 1000; i++) {
        struct facts f = row_ok(i, 10 * i, 5);

        if (i >= 400 && i < 400 + late)
            f.issued = 5 * NS_PER_S;
        if (i >= 1000 - behind)
            f.issued = 11 * NS_PER_S;
        tally_add(&t, &f);
    }
    trust = judged(&t, &client, &whole, is_closed);
    tally_fini(&t);
    return trust;
}

static void each_second_gets_what_was_due(void **state)
{
    static const struct {
        int64_t late;
        int64_t behind;
        const char *check;
        double value;
        double limit;
        bool ok;
    } cases[] = {
        {0, 0, "pace", 0, 10, true},    {10, 0, "pace", 10, 10, true},
        {11, 0, "pace", 11, 10, false}, {0, 0, "rate", 100, 99, true},
        {0, 10, "rate", 99, 99, true},  {0, 11, "rate", 98.9, 99, false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct trust t = check_pace(cases[i].late, cases[i].behind, false);
        const struct check *c = find(&t, cases[i].check);

        assert_non_null(c);
        assert_true(fabs(c->value - cases[i].value) < 1e-9);
        assert_true(c->limit == cases[i].limit);
        assert_int_equal(c->ok, cases[i].ok);
        assert_int_equal(c->advice[0] == '\0', cases[i].ok);
        assert_true(c->is_fatal);
        assert_int_equal(t.valid, cases[i].ok);
    }
}

/* What is due there depends on when answers came. */
static void a_closed_loop_has_no_pace(void **state)
{
    struct trust t = check_pace(50, 50, true);

    (void)state;
    assert_null(find(&t, "pace"));
    assert_null(find(&t, "rate"));
    assert_null(find(&t, "connection cap"));
}

/* Of 1000 answers in 50 ms or 1 ms the last 2 % lay in the kernel so long. */
static void answers_lie_in_the_kernel(void **state)
{
    static const struct {
        int64_t e2e_ms;
        int64_t n; /* of which it is known */
        int64_t us;
        double limit_ms; /* 0: no check */
        bool ok;
    } cases[] = {
        {1, 1000, 1990, 2, true},  {1, 1000, 2010, 2, false},
        {50, 1000, 4990, 5, true}, {50, 1000, 5010, 5, false},
        {1, 299, 3000, 2, false},  {1, 298, 3000, 0, true},
        {1, 0, 0, 0, true},
    };
    const struct window w = {.end_ns = 10 * NS_PER_S};
    const struct integrity whole = {0};
    struct slo slo = slo_of("");

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct client client = no_client();
        const struct check *c;
        struct trust trust;
        struct tally t;

        tally_init(&t, w, &slo);
        for (int64_t k = 0; k < 1000; k++) {
            struct facts f = row_ok(k, 10 * k, cases[i].e2e_ms);

            if (k < cases[i].n)
                f.buffered = k % 50 == 0 ? cases[i].us * NS_PER_US : 1000;
            tally_add(&t, &f);
        }
        trust = judged(&t, &client, &whole, false);
        c = find(&trust, "buffer wait");
        assert_int_equal(c != NULL, cases[i].limit_ms > 0);
        assert_int_equal(trust.valid, cases[i].ok);
        if (c) {
            assert_int_equal(c->ok, cases[i].ok);
            assert_true(fabs(c->limit - cases[i].limit_ms) < 0.01);
        }
        tally_fini(&t);
    }
}

/* ---- the client and its host ---- */

/* A value of the last of two looks, 4 s after a first one where all is 0 (and
 * 1000 requests and ticks have gone by). */
static void checks_on_what_the_client_saw(void **state)
{
    static const struct {
        const char *check;
        size_t field;
        int64_t at_limit;
        int64_t beyond;
        double limit;
        bool is_fatal;
    } cases[] = {
        {"busy", offsetof(struct observation, cpu), 3600 * NS_PER_MS,
         3601 * NS_PER_MS, 90, true},
        {"connection cap", offsetof(struct observation, cap_waits), 10, 11, 1,
         true},
        {"disk", offsetof(struct observation, record_wait), 40 * NS_PER_MS,
         41 * NS_PER_MS, 1, true},
        {"suspended", offsetof(struct observation, suspended_max),
         250 * NS_PER_MS, 251 * NS_PER_MS, 250, true},
        {"steal", offsetof(struct observation, host_steal), 50, 51, 5, true},
        {"throttled", offsetof(struct observation, throttled), 40 * NS_PER_MS,
         41 * NS_PER_MS, 1, true},
        {"pressure", offsetof(struct observation, pressure), 2000 * NS_PER_MS,
         2001 * NS_PER_MS, 50, false},
    };
    const struct window w = {.end_ns = 10 * NS_PER_S};
    const struct integrity whole = {0};
    struct slo slo = slo_of("");
    struct tally t;

    (void)state;
    tally_init(&t, w, &slo);
    for (size_t i = 0; i < 2 * COUNT(cases); i++) {
        bool is_beyond = i >= COUNT(cases);
        size_t k = i % COUNT(cases);
        struct observation first = {.at = NS_PER_S};
        struct observation last = {
            .at = 5 * NS_PER_S, .issued = 1000, .host_ticks = 1000};
        const struct check *c;
        struct client client;
        struct trust trust;

        memcpy((char *)&last + cases[k].field,
               is_beyond ? &cases[k].beyond : &cases[k].at_limit,
               sizeof(int64_t));
        client_init(&client, (struct window){1, w.end_ns}, 1);
        client_add(&client, 0, &first);
        client_add(&client, 0, &last);
        trust = judged(&t, &client, &whole, false);
        c = find(&trust, cases[k].check);
        assert_non_null(c);
        if (c->ok == is_beyond)
            print_error("%s: %g of %g\n", c->name, c->value, c->limit);
        assert_int_equal(c->ok, !is_beyond);
        assert_true(c->limit == cases[k].limit);
        assert_true(is_beyond ? c->value > c->limit
                              : fabs(c->value - c->limit) < 1e-9);
        assert_int_equal(c->is_fatal, cases[k].is_fatal);
        assert_int_equal(c->advice[0] == '\0', !is_beyond);
        assert_int_equal(trust.valid, !is_beyond || !cases[k].is_fatal);
    }
    tally_fini(&t);
}

/* 1000 answers of so many ms; 4 s of which the thread waited for a share, in
 * so many turns a second. */
static void waiting_for_a_cpu(void **state)
{
    static const struct {
        const char *slo;
        int64_t e2e_ms;
        int64_t share_percent;
        int64_t turns_hz;
        bool is_closed;
        double limit;
        bool ok;
    } cases[] = {
        {"", 1, 5, 40, true, 5, true},
        {"", 1, 6, 40, true, 5, false},
        {"", 1, 6, 40, false, 5, false},
        /* each wait is short against the answers: 1 ms and 100 ms */
        {"", 100, 39, 40, true, 40, true},
        {"", 100, 41, 40, true, 40, false},
        {"", 100, 39, 40, false, 40, true},
        /* or so short that lag is forgiven it, in an open loop: 200 us */
        {"", 1, 20, 1000, false, 20, true},
        {"", 1, 21, 1000, false, 20, false},
        {"", 1, 20, 1000, true, 10, false},
        {"e2e p99 < 1ms", 1, 20, 1000, false, 10, false},
    };
    const struct window w = {.end_ns = 10 * NS_PER_S};
    const struct integrity whole = {0};

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct slo slo = slo_of(cases[i].slo);
        struct observation first = {.at = NS_PER_S};
        struct observation last = {.at = 5 * NS_PER_S,
                                   .cpu_wait =
                                       40 * NS_PER_MS * cases[i].share_percent,
                                   .cpu_turns = 4 * cases[i].turns_hz};
        const struct check *c;
        struct client client;
        struct trust trust;
        struct tally t;

        tally_init(&t, w, &slo);
        for (int64_t k = 0; k < 1000; k++) {
            struct facts f = row_ok(k, 5 * k, cases[i].e2e_ms);

            tally_add(&t, &f);
        }
        client_init(&client, (struct window){1, w.end_ns}, 1);
        client_add(&client, 0, &first);
        client_add(&client, 0, &last);
        trust = judged(&t, &client, &whole, cases[i].is_closed);
        c = find(&trust, "cpu wait");
        assert_non_null(c);
        if (c->ok != cases[i].ok || fabs(c->limit - cases[i].limit) > 0.1)
            fail_msg("case %zu: %g, at most %g", i, c->value, c->limit);
        assert_int_equal(trust.valid, cases[i].ok);
        tally_fini(&t);
    }
}

/* What it did to the client shows in lag, or it does not. */
static void pressure_reassures_in_an_open_loop_alone(void **state)
{
    const struct window w = {.end_ns = 10 * NS_PER_S};
    const struct integrity whole = {0};
    struct slo slo = slo_of("");
    struct observation first = {.at = NS_PER_S};
    struct observation last = {.at = 5 * NS_PER_S, .pressure = 4 * NS_PER_S};
    struct client client;
    struct tally t;

    (void)state;
    tally_init(&t, w, &slo);
    client_init(&client, (struct window){1, w.end_ns}, 1);
    client_add(&client, 0, &first);
    client_add(&client, 0, &last);
    for (int is_closed = 0; is_closed < 2; is_closed++) {
        struct trust trust = judged(&t, &client, &whole, is_closed);
        const char *advice = find(&trust, "pressure")->advice;

        assert_int_equal(strstr(advice, "harmless") == NULL, is_closed);
    }
    tally_fini(&t);
}

/* Terms go by exact counts, so only a percentile cannot be shown. */
static void out_of_range_is_said(void **state)
{
    static const int64_t e2e_ms[] = {3600000, 3600001};
    const struct window w = {.end_ns = 10 * NS_PER_S};
    const struct integrity whole = {0};
    struct slo slo = slo_of("");

    (void)state;
    for (size_t i = 0; i < COUNT(e2e_ms); i++) {
        struct facts f = row_ok(0, 0, e2e_ms[i]);
        struct client client = no_client();
        struct trust trust;
        struct tally t;

        tally_init(&t, w, &slo);
        tally_add(&t, &f);
        trust = judged(&t, &client, &whole, false);
        assert_non_null(find(&trust, "range"));
        assert_int_equal(find(&trust, "range")->ok, i == 0);
        assert_true(find(&trust, "range")->value == (double)i);
        assert_true(trust.valid);
        tally_fini(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_sent_again_is_noted),
        cmocka_unit_test(lag_is_small_against_what_is_measured),
        cmocka_unit_test(few_requests_bound_no_lag),
        cmocka_unit_test(a_clean_run_is_trusted),
        cmocka_unit_test(one_unsent_request_invalidates),
        cmocka_unit_test(samples_are_of_the_neediest_term),
        cmocka_unit_test(no_quantile_asks_for_no_samples),
        cmocka_unit_test(lost_requests_are_said),
        cmocka_unit_test(nothing_issued_has_no_lag),
        cmocka_unit_test(an_endless_lag_is_no_trust),
        cmocka_unit_test(each_second_gets_what_was_due),
        cmocka_unit_test(a_closed_loop_has_no_pace),
        cmocka_unit_test(answers_lie_in_the_kernel),
        cmocka_unit_test(checks_on_what_the_client_saw),
        cmocka_unit_test(waiting_for_a_cpu),
        cmocka_unit_test(pressure_reassures_in_an_open_loop_alone),
        cmocka_unit_test(out_of_range_is_said),
    };

    return cmocka_run_group_tests_name("trust", tests, NULL, NULL);
}
