/* Made streams, and what the code of vLLM's own client (its benchmark, as of
 * autumn 2026) makes of them: an event with a non-empty `choices` is a token,
 * the first of them ends ttft, each later one is a value of itl, the last one
 * ends the request.  It looks at nothing else but the status 200. */
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/profile/profile.h"
#include "analyzer/tally/summary.h"
#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "tests/support/ondisk.h"
#include "tests/support/rendered.h"
#include "tests/support/responserig.h"
#include "tests/support/streams.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define MAX_READS 6
#define SSE       "text/event-stream"

#define TEXT(text)                                                             \
    "data: {\"choices\":[{\"index\":0,\"text\":\"" text "\"}]}\n\n"
#define ERROR "data: {\"error\":{\"message\":\"out of memory\"}}\n\n"

struct made_stream {
    const char *name;
    enum api_kind api;
    const char *type;
    struct {
        int64_t at_ms;
        const char *text;
    } reads[MAX_READS];
    bool succeeds;
    double ttft_ms;
    double e2e_ms;
    int64_t n_itl;
    double itl_ms; /* their sum */
};

static const struct made_stream streams[] = {
    {"role and first token in one read",
     API_OPENAI_CHAT,
     SSE,
     {{10, ROLE TOKEN("a")}, {20, TOKEN("b")}, {30, TOKEN("c") DONE}},
     true,
     10,
     30,
     3,
     20},
    {"a chat ends with its last choices, not with the usage",
     API_OPENAI_CHAT,
     SSE,
     {{5, ROLE},
      {10, TOKEN("a")},
      {20, TOKEN("b")},
      {25, FINISH("stop")},
      {40, USAGE("3", "2") DONE}},
     true,
     5,
     25,
     3,
     20},
    {"completions end with an empty text",
     API_OPENAI_COMPLETIONS,
     SSE,
     {{10, TEXT("a")},
      {20, TEXT("b")},
      {30, TEXT("")},
      {45, USAGE("3", "2") DONE}},
     true,
     10,
     30,
     2,
     20},
    {"an empty text between others",
     API_OPENAI_COMPLETIONS,
     SSE,
     {{10, TEXT("a")}, {20, TEXT("")}, {30, TEXT("b") DONE}},
     true,
     10,
     30,
     2,
     20},
    {"a chat of a role and an end",
     API_OPENAI_CHAT,
     SSE,
     {{5, ROLE}, {25, FINISH("stop") DONE}},
     true,
     5,
     25,
     1,
     20},
    {"a chat with the usage alone",
     API_OPENAI_CHAT,
     SSE,
     {{5, USAGE("3", "2") DONE}},
     false,
     0,
     0,
     0,
     0},
    {"an empty chat", API_OPENAI_CHAT, SSE, {{5, DONE}}, false, 0, 0, 0, 0},
    {"an error before the first token",
     API_OPENAI_CHAT,
     SSE,
     {{5, ERROR}},
     false,
     0,
     0,
     0,
     0},
    {"an error after it",
     API_OPENAI_CHAT,
     SSE,
     {{5, TOKEN("a")}, {9, TOKEN("b") ERROR DONE}},
     true,
     5,
     9,
     1,
     4},
    {"no terminator",
     API_OPENAI_CHAT,
     SSE,
     {{5, TOKEN("a")}, {9, TOKEN("b")}},
     true,
     5,
     9,
     1,
     4},
    {"completions of another content type",
     API_OPENAI_COMPLETIONS,
     "text/plain",
     {{10, TEXT("a")}, {20, TEXT("b")}, {30, USAGE("3", "2") DONE}},
     true,
     10,
     20,
     1,
     10},
    {"completions in one piece",
     API_OPENAI_COMPLETIONS,
     "application/json",
     {{10, "{\"choices\":[{\"index\":0,\"text\":\"a\"}]}"}},
     false,
     0,
     0,
     0,
     0},
};

/* The client reads it, the recorder keeps it, the profile counts it. */
static struct read_run *recorded(const struct made_stream *made)
{
    struct streams *m = streams_new(0, 1000, "e2e p99 < 1s");
    struct responserig rig;
    int64_t at_ns = 0;

    responserig_init(&rig, made->api);
    responserig_begin(&rig, made->type);
    rig.facts = facts_unknown(0, 0);
    rig.facts.issued = 0;
    for (size_t i = 0; i < MAX_READS && made->reads[i].text; i++) {
        at_ns = made->reads[i].at_ms * NS_PER_MS;
        responserig_take(&rig, at_ns, made->reads[i].text);
    }
    responserig_finish(&rig, at_ns);
    rig.facts.status = 200;
    for (int64_t i = 0; i < rig.facts.events; i++)
        m->events[m->n_events++] = response_event(&rig.response, (size_t)i);
    streams_add_row(m, rig.facts);
    responserig_fini(&rig);
    return streams_sum_up(m);
}

