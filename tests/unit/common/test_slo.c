#include <string.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/spec/slo.h"
#include "tests/support/test.h"

TEST(terms_are_read)
{
#define MEASURES                                                               \
    "measures are e2e, service, lag, connect, tls, ttfb, ttft, tpot, stall, "  \
    "tail, gap, itl, query, errors, good, goodput, quality"

    static const struct {
        const char *text;
        struct slo_term want;
    } cases[] = {
        {"e2e p99 < 200ms",
         {SLO_QUANTILE, MEASURE_E2E, 0.99, 200 * NS_PER_MS, 0,
          "e2e p99 < 200ms", ""}},
        {"ttft p99.9<2s",
         {SLO_QUANTILE, MEASURE_TTFT, 0.999, 2 * NS_PER_S, 0, "ttft p99.9 < 2s",
          ""}},
        {"  service\tp50  <1h30m ",
         {SLO_QUANTILE, MEASURE_SERVICE, 0.5, 5400 * NS_PER_S, 0,
          "service p50 < 1h30m", ""}},
        {"ttfb p99.99 < 1us",
         {SLO_QUANTILE, MEASURE_TTFB, 0.9999, 1000, 0, "ttfb p99.99 < 1us",
          ""}},
        {"errors < 0.1%", {SLO_ERRORS, 0, 0, 0, 0.001, "errors < 0.1%", ""}},
        {"ttft p95 < 300 ms",
         {SLO_QUANTILE, MEASURE_TTFT, 0.95, 300 * NS_PER_MS, 0,
          "ttft p95 < 300ms", ""}},
        {"errors < 0.1 %", {SLO_ERRORS, 0, 0, 0, 0.001, "errors < 0.1%", ""}},
        {"errors<0.5", {SLO_ERRORS, 0, 0, 0, 0.5, "errors < 0.5", ""}},
        {"good >= 90%", {SLO_GOOD, 0, 0, 0, 0.9, "good >= 90%", ""}},
        {"good>=1", {SLO_GOOD, 0, 0, 0, 1, "good >= 1", ""}},
        {"goodput >= 40/s", {SLO_GOODPUT, 0, 0, 0, 40, "goodput >= 40/s", ""}},
        {"goodput>=2/m",
         {SLO_GOODPUT, 0, 0, 0, 2.0 / 60, "goodput >= 2/m", ""}},
        {"quality >= 0.99",
         {SLO_QUALITY, 0, 0, 0, 0.99, "quality >= 0.99", ""}},
        {"quality>=99%", {SLO_QUALITY, 0, 0, 0, 0.99, "quality >= 99%", ""}},
        {"tpot p99 < 50ms",
         {SLO_QUANTILE, MEASURE_TPOT, 0.99, 50 * NS_PER_MS, 0,
          "tpot p99 < 50ms", ""}},
        {"gap p99 < 1s",
         {SLO_QUANTILE, MEASURE_GAP, 0.99, NS_PER_S, 0, "gap p99 < 1s", ""}},
        {"itl p50 < 1s",
         {SLO_QUANTILE, MEASURE_ITL, 0.5, NS_PER_S, 0, "itl p50 < 1s", ""}},
        {"stall p50 < 1s",
         {SLO_QUANTILE, MEASURE_STALL, 0.5, NS_PER_S, 0, "stall p50 < 1s", ""}},
        {"e2el p99 < 1s",
         {SLO_QUANTILE, MEASURE_E2E, 0.99, NS_PER_S, 0, "e2e p99 < 1s", ""}},
        {"ttft:200",
         {SLO_LIMIT, MEASURE_TTFT, 1, 200 * NS_PER_MS, 0, "ttft:200", ""}},
        {"check: required", {SLO_CHECK, 0, 0, 0, 0, "check: required", ""}},
        {" check:required", {SLO_CHECK, 0, 0, 0, 0, "check: required", ""}},
        {" e2el:0.5 ", {SLO_LIMIT, MEASURE_E2E, 1, 500000, 0, "e2e:0.5", ""}},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct slo_term *want = &cases[i].want;
        struct err err = {0};
        struct slo_term term;

        assert_int_equal(slo_check_term(cases[i].text, &err), 0);
        assert_int_equal(slo_parse_term(cases[i].text, &term, &err), 0);
        assert_int_equal(term.kind, want->kind);
        assert_int_equal(term.measure, want->measure);
        assert_true(term.quantile == want->quantile);
        assert_int_equal(term.limit_ns, want->limit_ns);
        assert_true(term.limit == want->limit);
        assert_string_equal(term.text, want->text);
    }
}

