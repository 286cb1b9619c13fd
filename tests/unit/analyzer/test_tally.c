/* What is counted of a run: by hand, row by row. */

#include "analyzer/tally/tally.h"
#include "common/base/clk.h"
#include "tests/support/rows.h"
#include "tests/support/test.h"

/* Measured is what is due from 100 ms to 200 ms. */
static const struct window window = {.start_ns = 100 * NS_PER_MS,
                                     .end_ns = 200 * NS_PER_MS};

static void add(struct tally *t, struct facts f)
{
    tally_add(t, &f);
}

TEST(the_window_is_cut_by_due)
{
    static const struct {
        int64_t due_ms;
        int64_t e2e_ms;
        int before;
        int due;
        int ok_inside; /* by its end */
    } cases[] = {
        {50, 10, 1, 0, 0},   /* came and went before */
        {99, 10, 1, 0, 1},   /* due before, ended in it */
        {99, 1, 1, 0, 1},    /* ended at its start */
        {100, 10, 0, 1, 1},  /* its first instant */
        {199, 0, 0, 1, 1},   /* its last */
        {199, 1, 0, 1, 0},   /* ended at its end */
        {150, 900, 0, 1, 0}, /* followed to its end, however late */
        {200, 1, 0, 0, 0},   /* due after */
    };
    struct slo slo = slo_of("");

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct tally t;

        tally_init(&t, window, &slo);
        add(&t, row_ok(0, cases[i].due_ms, cases[i].e2e_ms));
        assert_int_equal(t.rows, 1);
        assert_int_equal(t.before, cases[i].before);
        assert_int_equal(t.due, cases[i].due);
        assert_int_equal(t.outcome[OUTCOME_OK], cases[i].due);
        assert_int_equal(t.hist[MEASURE_E2E][VIEW_DUE].n, cases[i].due);
        assert_int_equal(t.ok_inside, cases[i].ok_inside);
        tally_fini(&t);
    }
}

TEST(a_failure_is_no_throughput)
{
    struct slo slo = slo_of("");
    struct tally t;

    tally_init(&t, window, &slo);
    add(&t, row_failed(0, 150, 10, OUTCOME_STATUS));
    assert_int_equal(t.ok_inside, 0);
    assert_int_equal(t.due, 1);
    assert_int_equal(t.good, 0);
    tally_fini(&t);
}

/* Which outcome is how often beyond, and in which view. */
TEST(failures_are_beyond)
{
    struct slo slo = slo_of("");
    struct tally t;
    struct hist ok;

    tally_init(&t, window, &slo);
    add(&t, row_ok(0, 100, 5));
    add(&t, row_failed(1, 110, 3, OUTCOME_RESET));
    add(&t, row_failed(2, 120, 80, OUTCOME_TIMEOUT));
    add(&t, row_failed(3, 130, 7, OUTCOME_UNFINISHED));
    add(&t, row_unsent(4, 140));
    assert_int_equal(t.due, 5);
    assert_int_equal(t.outcome[OUTCOME_UNSENT], 1);
    assert_int_equal(t.hist[MEASURE_E2E][VIEW_DUE].n, 5);
    assert_int_equal(t.hist[MEASURE_E2E][VIEW_DUE].beyond, 4);
    ok = tally_view(&t, MEASURE_E2E, VIEW_OK);
    assert_int_equal(ok.n, 1);
    assert_int_equal(ok.beyond, 0);
    assert_int_equal(hist_max_ns(&ok), 5 * NS_PER_MS);
    assert_int_equal(t.hist[MEASURE_E2E][VIEW_SENT].n, 4); /* not the unsent */
    assert_int_equal(t.hist[MEASURE_E2E][VIEW_SENT].beyond, 3);
    assert_int_equal(t.hist[MEASURE_E2E][VIEW_SENT].max_ns, 4 * NS_PER_MS);
    assert_int_equal(t.hist[MEASURE_TTFT][VIEW_DUE].beyond, 4);
    assert_int_equal(t.hist[MEASURE_LAG][VIEW_DUE].n, 4); /* the client's */
    assert_int_equal(t.hist[MEASURE_LAG][VIEW_DUE].beyond, 0);
    assert_int_equal(t.hist[MEASURE_CONNECT][VIEW_DUE].n, 0); /* none fresh */
    tally_fini(&t);
}