static void assert_ms(const char *name, double ns, double want_ms)
{
    if (fabs(ns - want_ms * NS_PER_MS) > 0.001 * NS_PER_MS)
        fail_msg("%s: %.3f ms, not %.3f", name, ns / NS_PER_MS, want_ms);
}

static void assert_values(const struct made_stream *made,
                          const struct profile *p)
{
    const struct profile_line *itl = &p->lines[PROFILE_ITL];

    assert_ms(made->name, p->lines[PROFILE_TTFT].mean.theirs, made->ttft_ms);
    assert_ms(made->name, p->lines[PROFILE_E2E].mean.theirs, made->e2e_ms);
    if (itl->n != made->n_itl)
        fail_msg("%s: %d pauses", made->name, (int)itl->n);
    assert_ms(made->name, itl->mean.theirs * (double)itl->n, made->itl_ms);
}

TEST(streams_come_to_what_vllm_makes_of_them)
{
    for (size_t i = 0; i < COUNT(streams); i++) {
        const struct made_stream *made = &streams[i];
        struct read_run *r = recorded(made);
        struct err err = {0};
        struct profile p;

        assert_int_equal(profile_make(&p, profile_find("vllm"), &r->s,
                                      PROFILE_LIST_NONE, &err),
                         0);
        if (p.completed != made->succeeds || p.failed == made->succeeds)
            fail_msg("%s: %s", made->name,
                     p.completed ? "a success" : "a failure");
        if (made->succeeds)
            assert_values(made, &p);
        read_run_free(r);
    }
}

/* ---- the file ---- */

static struct buf file;
static size_t longest_piece;

static int append(const char *text, struct err *err)
{
    (void)err;
    if (strlen(text) > longest_piece)
        longest_piece = strlen(text);
    return buf_adds(&file, text);
}

/* Three streams of 17 tokens in 5 events, 40 ms apart, from 100 ms on: due at
 * 0, 0.9 and 2.5 s; the last one breaks.  The second has a role 50 ms before
 * its first token. */
static struct read_run *three_streams(void)
{
    static const int64_t due_ms[] = {0, 900, 2500};
    struct streams *m = streams_new(0, 3000, "ttft p99 < 60ms");

    for (size_t i = 0; i < COUNT(due_ms); i++) {
        struct shape shape = worked_stream;
        struct facts *f;

        shape.due_ms = due_ms[i];
        f = streams_add(m, &shape);
        f->issued = f->due;
        f->choices = 5 + (i == 1);
        f->choices_first = f->first - (i == 1 ? 50 * NS_PER_MS : 0);
        f->choices_last = f->last;
        f->prompt_tokens = 10;
        if (i == 2)
            f->outcome = OUTCOME_RESET;
    }
    return streams_sum_up(m);
}

static json_t *printed(const struct read_run *r, bool detailed)
{
    struct err err = {0};
    struct profile p;
    json_t *o;

    buf_init(&file, (size_t)8 << 20);
    longest_piece = 0;
    assert_int_equal(
        profile_make(&p, profile_find("vllm"), &r->s,
                     detailed ? PROFILE_LIST_PAUSES : PROFILE_LIST_REQUESTS,
                     &err),
        0);
    if (!detailed) {
        for (size_t i = 0; i < p.requests.len; i++)
            assert_int_equal(p.requests.items[i].n_pauses, 0);
    }
    assert_int_equal(profile_vllm_json(&p, detailed, append, &err), 0);
    profile_fini(&p);
    o = json_loads(buf_text(&file), 0, NULL);
    assert_non_null(o);
    buf_fini(&file);
    return o;
}

/* Events of 5 + 1 fall into the first second, and 5 into the second one. */
TEST(the_file_has_vllms_keys)
{
    static const struct {
        const char *key;
        double value;
    } numbers[] = {
        {"num_prompts", 3},
        {"request_rate", 100},
        {"burstiness", 1},
        {"duration", 2.76},
        {"completed", 2},
        {"failed", 1},
        {"total_input_tokens", 20},
        {"total_output_tokens", 34},
        {"request_throughput", 2 / 2.76},
        {"request_goodput", 1 / 2.76},
        {"output_throughput", 34 / 2.76},
        {"total_token_throughput", 54 / 2.76},
        {"max_output_tokens_per_s", 6},
        {"max_concurrent_requests", 2},
        {"rtfx", 0},
        {"mean_ttft_ms", 75},
        {"median_itl_ms", 40},
        {"std_itl_ms", 3.14269680527354},
        {"p99_e2el_ms", 260},
    };
    struct read_run *r = three_streams();
    json_t *o = printed(r, false);

    for (size_t i = 0; i < COUNT(numbers); i++)
        assert_number_at(o, numbers[i].key, numbers[i].value);
    assert_true(json_is_null(json_object_get(o, "date"))); /* not recorded */
    assert_true(json_is_null(json_object_get(o, "label")));
    assert_true(json_is_null(json_object_get(o, "tokenizer_id")));
    assert_true(json_is_null(json_object_get(o, "max_concurrency")));
    assert_null(json_object_get(o, "ttfts"));
    json_decref(o);
    read_run_free(r);
}

