/* Requests that are waited for together: what a query comes to, and how an SLO
 * on it is judged. */

#include "analyzer/tally/queries.h"
#include "analyzer/verdict/judge.h"
#include "common/base/clk.h"
#include "tests/support/rows.h"
#include "tests/support/test.h"

#define SIZE 3
#define MS   NS_PER_MS

/* A window from 100 ms to 1100 ms, and one term. */
struct gathered {
    struct slo slo;
    struct tally tally;
    struct queries queries;
};

static void gather(struct gathered *g, const char *slo)
{
    g->slo = slo_of(slo);
    tally_init(&g->tally, (struct window){100 * MS, 1100 * MS}, &g->slo);
    queries_init(&g->queries, &g->tally, SIZE);
}

static void add(struct gathered *g, struct facts row)
{
    queries_add(&g->queries, &row);
}

/* Query `id`, due then, whose requests take this long. */
static void add_query(struct gathered *g, int64_t id, int64_t due_ms,
                      const int64_t e2e_ms[static SIZE])
{
    for (int64_t i = 0; i < SIZE; i++)
        add(g, row_ok(id * SIZE + i, due_ms, e2e_ms[i]));
}

static const struct hist *hist_of(const struct gathered *g)
{
    return &g->tally.hist[MEASURE_QUERY][VIEW_DUE];
}

static void assert_term(const struct gathered *g, int64_t n, int64_t keeps,
                        int64_t open)
{
    const struct term_tally *tt = &g->tally.terms[0];

    assert_int_equal(tt->n, n);
    assert_int_equal(tt->keeps, keeps);
    assert_int_equal(tt->open, open);
    assert_int_equal(hist_of(g)->n, n);
}

TEST(a_query_is_as_slow_as_its_slowest)
{
    struct gathered g;

    gather(&g, "query p50 < 30ms");
    add_query(&g, 0, 100, (int64_t[]){10, 29, 20});
    add_query(&g, 1, 200,
              (int64_t[]){30, 5, 5}); /* the limit is not below it */
    add_query(&g, 2, 300, (int64_t[]){1, 2, 3});
    queries_finish(&g.queries, 9);
    assert_term(&g, 3, 2, 0);
    assert_true(hist_at_rank(hist_of(&g), 1) < 4 * MS);
    assert_in_range(hist_at_rank(hist_of(&g), 2), 28 * MS, 30 * MS);
    assert_in_range(hist_at_rank(hist_of(&g), 3), 29 * MS, 31 * MS);
    tally_fini(&g.tally);
}

/* In the order in which they ended; the next query comes after all of them. */
TEST(rows_come_as_they_ended)
{
    struct gathered g;

    gather(&g, "query p50 < 30ms");
    add(&g, row_ok(2, 100, 5));
    add(&g, row_ok(0, 100, 10));
    add(&g, row_ok(1, 100, 40));
    add(&g, row_ok(5, 140, 5));
    add(&g, row_ok(4, 140, 6));
    add(&g, row_ok(3, 140, 7));
    queries_finish(&g.queries, 6);
    assert_term(&g, 2, 1, 0);
    tally_fini(&g.tally);
}

TEST(a_failure_is_beyond_every_limit)
{
    static const enum outcome outcomes[] = {OUTCOME_RESET, OUTCOME_TIMEOUT,
                                            OUTCOME_UNSENT};

    for (size_t i = 0; i < 3; i++) {
        struct gathered g;

        gather(&g, "query p50 < 30ms");
        add(&g, row_ok(0, 100, 5));
        add(&g, row_failed(1, 100, 6, outcomes[i]));
        add(&g, row_failed(2, 100, 6, OUTCOME_UNFINISHED));
        queries_finish(&g.queries, 3);
        assert_term(&g, 1, 0, 0);
        assert_int_equal(g.tally.terms[0].misses[0].hits, 1);
        assert_int_equal(hist_of(&g)->beyond, 1);
        tally_fini(&g.tally);
    }
}

