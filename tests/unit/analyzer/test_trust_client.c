/* Checks on the client: what it sent when, what it saw of itself and its host.
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "analyzer/verdict/trust.h"
#include "common/base/clk.h"
#include "tests/support/rows.h"
#include "tests/support/test.h"
#include "tests/support/trustof.h"

#define N_ROWS 1000

/* A hundred requests a second for 10 s, all of which succeed. */
static void make_rows(struct facts rows[static N_ROWS], int64_t e2e_ms)
{
    for (int64_t i = 0; i < N_ROWS; i++)
        rows[i] = row_ok(i, 10 * i, e2e_ms);
}

static struct trust check_rows(const struct facts rows[static N_ROWS],
                               bool is_closed)
{
    const struct window w = {.end_ns = 10 * NS_PER_S};
    struct slo slo = slo_of("");
    struct trust trust;
    struct tally t;

    tally_init(&t, w, &slo);
    for (size_t i = 0; i < N_ROWS; i++)
        tally_add(&t, &rows[i]);
    trust = trust_of(&t, NULL, NULL, is_closed);
    tally_fini(&t);
    return trust;
}

/* ---- what was sent and when ---- */

/* The first `late` requests of second 4 leave in second 5, and the last
 * `behind` after the window. */
static struct trust check_pace(int64_t late, int64_t behind, bool is_closed)
{
    static struct facts rows[N_ROWS];

    make_rows(rows, 5);
    for (int64_t i = 400; i < 400 + late; i++)
        rows[i].issued = 5 * NS_PER_S;
    for (int64_t i = N_ROWS - behind; i < N_ROWS; i++)
        rows[i].issued = 11 * NS_PER_S;
    return check_rows(rows, is_closed);
}

TEST(each_second_gets_what_was_due)
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

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct trust t = check_pace(cases[i].late, cases[i].behind, false);
        const struct check *c = trust_find(&t, cases[i].check);

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
TEST(a_closed_loop_has_no_pace)
{
    struct trust t = check_pace(50, 50, true);

    assert_null(trust_find(&t, "pace"));
    assert_null(trust_find(&t, "rate"));
    assert_null(trust_find(&t, "connection cap"));
}

/* Of 1000 answers in 50 ms or 1 ms the last 2 % waited in the kernel that long.
 */
TEST(answers_lie_in_the_kernel)
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
    static struct facts rows[N_ROWS];

    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct check *c;
        struct trust trust;

        make_rows(rows, cases[i].e2e_ms);
        for (int64_t k = 0; k < cases[i].n; k++)
            rows[k].buffered = k % 50 == 0 ? cases[i].us * NS_PER_US : 1000;
        trust = check_rows(rows, false);
        c = trust_find(&trust, "buffer wait");
        assert_int_equal(c != NULL, cases[i].limit_ms > 0);
        assert_int_equal(trust.valid, cases[i].ok);
        if (c) {
            assert_int_equal(c->ok, cases[i].ok);
            assert_true(fabs(c->limit - cases[i].limit_ms) < 0.01);
        }
    }
}

/* One request that found no port makes the run invalid, however many there are.
 */
TEST(exhaustion_makes_a_run_invalid)
{
    static const struct {
        int64_t detail;
        bool ok;
    } cases[] = {
        {CONNECT_REFUSED, true},
        {CONNECT_PORTS, false},
        {CONNECT_FILES, false},
        {CONNECT_MEMORY, false},
    };
    static struct facts rows[N_ROWS];

    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct check *c;
        struct trust trust;

        make_rows(rows, 5);
        for (int64_t k = 0; k < N_ROWS; k++)
            rows[k].detail = cases[i].detail;
        rows[500].outcome = OUTCOME_CONNECT;
        trust = check_rows(rows, false);
        c = trust_find(&trust, "client resources");
        assert_non_null(c);
        assert_true(c->value == (cases[i].ok ? 0 : 1));
        assert_int_equal(c->ok, cases[i].ok);
        assert_int_equal(trust.valid, cases[i].ok);
    }
}

/* ---- the client and its host ---- */

/* One that saw nothing after a second, and then this. */
static struct client client_seeing(const struct observation *last)
{
    const struct observation first = {.at = NS_PER_S};
    struct client c;

    client_init(&c, (struct window){1, 10 * NS_PER_S}, 1);
    client_add(&c, 0, &first);
    client_add(&c, 0, last);
    return c;
}

/* A value of the last of two looks, 4 s after a first one where all is 0 (and
 * 1000 requests and ticks have gone by). */