TEST(settings_become_vllms)
{
    static const struct {
        int arrival;
        double cv;
        double burstiness; /* 0: "inf" */
    } cases[] = {
        {ARRIVAL_POISSON, 0, 1},
        {ARRIVAL_GAMMA, 2, 0.25},
        {ARRIVAL_GAMMA, 0.5, 4},
        {ARRIVAL_CONSTANT, 0, 0},
    };
    struct read_run *r = three_streams();

    r->rec.settings.load.scenario = SCENARIO_CLOSED;
    r->rec.settings.load.clients = 8;
    r->rec.settings.load.rate_rps = 0;
    for (size_t i = 0; i < COUNT(cases); i++) {
        json_t *o;

        r->rec.settings.load.arrival = cases[i].arrival;
        r->rec.settings.load.cv = cases[i].cv;
        o = printed(r, false);
        assert_number_at(o, "max_concurrency", 8);
        assert_string_equal(
            json_string_value(json_object_get(o, "request_rate")), "inf");
        if (cases[i].burstiness > 0)
            assert_number_at(o, "burstiness", cases[i].burstiness);
        else
            assert_string_equal(
                json_string_value(json_object_get(o, "burstiness")), "inf");
        json_decref(o);
    }
    read_run_free(r);
}

/* In seconds, of a clock that was at 1 ns when the run began; the failure has
 * what came of it, and no tokens. */
TEST(the_detailed_file_lists_requests)
{
    static const struct {
        const char *path;
        double value;
    } numbers[] = {
        {"input_lens/0", 10},
        {"output_lens/0", 17},
        {"output_lens/2", 0},
        {"ttfts/0", 0.1},
        {"ttfts/1", 0.05},
        {"ttfts/2", 0.1},
        {"itls/0/0", 0.04},
        {"itls/1/0", 0.05},
        {"itls/1/4", 0.04},
        {"itls/2/3", 0.04},
        {"start_times/0", 1e-9},
        {"start_times/1", 0.900000001},
        {"start_times/2", 2.500000001},
    };
    struct read_run *r = three_streams();
    json_t *o = printed(r, true);
    json_t *errors = json_object_get(o, "errors");
    json_t *itls = json_object_get(o, "itls");

    for (size_t i = 0; i < COUNT(numbers); i++)
        assert_number_at(o, numbers[i].path, numbers[i].value);
    assert_int_equal(json_array_size(itls), 3);
    assert_int_equal(json_array_size(json_array_get(itls, 0)), 4);
    assert_int_equal(json_array_size(json_array_get(itls, 1)), 5);
    assert_string_equal(json_string_value(json_array_get(errors, 0)), "");
    assert_string_equal(json_string_value(json_array_get(errors, 2)), "reset");
    json_decref(o);
    read_run_free(r);
}

/* ---- damaged and large recordings ---- */

/* One stream with `choices` events, of which 5 have content.  It ends
 * `silence_s` after the last of them. */
static struct read_run *stream_of_choices(int64_t choices, int64_t silence_s)
{
    struct streams *m = streams_new(0, 3000, "ttft p99 < 60ms");
    struct facts *f = streams_add(m, &worked_stream);

    f->issued = f->due;
    f->choices = choices;
    f->choices_first = f->first;
    f->choices_last = f->last + silence_s * NS_PER_S;
    return streams_sum_up(m);
}

TEST(events_without_content_are_limited)
{
    enum { LIMIT = 1 << 17 };
    static const struct {
        int64_t choices;
        bool is_refused;
    } cases[] = {
        {5, false},
        {5 + LIMIT, false},
        {5 + LIMIT + 1, true},
        {INT32_MAX, true},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct read_run *r = stream_of_choices(cases[i].choices, 0);
        struct err err = {0};
        struct profile p;
        int rc = profile_make(&p, profile_find("vllm"), &r->s,
                              PROFILE_LIST_REQUESTS, &err);

        assert_int_equal(rc, cases[i].is_refused ? -1 : 0);
        assert_int_equal(err.code, cases[i].is_refused ? ERR_FORMAT : ERR_NONE);
        if (cases[i].is_refused)
            assert_non_null(strstr(err.msg, "request 0 has "));
        else
            assert_int_equal(p.lines[PROFILE_ITL].n, cases[i].choices - 1);
        profile_fini(&p);
        read_run_free(r);
    }
}

