/* The memory of all answers is bounded: what is taken and given back, and what
 * becomes of an answer for which there is none. */
#include <string.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "tests/support/responserig.h"
#include "tests/support/test.h"

static int teardown(void **state)
{
    (void)state;
    budget_set(INT64_MAX);
    return 0;
}

TEST_WITH(no_more_than_there_is, NULL, teardown)
{
    budget_set(100);
    assert_true(budget_take(50));
    assert_false(budget_is_tight());
    assert_false(budget_take(51));
    assert_true(budget_take(50));
    assert_true(budget_is_tight());
    assert_false(budget_take(1));
    budget_give(100);
    assert_true(budget_take(100));
    budget_give(100);
}

/* ---- answers ---- */

#define BUDGET 20000

/* Responses that exceed it, each in another buffer. */
static const struct {
    const char *name;
    const char *type;
    const char *first; /* once, ... */
    const char *next;  /* ... then this, until it is starved */
} answers[] = {
    {"body", "application/json", "", "          "},
    {"events", "text/event-stream", "", TOKEN("a")},
    {"an event that does not end", "text/event-stream", "data: ", "xxxxxxxxxx"},
};

/* Returns how many pieces were taken. */
static int starve(struct responserig *rig, size_t i)
{
    int n = 0;

    responserig_begin(rig, answers[i].type);
    responserig_take(rig, 1, answers[i].first);
    while (!response_is_starved(&rig->response) && n < BUDGET) {
        responserig_take(rig, 2, answers[i].next);
        n++;
    }
    assert_true(response_is_starved(&rig->response));
    return n;
}

/* The outcome does not depend on how the transport ends it. */
TEST_WITH(a_starved_answer_has_its_name, NULL, teardown)
{
    struct responserig rig;

    budget_set(BUDGET);
    responserig_init(&rig, API_OPENAI_CHAT);
    for (size_t i = 0; i < COUNT(answers); i++) {
        const char *why;

        print_message("%s\n", answers[i].name);
        starve(&rig, i);
        rig.facts.outcome = OUTCOME_TIMEOUT;
        why = response_break(&rig.response, "no answer");
        assert_memory_equal(why, "client memory", strlen("client memory"));
        assert_int_equal(rig.facts.outcome, OUTCOME_TRUNCATED);
        assert_int_equal(rig.facts.detail, RESPONSE_CLIENT_MEMORY);

        response_release(&rig.response);
        starve(&rig, i);
        assert_non_null(responserig_finish(&rig, 3));
        assert_int_equal(rig.facts.outcome, OUTCOME_TRUNCATED);
        assert_int_equal(rig.facts.detail, RESPONSE_CLIENT_MEMORY);
        response_release(&rig.response);
    }
    responserig_fini(&rig);
    assert_true(budget_take(BUDGET));
    budget_give(BUDGET);
}

/* Memory of a request that is over can be used by others. */
TEST_WITH(the_next_finds_what_was_given_back, NULL, teardown)
{
    struct responserig one;
    struct responserig other;
    int n;

    budget_set(BUDGET);
    responserig_init(&one, API_OPENAI_CHAT);
    responserig_init(&other, API_OPENAI_CHAT);
    n = starve(&one, 0);
    response_release(&one.response);
    assert_int_equal(starve(&other, 0), n);
    responserig_fini(&other);
    responserig_fini(&one);
}

/* If the budget is not tight, the next request allocates nothing. */
TEST_WITH(memory_is_kept_where_there_is_enough, NULL, teardown)
{
    struct responserig rig;
    const char *data;

    budget_set((int64_t)100 * BUDGET);
    responserig_init(&rig, API_OPENAI_CHAT);
    responserig_begin(&rig, "application/json");
    responserig_take(&rig, 1, "{\"choices\":[]}");
    data = rig.response.body.data;
    response_release(&rig.response);
    responserig_begin(&rig, "application/json");
    assert_ptr_equal(rig.response.body.data, data);
    responserig_fini(&rig);
}
