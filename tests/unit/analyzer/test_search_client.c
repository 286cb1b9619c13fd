/* A search whose client gets no further: that limit is never the server's, is
 * told from disturbances, and is the answer where it is known. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "common/base/clk.h"
#include "tests/support/madeserver.h"
#include "tests/support/test.h"

TEST(the_client_is_not_the_server)
{
    static const double starts[] = {0, 100, 990, 4000};

    for (size_t i = 0; i < COUNT(starts); i++) {
        struct madeserver m = madeserver_of(1e6, 0, i + 1);
        struct search_answer a;

        m.client = 1000;
        madeserver_answer(&m, (struct search_config){.start = starts[i]}, &a);
        assert_int_equal(a.outcome, SEARCH_CLIENT);
        assert_true(a.at_least <= 1000 && a.at_least >= 900);
        assert_true(isnan(a.capacity));
        assert_true(a.confirmed >= a.at_least);
        assert_true(a.client_limit > 1000);
        assert_true(strstr(a.why, "the client is the limit") != NULL);
    }
}

/* What it does for some seconds it does not hold for a minute. */
TEST(a_client_that_tires_is_not_confirmed)
{
    struct madeserver m = madeserver_of(1e6, 0, 1);
    struct search_answer a;

    m.client = 1000;
    m.client_long = 600;
    madeserver_answer(&m, (struct search_config){.start = 100}, &a);
    assert_int_equal(a.outcome, SEARCH_CLIENT);
    assert_true(a.at_least <= 1000 && a.at_least >= 900);
    assert_true(isnan(a.confirmed));
    assert_non_null(strstr(a.why, "not confirmed"));
}

TEST(a_client_that_is_fast_enough_does_not_matter)
{
    struct madeserver m = madeserver_of(900, 0, 1);
    struct search_answer a;

    m.client = 1000;
    madeserver_answer(&m, (struct search_config){.start = 300}, &a);
    assert_int_equal(a.outcome, SEARCH_FOUND);
    assert_true(fabs(a.capacity / 900 - 1) < 0.05);
}

/* A server that is never the limit, for a client that gets to 1,000. */
static struct madeserver unlimited(double disturbed, uint64_t seed)
{
    struct madeserver m = madeserver_of(1e6, 20, seed);

    m.disturbed = disturbed;
    m.client = 1000;
    return m;
}

/* The limit is there at every try, the disturbances are not.  Where it is known
 * it is the answer, however much more was disturbed: of 200 searches of each
 * row 200 and 167 have it, and fewer than `limits` of 20 are in less than 0.5 %
 * of the cases (binomial). */
TEST(a_limit_is_told_from_disturbances)
{
    static const struct {
        double disturbed;
        int limits;
    } rows[] = {{0.1, 19}, {0.3, 11}};

    for (size_t i = 0; i < COUNT(rows); i++) {
        int limits = 0;

        for (uint64_t seed = 1; seed <= 20; seed++) {
            struct madeserver m = unlimited(rows[i].disturbed, seed);
            struct search_answer a;

            madeserver_answer(&m, (struct search_config){.start = 100}, &a);
            limits += a.outcome == SEARCH_CLIENT;
            assert_true(
                a.outcome == SEARCH_CLIENT ||
                (a.outcome == SEARCH_UNDECIDED && isnan(a.client_limit)));
            assert_true(a.at_least <= 1000);
            assert_true(isnan(a.capacity));
        }
        assert_true(limits >= rows[i].limits);
    }
}

/* A real client has no wall: some runs above its limit go well, and some below
 * do not; at 0.8 of it 3 %, at 1.2 of it 94 % are set aside.  Of 200 searches
 * 194 found it; fewer than 18 of 20 are in less than 2.5 % of the cases
 * (binomial), and the seeds are fixed. */
TEST(a_limit_that_is_no_wall_is_found)
{
    int limits = 0;

    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct madeserver m = unlimited(0.05, seed);
        struct search_answer a;

        m.client_blur = 15;
        madeserver_answer(&m, (struct search_config){.start = 100}, &a);
        limits += a.outcome == SEARCH_CLIENT;
        assert_true(a.outcome == SEARCH_CLIENT ||
                    (a.outcome == SEARCH_UNDECIDED && isnan(a.client_limit)));
        assert_true(a.outcome != SEARCH_CLIENT || a.at_least <= 1200);
    }
    assert_true(limits >= 18);
}