/* What is shown can be read again, and is shown the same. */
TEST(the_shown_text_is_a_term)
{
    static const char *const texts[] = {"e2e  p99<200ms", "errors<1%",
                                        "goodput>=5",     "connect p50.5 < 3s",
                                        "e2el:70",        "quality >= 1"};

    for (size_t i = 0; i < COUNT(texts); i++) {
        struct err err = {0};
        struct slo_term a;
        struct slo_term b;

        assert_int_equal(slo_parse_term(texts[i], &a, &err), 0);
        assert_int_equal(slo_parse_term(a.text, &b, &err), 0);
        assert_string_equal(a.text, b.text);
        assert_int_equal(a.limit_ns, b.limit_ns);
        assert_true(a.limit == b.limit && a.quantile == b.quantile);
    }
}

#define BAD                                                                    \
    " is not an SLO term; write 'e2e p99 < 200ms', 'errors < 0.1%', 'good >= " \
    "90%' or 'goodput >= 40/s'"
#define QUANTILE " is not a quantile; write p50, p99 or p99.9"
#define DURATION " is not a duration; write 500ms, 2s or 1h30m"
#define LIMIT                                                                  \
    " is not a limit of good requests; write ttft:200 for 200 ms, or check: "  \
    "required"
#define TIER                                                                   \
    " is not the name of a tier; use letters, digits and ._-, at most 23"
#define SHARE " is not a share of 0 to 100%; write 0.1% or 0.001"