TEST(connect_is_of_those_that_opened_one)
{
    struct slo slo = slo_of("");
    struct facts fresh = row_ok(0, 100, 5);
    struct facts refused = row_failed(1, 100, 5, OUTCOME_CONNECT);
    struct tally t;

    fresh.is_fresh = 1;
    fresh.bytes_in = 100;
    fresh.bytes_out = 30;
    refused.sent = TIME_ABSENT;
    tally_init(&t, window, &slo);
    add(&t, fresh);
    add(&t, refused);
    add(&t, row_ok(2, 110, 5));
    assert_int_equal(t.fresh, 1);
    assert_int_equal(t.hist[MEASURE_CONNECT][VIEW_DUE].n, 1);
    assert_int_equal(t.hist[MEASURE_CONNECT][VIEW_DUE].max_ns, NS_PER_MS);
    tally_fini(&t);
}

/* Like throughput: of those that ended in the window, whenever due, whatever
 * became of them.  Sums that 64 bits cannot hold do no harm. */
TEST(bytes_go_by_completion)
{
    static const struct {
        int64_t due_ms;
        int64_t e2e_ms;
        enum outcome outcome;
        int counts;
    } cases[] = {
        {90, 5, OUTCOME_OK, 0},      {90, 20, OUTCOME_OK, 1},
        {150, 10, OUTCOME_OK, 1},    {150, 100, OUTCOME_OK, 0},
        {150, 10, OUTCOME_RESET, 1}, {150, 100, OUTCOME_TIMEOUT, 0},
    };
    const double far = 0x1p62 - 1;
    struct slo slo = slo_of("");

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct facts f =
            row_failed(0, cases[i].due_ms, cases[i].e2e_ms, cases[i].outcome);
        struct tally t;

        f.bytes_in = (INT64_C(1) << 62) - 1;
        f.bytes_out = 30;
        tally_init(&t, window, &slo);
        for (int k = 0; k < 3; k++)
            add(&t, f);
        assert_true(t.bytes_in == 3 * far * cases[i].counts);
        assert_true(t.bytes_out == 90 * cases[i].counts);
        tally_fini(&t);
    }
}

/* The views say what they are named after. */
TEST(views_of_the_client_and_the_answer)
{
    struct slo slo = slo_of("");
    struct tally t;

    tally_init(&t, window, &slo);
    add(&t, row_ok(0, 100, 5));
    add(&t, row_failed(1, 110, 3, OUTCOME_RESET));
    assert_int_equal(t.hist[MEASURE_LAG][VIEW_DUE].n, 2);
    assert_int_equal(tally_view(&t, MEASURE_LAG, VIEW_OK).n, 0);
    assert_int_equal(t.hist[MEASURE_LAG][VIEW_SENT].n, 0);
    assert_int_equal(t.hist[MEASURE_SERVICE][VIEW_DUE].beyond, 1);
    assert_int_equal(t.hist[MEASURE_SERVICE][VIEW_SENT].n, 0);
    assert_int_equal(t.hist[MEASURE_TTFB][VIEW_SENT].beyond, 1);
    tally_fini(&t);
}

/* ---- good ---- */

/* Per measure the highest quantile gives the limit, wherever it stands. */
TEST(good_keeps_every_limit)
{
    static const struct {
        const char *slo;
        int64_t e2e_ms;
        int64_t ttfb_ms;
        int good;
    } cases[] = {
        {"", 9999, 9999, 1},
        {"errors < 1%", 9999, 9999, 1},
        {"e2e p99 < 20ms", 19, 1, 1},
        {"e2e p99 < 20ms", 20, 1, 0}, /* strictly below */
        {"e2e p50 < 10ms,e2e p99 < 20ms", 15, 1, 1},
        {"e2e p99 < 20ms,e2e p50 < 10ms", 15, 1, 1},
        {"e2e p99 < 20ms,e2e p50 < 30ms", 25, 1, 0},
        {"e2e p99 < 20ms,ttfb p90 < 5ms", 15, 4, 1},
        {"e2e p99 < 20ms,ttfb p90 < 5ms", 15, 6, 0},
        {"e2e p99 < 20ms,ttfb p90 < 5ms", 25, 4, 0},
        {"connect p99 < 1us", 15, 4, 1}, /* it opened none */
        {"lag p99 < 1us", 15, 4, 1},
        {"service p99 < 14ms", 15, 4, 0}, /* sent 1 ms after due */
        {"service p99 < 15ms", 15, 4, 1},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct slo slo = slo_of(cases[i].slo);
        struct facts f = row_ok(0, 150, cases[i].e2e_ms);
        struct tally t;

        f.head = f.due + cases[i].ttfb_ms * NS_PER_MS;
        tally_init(&t, window, &slo);
        add(&t, f);
        assert_int_equal(t.good, cases[i].good);
        tally_fini(&t);
    }
}

TEST(only_an_answer_is_good)
{
    struct slo slo = slo_of("");

    for (int o = 0; o < OUTCOME_COUNT; o++) {
        struct tally t;

        tally_init(&t, window, &slo);
        add(&t, row_failed(0, 152, 1, (enum outcome)o));
        assert_int_equal(t.good, o == OUTCOME_OK);
        assert_int_equal(t.outcome[o], 1);
        assert_int_equal(t.good_slices[10].n, 1);
        assert_int_equal(t.good_slices[10].hits, o == OUTCOME_OK);
        tally_fini(&t);
    }
}

