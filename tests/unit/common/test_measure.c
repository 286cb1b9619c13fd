#include <errno.h>

#include "common/base/clk.h"
#include "common/measure/measure.h"
#include "tests/support/test.h"

#define ABSENT TIME_ABSENT

/* Distances between neighbours are powers of two: no two differences are the
 * same. */
static const struct facts whole = {
    .due = 1000,
    .issued = 1001,
    .sent = 1003,
    .head = 1007,
    .first = 1015,
    .last = 1031,
    .end = 1063,
    .outcome = OUTCOME_OK,
    .is_fresh = 1,
    .connected = 1002,
    .secured = 1012,
    .events = 3,
    .stall = 9,
    .event_tokens = 6,
    .first_tokens = 2,
};

TEST(definitions_are_those_of_the_contract)
{
    static const struct {
        enum measure measure;
        int64_t from_due;
        int64_t from_sent;
    } cases[] = {
        {MEASURE_E2E, 31, 28},         /* last - due, last - sent */
        {MEASURE_SERVICE, 28, ABSENT}, /* last - sent */
        {MEASURE_LAG, 1, ABSENT},      /* issued - due */
        {MEASURE_CONNECT, 1, ABSENT},  /* connected - issued */
        {MEASURE_TLS, 10, ABSENT},     /* secured - connected */
        {MEASURE_TTFB, 7, 4},          /* head - due, head - sent */
        {MEASURE_TTFT, 15, 12},        /* first - due, first - sent */
        {MEASURE_TPOT, 4, ABSENT},     /* (last - first) / (6 - 2) */
        {MEASURE_STALL, 9, ABSENT},    /* as recorded */
        {MEASURE_TAIL, 32, ABSENT},    /* end - last */
        {MEASURE_GAP, ABSENT, ABSENT}, /* of no request */
        {MEASURE_ITL, ABSENT, ABSENT}, {MEASURE_QUERY, ABSENT, ABSENT},
    };

    assert_int_equal(COUNT(cases), MEASURE_COUNT);
    for (size_t i = 0; i < COUNT(cases); i++) {
        enum measure m = cases[i].measure;

        assert_int_equal(measure_value(m, FROM_DUE, &whole), cases[i].from_due);
        assert_int_equal(measure_value(m, FROM_SENT, &whole),
                         cases[i].from_sent);
        assert_int_equal(measure_has_sent(m), cases[i].from_sent != ABSENT);
    }
}

/* One fact missing, and which measures go with it. */
TEST(absent_facts_make_absent_measures)
{
    static const struct {
        size_t fact;
        enum measure measure;
        enum measure_from from;
        int64_t want;
    } cases[] = {
        {offsetof(struct facts, last), MEASURE_E2E, FROM_DUE, ABSENT},
        {offsetof(struct facts, last), MEASURE_SERVICE, FROM_DUE, ABSENT},
        {offsetof(struct facts, last), MEASURE_TTFT, FROM_DUE, 15},
        {offsetof(struct facts, due), MEASURE_E2E, FROM_DUE, ABSENT},
        {offsetof(struct facts, due), MEASURE_E2E, FROM_SENT, 28},
        {offsetof(struct facts, due), MEASURE_LAG, FROM_DUE, ABSENT},
        {offsetof(struct facts, sent), MEASURE_E2E, FROM_DUE, 31},
        {offsetof(struct facts, sent), MEASURE_E2E, FROM_SENT, ABSENT},
        {offsetof(struct facts, sent), MEASURE_SERVICE, FROM_DUE, ABSENT},
        {offsetof(struct facts, connected), MEASURE_CONNECT, FROM_DUE, 2},
        {offsetof(struct facts, connected), MEASURE_TLS, FROM_DUE, ABSENT},
        {offsetof(struct facts, secured), MEASURE_TLS, FROM_DUE, ABSENT},
        {offsetof(struct facts, issued), MEASURE_CONNECT, FROM_DUE, ABSENT},
        {offsetof(struct facts, issued), MEASURE_LAG, FROM_DUE, ABSENT},
        {offsetof(struct facts, head), MEASURE_TTFB, FROM_DUE, ABSENT},
        {offsetof(struct facts, head), MEASURE_TTFT, FROM_DUE, 15},
        {offsetof(struct facts, first), MEASURE_TTFT, FROM_DUE, ABSENT},
        {offsetof(struct facts, end), MEASURE_E2E, FROM_DUE, 31},
        {offsetof(struct facts, end), MEASURE_TAIL, FROM_DUE, ABSENT},
        {offsetof(struct facts, last), MEASURE_TAIL, FROM_DUE, ABSENT},
        {offsetof(struct facts, last), MEASURE_TPOT, FROM_DUE, ABSENT},
        {offsetof(struct facts, first), MEASURE_TPOT, FROM_DUE, ABSENT},
        {offsetof(struct facts, event_tokens), MEASURE_TPOT, FROM_DUE, ABSENT},
        {offsetof(struct facts, first_tokens), MEASURE_TPOT, FROM_DUE, ABSENT},
        {offsetof(struct facts, stall), MEASURE_STALL, FROM_DUE, ABSENT},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct facts f = whole;

        *(int64_t *)(void *)((char *)&f + cases[i].fact) = ABSENT;
        assert_int_equal(measure_value(cases[i].measure, cases[i].from, &f),
                         cases[i].want);
    }
}