static const struct {
    const char *text;
    const char *want;
} refused[] = {
    {"", "''" BAD},
    {"e2e", "'e2e'" BAD},
    {"e2e p99", "'e2e p99'" BAD},
    {"e2e p99 200ms", "'e2e p99 200ms'" BAD},
    {"< 200ms", "'< 200ms'" BAD},
    {"e2e p99 <", "'e2e p99 <'" BAD},
    {"e2e p99 < 200 m s", "'e2e p99 < 200 m s'" BAD},
    {"e2e p99 < 2000000000000000 ms", "'e2e p99 < 2000000000000000 ms'" BAD},
    {"e2e p99 p50 < 2s", "'e2e p99 p50 < 2s'" BAD},
    {"e2e p99 <<<< 2s", "'e2e p99 <<<< 2s'" BAD},
    {"errors p99 < 1%", "'errors p99 < 1%'" BAD},
    {"e2e < 200ms",
     "SLO on e2e: the quantile is missing; write 'e2e p99 < 200ms'"},
    {"e2e 99 < 200ms", "SLO on e2e: '99'" QUANTILE},
    {"e2e P99 < 200ms", "SLO on e2e: 'P99'" QUANTILE},
    {"e2e p100 < 200ms", "SLO on e2e: 'p100'" QUANTILE},
    {"e2e p0 < 200ms", "SLO on e2e: 'p0'" QUANTILE},
    {"e2e p99% < 200ms", "SLO on e2e: 'p99%'" QUANTILE},
    {"e2e p-5 < 200ms", "SLO on e2e: 'p-5'" QUANTILE},
    {"e2e p < 200ms", "SLO on e2e: 'p'" QUANTILE},
    {"e2e p99 > 200ms", "SLO on e2e: write '<', not '>'"},
    {"e2e p99 <= 200ms", "SLO on e2e: write '<', not '<='"},
    {"e2e p99 = 200ms", "SLO on e2e: write '<', not '='"},
    {"e2e p99 < 200", "SLO on e2e: '200'" DURATION},
    {"e2e p99 < -1s", "SLO on e2e: '-1s'" DURATION},
    {"e2e p99 < 1%", "SLO on e2e: '1%'" DURATION},
    {"e2e p99 < 0s", "SLO on e2e: the limit must be above 0"},
    {"e2e p99 < 5s < 6s", "'e2e p99 < 5s < 6s'" BAD},
    {"errors > 1%", "SLO on errors: write '<', not '>'"},
    {"errors < 1s", "SLO on errors: '1s'" SHARE},
    {"errors < 101%", "SLO on errors: '101%'" SHARE},
    {"good < 90%", "SLO on good: write '>=', not '<'"},
    {"good >= 90", "SLO on good: '90'" SHARE},
    {"goodput > 40", "SLO on goodput: write '>=', not '>'"},
    {"goodput >= 0", "SLO on goodput: '0' is not a rate; write 50, "
                     "0.5 or 2/m (above 0)"},
    {"e2 p99 < 1s", "unknown measure 'e2'; did you mean 'e2e'? The " MEASURES},
    {"tfft p99 < 1s",
     "unknown measure 'tfft'; did you mean 'ttft'? The " MEASURES},
    {"error < 1%",
     "unknown measure 'error'; did you mean 'errors'? The " MEASURES},
    {"latency p99 < 1s",
     "unknown measure 'latency'; did you mean 'e2e'? The " MEASURES},
    {"speed p99 < 1s", "unknown measure 'speed'; the " MEASURES},
    {"quality < 1", "SLO on quality: write '>=', not '<'"},
    {"quality >= 2", "SLO on quality: '2'" SHARE},
    {"ttft:200ms", "'ttft:200ms'" LIMIT},
    {"ttft:", "'ttft:'" LIMIT},
    {":200", "':200'" LIMIT},
    {"ttft:2 tpot:3", "'ttft:2 tpot:3'" LIMIT},
    {"http://host:80", "http: '//host:80'" LIMIT},
    {"gold: ttft", "'gold: ttft'" LIMIT},
    {"gold:", "'gold:'" LIMIT},
    {"gold: e2e p99 > 1s", "gold: SLO on e2e: write '<', not '>'"},
    {"gold: errors < 0%", "gold: SLO on errors: the limit must be above 0"},
    {"gold: ttft:0", "gold: limit of ttft: it must be above 0"},
    {"ttft: e2e p99 < 1s",
     "'ttft' has a meaning in SLO terms and cannot name a tier"},
    {"errors: e2e p99 < 1s",
     "'errors' has a meaning in SLO terms and cannot name a tier"},
    {": e2e p99 < 1s", "''" TIER},
    {"very gold: e2e p99 < 1s", "'very gold'" TIER},
    {"g*ld: e2e p99 < 1s", "'g*ld'" TIER},
    {"abcdefghijklmnopqrstuvwx: errors < 1%",
     "'abcdefghijklmnopqrstuvwx'" TIER},
    {"chat/gold: errors < 1%",
     "'chat/gold: errors < 1%': only report --slo can name a class; in a "
     "settings file write the term under classes"},
    {"ttft:0", "limit of ttft: it must be above 0"},
    {"ttft:1.2.3", "limit of ttft: '1.2.3ms'" DURATION},
    {"tfft:200", "unknown measure 'tfft'; did you mean 'ttft'? The " MEASURES},
    {"query:200", "query measures several requests together and cannot be a "
                  "limit of one; use e2e"},
    {"gap:200", "gap measures all events together and cannot be a limit of one "
                "request; use stall"},
};

