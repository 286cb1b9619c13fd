/* New prompts and repeated ones: what their times say of caches. */
#include <math.h>

#include "analyzer/tally/cache_check.h"
#include "common/base/clk.h"
#include "common/base/rng.h"
#include "tests/support/test.h"

#define WINDOW_NS (100 * NS_PER_S)
#define MS        1e6

/* How a repeated request differs from a new one. */
struct made {
    double ttft;      /* times as long */
    double tpot;      /* the same */
    int64_t tokens;   /* of its answer; those of a new one: 50 */
    int64_t cached;   /* of its prompt of 100; below 0: not known */
    bool is_whole;    /* answers come in one piece */
    bool is_gathered; /* a stream, in one read */
    bool is_offline;  /* all are due at once */
    int n;            /* requests in all */
};

static struct facts request(const struct made *m, int i, bool repeats,
                            struct rng *rng)
{
    int64_t due = WINDOW_NS / m->n * i;
    struct facts f = facts_unknown(i, m->is_offline ? 0 : due);
    int64_t tokens = repeats ? m->tokens : 50;
    double scatter = exp(0.2 * (rng_uniform(rng) - 0.5));
    double first = 100 * MS * scatter * (repeats ? m->ttft : 1);
    double rest =
        (double)(tokens - 1) * 10 * MS * scatter * (repeats ? m->tpot : 1);

    f.issued = f.sent = due;
    f.outcome = OUTCOME_OK;
    f.repeat = repeats;
    f.output_tokens = tokens;
    f.prompt_tokens = m->cached < 0 ? TIME_ABSENT : 100;
    f.cached_tokens =
        m->cached < 0 || !repeats ? m->cached < 0 ? TIME_ABSENT : 0 : m->cached;
    f.last = f.end = due + (int64_t)(first + rest);
    f.head = due + (int64_t)first;
    f.first = m->is_gathered ? f.last : f.head;
    f.events = m->is_whole ? 0 : tokens;
    f.event_tokens = m->is_whole ? TIME_ABSENT : tokens;
    f.first_tokens = 1;
    f.is_split = 1;
    if (m->is_whole)
        f.first = f.last;
    return f;
}

static struct cache_check check(const struct made *m)
{
    static struct cache_work w;
    static struct tally t;
    struct slo slo = {0};
    struct rng rng = {7};
    struct cache_check c;

    w = (struct cache_work){0};
    tally_init(&t, (struct window){0, WINDOW_NS}, &slo);
    for (int i = 0; i < m->n; i++) {
        struct facts f = request(m, i, i % 2, &rng);

        cachecheck_add(&w, &t, &f);
    }
    cachecheck_make(&w, &c);
    cachecheck_fini(&w);
    tally_fini(&t);
    return c;
}

TEST(findings)
{
    static const struct {
        struct made made;
        enum cache_finding want;
        enum cache_measure by;
    } cases[] = {
        {{1, 1, 50, -1, .n = 1000}, CACHE_NO_SIGN, CACHE_TPOT},
        {{0.95, 0.95, 50, -1, .n = 1000}, CACHE_NO_SIGN, CACHE_TPOT},
        {{1.3, 1.3, 50, -1, .n = 1000}, CACHE_NO_SIGN, CACHE_TPOT},
        {{0.01, 0.01, 50, -1, .n = 1000}, CACHE_OF_ANSWERS, CACHE_TPOT},
        {{0.85, 0.85, 50, -1, .n = 1000}, CACHE_OF_ANSWERS, CACHE_TPOT},
        {{0.01, 1, 50, 99, .n = 1000}, CACHE_OF_PROMPTS, CACHE_TPOT},
        {{0.01, 1, 50, -1, .n = 1000}, CACHE_OF_PROMPTS, CACHE_TPOT},
        /* tokens take what they took, whatever the length of the answer */
        {{1, 1, 5, -1, .n = 1000}, CACHE_NO_SIGN, CACHE_TPOT},
        {{1, 1, 50, -1, .is_whole = true, .n = 1000}, CACHE_NO_SIGN, CACHE_E2E},
        {{0.1, 0.1, 50, -1, .is_whole = true, .n = 1000},
         CACHE_OF_ANSWERS,
         CACHE_E2E},
        {{0.1, 0.1, 50, 90, .is_whole = true, .n = 1000},
         CACHE_OF_ANSWERS,
         CACHE_E2E},
        {{1, 1, 5, -1, .is_whole = true, .n = 1000},
         CACHE_UNDECIDED,
         CACHE_E2E},
        {{0.1, 0.1, 50, -1, .is_gathered = true, .n = 1000},
         CACHE_OF_ANSWERS,
         CACHE_E2E},
        {{0.1, 0.1, 50, -1, .is_offline = true, .n = 1000},
         CACHE_OF_ANSWERS,
         CACHE_TPOT},
        {{1, 1, 50, -1, .is_offline = true, .n = 1000},
         CACHE_NO_SIGN,
         CACHE_TPOT},
        {{1, 1, 50, -1, .n = 20}, CACHE_UNDECIDED, CACHE_E2E},
        {{0.909, 0.909, 50, -1, .n = 200}, CACHE_UNDECIDED, CACHE_TPOT},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct cache_check c = check(&cases[i].made);

        if (c.finding != cases[i].want || c.by != cases[i].by)
            fail_msg("case %zu: %s, by %d (%s)", i,
                     cache_finding_name(c.finding), c.by, c.why);
    }
}