TEST(checks_on_what_the_client_saw)
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
    struct slo slo = slo_of("");
    struct tally t;

    tally_init(&t, w, &slo);
    for (size_t i = 0; i < 2 * COUNT(cases); i++) {
        bool is_beyond = i >= COUNT(cases);
        size_t k = i % COUNT(cases);
        struct observation last = {
            .at = 5 * NS_PER_S, .issued = 1000, .host_ticks = 1000};
        const struct check *c;
        struct client client;
        struct trust trust;

        memcpy((char *)&last + cases[k].field,
               is_beyond ? &cases[k].beyond : &cases[k].at_limit,
               sizeof(int64_t));
        client = client_seeing(&last);
        trust = trust_of(&t, &client, NULL, false);
        c = trust_find(&trust, cases[k].check);
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

/* The system went to sleep: CLOCK_MONOTONIC, and so everything else that was
 * seen, knows nothing of it. */
TEST(a_system_that_was_suspended)
{
    static const struct {
        int64_t suspended_max;
        int64_t asleep;
        double value; /* ms; < 0: no check */
        bool ok;
    } cases[] = {
        {0, 0, 0, true},
        {0, TIME_ABSENT, 0, true}, /* a recording of an older version */
        {TIME_ABSENT, TIME_ABSENT, -1, true},
        {0, 200 * NS_PER_MS, 0, true}, /* clocks that were read apart */
        {0, 30 * NS_PER_S, 30000, false},
        {TIME_ABSENT, 30 * NS_PER_S, 30000, false},
        {NS_PER_S, 30 * NS_PER_S, 30000, false},
        {NS_PER_S, 0, 1000, false},
    };
    const struct window w = {.end_ns = 10 * NS_PER_S};
    struct slo slo = slo_of("");
    struct tally t;

    tally_init(&t, w, &slo);
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct observation last = {.at = 5 * NS_PER_S,
                                         .suspended_max =
                                             cases[i].suspended_max,
                                         .asleep = cases[i].asleep};
        const struct check *c;
        struct client client;
        struct trust trust;

        client_init(&client, w, 1);
        client_add(&client, 0, &last);
        trust = trust_of(&t, &client, NULL, false);
        c = trust_find(&trust, "suspended");
        assert_int_equal(c != NULL, cases[i].value >= 0);
        if (c) {
            assert_true(c->value == cases[i].value);
            assert_int_equal(c->ok, cases[i].ok);
        }
        assert_int_equal(trust.valid, cases[i].ok);
    }
    tally_fini(&t);
}

/* 1000 answers of a number of ms; 4 s of which the thread waited for a share,
 * in a number of turns per second. */
TEST(waiting_for_a_cpu)
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

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct slo slo = slo_of(cases[i].slo);
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
        client = client_seeing(&last);
        trust = trust_of(&t, &client, NULL, cases[i].is_closed);
        c = trust_find(&trust, "cpu wait");
        assert_non_null(c);
        if (c->ok != cases[i].ok || fabs(c->limit - cases[i].limit) > 0.1)
            fail_msg("case %zu: %g, at most %g", i, c->value, c->limit);
        assert_int_equal(trust.valid, cases[i].ok);
        tally_fini(&t);
    }
}

/* What it did to the client shows in lag, or it does not. */
TEST(pressure_reassures_in_an_open_loop_alone)
{
    const struct window w = {.end_ns = 10 * NS_PER_S};
    struct slo slo = slo_of("");
    struct observation last = {.at = 5 * NS_PER_S, .pressure = 4 * NS_PER_S};
    struct client client;
    struct tally t;

    tally_init(&t, w, &slo);
    client = client_seeing(&last);
    for (int is_closed = 0; is_closed < 2; is_closed++) {
        struct trust trust = trust_of(&t, &client, NULL, is_closed);
        const char *advice = trust_find(&trust, "pressure")->advice;

        assert_int_equal(strstr(advice, "harmless") == NULL, is_closed);
    }
    tally_fini(&t);
}

/* A look a second of two workers, one of which stops after a number of the 20
 * seconds of the window; the first second has its look when it is over. */
TEST(seconds_that_nobody_saw)
{
    static const struct {
        int64_t looks;
        double percent;
        bool ok;
    } cases[] = {
        {19, 100, true}, {17, 90, true}, {16, 85, false}, {0, 0, false}};
    const struct integrity killed = {.was_killed = true};
    const struct window w = {NS_PER_S, 21 * NS_PER_S};
    struct slo slo = slo_of("");
    struct tally t;

    tally_init(&t, w, &slo);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct client client;
        struct trust trust;
        const struct check *c;

        client_init(&client, w, 2);
        for (int64_t k = 0; k < 19; k++) {
            const struct observation seen = {.at = (k + 2) * NS_PER_S};

            client_add(&client, 0, &seen);
            if (k < cases[i].looks)
                client_add(&client, 1, &seen);
        }
        trust = trust_of(&t, &client, NULL, false);
        c = trust_find(&trust, "observed");
        assert_non_null(c);
        assert_true(fabs(c->value - cases[i].percent) < 1e-9);
        assert_int_equal(c->ok, cases[i].ok);
        assert_true(trust.valid); /* a note */
        trust = trust_of(&t, &client, &killed, false);
        assert_null(trust_find(&trust, "observed"));
    }
    tally_fini(&t);
}

TEST(short_windows_are_seen_or_not)
{
    const struct window w = {.end_ns = 4 * NS_PER_S};
    struct slo slo = slo_of("");
    struct client client;
    struct trust trust;
    struct tally t;

    tally_init(&t, w, &slo);
    client_init(&client, w, 1);
    trust = trust_of(&t, &client, NULL, false);
    assert_null(trust_find(&trust, "observed"));
    tally_fini(&t);
}