TEST(what_is_no_term_is_refused)
{
    for (size_t i = 0; i < COUNT(refused); i++) {
        struct err err = {0};

        assert_int_equal(slo_check_term(refused[i].text, &err), -1);
        assert_int_equal(err.code, ERR_CONFIG);
        assert_string_equal(err.msg, refused[i].want);
    }
}

TEST(a_limit_is_a_term_and_no_term_a_limit)
{
    struct err err = {0};

    assert_int_equal(slo_check_limit("ttft:200", &err), 0);
    assert_int_equal(slo_check_limit("e2e p99 < 1s", &err), -1);
    assert_true(slo_is_like_limit("tfft:200"));
    assert_false(slo_is_like_limit("e2e p99 < 1s"));
    assert_false(slo_is_like_limit("http://host:80"));
    assert_false(slo_is_like_limit("host:80/path"));
    assert_false(slo_is_like_limit("--slo"));
}

TEST(a_list_of_terms_is_bounded)
{
    struct strlist texts = {0};
    struct err err = {0};
    struct slo slo;

    assert_int_equal(slo_parse(&texts, &slo, &err), 0);
    assert_int_equal(slo.len, 0);
    for (int i = 0; i < SLO_MAX_TERMS; i++)
        strlist_add(&texts, i % 2 ? "errors < 1%" : "e2e p99 < 1s");
    assert_int_equal(slo_parse(&texts, &slo, &err), 0);
    assert_int_equal(slo.len, SLO_MAX_TERMS);
    assert_int_equal(slo.terms[15].kind, SLO_ERRORS);
    strlist_add(&texts, "errors < 1%");
    assert_int_equal(slo_parse(&texts, &slo, &err), -1);
    assert_string_equal(err.msg, "more than 16 SLO terms");
    strlist_fini(&texts);
}

TEST(a_bad_term_in_a_list_is_refused)
{
    struct strlist texts = {0};
    struct err err = {0};
    struct slo slo;

    strlist_add(&texts, "errors < 1%");
    strlist_add(&texts, "e2e p99 > 1s");
    assert_int_equal(slo_parse(&texts, &slo, &err), -1);
    assert_string_equal(err.msg, "SLO on e2e: write '<', not '>'");
    strlist_fini(&texts);
}

/* ---- tiers ---- */

static void texts_of(struct strlist *texts, const char *const *terms)
{
    *texts = (struct strlist){0};
    for (; *terms; terms++)
        strlist_add(texts, *terms);
}

TEST(a_tier_stands_before_its_term)
{
    static const struct {
        const char *text;
        const char *tier;
        const char *shown;
        enum slo_kind kind;
    } cases[] = {
        {"gold: e2e p99 < 1s", "gold", "gold: e2e p99 < 1s", SLO_QUANTILE},
        {"gold:e2e p99<1s", "gold", "gold: e2e p99 < 1s", SLO_QUANTILE},
        {" G-1.a_b : errors<1%", "G-1.a_b", "G-1.a_b: errors < 1%", SLO_ERRORS},
        {"gold: ttft:200", "gold", "gold: ttft:200", SLO_LIMIT},
        {"gold:check:required", "gold", "gold: check: required", SLO_CHECK},
        {"ttft:200", "", "ttft:200", SLO_LIMIT},
        {"check: required", "", "check: required", SLO_CHECK},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct slo_term term;
        struct err err = {0};

        assert_int_equal(slo_parse_term(cases[i].text, &term, &err), 0);
        assert_string_equal(term.tier, cases[i].tier);
        assert_string_equal(term.text, cases[i].shown);
        assert_int_equal(term.kind, cases[i].kind);
    }
}

