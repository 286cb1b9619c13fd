/* What reports say of the answers: every number of the text is in the JSON, and
 * the other way round; a run without streams looks as it ever did. */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/report.h"
#include "analyzer/report/run_doc.h"
#include "analyzer/tally/summary.h"
#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "tests/support/golden.h"
#include "tests/support/keep.h"
#include "tests/support/rendered.h"
#include "tests/support/rows.h"
#include "tests/support/streams.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

/* ---- a summary in which no two numbers are alike ---- */

static int64_t fresh(int64_t *next)
{
    return *next += 1013;
}

static struct token_sum sum_of(int64_t *next)
{
    return (struct token_sum){.n = fresh(next), .sum = fresh(next) * 7};
}

static void fill(struct summary *s)
{
    struct tokens *t = &s->tokens;
    int64_t next = 10000;

    t->requests = fresh(&next);
    t->prompt_asked = sum_of(&next);
    t->prompt = sum_of(&next);
    t->cached = sum_of(&next);
    t->output_asked = sum_of(&next);
    t->output = sum_of(&next);
    t->reasoning = sum_of(&next);
    for (int i = 0; i < TOKENS_SOURCE_COUNT; i++)
        t->source[i] = fresh(&next);
    for (int i = 0; i < FINISH_COUNT; i++)
        t->finish[i] = fresh(&next);
    t->streams = fresh(&next);
    t->assumed = fresh(&next);
    t->events = fresh(&next) * 11;
    t->coalesced = fresh(&next);
    t->event_tokens = fresh(&next) * 31;
    s->has_tokens = true;
    s->is_streamed = true;
    s->quality = (struct quality){
        .checked = fresh(&next),
        .passed = fresh(&next),
        .share = (double)fresh(&next) / 1e5,
        .ci95 = {(double)fresh(&next) / 1e5, (double)fresh(&next) / 1e5}};
    s->notes.len = 2;
    for (size_t i = 0; i < s->notes.len; i++)
        s->notes.list[i] =
            (struct note){.name = i ? "tail" : "burst",
                          .count = fresh(&next),
                          .of = fresh(&next),
                          .share = (double)fresh(&next) / 1e5,
                          .text = i ? "ends late" : "all at once"};
}

static char *text_of(const struct summary *s)
{
    return doc_text_of(doc_of_part(run_doc_answers, s));
}

static json_t *json_of(const struct summary *s)
{
    return doc_json_of(doc_of_part(run_doc_answers, s));
}

/* ---- the numbers of both ---- */

/* Every number as the text would have it, "95%" of the interval left out. */
static struct strlist numbers_of_text(const char *text)
{
    struct strlist list = {0};

    while (*(text += strcspn(text, "0123456789"))) {
        size_t len = strspn(text, "0123456789.e+");
        char *number = xstrndup(text, len);

        if (strcmp(number, "95") != 0)
            strlist_add(&list, number);
        free(number);
        text += len;
    }
    return list;
}

static void numbers_of_json(json_t *o, struct strlist *list)
{
    const char *key;
    json_t *value;
    size_t i;

    if (json_is_number(o)) {
        char *number = keepf("%.17g", json_number_value(o));

        strlist_add(list, number);
    }
    json_object_foreach(o, key, value)
    {
        numbers_of_json(value, list);
    }
    json_array_foreach(o, i, value)
    {
        numbers_of_json(value, list);
    }
}

/* Is one the other, as a whole number or rounded? */
static bool is_shown_as(const char *text, double value)
{
    char whole[64];
    char four[64];
    char six[64];

    snprintf(whole, sizeof(whole), "%.0f", value);
    snprintf(four, sizeof(four), "%.4g", value);
    snprintf(six, sizeof(six), "%.6g", value);
    return strcmp(text, whole) == 0 || strcmp(text, four) == 0 ||
           strcmp(text, six) == 0;
}

/* A share may be shown in percent. */
static bool is_same(const char *text, const char *json)
{
    double value = strtod(json, NULL);

    return is_shown_as(text, value) || is_shown_as(text, 100 * value);
}

static bool is_in_json(const char *text, const struct strlist *json)
{
    for (size_t i = 0; i < json->len; i++) {
        if (is_same(text, json->items[i]))
            return true;
    }
    print_error("%s of the text is not in the JSON\n", text);
    return false;
}

static bool is_in_text(const char *json, const struct strlist *text)
{
    for (size_t i = 0; i < text->len; i++) {
        if (is_same(text->items[i], json))
            return true;
    }
    print_error("%s of the JSON is not in the text\n", json);
    return false;
}

