#include <math.h>
#include <string.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/text/units.h"
#include "tests/support/test.h"

TEST(durations_are_read)
{
    static const struct {
        const char *text;
        int64_t want_ns;
    } cases[] = {
        {"0", 0},
        {"0s", 0},
        {"1ns", 1},
        {"7us", 7000},
        {"7µs", 7000},
        {"250ms", 250 * NS_PER_MS},
        {"2s", 2 * NS_PER_S},
        {"1.5s", 1500 * NS_PER_MS},
        {".5s", 500 * NS_PER_MS},
        {"5.s", 5 * NS_PER_S},
        {"0.1ns", 0},
        {"90m", 5400 * NS_PER_S},
        {"90min", 5400 * NS_PER_S},
        {"1min30sec", 90 * NS_PER_S},
        {"1h30m", 5400 * NS_PER_S},
        {"1d1h1m1s1ms1us1ns", INT64_C(90061001001001)},
        {"0.3s0.3s", 600 * NS_PER_MS},
        {"9007199254740993ns", INT64_C(9007199254740993)},
        {"4611686018427387903ns", (INT64_C(1) << 62) - 1},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = {0};
        int64_t ns = -1;

        assert_int_equal(units_parse_duration(cases[i].text, &ns, &err), 0);
        assert_int_equal(ns, cases[i].want_ns);
        assert_int_equal(err.code, ERR_NONE);
    }
}

TEST(rates_are_read)
{
    static const struct {
        const char *text;
        double want;
    } cases[] = {
        {"50", 50},       {"50/s", 50},
        {"0.5", 0.5},     {"2/m", 2.0 / 60},
        {"60/m", 1},      {"49/49s", 1},
        {"10k", 1e4},     {"1.5M/h", 1500000.0 / 3600},
        {"100/10s", 10},  {"1/1h30m", 1.0 / 5400},
        {"3/ms", 3000},   {"1/0.5s", 2},
        {"2G", 2e9},      {"1e3", 1000},
        {"2.5e-1", 0.25}, {"1e+2/m", 100.0 / 60},
        {"10rps", 10},    {"0.5qps", 0.5},
        {"6/min", 0.1},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = {0};
        double rate = -1;

        assert_int_equal(units_parse_rate(cases[i].text, &rate, &err), 0);
        assert_true(rate == cases[i].want);
    }
}

TEST(whole_numbers_are_read)
{
    static const struct {
        int (*parse)(const char *, int64_t *, struct err *);
        const char *text;
        int64_t want;
    } cases[] = {
        {units_parse_size, "0", 0},
        {units_parse_size, "512", 512},
        {units_parse_size, "512B", 512},
        {units_parse_size, "64k", 65536},
        {units_parse_size, "64K", 65536},
        {units_parse_size, "1KiB", 1024},
        {units_parse_size, "1.5kiB", 1536},
        {units_parse_size, "1MiB", 1 << 20},
        {units_parse_size, "2G", INT64_C(1) << 31},
        {units_parse_size, "10MB", 10000000},
        {units_parse_size, "1kB", 1000},
        {units_parse_size, "9007199254740992", INT64_C(1) << 53},
        {units_parse_count, "1000", 1000},
        {units_parse_count, "10k", 10000},
        {units_parse_count, "1.005k", 1005}, /* 1004.9999999999999 */
        {units_parse_count, "1.5M", 1500000},
        {units_parse_count, "1G", 1000000000},
        {units_parse_count, "1e3", 1000},
        {units_parse_count, "1.5e1", 15},
        {units_parse_count, "1e2k", 100000},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = {0};
        int64_t n = -1;

        assert_int_equal(cases[i].parse(cases[i].text, &n, &err), 0);
        assert_int_equal(n, cases[i].want);
    }
}

/* To the last bit: 99.9 / 100 in doubles is above 0.999, which moves a rank. */
TEST(shares_are_read)
{
    static const struct {
        const char *text;
        double want;
    } cases[] = {
        {"0", 0},         {"0%", 0},        {"1", 1},      {"100%", 1},
        {"0.1%", 0.001},  {"99.9%", 0.999}, {"7%", 0.07},  {"99.99%", 0.9999},
        {"0.001", 0.001}, {".5", 0.5},      {"50.%", 0.5},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = {0};
        double share = -1;

        assert_int_equal(units_parse_share(cases[i].text, &share, &err), 0);
        assert_true(share == cases[i].want);
    }
}