TEST(what_nobody_knows_is_open)
{
    struct gathered g;

    gather(&g, "query p50 < 30ms");
    add(&g, row_ok(0, 100, 5));
    add(&g, row_failed(1, 100, 6, OUTCOME_UNFINISHED));
    add(&g, row_ok(2, 100, 5));
    add(&g, row_ok(3, 200, 5)); /* its third is missing */
    add(&g, row_ok(4, 200, 5));
    add_query(&g, 2, 300, (int64_t[]){1, 2, 3});
    queries_finish(&g.queries, 9);
    assert_term(&g, 3, 1, 2);
    assert_int_equal(hist_of(&g)->beyond, 2);
    tally_fini(&g.tally);
}

/* Queries 1 and 2, 4 to 6 in the window, 8 and 9 at the end. */
TEST(queries_without_a_row_are_open)
{
    struct gathered g;

    gather(&g, "query p50 < 30ms");
    add_query(&g, 0, 0, (int64_t[]){1, 2, 3});
    add_query(&g, 3, 90, (int64_t[]){1, 2, 3}); /* all before the window */
    add_query(&g, 7, 300, (int64_t[]){1, 2, 3});
    queries_finish(&g.queries, 9 * SIZE + 1);
    assert_term(&g, 1 + 3 + 2, 1, 5);
    tally_fini(&g.tally);
}

TEST(the_window_holds_what_is_due_in_it)
{
    struct gathered g;

    gather(&g, "query p50 < 30ms");
    add_query(&g, 0, 99, (int64_t[]){1, 2, 3});
    add_query(&g, 1, 100, (int64_t[]){1, 2, 3});
    add_query(&g, 2, 1099, (int64_t[]){1, 2, 300});
    add_query(&g, 3, 1100, (int64_t[]){1, 2, 3});
    queries_finish(&g.queries, 12);
    assert_term(&g, 2, 1, 0);
    tally_fini(&g.tally);
}

/* One request a query has no queries; a row without a place is damaged. */
TEST(what_is_no_query_is_left_out)
{
    struct gathered g;

    gather(&g, "query p50 < 30ms");
    add(&g, row_ok(-1, 200, 5));
    queries_finish(&g.queries, 0);
    assert_term(&g, 0, 0, 0);
    queries_init(&g.queries, &g.tally, 1);
    add(&g, row_ok(0, 200, 5));
    queries_finish(&g.queries, 7);
    assert_term(&g, 0, 0, 0);
    tally_fini(&g.tally);
}

/* Every n-th is slow or open; 0: none. */
static enum verdict verdict_of(int64_t n, int64_t slow, int64_t open,
                               struct judgement *j)
{
    static struct gathered g;

    gather(&g, "query p90 < 30ms");
    for (int64_t i = 0; i < n; i++) {
        int64_t due_ms = 100 + i;

        if (open > 0 && i % open == 0)
            add(&g, row_failed(i * SIZE, due_ms, 6, OUTCOME_UNFINISHED));
        else
            add_query(&g, i, due_ms,
                      (int64_t[]){1, slow > 0 && i % slow == 0 ? 50 : 2, 3});
    }
    queries_finish(&g.queries, n * SIZE);
    g.tally.due = n > 0 ? n * SIZE : 1;
    judge(&g.tally, 1, j);
    tally_fini(&g.tally);
    return j->verdict;
}

TEST(an_slo_on_queries_is_judged)
{
    struct judgement j;

    assert_int_equal(verdict_of(200, 0, 0, &j), VERDICT_PASS);
    assert_int_equal(verdict_of(200, 2, 0, &j), VERDICT_FAIL);
    assert_int_equal(verdict_of(200, 0, 2, &j), VERDICT_UNDECIDED);
    assert_int_equal(verdict_of(5, 0, 0, &j), VERDICT_UNDECIDED);
    assert_true(j.terms[0].more_needed % SIZE == 0); /* in requests */
    assert_int_equal(verdict_of(0, 0, 0, &j), VERDICT_UNDECIDED);
    assert_string_equal(j.terms[0].why, "no query of several requests was "
                                        "sent");
}