TEST(connect_is_of_fresh_connections)
{
    struct facts f = whole;

    f.retries = 1; /* two attempts lie between issued and now */
    assert_int_equal(measure_value(MEASURE_CONNECT, FROM_DUE, &f), ABSENT);
    f.retries = 0;
    f.is_fresh = 0;
    assert_int_equal(measure_value(MEASURE_CONNECT, FROM_DUE, &f), ABSENT);
    assert_int_equal(measure_value(MEASURE_LAG, FROM_DUE, &f), 1);
}

/* Undefined where no token came after the first event. */
TEST(tpot_needs_a_token_after_the_first_event)
{
    struct facts f = whole;

    f.first_tokens = 6;
    assert_int_equal(measure_value(MEASURE_TPOT, FROM_DUE, &f), ABSENT);
    f.first_tokens = 7;
    assert_int_equal(measure_value(MEASURE_TPOT, FROM_DUE, &f), ABSENT);
    f.first_tokens = 5;
    assert_int_equal(measure_value(MEASURE_TPOT, FROM_DUE, &f), 16);
    f.last = f.first - 1;
    assert_int_equal(measure_value(MEASURE_TPOT, FROM_DUE, &f), ABSENT);
}

TEST(tail_is_of_streams_that_ended_well)
{
    struct facts f = whole;

    f.events = 0;
    assert_int_equal(measure_value(MEASURE_TAIL, FROM_DUE, &f), ABSENT);
    f.events = 1;
    f.outcome = OUTCOME_TIMEOUT;
    assert_int_equal(measure_value(MEASURE_TAIL, FROM_DUE, &f), ABSENT);
}

/* "for a failure end - due", whether or not content came. */
TEST(the_e2e_of_a_failure_goes_to_its_end)
{
    for (int o = OUTCOME_OK + 1; o < OUTCOME_COUNT; o++) {
        struct facts f = whole;

        f.outcome = o;
        assert_int_equal(measure_value(MEASURE_E2E, FROM_DUE, &f), 63);
        assert_int_equal(measure_value(MEASURE_E2E, FROM_SENT, &f), 60);
        f.last = ABSENT;
        assert_int_equal(measure_value(MEASURE_E2E, FROM_DUE, &f), 63);
        assert_int_equal(measure_value(MEASURE_SERVICE, FROM_DUE, &f), ABSENT);
        f.end = ABSENT;
        assert_int_equal(measure_value(MEASURE_E2E, FROM_DUE, &f), ABSENT);
    }
}

TEST(unsent_requests_have_no_times)
{
    struct facts f = {.due = 5,
                      .issued = ABSENT,
                      .sent = ABSENT,
                      .head = ABSENT,
                      .first = ABSENT,
                      .last = ABSENT,
                      .end = ABSENT,
                      .connected = ABSENT,
                      .secured = ABSENT,
                      .stall = ABSENT,
                      .outcome = OUTCOME_UNSENT};

    assert_false(facts_issued(&f));
    assert_true(facts_issued(&whole));
    for (int m = 0; m < MEASURE_COUNT; m++) {
        assert_int_equal(measure_value((enum measure)m, FROM_DUE, &f), ABSENT);
        assert_int_equal(measure_value((enum measure)m, FROM_SENT, &f), ABSENT);
    }
}