/* A machine that others use: what the client gets to wanders, and some runs are
 * disturbed besides.  The limit is below half of its median in one of 200
 * moments.  Of 200 searches with each row all found the limit within 180 s, and
 * 155, 107 and 69 confirmed it; fewer than `confirmed` of 20 are in less than
 * 1 % of the cases (binomial). */
TEST(a_busy_client_is_known_soon)
{
    static const struct {
        double wander;
        double disturbed;
        int confirmed;
    } rows[] = {{0.1, 0, 11}, {0.25, 0.1, 5}, {0.25, 0.2, 2}};

    for (size_t i = 0; i < COUNT(rows); i++) {
        int confirmed = 0;

        for (uint64_t seed = 1; seed <= 20; seed++) {
            struct madeserver m = unlimited(rows[i].disturbed, seed);
            struct search_answer a;

            m.client_wander = rows[i].wander;
            m.client_aside = SEARCH_BUSY;
            madeserver_answer(&m, (struct search_config){.start = 100}, &a);
            assert_int_equal(a.outcome, SEARCH_CLIENT);
            assert_true(a.at_least >= 100 && a.at_least < 2500);
            assert_true(a.took_ns < 190 * NS_PER_S);
            confirmed += isfinite(a.confirmed);
        }
        assert_true(confirmed >= rows[i].confirmed);
    }
}

/* A search of an unlimited server that has met 800/s and goes on to 1,600. */
static void begin(struct search *s, struct madeserver *m,
                  const struct search_config *config)
{
    search_init(s, config);
    while (madeserver_next(s).value < 1600)
        madeserver_feed(s, m, NULL);
    assert_true(madeserver_next(s).value == 1600);
}

static bool knows_limit(const struct search *s)
{
    struct search_answer a;

    search_answer(s, &a);
    return isfinite(a.client_limit);
}

/* An invalid probe is repeated twice, unless one of them goes well. */
TEST(three_tries_make_the_limit_known)
{
    static const char *const aside[] = {SEARCH_BUSY, SEARCH_CAPPED, "lag"};

    for (size_t i = 0; i < COUNT(aside); i++) {
        struct slo slo = madeserver_slo(1);
        struct search_config config = {.slo = &slo, .start = 100};
        struct madeserver m = madeserver_of(1e6, 20, 1);
        struct search s;

        begin(&s, &m, &config);
        for (int k = 0; k < 3; k++) {
            assert_false(knows_limit(&s));
            assert_true(madeserver_next(&s).value == 1600);
            madeserver_feed(&s, &m, aside[i]);
        }
        assert_true(knows_limit(&s));
        assert_true(madeserver_next(&s).value < 1600);
        search_fini(&s);

        begin(&s, &m, &config);
        madeserver_feed(&s, &m, aside[i]);
        madeserver_feed(&s, &m, aside[i]);
        madeserver_feed(&s, &m, NULL);
        assert_false(knows_limit(&s));
        assert_true(madeserver_next(&s).value > 1600);
        search_fini(&s);
    }
}

/* What was confirmed as being within the client's reach says nothing of an
 * estimate above it. */
TEST(what_the_client_holds_is_no_proof_of_an_estimate)
{
    static const struct search_ask asks[] = {
        {.step = SEARCH_PROBE, .value = 400, .window_ns = 5 * NS_PER_S},
        {.step = SEARCH_PROBE, .value = 800, .window_ns = 5 * NS_PER_S},
        {.step = SEARCH_CONFIRM, .value = 600, .window_ns = 20 * NS_PER_S},
        {.step = SEARCH_PROBE, .value = 1600, .window_ns = 5 * NS_PER_S},
    };
    struct slo slo = madeserver_slo(1);
    struct search_config config = {.slo = &slo, .start = 400};
    struct madeserver m = madeserver_of(1200, 0, 1);
    struct search_answer a;
    struct search s;

    search_init(&s, &config);
    for (size_t i = 0; i < COUNT(asks); i++) {
        struct search_result r;

        madeserver_run(&m, &s, &asks[i], &r);
        search_feed(&s, &r);
    }
    search_answer(&s, &a);
    assert_true(a.confirmed == 600 && a.at_most == 1600);
    assert_int_equal(a.outcome, SEARCH_GOES_ON);
    search_fini(&s);
}

/* The same when the time is over; the rest of it goes into a confirmation, and
 * without one that is said. */