/* Whatever the kind. */
static const char *const malformed[] = {
    "",      " ",
    "-1",    "+1",
    "1e",    "1e3s",
    "1e+",   "1e1000",
    "1e3e3", "1E3",
    "inf",   "nan",
    "0x10",  "0x10s",
    "1.2.3", "1.2.3s",
    "10 s",  " 10s",
    "10s ",  "5x",
    "1,5s",  "s",
    ".",     ".s",
    "..",    "ms5",
    "-5ms",  "5-",
    "%",     "1%%",
    "1/",    "/s",
    "--",    "1s\n",
    "infs",  "1/-1s",
    "5e",    "5e-3s",
    "1/0s",  "1/s/s",
    "\xff",  "1\xc2",
    "1µ",    "111111111111111111111111111111111111111111111111",
};

TEST(malformed_texts_are_refused)
{
    int64_t whole = -7;
    double number = -7;

    for (size_t i = 0; i < COUNT(malformed); i++) {
        const char *text = malformed[i];
        struct err err[5] = {{0}};

        assert_int_equal(units_parse_duration(text, &whole, &err[0]), -1);
        assert_int_equal(units_parse_rate(text, &number, &err[1]), -1);
        assert_int_equal(units_parse_size(text, &whole, &err[2]), -1);
        assert_int_equal(units_parse_count(text, &whole, &err[3]), -1);
        assert_int_equal(units_parse_share(text, &number, &err[4]), -1);
        for (size_t e = 0; e < COUNT(err); e++) {
            assert_int_equal(err[e].code, ERR_CONFIG);
            assert_null(strchr(err[e].msg, '\n'));
        }
    }
}

TEST(what_is_beyond_all_numbers_is_refused)
{
    static const char *const texts[] = {"1e400", "inf",  "nan",
                                        "1e309", "1e16", "1e-13"};
    double number;

    for (size_t i = 0; i < COUNT(texts); i++) {
        struct err err = {0};

        assert_int_equal(units_parse_number(texts[i], &number, &err), -1);
        assert_int_equal(err.code, ERR_CONFIG);
    }
    assert_int_equal(units_parse_number("1e15", &number, &(struct err){0}), 0);
    assert_int_equal(units_parse_number("0", &number, &(struct err){0}), 0);
}

static int parse_rate(const char *text, int64_t *ignored, struct err *err)
{
    double rate;

    (void)ignored;
    return units_parse_rate(text, &rate, err);
}

static int parse_share(const char *text, int64_t *ignored, struct err *err)
{
    double share;

    (void)ignored;
    return units_parse_share(text, &share, err);
}

#define BAD_DURATION " is not a duration; write 500ms, 2s or 1h30m"
#define TOO_LONG     " is too long; at most 53375d"
#define BAD_RATE     " is not a rate; write 50, 0.5 or 2/m (above 0)"
#define BAD_SIZE     " is not a size; write 512, 64k or 1MiB"
#define BAD_COUNT    " is not a count; write 1000, 10k or 1M"
#define BAD_SHARE    " is not a share of 0 to 100%; write 0.1% or 0.001"

TEST(each_kind_refuses_what_is_not_of_it)
{
    static const struct {
        int (*parse)(const char *, int64_t *, struct err *);
        const char *text;
        const char *want;
    } cases[] = {
        {units_parse_duration, "5", "'5'" BAD_DURATION},
        {units_parse_duration, "1h30", "'1h30'" BAD_DURATION},
        {units_parse_duration, "00", "'00'" BAD_DURATION},
        {units_parse_duration, "5M", "'5M'" BAD_DURATION},
        {units_parse_duration, "5S", "'5S'" BAD_DURATION},
        {units_parse_duration, "5%", "'5%'" BAD_DURATION},
        {units_parse_duration, "99999999999999d", "'99999999999999d'" TOO_LONG},
        {units_parse_duration, "53376d", "'53376d'" TOO_LONG},
        {units_parse_duration, "53375d53375d", "'53375d53375d'" TOO_LONG},
        {units_parse_duration, "1e3s", "'1e3s'" BAD_DURATION},
        {units_parse_duration, "4611686018427387904ns",
         "'4611686018427387904ns'" TOO_LONG},
        {units_parse_duration, "100y", "'100y'" BAD_DURATION},
        {parse_rate, "0", "'0'" BAD_RATE},
        {parse_rate, "0/s", "'0/s'" BAD_RATE},
        {parse_rate, "5%", "'5%'" BAD_RATE},
        {parse_rate, "5s", "'5s'" BAD_RATE},
        {parse_rate, "1/0", "'1/0'" BAD_RATE},
        {parse_rate, "1/5", "'1/5'" BAD_RATE},
        {parse_rate, "1/1h1h1h1h1h1h1h1h1h1h1h1h1h1h1h1h1h1h1h1h1h1h1h1h1h",
         "'1/1h1h1h1h1h1h1h1h1h1h1h1h1h1h1h1h1h1h1h1h1h1h1h1h1h'" BAD_RATE},
        {parse_rate, "10000000000000000",
         "'10000000000000000' is out of range; a rate is 1e-12/s to 1e15/s"},
        {parse_rate, "1e-13",
         "'1e-13' is out of range; a rate is 1e-12/s to 1e15/s"},
        {units_parse_size, "1.5", "'1.5'" BAD_SIZE},
        {units_parse_size, "0.1k", "'0.1k'" BAD_SIZE},
        {units_parse_size, "1T", "'1T'" BAD_SIZE},
        {units_parse_size, "9007199254740994", "'9007199254740994'" BAD_SIZE},
        {units_parse_size, "99999999G", "'99999999G'" BAD_SIZE},
        {units_parse_count, "0.5", "'0.5'" BAD_COUNT},
        {units_parse_count, "1.0000000000001k", "'1.0000000000001k'" BAD_COUNT},
        {units_parse_count, "1KiB", "'1KiB'" BAD_COUNT},
        {parse_share, "100.1%", "'100.1%'" BAD_SHARE},
        {parse_share, "1.1", "'1.1'" BAD_SHARE},
        {parse_share, "5", "'5'" BAD_SHARE},
        {parse_share, "5 %", "'5 %'" BAD_SHARE},
        {parse_share, "1s", "'1s'" BAD_SHARE},
        {parse_share, "0.00000000000001", "'0.00000000000001'" BAD_SHARE},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = {0};
        int64_t n;

        assert_int_equal(cases[i].parse(cases[i].text, &n, &err), -1);
        assert_int_equal(err.code, ERR_CONFIG);
        assert_string_equal(err.msg, cases[i].want);
    }
}

