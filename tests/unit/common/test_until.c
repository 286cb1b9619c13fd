/* What a precision is written like. */
#include <string.h>

#include "common/base/err.h"
#include "common/spec/until.h"
#include "tests/support/test.h"

TEST(all_signs_are_accepted)
{
    static const char *const texts[] = {"e2e p99 \xc2\xb1 5%", "e2e p99 +- 5%",
                                        "e2e p99 +/- 0.05", "e2e p99+-5%"};

    for (size_t i = 0; i < COUNT(texts); i++) {
        struct until u = {0};
        struct err err = {0};

        assert_int_equal(until_parse(texts[i], &u, &err), 0);
        assert_int_equal(u.measure, MEASURE_E2E);
        assert_true(u.quantile == 0.99);
        assert_true(u.share == 0.05);
    }
}

TEST(what_makes_no_sense_is_refused)
{
    static const struct {
        const char *text;
        const char *says;
    } cases[] = {
        {"", "not a precision"},
        {"e2e p99", "not a precision"},
        {"e2e p99 5%", "not a precision"},
        {"e2e p99 +- 0%", "not a precision"},
        {"e2e p99 +- 100%", "not a precision"},
        {"e2e p99 +- 5ms", "not a precision"},
        {"e2e p99 < 5ms +- 5%", "not a precision"},
        {"throughput +- 5%", "not a precision"},
        {"tfft p99 +- 5%", "did you mean 'ttft'? The measures are e2e, "},
        {"gap p99 +- 5%", "several samples per request"},
        {"e2e p75 +- 5%", "p50, p90, p95, p99 or p99.9"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct until u;
        struct err err = {0};

        assert_int_equal(until_parse(cases[i].text, &u, &err), -1);
        assert_int_equal(err.code, ERR_CONFIG);
        if (!strstr(err.msg, cases[i].says))
            fail_msg("'%s': %s", cases[i].text, err.msg);
    }
}
