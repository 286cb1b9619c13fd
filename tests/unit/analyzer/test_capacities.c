/* Capacities against each other: what their intervals show. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/compare/capacities.h"
#include "analyzer/report/doc.h"
#include "cli/exit_status.h"
#include "common/base/buf.h"
#include "tests/support/golden.h"
#include "tests/support/near.h"
#include "tests/support/rendered.h"
#include "tests/support/test.h"

#define MAX_TEXT 65536

static struct capacity found(double low, double value, double high)
{
    return (struct capacity){
        .is_present = true, .value = value, .range = {low, high}};
}

static struct capacity bracket(double low, double high)
{
    return (struct capacity){.is_present = true,
                             .value = NAN,
                             .range = {low, high},
                             .is_bracket = true};
}

TEST(what_two_show)
{
    const struct {
        struct capacity a;
        struct capacity b;
        bool has_ratio;
        enum finding_verdict verdict;
    } cases[] = {
        {found(95, 100, 105), found(115, 120, 125), true, FINDING_BETTER},
        {found(115, 120, 125), found(95, 100, 105), true, FINDING_WORSE},
        {found(95, 100, 105), found(98, 103, 108), true, FINDING_NO_DIFFERENCE},
        {found(95, 100, 105), bracket(200, INFINITY), false, FINDING_BETTER},
        {found(95, 100, 105), bracket(0, 50), false, FINDING_WORSE},
        {found(95, 100, 105), bracket(80, 160), false, FINDING_CANNOT_TELL},
        {found(95, 100, 105), {0}, false, FINDING_CANNOT_TELL},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct capacity_side b = {.capacity = cases[i].b};

        capacities_contrast(&cases[i].a, &b);
        assert_int_equal(b.has_ratio, cases[i].has_ratio);
        assert_int_equal(b.verdict, cases[i].verdict);
    }
}

/* Half widths add up like independent errors, on a scale of logarithms. */
TEST(the_interval_of_a_ratio)
{
    const struct capacity a = found(100 / exp(0.03), 100, 100 * exp(0.03));
    struct capacity_side b = {.capacity =
                                  found(200 / exp(0.04), 200, 200 * exp(0.04))};

    capacities_contrast(&a, &b);
    assert_near(b.ratio, 2, 1e-12);
    assert_near(b.range.low, 2 * exp(-0.05), 1e-12);
    assert_near(b.range.high, 2 * exp(0.05), 1e-12);
}

TEST(it_is_said)
{
    struct capacity_side sides[2] = {
        {.dir = "a", .capacity = found(95, 100, 105)},
        {.dir = "b", .capacity = found(115, 120, 125)},
    };
    struct capacities c = {
        .sides = sides, .n = 2, .regression = -1, .answer = COMPARE_BETTER};

    capacities_contrast(&sides[0].capacity, &sides[1]);
    assert_golden_doc("capacities", capacities_doc(&c));
    assert_int_equal(exit_status_of(compare_conclusion(c.answer), 0), 0);
    c.answer = COMPARE_WORSE;
    assert_int_equal(exit_status_of(compare_conclusion(c.answer), 0), 1);
    c.answer = COMPARE_REFUSED;
    assert_int_equal(exit_status_of(compare_conclusion(c.answer), 0), 4);
}