/* ---- terms ---- */

static int64_t sum_of(const struct batch *batches, bool hits)
{
    int64_t sum = 0;

    for (size_t i = 0; i < TALLY_SLICES; i++)
        sum += hits ? batches[i].hits : batches[i].n;
    return sum;
}

/* n = keeps + misses + open, with unsent and failed ones among the misses. */
TEST(terms_count_keeps_misses_and_open)
{
    struct slo slo = slo_of("e2e p99 < 20ms,e2e p50 < 10ms,errors < 1%");
    struct tally t;

    tally_init(&t, window, &slo);
    add(&t, row_ok(0, 100, 5));
    add(&t, row_ok(1, 110, 15));
    add(&t, row_ok(2, 120, 25));
    add(&t, row_failed(3, 130, 2, OUTCOME_STATUS));
    add(&t, row_failed(4, 140, 2, OUTCOME_UNFINISHED));
    add(&t, row_unsent(5, 150));
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(t.terms[i].n, 6);
        assert_int_equal(t.terms[i].keeps, i == 0 ? 2 : 1);
        assert_int_equal(t.terms[i].open, 1);
        assert_int_equal(sum_of(t.terms[i].misses, false), 6);
        assert_int_equal(sum_of(t.terms[i].misses, true), i == 0 ? 3 : 4);
    }
    assert_int_equal(t.terms[2].n, 0); /* not a quantile */
    tally_fini(&t);
}

/* More than a cell can count are counted as misses of every limit. */
TEST(no_sample_of_a_term_is_dropped)
{
    const int64_t many = (int64_t)5 << 30;
    struct slo slo = slo_of("itl p99 < 20ms");
    struct tally t;
    int64_t counted;

    tally_init(&t, window, &slo);
    term_tally_add(&t.terms[0], &slo.terms[0], 0, 5 * NS_PER_MS, many);
    term_tally_add(&t.terms[0], &slo.terms[0], 0, 5 * NS_PER_MS, many);
    counted = t.terms[0].grid.never[0];
    for (size_t i = t.terms[0].grid.begin; i < t.terms[0].grid.end; i++)
        counted += t.terms[0].grid.cells[i][0];
    assert_int_equal(counted, 2 * many);
    assert_int_equal(t.terms[0].n, 2 * many);
    tally_fini(&t);
}

/* A request as a term on the client or the network sees it. */
TEST(terms_on_lag_and_connect)
{
    enum { KEEPS, MISSES, OPEN, APART };
    static const struct {
        enum outcome outcome;
        int is_fresh;
        int retries;
        bool was_sent;
        int lag;
        int connect;
    } cases[] = {
        {OUTCOME_OK, 1, 0, true, KEEPS, KEEPS},
        {OUTCOME_OK, 0, 0, true, KEEPS, APART},
        {OUTCOME_OK, 1, 1, true, KEEPS, APART}, /* how long is not known */
        {OUTCOME_STATUS, 1, 0, true, KEEPS, KEEPS},
        {OUTCOME_CONNECT, 0, 0, false, KEEPS, MISSES},
        {OUTCOME_CONNECT, 0, 1, true, KEEPS, MISSES},
        {OUTCOME_TIMEOUT, 0, 0, false, KEEPS, MISSES},
        {OUTCOME_TIMEOUT, 0, 0, true, KEEPS, APART},
        {OUTCOME_TIMEOUT, 1, 0, true, KEEPS, KEEPS},
        {OUTCOME_UNFINISHED, 0, 0, false, KEEPS, OPEN},
        {OUTCOME_UNFINISHED, 0, 0, true, KEEPS, APART},
        {OUTCOME_UNSENT, 0, 0, false, MISSES, APART},
    };
    struct slo slo = slo_of("lag p99 < 2ms,connect p99 < 2ms");

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct facts f = row_failed(0, 150, 9, cases[i].outcome);
        int want[2] = {cases[i].lag, cases[i].connect};
        struct tally t;

        if (cases[i].outcome == OUTCOME_UNSENT)
            f = row_unsent(0, 150);
        if (!cases[i].was_sent)
            f.sent = TIME_ABSENT;
        f.is_fresh = cases[i].is_fresh;
        f.retries = cases[i].retries;
        tally_init(&t, window, &slo);
        add(&t, f);
        for (size_t k = 0; k < 2; k++) {
            const struct term_tally *tt = &t.terms[k];

            assert_int_equal(tt->n, want[k] != APART);
            assert_int_equal(tt->keeps, want[k] == KEEPS);
            assert_int_equal(tt->open, want[k] == OPEN);
            assert_int_equal(sum_of(tt->misses, true), want[k] == MISSES);
        }
        tally_fini(&t);
    }
}

