/* Made streams, and what the code of vLLM's own client (its benchmark, as of
 * autumn 2026) makes of them: an event with a non-empty `choices` is a token,
 * the first of them ends ttft, each later one is a value of itl, the last one
 * ends the request.  It looks at nothing else but the status 200. */
#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/profile/profile.h"
#include "analyzer/summary.h"
#include "common/buf.h"
#include "common/clk.h"
#include "common/err.h"
#include "tests/support/ondisk.h"
#include "tests/support/rendered.h"
#include "tests/support/responserig.h"
#include "tests/support/streams.h"
#include "tests/support/tmpdir.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MAX_READS    6
#define SSE          "text/event-stream"

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

static void streams_come_to_what_vllm_makes_of_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(streams); i++) {
        const struct made_stream *made = &streams[i];
        struct read_run *r = recorded(made);
        struct err err = {0};
        struct profile p;

        assert_int_equal(profile_make(&p, profile_find("vllm"), &r->s, &err),
                         0);
        if (p.completed != made->succeeds || p.failed == made->succeeds)
            fail_msg("%s: %s", made->name,
                     p.completed ? "a success" : "a failure");
        if (made->succeeds) {
            const struct profile_line *itl = &p.lines[PROFILE_ITL];

            assert_ms(made->name, p.lines[PROFILE_TTFT].mean.theirs,
                      made->ttft_ms);
            assert_ms(made->name, p.lines[PROFILE_E2E].mean.theirs,
                      made->e2e_ms);
            if (itl->n != made->n_itl)
                fail_msg("%s: %d pauses", made->name, (int)itl->n);
            assert_ms(made->name, itl->mean.theirs * (double)itl->n,
                      made->itl_ms);
        }
        read_run_free(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_come_to_what_vllm_makes_of_them),
    };

    return cmocka_run_group_tests(tests, tmpdir_setup, tmpdir_teardown);
}