TEST(a_limit_is_the_answer_when_the_time_is_over)
{
    static const struct {
        int64_t budget_s;
        enum search_outcome outcome;
        bool is_confirmed;
    } rows[] = {{40, SEARCH_CLIENT, false}, {140, SEARCH_CLIENT, true}};

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct madeserver m = unlimited(0, 1);
        struct slo slo = madeserver_slo(1);
        struct search_config config = {.slo = &slo,
                                       .start = 100,
                                       .budget_ns =
                                           rows[i].budget_s * NS_PER_S};
        struct search_answer a;
        struct search s;

        madeserver_search(&m, &config, &s, &a);
        assert_int_equal(a.outcome, rows[i].outcome);
        assert_true(a.took_ns <= config.budget_ns);
        assert_true(a.at_least >= 700 && a.at_least <= 1000);
        assert_int_equal(isfinite(a.confirmed), rows[i].is_confirmed);
        if (a.outcome == SEARCH_CLIENT) {
            assert_non_null(strstr(a.why, "the client is the limit"));
            assert_int_equal(strstr(a.why, "not confirmed") == NULL,
                             rows[i].is_confirmed);
        }
        search_fini(&s);
    }
}

/* A load that leaves the server all but idle can be too much for the client. */
TEST(a_client_that_is_good_for_little_is_found)
{
    struct madeserver m = unlimited(0, 1);
    struct search_answer a;

    m.client = 5;
    madeserver_answer(&m, (struct search_config){.start = 30}, &a);
    assert_int_equal(a.outcome, SEARCH_CLIENT);
    assert_true(a.at_least >= 4 && a.at_least <= 5);
}

/* Something was missed below what the client cannot do, by chance: the search
 * gets on, and does not ask for the same again and again. */
TEST(a_stray_miss_below_the_limit_is_overcome)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct madeserver m = unlimited(0, seed);
        struct search_answer a;

        m.slope = 0;
        m.flapping = 0.15;
        madeserver_answer(&m, (struct search_config){.start = 100}, &a);
        assert_in_range(a.probes, 2, 50);
        assert_int_not_equal(a.outcome, SEARCH_GOES_ON);
        if (a.outcome == SEARCH_CLIENT)
            assert_true(isnan(a.capacity) && a.at_least <= 1000);
    }
}

/* ---- odd limits ---- */

/* Clients come in whole numbers. */
TEST(a_limit_of_clients_is_a_whole_number)
{
    struct slo slo = madeserver_slo(1);
    struct search_config config = {
        .slo = &slo, .by = SEARCH_CONCURRENCY, .start = 3};
    struct madeserver m = unlimited(0, 1);
    struct search_answer a;
    struct search s;

    m.client = 40.5;
    madeserver_search(&m, &config, &s, &a);
    assert_int_equal(a.outcome, SEARCH_CLIENT);
    assert_true(a.at_least >= 36 && a.at_least <= 40);
    assert_true(a.at_least == floor(a.at_least));
    search_fini(&s);
}

/* Nothing lower has gone well, so that it is not known whether the load is why:
 * it is asked for again, and not for nothing at all. */
TEST(a_limit_needs_something_below)
{
    static const char *const aside[] = {"lag", NULL, "lag", "lag", "lag"};
    struct slo slo = madeserver_slo(1);
    struct search_config config = {.slo = &slo, .start = 500, .max = 500};
    struct madeserver m = unlimited(0, 1);
    struct search_answer a;
    struct search s;

    search_init(&s, &config);
    for (size_t i = 0; i < COUNT(aside); i++) {
        assert_true(madeserver_next(&s).value == 500);
        madeserver_feed(&s, &m, aside[i]);
    }
    search_answer(&s, &a);
    assert_true(isnan(a.client_limit) && a.at_least == 500);
    search_fini(&s);
}

/* The machine is not to blame where more connections would do. */
TEST(too_few_connections_are_said)
{
    struct slo slo = madeserver_slo(1);
    struct search_config config = {.slo = &slo, .start = 8};
    struct madeserver m = unlimited(0, 1);
    struct search_answer a;
    struct search s;

    search_init(&s, &config);
    while (madeserver_next(&s).step != SEARCH_DONE)
        madeserver_feed(&s, &m, SEARCH_CAPPED);
    search_answer(&s, &a);
    assert_int_equal(a.outcome, SEARCH_UNDECIDED);
    assert_non_null(strstr(a.why, "too few connections"));
    search_fini(&s);
}