/* What is asked of the run: terms of no tier, else those of the last. */
TEST(the_last_tier_decides_unless_there_are_terms_of_none)
{
    static const struct {
        const char *terms[5];
        size_t n_tiers;
        const char *first; /* of what is asked */
        size_t len;
    } cases[] = {
        {{"e2e p99 < 1s", "errors < 1%"}, 0, "e2e p99 < 1s", 2},
        {{"gold: e2e p99 < 1s", "errors < 1%"}, 1, "errors < 1%", 1},
        {{"a: e2e p99 < 1s", "b: e2e p99 < 2s", "b: errors < 1%"},
         2,
         "b: e2e p99 < 2s",
         2},
        {{"a: e2e p99 < 1s", "b: e2e p99 < 2s", "a: errors < 1%"},
         2,
         "b: e2e p99 < 2s",
         1},
        /* a limit is not judged, and decides nothing */
        {{"ttft:200", "a: e2e p99 < 1s", "check: required"},
         1,
         "a: e2e p99 < 1s",
         3},
        {{"ttft:200", "a: e2e p99 < 1s", "errors < 1%"}, 1, "ttft:200", 2},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *names[SLO_MAX_TIERS];
        struct strlist texts;
        struct slo slo;
        struct slo all;
        struct err err = {0};

        texts_of(&texts, cases[i].terms);
        assert_int_equal(slo_parse_all(&texts, &all, &err), 0);
        assert_int_equal(all.len, texts.len);
        assert_int_equal(slo_tiers(&all, names), cases[i].n_tiers);
        assert_int_equal(slo_parse(&texts, &slo, &err), 0);
        assert_int_equal(slo.len, cases[i].len);
        assert_string_equal(slo.terms[0].text, cases[i].first);
        strlist_fini(&texts);
    }
}

TEST(tiers_that_contradict_themselves_are_refused)
{
    static const struct {
        const char *terms[7];
        const char *want;
    } cases[] = {
        {{"a: e2e p99 < 1s", "a: e2e p99 < 2s"},
         "'a: e2e p99 < 1s' and 'a: e2e p99 < 2s': a tier can have only one of "
         "them"},
        {{"a: errors < 1%", "b: errors < 2%", "a: errors < 1%"},
         "'a: errors < 1%' and 'a: errors < 1%': a tier can have only one of "
         "them"},
        {{"a: good >= 1", "b: good >= 1", "c: good >= 1", "d: good >= 1",
          "e: good >= 1"},
         "more than 4 SLO tiers"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct strlist texts;
        struct slo all;
        struct err err = {0};

        texts_of(&texts, cases[i].terms);
        assert_int_equal(slo_parse_all(&texts, &all, &err), -1);
        assert_string_equal(err.msg, cases[i].want);
        strlist_fini(&texts);
    }
}

TEST(a_report_may_name_a_class)
{
    static const struct {
        const char *text;
        size_t len;
        const char *term;
    } cases[] = {
        {"chat/gold: errors < 1%", 4, "gold: errors < 1%"},
        {"a.b-c_1/e2e p99 < 1s", 7, "e2e p99 < 1s"},
        {"goodput >= 40/s", 0, "goodput >= 40/s"},
        {"goodput>=40/s", 0, "goodput>=40/s"},
        {"/errors < 1%", 0, "/errors < 1%"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(slo_class_len(cases[i].text), cases[i].len);
        assert_string_equal(slo_after_class(cases[i].text), cases[i].term);
    }
}

TEST(a_quantile_alone_has_three_answers)
{
    static const struct {
        const char *text;
        int rc;
        const char *says;
    } cases[] = {
        {"ttft p99", 0, ""},
        {" e2e p99.9 ", 0, ""},
        {"ttft", 1, ""},
        {"errors", 1, ""},
        {"ttft p99 < 1s", 1, ""},
        {"gold: ttft p99", 1, ""},
        {"tfft p99", -1, "did you mean 'ttft'?"},
        {"ttft p100", -1, "'p100' is not a quantile"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct slo_term term;
        struct err err = {0};

        if (slo_parse_quantile(cases[i].text, &term, &err) != cases[i].rc ||
            !strstr(err.msg, cases[i].says) ||
            (err.code == ERR_NONE) != (cases[i].rc >= 0))
            fail_msg("'%s': %s", cases[i].text, err.msg);
    }
}
