/* The checks that may withdraw a measurement. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "analyzer/verdict/trust.h"
#include "common/base/clk.h"
#include "tests/support/rows.h"
#include "tests/support/test.h"
#include "tests/support/trustof.h"

struct run {
    const char *slo;
    int64_t n;
    int64_t lag_us;  /* of every request */
    int64_t late_us; /* of the last 2 %, instead */
    int64_t ttfb_ms;
    int64_t e2e_ms;
};

static struct trust check_run(const struct run *r,
                              const struct integrity *integrity)
{
    const struct window w = {.end_ns = 10 * NS_PER_S};
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
    trust = trust_of(&t, NULL, integrity, false);
    tally_fini(&t);
    return trust;
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
TEST(what_was_sent_again_is_noted)
{
    static const struct {
        int64_t again; /* of 1000 */
        bool ok;
    } cases[] = {{0, true}, {10, true}, {11, false}, {1000, false}};
    const struct window w = {.end_ns = 10 * NS_PER_S};
    struct slo slo = slo_of("");

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
        trust = trust_of(&t, NULL, NULL, false);
        tally_fini(&t);
        c = trust_find(&trust, "sent again");
        assert_non_null(c);
        assert_int_equal(c->ok, cases[i].ok);
        assert_true(fabs(c->value - (double)cases[i].again / 10) < 1e-9);
        assert_true(trust.valid);
    }
}

/* One such request is enough; without one there is no check. */
TEST(a_client_without_memory_invalidates)
{
    const struct window w = {.end_ns = 10 * NS_PER_S};
    struct slo slo = slo_of("");

    for (int64_t n = 0; n < 2; n++) {
        struct facts f = row_ok(0, 0, 1);
        const struct check *c;
        struct trust trust;
        struct tally t;

        tally_init(&t, w, &slo);
        tally_add(&t, &f);
        f.outcome = OUTCOME_TRUNCATED;
        f.detail = n > 0 ? RESPONSE_CLIENT_MEMORY : RESPONSE_NO_TERMINATOR;
        tally_add(&t, &f);
        trust = trust_of(&t, NULL, NULL, false);
        tally_fini(&t);
        c = trust_find(&trust, "client memory");
        assert_int_equal(c != NULL, n > 0);
        assert_int_equal(trust.valid, n == 0);
    }
}

TEST(lag_is_small_against_what_is_measured)
{
    for (size_t i = 0; i < COUNT(lags); i++) {
        struct trust t = check_run(&lags[i].run, NULL);
        const struct check *c = trust_find(&t, lags[i].check);

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
TEST(few_requests_bound_no_lag)
{
    const struct run run = {"", 298, 10, 9900, 1, 1};
    const struct run fewer = {"", 4, 900, 900, 1, 1};
    struct trust t = check_run(&run, NULL);

    assert_non_null(trust_find(&t, "lag p50"));
    assert_null(trust_find(&t, "lag p99"));
    t = check_run(&fewer, NULL);
    assert_null(trust_find(&t, "lag p50"));
    assert_true(t.valid);
}

TEST(a_clean_run_is_trusted)
{
    const struct run run = {"e2e p99 < 1s", 1000, 10, 0, 1, 10};
    struct trust t = check_run(&run, NULL);

    assert_true(t.valid);
    assert_int_equal(t.len, 10); /* nothing is known of client and host */
    for (size_t i = 0; i < t.len; i++) {
        assert_true(t.checks[i].ok);
        assert_string_equal(t.checks[i].advice, "");
    }
}

TEST(one_unsent_request_invalidates)
{
    const struct window w = {.end_ns = NS_PER_S};
    struct slo slo = slo_of("");
    struct facts ok = row_ok(0, 0, 5);
    struct facts unsent = row_unsent(1, 1);
    struct trust trust;
    struct tally t;

    tally_init(&t, w, &slo);
    tally_add(&t, &ok);
    tally_add(&t, &unsent);
    trust = trust_of(&t, NULL, NULL, false);
    assert_false(trust.valid);
    assert_false(trust_find(&trust, "unsent")->ok);
    assert_true(trust_find(&trust, "unsent")->value == 1);
    assert_true(trust_find(&trust, "unsent")->limit == 0);
    tally_fini(&t);
}

/* Too few samples leave the verdict open; they do not make it invalid. */
TEST(samples_are_of_the_neediest_term)
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
        {"e2e p50 < 1s,errors < 10%", 28, false, 29},
        {"good >= 90%", 29, true, 29},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct run run = {cases[i].slo, cases[i].n, 0, 0, 1, 10};
        struct trust t = check_run(&run, NULL);
        const struct check *c = trust_find(&t, "samples");

        assert_non_null(c);
        assert_int_equal(c->ok, cases[i].ok);
        assert_true(c->limit == cases[i].limit);
        assert_true(c->value == (double)cases[i].n);
        assert_true(t.valid);
    }
}

TEST(a_rate_asks_for_no_samples)
{
    const struct run run = {"goodput >= 1/s", 3, 0, 0, 1, 10};
    struct trust t = check_run(&run, NULL);

    assert_null(trust_find(&t, "samples"));
    assert_true(t.valid);
}

TEST(lost_requests_are_said)
{
    const struct run run = {"", 10, 0, 0, 1, 10};
    const struct integrity killed = {.lost_requests = 4, .was_killed = true};
    const struct integrity damaged = {.lost_requests = 4};
    struct trust t = check_run(&run, &killed);

    assert_false(trust_find(&t, "recording")->ok);
    assert_true(trust_find(&t, "recording")->value == 4);
    assert_non_null(strstr(trust_find(&t, "recording")->advice, "killed"));
    assert_true(t.valid); /* they are judged both ways instead */
    t = check_run(&run, &damaged);
    assert_non_null(strstr(trust_find(&t, "recording")->advice, "damaged"));
}

TEST(nothing_issued_has_no_lag)
{
    const struct run run = {"e2e p99 < 1s", 0, 0, 0, 1, 10};
    struct trust t = check_run(&run, NULL);

    assert_null(trust_find(&t, "lag p50"));
    assert_null(trust_find(&t, "lag p99"));
    assert_true(t.valid);
}

/* Longer than the histogram goes is not "nothing". */
TEST(an_endless_lag_is_no_trust)
{
    const struct run run = {"", 100, 7200 * 1000000LL, 0, 1, 10};
    struct trust t = check_run(&run, NULL);

    assert_non_null(trust_find(&t, "lag p50"));
    assert_false(trust_find(&t, "lag p50")->ok);
    assert_true(isfinite(trust_find(&t, "lag p50")->value));
    assert_false(t.valid);
}

/* Terms go by exact counts, so only a percentile cannot be shown. */
TEST(out_of_range_is_said)
{
    static const int64_t e2e_ms[] = {3600000, 3600001};
    const struct window w = {.end_ns = 10 * NS_PER_S};
    struct slo slo = slo_of("");

    for (size_t i = 0; i < COUNT(e2e_ms); i++) {
        struct facts f = row_ok(0, 0, e2e_ms[i]);
        struct trust trust;
        struct tally t;

        tally_init(&t, w, &slo);
        tally_add(&t, &f);
        trust = trust_of(&t, NULL, NULL, false);
        assert_non_null(trust_find(&trust, "range"));
        assert_int_equal(trust_find(&trust, "range")->ok, i == 0);
        assert_true(trust_find(&trust, "range")->value == (double)i);
        assert_true(trust.valid);
        tally_fini(&t);
    }
}