/* A damaged recording may hold anything: no overflow, whatever the answer. */
TEST(extremes_do_no_harm)
{
    struct facts f = {.due = INT64_MIN + 1, .last = INT64_MAX};

    assert_int_equal(measure_value(MEASURE_E2E, FROM_DUE, &f), -2);
}

TEST(failures_count_against_the_answer)
{
    static const bool want[MEASURE_COUNT] = {
        [MEASURE_E2E] = true,  [MEASURE_SERVICE] = true,
        [MEASURE_LAG] = false, [MEASURE_CONNECT] = false,
        [MEASURE_TTFB] = true, [MEASURE_TTFT] = true,
        [MEASURE_TPOT] = true, [MEASURE_STALL] = true,
    };

    for (int m = 0; m < MEASURE_COUNT; m++)
        assert_int_equal(measure_is_of_answer((enum measure)m), want[m]);
}

TEST(streams_have_measures_of_their_own)
{
    static const struct {
        enum measure measure;
        bool is_pooled;
        bool is_of_stream;
    } cases[] = {
        {MEASURE_E2E, false, false}, {MEASURE_TTFT, false, false},
        {MEASURE_TPOT, false, true}, {MEASURE_STALL, false, true},
        {MEASURE_TAIL, false, true}, {MEASURE_GAP, true, true},
        {MEASURE_ITL, true, true},   {MEASURE_QUERY, true, false},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(measure_is_pooled(cases[i].measure),
                         cases[i].is_pooled);
        assert_int_equal(measure_is_of_stream(cases[i].measure),
                         cases[i].is_of_stream);
    }
}

TEST(counts_are_bounded)
{
    assert_int_equal(facts_count(0), 0);
    assert_int_equal(facts_count(17), 17);
    assert_int_equal(facts_count(-1), ABSENT);
    assert_int_equal(facts_count(INT64_C(1) << 40), ABSENT);
    assert_int_equal(facts_count(ABSENT), ABSENT);
}

TEST(names_go_both_ways)
{
    static const char *const outcomes[] = {
        "ok",     "connect",       "reset",     "timeout",
        "status", "in-band error", "truncated", "malformed",
        "empty",  "unfinished",    "unsent"};

    for (int m = 0; m < MEASURE_COUNT; m++)
        assert_int_equal(measure_find(measure_name((enum measure)m)), m);
    assert_int_equal(measure_find("e2el"), MEASURE_E2E);
    assert_int_equal(measure_find("latency"), -1);
    assert_int_equal(measure_find(""), -1);
    assert_int_equal(COUNT(outcomes), OUTCOME_COUNT);
    for (int o = 0; o < OUTCOME_COUNT; o++)
        assert_string_equal(outcome_name((enum outcome)o), outcomes[o]);
    assert_string_equal(outcome_name(OUTCOME_COUNT), "unknown");
}

TEST(exhaustion_is_the_clients)
{
    static const struct {
        enum outcome outcome;
        int64_t detail;
        bool is_exhausted;
    } cases[] = {
        {OUTCOME_CONNECT, CONNECT_PORTS, true},
        {OUTCOME_CONNECT, CONNECT_FILES, true},
        {OUTCOME_CONNECT, CONNECT_MEMORY, true},
        {OUTCOME_CONNECT, CONNECT_REFUSED, false},
        {OUTCOME_CONNECT, CONNECT_OTHER, false},
        {OUTCOME_RESET, ENOBUFS, true},
        {OUTCOME_RESET, ENOMEM, true},
        {OUTCOME_RESET, ECONNRESET, false},
        {OUTCOME_STATUS, CONNECT_PORTS, false},
        {OUTCOME_OK, 0, false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct facts f = facts_unknown(0, 0);

        f.outcome = cases[i].outcome;
        f.detail = cases[i].detail;
        assert_int_equal(facts_is_exhausted(&f), cases[i].is_exhausted);
    }
}