TEST(batches_cut_the_window_evenly)
{
    struct slo slo = slo_of("e2e p99 < 1ms");
    struct tally t;

    tally_init(&t, window, &slo);
    for (int64_t i = 0; i < 100; i++)
        add(&t, row_ok(i, 100 + i, 5));
    for (size_t b = 0; b < TALLY_SLICES; b++) {
        assert_in_range(t.good_slices[b].n, 4, 6);
        assert_int_equal(t.terms[0].misses[b].n, t.good_slices[b].n);
        assert_int_equal(t.terms[0].misses[b].hits, t.good_slices[b].n);
    }
    tally_fini(&t);
}

/* ---- what is odd ---- */

/* As a damaged file may have it. */
TEST(a_row_without_a_place_is_counted)
{
    static const int64_t seqs[] = {-1, -64, TIME_ABSENT};
    struct slo slo = slo_of("");
    struct tally t;

    tally_init(&t, window, &slo);
    tally_set_sequences(&t, 3);
    for (size_t i = 0; i < COUNT(seqs); i++) {
        add(&t, row_ok(seqs[i], 150, 5));
        add(&t, row_ok(seqs[i], 50, 5));
    }
    assert_int_equal(t.rows, 6);
    assert_int_equal(t.due, 3);
    assert_int_equal(tally_places(&t, 0), 0);
    tally_add_lost(&t, 1);
    assert_int_equal(t.due, 4);
    tally_fini(&t);
}

TEST(buffered_is_of_those_that_know)
{
    struct slo slo = slo_of("");
    struct facts f = row_ok(0, 150, 5);
    struct tally t;

    tally_init(&t, window, &slo);
    add(&t, f);
    f.buffered = 3000;
    add(&t, f);
    f.due = 50 * NS_PER_MS; /* of the warm-up */
    add(&t, f);
    assert_int_equal(t.buffered.n, 1);
    assert_int_equal(t.buffered.max_ns, 3000);
    tally_fini(&t);
}

/* A run that was cut in its warm-up has no window to lose them in. */
TEST(an_empty_window_takes_nothing)
{
    const struct window empty = {.start_ns = 100 * NS_PER_MS,
                                 .end_ns = 100 * NS_PER_MS};
    struct slo slo = slo_of("e2e p99 < 20ms");
    struct tally t;

    tally_init(&t, empty, &slo);
    add(&t, row_ok(0, 99, 5));
    add(&t, row_ok(1, 100, 5));
    tally_add_lost(&t, 3);
    assert_int_equal(t.due, 0);
    assert_int_equal(t.before, 4);
    tally_fini(&t);
}

TEST(an_outcome_of_a_later_version_is_no_row)
{
    static const int64_t outcomes[] = {OUTCOME_COUNT, -1, INT64_MAX};
    struct slo slo = slo_of("");
    struct tally t;

    tally_init(&t, window, &slo);
    for (size_t i = 0; i < COUNT(outcomes); i++) {
        struct facts f = row_ok(7 + (int64_t)i, 150, 5);

        f.outcome = outcomes[i];
        tally_add(&t, &f);
    }
    assert_int_equal(t.rows, 0);
    assert_int_equal(t.due, 0);
    assert_int_equal(tally_places(&t, 0), 10);
    tally_fini(&t);
}

/* As many as a manifest may claim: that takes no time. */
TEST(any_number_may_be_lost)
{
    const int64_t many = INT64_MAX / 2;
    struct slo slo = slo_of("e2e p99 < 20ms,lag p99 < 1ms,errors < 1%");
    struct tally t;

    tally_init(&t, window, &slo);
    add(&t, row_ok(0, 150, 5));
    tally_add_lost(&t, many);
    assert_int_equal(t.due, many + 1);
    assert_int_equal(t.outcome[OUTCOME_UNFINISHED], many);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(t.terms[i].n, many + 1);
        assert_int_equal(t.terms[i].keeps, 1);
        assert_int_equal(t.terms[i].open, many);
        assert_int_equal(sum_of(t.terms[i].misses, false), many + 1);
        assert_int_equal(sum_of(t.terms[i].misses, true), 0);
    }
    assert_int_equal(t.terms[2].n, 0);
    assert_int_equal(sum_of(t.good_slices, false), many + 1);
    assert_int_equal(t.hist[MEASURE_E2E][VIEW_SENT].beyond, many);
    assert_int_equal(t.hist[MEASURE_SERVICE][VIEW_SENT].n, 0);
    tally_fini(&t);
}
