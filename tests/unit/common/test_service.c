#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/spec/dist.h"
#include "tests/support/test.h"

TEST(good_services_are_read)
{
    static const struct {
        const char *text;
        enum service_kind kind;
        double mean_ns; /* plain */
        int64_t base_ns;
        int64_t per_item_ns;
    } cases[] = {
        {"none", SERVICE_PLAIN, 0, 0, 0},
        {"fixed 2ms", SERVICE_PLAIN, 2e6, 0, 0},
        {"exponential 3us", SERVICE_PLAIN, 3e3, 0, 0},
        {"lognormal 20ms 5ms", SERVICE_PLAIN, 20e6, 0, 0},
        {"empirical 0:1ms 100:3ms", SERVICE_PLAIN, 2e6, 0, 0},
        {"batch 5ms 1ms", SERVICE_BATCH, 0, 5 * NS_PER_MS, NS_PER_MS},
        {"batch  0  1us", SERVICE_BATCH, 0, 0, NS_PER_US},
        {"llm", SERVICE_LLM, 0, 0, 0},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct service s;
        struct err err = {0};

        assert_int_equal(service_parse(cases[i].text, &s, &err), 0);
        assert_int_equal(service_check(cases[i].text, &err), 0);
        assert_int_equal(err.code, ERR_NONE);
        assert_int_equal(s.kind, cases[i].kind);
        assert_int_equal(s.base_ns, cases[i].base_ns);
        assert_int_equal(s.per_item_ns, cases[i].per_item_ns);
        if (s.kind == SERVICE_PLAIN)
            assert_true(dist_mean(&s.dist) == cases[i].mean_ns);
    }
}

#define FORM " is not a batch; write 'batch 5ms 1ms' (base, per item)"
#define DIST                                                                   \
    " is not a distribution; write 'none', 'fixed 2ms', 'uniform 1ms 3ms' "    \
    "(minimum, maximum), 'exponential 2ms', 'normal 20ms 5ms', 'lognormal "    \
    "20ms 5ms' "                                                               \
    "(mean, deviation) or 'empirical 0:1ms 50:2ms 100:9ms'; or 'batch 5ms "    \
    "1ms' (base, per item), or 'llm'"

TEST(bad_services_are_refused)
{
    static const struct {
        const char *text;
        const char *want;
    } cases[] = {
        {"", "''" DIST},
        {"slow", "'slow'" DIST},
        {"fixed", "'fixed'" DIST},
        {"fixed 2", "'fixed 2'" DIST},
        {"llm 5", "'llm 5'" DIST},
        {"batch", "'batch'" FORM},
        {"batch 5ms", "'batch 5ms'" FORM},
        {"batch 5ms 1ms 1ms", "'batch 5ms 1ms 1ms'" FORM},
        {"batch 5ms x", "'x' is not a duration; write 500ms, 2s or 1h30m"},
        {"batch x 5ms", "'x' is not a duration; write 500ms, 2s or 1h30m"},
        {"batch5ms 1ms", "'batch5ms 1ms'" DIST},
        {"batched 5ms", "'batched 5ms'" DIST},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct service s;
        struct err err = {0};

        assert_int_equal(service_parse(cases[i].text, &s, &err), -1);
        assert_int_equal(err.code, ERR_CONFIG);
        assert_string_equal(err.msg, cases[i].want);
    }
}