/* ---- printing, both ways ---- */

TEST(printing_is_canonical)
{
    static const char *const durations[] = {
        "0s", "1ns", "1500us", "250ms", "90s", "90m", "36h", "2d", "1001ns"};
    static const char *const rates[] = {"50/s",
                                        "0.5/s",
                                        "0.001/s",
                                        "2/m",
                                        "50/m",
                                        "7/h",
                                        "12345.678/s",
                                        "1000000000000000/s",
                                        "0.000000000001/s"};
    static const char *const shares[] = {"0", "1", "0.001", "0.999", "0.07"};
    char out[UNITS_TEXT];

    for (size_t i = 0; i < COUNT(durations); i++) {
        struct err err = {0};
        int64_t ns;

        assert_int_equal(units_parse_duration(durations[i], &ns, &err), 0);
        assert_string_equal(units_print_duration(ns, out), durations[i]);
    }
    for (size_t i = 0; i < COUNT(rates); i++) {
        struct err err = {0};
        double rate;

        assert_int_equal(units_parse_rate(rates[i], &rate, &err), 0);
        assert_string_equal(units_print_rate(rate, out), rates[i]);
    }
    for (size_t i = 0; i < COUNT(shares); i++) {
        struct err err = {0};
        double share;

        assert_int_equal(units_parse_share(shares[i], &share, &err), 0);
        assert_string_equal(units_print_number(share, out), shares[i]);
    }
}

static void check_whole(int64_t n)
{
    char out[UNITS_TEXT];
    struct err err = {0};
    int64_t back = -1;

    assert_int_equal(
        units_parse_duration(units_print_duration(n, out), &back, &err), 0);
    assert_int_equal(back, n);
    if (n > INT64_C(1) << 53)
        return;
    assert_int_equal(units_parse_size(units_print_count(n, out), &back, &err),
                     0);
    assert_int_equal(back, n);
    assert_int_equal(units_parse_count(units_print_count(n, out), &back, &err),
                     0);
    assert_int_equal(back, n);
}

TEST(whole_numbers_survive_printing)
{
    struct rng rng = rng_stream(1, RNG_ARRIVAL);

    for (int bit = 0; bit < 62; bit++) {
        int64_t power = INT64_C(1) << bit;

        check_whole(power);
        check_whole(power - 1);
        check_whole(power / 1000 * 1000);
    }
    for (int i = 0; i < 20000; i++)
        check_whole((int64_t)(rng_next(&rng) >> (2 + i % 60)));
}

static void check_number(double rate)
{
    char out[UNITS_TEXT];
    struct err err = {0};
    double back = -1;

    assert_int_equal(units_parse_rate(units_print_rate(rate, out), &back, &err),
                     0);
    assert_true(back == rate);
    if (rate > 1)
        return;
    assert_int_equal(
        units_parse_share(units_print_number(rate, out), &back, &err), 0);
    assert_true(back == rate);
}

TEST(numbers_survive_printing)
{
    struct rng rng = rng_stream(2, RNG_ARRIVAL);

    for (int i = 0; i < 20000; i++) {
        double magnitude = pow(10, 27 * rng_uniform(&rng) - 12);

        check_number(fmin(fmax(magnitude, 1e-12), 1e15));
    }
    check_number(1.0 / 3);
    check_number(1e-12);
    check_number(1e15);
}