TEST(text_and_json_have_the_same_numbers)
{
    struct summary *s = xcalloc(1, sizeof(*s));
    struct strlist in_json = {0};
    struct strlist in_text;
    json_t *json;
    char *text;

    fill(s);
    text = text_of(s);
    json = json_of(s);
    in_text = numbers_of_text(text);
    numbers_of_json(json, &in_json);
    assert_true(in_text.len > 50);
    for (size_t i = 0; i < in_text.len; i++)
        assert_true(is_in_json(in_text.items[i], &in_json));
    for (size_t i = 0; i < in_json.len; i++)
        assert_true(is_in_text(in_json.items[i], &in_text));
    strlist_fini(&in_text);
    strlist_fini(&in_json);
    json_decref(json);
    free(text);
    free(s);
}

/* ---- a run from disk ---- */

static struct read_run *worked_run(void)
{
    struct streams *m = streams_new(0, 1000, "ttft:200,gap p50 < 41ms");

    for (int i = 0; i < 10; i++) {
        struct facts *f = streams_add(m, &worked_stream);

        f->finish = i == 0 ? FINISH_OTHER : FINISH_LENGTH;
        f->output_asked = 17;
        f->check = CHECK_PASSED;
    }
    return streams_sum_up(m);
}

TEST(a_stream_has_its_rows)
{
    struct read_run *r = worked_run();

    assert_golden_doc("stream-latencies",
                      doc_of_part(run_doc_latencies, &r->s));
    assert_golden_doc("stream-answers", doc_of_part(run_doc_answers, &r->s));
    assert_golden_doc("stream-rates", doc_of_part(run_doc_rates, &r->s));
    read_run_free(r);
}

/* Embeddings: their prompts are counted, and no output was requested. */
TEST(a_run_without_output_has_none)
{
    struct summary s = {.has_tokens = true,
                        .tokens = {.requests = 3,
                                   .prompt = {3, 30},
                                   .prompt_asked = {3, 30},
                                   .source = {[TOKENS_NONE] = 3},
                                   .finish = {[FINISH_NONE] = 3}}};
    char *text = text_of(&s);

    assert_string_equal(text, "tokens     counted in 3 ok requests\n"
                              "           prompt: counted 30 in 3 requests, "
                              "mean 10; requested 30 in 3 requests, mean 10\n");
    assert_false(tokens_have_output(&s.tokens));
    free(text);
}

TEST(json_has_the_same)
{
    struct read_run *r = worked_run();
    json_t *json = report_parsed(&r->s);
    const char *note = NULL;
    double tokens = 0;
    double mean = 0;
    double share = 0;
    int assumed = -1;
    int n = 0;

    assert_int_equal(
        json_unpack(json,
                    "{s:F, s:{s:{s:i}, s:{s:b}}, s:{s:F}, s:{s:F}, "
                    "s:[{s:s}]}",
                    "output_tokens_per_s", &tokens, "measures", "itl", "n", &n,
                    "tpot", "assumed", &assumed, "tokens", "output_mean", &mean,
                    "quality", "share", &share, "notes", "name", &note),
        0);
    assert_true(tokens == 170 && n == 160 && assumed == 0 && mean == 17);
    assert_true(share == 1);
    assert_string_equal(note, "finish_reason");
    read_run_free(r);
}

TEST(what_is_assumed_says_so)
{
    struct summary *s = xcalloc(1, sizeof(*s));
    struct settings settings;
    char *text;

    settings_init(&settings);
    s->settings = &settings;
    fill(s);
    s->spread[MEASURE_TPOT][VIEW_DUE] = (struct spread){.n = 5, .failed = 1};
    s->spread[MEASURE_TPOT][VIEW_OK].n = 4;
    s->spread[MEASURE_ITL][VIEW_DUE].n = 9;
    text = report_verbose(s);
    assert_says(text, "\ntpot (assumed) ");
    assert_says(text, "\ntpot, ok ");
    assert_says(text, "\nitl (assumed) ");
    assert_says(text, "MIXED: the counts have different sources\n");
    assert_says(text, "requests ASSUME one token per event: the server "
                      "reports tokens per answer, not per event");
    settings_fini(&settings);
    free(s);
}

/* No line, row or word of streams; null and a reason in JSON. */
TEST(a_run_without_streams_looks_as_before)
{
    static const char *const words[] = {"ttft", "tpot",  "itl",    "gap",
                                        "tail", "stall", "tokens", "quality",
                                        "WARN", "stream"};
    struct streams *m = streams_new(0, 1000, "");
    struct read_run *r;
    json_t *json;
    char *text;

    streams_add_row(m, row_ok(0, 10, 5));
    streams_add_row(m, row_failed(1, 20, 5, OUTCOME_RESET));
    m->has_no_table = true;
    r = streams_sum_up(m);
    text = report_verbose(&r->s);
    for (size_t i = 0; i < COUNT(words); i++)
        assert_null(strstr(text, words[i]));
    json = report_parsed(&r->s);
    assert_true(json_is_null(json_object_get(json, "output_tokens_per_s")));
    assert_true(json_is_string(json_object_get(json, "tokens_note")));
    assert_true(json_is_string(json_object_get(json, "quality_note")));
    assert_int_equal(json_array_size(json_object_get(json, "notes")), 0);
    read_run_free(r);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
