/* Tables of prices: what they say of a machine, and what is no table. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/verdict/cost.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "common/spec/prices.h"
#include "tests/support/near.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

static const char table[] = "# on demand\r\n"
                            "machine,usd_per_hour\r\n"
                            "\n"
                            "L4, 0.80\r\n"
                            " H100 SXM ,4.10\n"
                            "8xH100,30\n"
                            "H100,4\n";

static struct prices parsed(const char *text)
{
    struct prices p;
    struct err err = {0};
    char *copy = xstrdup(text);

    if (prices_parse(&p, "p.csv", copy, &err))
        fail_msg("%s", err.msg);
    free(copy);
    return p;
}

TEST(by_name)
{
    static const struct {
        const char *machine;
        double usd;
    } cases[] = {
        {"L4", 0.8},         {"H100 SXM", 4.1},
        {"8xH100", 30}, /* a row of its own, not eight of H100 */
        {"4xH100", 16},      {"1xL4", 0.8},
        {"2xH100 SXM", 8.2},
    };
    struct prices p = parsed(table);

    assert_int_equal(p.n, 4);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = {0};
        double usd = 0;

        assert_int_equal(prices_find(&p, cases[i].machine, &usd, &err), 0);
        assert_near(usd, cases[i].usd, 1e-9);
    }
    prices_fini(&p);
}

TEST(columns_in_either_order)
{
    struct prices p = parsed("usd_per_hour,machine\n2.5,A10\n");
    double usd = 0;

    assert_int_equal(prices_find(&p, "A10", &usd, &(struct err){0}), 0);
    assert_near(usd, 2.5, 1e-12);
    prices_fini(&p);
}

TEST(machines_without_a_price)
{
    static const struct {
        const char *machine;
        const char *want;
    } cases[] = {
        {"H101", "p.csv: no price for 'H101'; did you mean 'H100'?"},
        {"2xH101", "p.csv: no price for '2xH101'; did you mean '2xH100'?"},
        {"TPU", "p.csv: no price for 'TPU'; it has L4, H100 SXM, 8xH100, H100"},
        {"4xTPU", "p.csv: no price for '4xTPU'"},
        {"0xL4", "p.csv: no price for '0xL4'"},
        {"1.5xL4", "p.csv: no price for '1.5xL4'"},
        {"4x", "p.csv: no price for '4x'"},
        {"-1xL4", "p.csv: no price for '-1xL4'"},
        {"l4", "p.csv: no price for 'l4'"},
    };
    struct prices p = parsed(table);

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = {0};
        double usd;

        assert_int_equal(prices_find(&p, cases[i].machine, &usd, &err), -1);
        assert_int_equal(err.code, ERR_CONFIG);
        if (!strstr(err.msg, cases[i].want))
            fail_msg("%s", err.msg);
    }
    prices_fini(&p);
}

TEST(what_is_no_table)
{
    static const struct {
        const char *text;
        const char *want;
    } cases[] = {
        {"", "p.csv: the file contains no prices"},
        {"machine,usd_per_hour\n", "p.csv: the file contains no prices"},
        {"L4,0.8\n", "p.csv:1: the first line must name the columns"},
        {"machine,machine\nL4,1\n", "p.csv:1: the first line must name"},
        {"machine,usd_per_hour\nL4\n", "p.csv:2: a line must have two cells"},
        {"machine,usd_per_hour\nL4,1,2\n",
         "p.csv:2: a line must have two cells"},
        {"machine,usd_per_hour\n\nL4,cheap\n",
         "p.csv:3: usd_per_hour: 'cheap' is not a number above 0"},
        {"machine,usd_per_hour\nL4,0\n", "'0' is not a number above 0"},
        {"machine,usd_per_hour\nL4,1e300\n",
         "p.csv:2: usd_per_hour: '1e300' is out of range"},
        {"machine,usd_per_hour\nL4,-1\n", "'-1' is not"},
        {"machine,usd_per_hour\nL4,nan\n", "'nan' is not"},
        {"machine,usd_per_hour\nL4,inf\n", "'inf' is not"},
        {"machine,usd_per_hour\nL4,\n", "'' is not"},
        {"machine,usd_per_hour\nL4,1$\n", "'1$' is not"},
        {"machine,usd_per_hour\n,1\n", "p.csv:2: the machine is missing"},
        {"machine,usd_per_hour\nL4,1\nA10,1\nL4,2\n",
         "p.csv:4: 'L4' already has a price in line 2"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = {0};
        struct prices p;
        char *copy = xstrdup(cases[i].text);

        assert_int_equal(prices_parse(&p, "p.csv", copy, &err), -1);
        assert_int_equal(err.code, ERR_CONFIG);
        if (!strstr(err.msg, cases[i].want))
            fail_msg("%s", err.msg);
        free(copy);
    }
}

/* Of spreadsheets many begin with a byte order mark. */
TEST(a_file)
{
    static const char text[] = "\xef\xbb\xbfmachine,usd_per_hour\nL4,0.8\n";
    struct err err = {0};
    struct prices p;

    assert_int_equal(
        prices_read(&p, tmpdir_write("p.csv", text, sizeof(text) - 1), &err),
        0);
    assert_int_equal(p.n, 1);
    prices_fini(&p);
    assert_int_equal(prices_read(&p, "/nowhere/p.csv", &err), -1);
    assert_int_equal(err.code, ERR_CONFIG);
}

/* The machine that is named stands over the condition. */
TEST(settings_have_the_price_of_their_machine)
{
    struct prices p = parsed(table);
    struct settings s;
    struct err err = {0};

    settings_init(&s);
    assert_int_equal(prices_apply(&p, &s, &err), -1);
    assert_non_null(strstr(err.msg, "the machine is not given"));
    strmap_put(&s.conditions, "hardware", "2xL4");
    assert_int_equal(prices_apply(&p, &s, &err), 0);
    assert_near(s.cost.usd_per_hour, 1.6, 1e-12);
    assert_null(s.cost.machine); /* another condition, another machine */
    assert_string_equal(prices_machine(&s), "2xL4");
    strmap_put(&s.conditions, "hardware", "L4");
    assert_int_equal(prices_apply(&p, &s, &err), 0);
    assert_near(s.cost.usd_per_hour, 0.8, 1e-12);
    assert_int_equal(
        cost_ask_apply(
            &(struct cost_ask){.prices = &p, .machine = "H100", .replicas = 3},
            &s, &err),
        0);
    assert_near(s.cost.usd_per_hour, 4, 1e-12);
    assert_int_equal(s.cost.replicas, 3);
    settings_fini(&s);
    prices_fini(&p);
}

/* What was found is kept, and where it was looked for is not: a recording needs
 * no file next to it. */
TEST(settings_look_it_up_once)
{
    struct settings s;
    struct err err = {0};

    settings_init(&s);
    s.cost.prices = xstrdup(tmpdir_write("p.csv", table, strlen(table)));
    s.cost.machine = xstrdup("L4");
    assert_int_equal(settings_look_up_price(&s, &err), 0);
    assert_near(s.cost.usd_per_hour, 0.8, 1e-12);
    assert_null(s.cost.prices);
    assert_int_equal(settings_look_up_price(&s, &err), 0);
    s.cost.prices = xstrdup(tmpdir_path("p.csv"));
    assert_int_equal(settings_look_up_price(&s, &err), -1);
    assert_non_null(strstr(err.msg, "cost.prices cannot be combined with "
                                    "cost.usd_per_hour"));
    settings_fini(&s);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