/* The printer must not cut digits in silence where the parsers do not go. */
TEST(numbers_out_of_range_keep_their_value)
{
    static const struct {
        double value;
        const char *want;
    } cases[] = {
        {1e60, "9.9999999999999995e+59"},
        {-2.5, "-2.5"},
        {0, "0"},
    };
    char out[UNITS_TEXT];

    for (size_t i = 0; i < COUNT(cases); i++)
        assert_string_equal(units_print_number(cases[i].value, out),
                            cases[i].want);
}

TEST(shown_with_three_digits)
{
    static const struct {
        double ns;
        const char *want;
    } times[] = {
        {0, "0ns"},          {999.4, "999ns"},    {999.6, "1.00us"},
        {1234, "1.23us"},    {9994, "9.99us"},    {9996, "10.0us"},
        {99960, "100us"},    {999400, "999us"},   {999600, "1.00ms"},
        {12.34e6, "12.3ms"}, {2e9, "2.00s"},      {3600e9, "3600s"},
        {-1234, "-1.23us"},  {-123456, "-123us"},
    };
    static const struct {
        double bytes;
        const char *want;
    } sizes[] = {
        {0, "0B"},        {999, "999B"},      {999.7, "1.00kB"},
        {1500, "1.50kB"}, {12.3e6, "12.3MB"}, {2e9, "2.00GB"},
    };
    char out[UNITS_TEXT];

    for (size_t i = 0; i < COUNT(times); i++)
        assert_string_equal(units_show_duration(times[i].ns, out),
                            times[i].want);
    for (size_t i = 0; i < COUNT(sizes); i++)
        assert_string_equal(units_show_size(sizes[i].bytes, out),
                            sizes[i].want);
}

TEST(spans_and_numbers_are_shown)
{
    static const struct {
        int64_t ns;
        const char *want;
    } spans[] = {
        {0, "0s"},
        {59 * INT64_C(1000000000), "59s"},
        {248400 * INT64_C(1000000), "4m08s"},
        {3720 * INT64_C(1000000000), "1h02m"},
    };
    static const struct {
        double value;
        const char *want;
    } numbers[] = {
        {0, "0"}, {40.816, "40.82"}, {999.94, "999.9"}, {34896.2, "34896"}};
    char out[UNITS_TEXT];

    for (size_t i = 0; i < COUNT(spans); i++)
        assert_string_equal(units_show_span(spans[i].ns, out), spans[i].want);
    for (size_t i = 0; i < COUNT(numbers); i++)
        assert_string_equal(units_show_number(numbers[i].value, out),
                            numbers[i].want);
}

TEST(rates_are_shown_short)
{
    static const struct {
        double rps;
        const char *want;
    } rates[] = {
        {0.5, "0.5/s"},       {850, "850/s"},     {999.7, "1k/s"},
        {4500, "4.5k/s"},     {120000, "120k/s"}, {999700, "1M/s"},
        {1250000, "1.25M/s"},
    };
    char out[UNITS_TEXT];

    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
        assert_string_equal(units_show_rate(rates[i].rps, out), rates[i].want);
}

/* ---- instants ---- */

TEST(instants_are_read)
{
    static const struct {
        const char *text;
        int64_t want;
    } cases[] = {
        {"1970-01-01T00:00:01Z", 1000000000},
        {"2026-11-18T10:30:00Z", INT64_C(1794997800000000000)},
        {"2026-11-18T10:30:00.25Z", INT64_C(1794997800250000000)},
        {"@1794997800", INT64_C(1794997800000000000)},
        {"@1794997800.000000001", INT64_C(1794997800000000001)},
        {"+10s", 10000000005},
        {"+1.5m", 90000000005},
    };
    static const char *const wrong[] = {
        "",
        "10:30",
        "2026-11-18",
        "2026-11-18T10:30:00",
        "2026-11-18T10:30:00ZZ",
        "2026-11-18T10:30:00.Z",
        "@",
        "@x",
        "@5x",
        "@0",
        "@9000000001",
        "@99999999999999",
        "1969-12-31T23:59:59Z",
        "2926-11-18T10:30:00Z",
        "+",
        "+10",
        "-10s",
    };
    int64_t ns;

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = {0};

        assert_int_equal(units_parse_instant(cases[i].text, 5, &ns, &err), 0);
        assert_int_equal(ns, cases[i].want);
    }
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct err err = {0};

        assert_int_equal(units_parse_instant(wrong[i], 5, &ns, &err), -1);
        assert_int_equal(err.code, ERR_CONFIG);
    }
}