/* 4 pauses of 40 ms and 16 of 0. */
TEST(zeros_count_in_every_number)
{
    static const struct {
        const char *path;
        double value;
    } numbers[] = {
        {"mean_itl_ms", 8},
        {"median_itl_ms", 0},
        {"std_itl_ms", 16},
        {"p90_itl_ms", 40},
        {"p99_itl_ms", 40},
        {"itls/0/3", 0.04},
        {"itls/0/4", 0},
        {"itls/0/19", 0},
        {"max_output_tokens_per_s", 21},
    };
    struct read_run *r = stream_of_choices(21, 0);
    json_t *o = printed(r, true);

    for (size_t i = 0; i < COUNT(numbers); i++)
        assert_number_at(o, numbers[i].path, numbers[i].value);
    assert_int_equal(
        json_array_size(json_array_get(json_object_get(o, "itls"), 0)), 20);
    json_decref(o);
    read_run_free(r);
}

/* Requests of half a second, a quarter of a second apart: in each second after
 * the first, 4 start and 2 of the second before end. */
TEST(peaks_are_those_of_the_fullest_second)
{
    struct streams *m = streams_new(0, 3000, "ttft p99 < 60ms");
    struct read_run *r;
    json_t *o;

    for (int64_t i = 0; i < 12; i++) {
        struct shape shape = {.due_ms = 250 * i,
                              .first_ms = 100,
                              .first_tokens = 1,
                              .pauses = 4,
                              .pause_ms = 100,
                              .tokens = 1};
        struct facts *f = streams_add(m, &shape);

        f->issued = f->due;
        f->choices = 5;
        f->choices_first = f->first;
        f->choices_last = f->last;
    }
    r = streams_sum_up(m);
    o = printed(r, false);
    assert_number_at(o, "max_concurrent_requests", 6);
    assert_number_at(o, "max_output_tokens_per_s", 20);
    json_decref(o);
    read_run_free(r);
}

/* The peaks of a run that seems to last for a year are not computed. */
TEST(peaks_of_endless_runs_are_left_out)
{
    struct read_run *r = stream_of_choices(6, (int64_t)365 * 24 * 3600);
    json_t *o = printed(r, false);

    assert_number_at(o, "max_concurrent_requests", 0);
    assert_number_at(o, "max_output_tokens_per_s", 0);
    json_decref(o);
    read_run_free(r);
}

/* One stream alone has more values than fit into a piece. */
TEST(a_long_list_is_printed_in_pieces)
{
    struct streams *m = streams_new(0, 60000, "ttft p99 < 60ms");
    struct shape shape = worked_stream;
    struct read_run *r;
    json_t *o;

    shape.pauses = STREAMS_MAX_EVENTS - 1;
    shape.pause_ms = 1;
    streams_add(m, &shape);
    r = streams_sum_up(m);
    o = printed(r, true);
    assert_in_range(longest_piece, 65536, 65536 + 32);
    assert_int_equal(
        json_array_size(json_array_get(json_object_get(o, "itls"), 0)),
        STREAMS_MAX_EVENTS - 1);
    json_decref(o);
    read_run_free(r);
}

/* The file would be cut off in the middle of a value. */
TEST(a_value_that_is_too_long_is_an_error)
{
    enum { LENGTH = 17 << 20 };
    struct read_run *r = three_streams();
    struct profile p;

    free(r->rec.settings.target.model);
    r->rec.settings.target.model = xcalloc(LENGTH + 1, 1);
    memset(r->rec.settings.target.model, 'm', LENGTH);
    for (int detailed = 0; detailed <= 1; detailed++) {
        struct err err = {0};

        buf_init(&file, (size_t)64 << 20);
        assert_int_equal(profile_make(&p, profile_find("vllm"), &r->s,
                                      PROFILE_LIST_PAUSES, &err),
                         0);
        assert_int_equal(profile_vllm_json(&p, detailed, append, &err), -1);
        assert_int_equal(err.code, ERR_FORMAT);
        assert_int_equal(file.len, 0);
        profile_fini(&p);
        buf_fini(&file);
    }
    read_run_free(r);
}

/* A model's name may be of any bytes; JSON takes UTF-8 alone. */
TEST(a_name_of_other_bytes_stays_a_key)
{
    struct read_run *r = three_streams();
    json_t *o;

    free(r->rec.settings.target.model);
    r->rec.settings.target.model = xstrdup("mod\xe8le");
    o = printed(r, false);
    assert_string_equal(json_string_value(json_object_get(o, "model_id")),
                        "mod?le");
    json_decref(o);
    read_run_free(r);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