TEST(groups_are_counted)
{
    static const struct made made = {0.5, 1, 40, 80, .n = 1000};
    struct cache_check c = check(&made);

    assert_int_equal(c.group[CACHE_NEW].n, 500);
    assert_int_equal(c.group[CACHE_REPEATED].n, 500);
    assert_true(token_mean(&c.group[CACHE_NEW].output) == 50);
    assert_true(token_mean(&c.group[CACHE_REPEATED].output) == 40);
    assert_true(cache_group_share(&c.group[CACHE_NEW]) == 0);
    assert_true(cache_group_share(&c.group[CACHE_REPEATED]) == 0.8);
    assert_true(fabs(c.ratio[CACHE_TTFT].ratio - 0.5) < 0.02);
    assert_true(c.ratio[CACHE_TTFT].ci95.low < c.ratio[CACHE_TTFT].ratio);
    assert_true(c.ratio[CACHE_TTFT].ci95.high > c.ratio[CACHE_TTFT].ratio);
}

TEST(what_failed_or_lies_outside_is_left_out)
{
    static struct cache_work w;
    static struct tally t;
    static const struct made made = {1, 1, 50, -1, .n = 10};
    struct slo slo = {0};
    struct rng rng = {1};
    struct facts f = request(&made, 0, true, &rng);
    struct facts late = request(&made, 10, true, &rng);

    tally_init(&t, (struct window){0, WINDOW_NS}, &slo);
    f.outcome = OUTCOME_STATUS;
    cachecheck_add(&w, &t, &f);
    cachecheck_add(&w, &t, &late);
    assert_int_equal(w.group[CACHE_REPEATED].n, 1);
    assert_int_equal(w.group[CACHE_REPEATED].failed, 1);
    assert_int_equal(w.all[CACHE_REPEATED][CACHE_E2E].n, 0);
    cachecheck_fini(&w);
    tally_fini(&t);
}

/* ---- how often it is wrong ---- */

/* Whole answers whose times scatter as much as those of a queue, and drift. */
static enum cache_finding scattered(double factor, struct rng *rng)
{
    static struct cache_work w;
    static struct tally t;
    struct slo slo = {0};
    struct cache_check c;
    const int n = 400;

    w = (struct cache_work){0};
    tally_init(&t, (struct window){0, WINDOW_NS}, &slo);
    for (int i = 0; i < n; i++) {
        struct facts f = facts_unknown(i, WINDOW_NS / n * i);
        double ms = -log(rng_uniform(rng)) * 100 * (1 + (double)i / n);

        f.repeat = i % 2;
        f.issued = f.sent = f.due;
        f.outcome = OUTCOME_OK;
        f.last = f.end =
            f.due + (int64_t)(ms * MS * (f.repeat ? factor : 1)) + 1;
        cachecheck_add(&w, &t, &f);
    }
    cachecheck_make(&w, &c);
    cachecheck_fini(&w);
    tally_fini(&t);
    return c.finding;
}

/* Exactly at the limit each answer may be given in 2.5 % of the runs: of 400
 * runs 10, and five deviations more are 26. */
TEST(at_the_limit_it_is_seldom_sure)
{
    struct rng rng = {11};
    int said[CACHE_FINDINGS] = {0};

    for (int i = 0; i < 400; i++)
        said[scattered(CACHE_LIMIT, &rng)]++;
    assert_in_range(said[CACHE_OF_ANSWERS], 0, 26);
    assert_in_range(said[CACHE_NO_SIGN], 0, 26);
}
