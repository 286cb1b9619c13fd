/* What good requests cost: by hand. */
#include <math.h>

#include "analyzer/verdict/cost.h"
#include "common/settings/settings.h"
#include "tests/support/test.h"

static void assert_usd(double is, double want)
{
    assert_true(fabs(is - want) <= 1e-12 * want);
}

/* 3 replicas at 1.20 an hour, for 100 s: 10 cents. */
TEST(by_hand)
{
    const struct cost_settings price = {.usd_per_hour = 1.2, .replicas = 3};
    const struct delivered d = {
        .window_s = 100, .good = 500, .good_tokens = 50000, .tokens = 80000};
    struct cost c = cost_of(&price, &d);

    assert_true(c.is_there);
    assert_usd(c.usd_per_hour, 3.6);
    assert_usd(c.usd, 0.1);
    assert_usd(c.usd_per_1000_good, 0.2);
    assert_usd(c.usd_per_million_good_tokens, 2);
    assert_usd(c.usd_per_million_tokens, 1.25);
}

/* An hour: 2 replicas at 1 USD, 365 GB at 0.02 USD a month and 5 GB sent at
 * 0.08 USD. */
TEST(storage_and_egress_are_added)
{
    const struct cost_settings price = {.usd_per_hour = 1,
                                        .replicas = 2,
                                        .usd_per_gb_egress = 0.08,
                                        .usd_per_gb_month = 0.02,
                                        .storage_gb = 365};
    const struct delivered d = {
        .window_s = 3600, .good = 1000, .egress_bytes = 5e9};
    struct cost c = cost_of(&price, &d);

    assert_usd(c.usd_machines, 2);
    assert_usd(c.usd_storage, 0.01);
    assert_usd(c.usd_egress, 0.4);
    assert_usd(c.usd, 2.41);
    assert_usd(c.usd_per_1000_good, 2.41);
    assert_usd(c.usd_per_hour, 2.01);
}

/* Egress can be all that is paid for. */
TEST(egress_alone_is_a_price)
{
    const struct cost_settings price = {.replicas = 1,
                                        .usd_per_gb_egress = 0.08};
    const struct delivered d = {.window_s = 10, .egress_bytes = 1e9};

    assert_true(cost_of(&price, &d).is_there);
    assert_usd(cost_of(&price, &d).usd, 0.08);
}

TEST(nothing_good_has_no_price)
{
    const struct cost_settings price = {.usd_per_hour = 1, .replicas = 1};
    const struct delivered none = {.window_s = 100, .tokens = 1e6};
    const struct delivered unknown = {
        .window_s = 3600, .good = 1000, .good_tokens = -1, .tokens = -1};
    struct cost c = cost_of(&price, &none);

    assert_true(c.usd_per_1000_good < 0);
    assert_true(c.usd_per_million_good_tokens < 0);
    assert_usd(c.usd_per_million_tokens, 100.0 / 3600);
    c = cost_of(&price, &unknown);
    assert_usd(c.usd_per_1000_good, 1);
    assert_true(c.usd_per_million_good_tokens < 0);
    assert_true(c.usd_per_million_tokens < 0);
}

TEST(without_a_price_there_is_no_cost)
{
    const struct cost_settings price = {.usd_per_hour = 0, .replicas = 1};
    const struct delivered d = {.window_s = 100, .good = 500};

    assert_false(cost_of(&price, &d).is_there);
}
