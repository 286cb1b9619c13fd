/* Several kinds of requests in one run, from the settings file to the wire and
 * to the report. */
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/xalloc.h"
#include "common/measure/measure.h"
#include "common/recording/schema.h"
#include "tests/support/keep.h"
#include "tests/support/proc.h"
#include "tests/support/table.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define REQUESTS 400
#define CHAT     0
#define EMBED    1

/* The stub counts the tokens of what it was sent. */
static const char text[] = "target: {url: 'http://stub/v1/chat/completions', "
                           "model: one}\n"
                           "load: {rate: 400, requests: 400}\n"
                           "data: {input_tokens: 20, output_tokens: 8}\n"
                           "slo: ['errors < 1%']\n"
                           "classes:\n"
                           "  - name: chat\n"
                           "    weight: 7\n"
                           "    slo: ['ttft p50 < 30s']\n"
                           "  - name: embed\n"
                           "    weight: 3\n"
                           "    target: {url: 'http://stub/v1/embeddings'}\n"
                           "    data: {input_tokens: 11}\n"
                           "    slo: ['e2e p50 < 30s']\n"
                           "stub: {service: fixed 100us}\n";

struct result {
    char *dir;
    struct facts *rows;
    size_t n;
};

/* A verdict may be withdrawn on a busy machine; nothing else may go wrong. */
static struct result run(const char *name, const char *threads,
                         const char *transport)
{
    char *file = tmpdir_write("mix.yaml", text, strlen(text));
    struct result out = {.dir = xasprintf("%s/%s", tmpdir_root(), name)};
    struct proc_result r =
        proc_run(ARGS("run", file, "-t", threads, "--transport", transport,
                      "-q", "-o", out.dir));
    char *path = keepf("%s/requests.tgr", out.dir);

    expect_status_as_reported(&r, out.dir);
    out.rows = table_read(path, &schema_requests, &out.n);
    assert_int_equal(out.n, REQUESTS);
    return out;
}

static void result_fini(struct result *r)
{
    free(r->dir);
    free(r->rows);
}

/* What arrived is what the class says. */
static void check_row(const struct facts *f)
{
    assert_int_equal(f->outcome, OUTCOME_OK);
    assert_in_range(f->class, CHAT, EMBED);
    assert_int_equal(f->prompt_tokens, f->class == CHAT ? 20 : 11);
    assert_int_equal(f->output_tokens, f->class == CHAT ? 8 : TIME_ABSENT);
    assert_int_equal(f->events > 0, f->class == CHAT);
}

static void check_truth(const struct result *r)
{
    int64_t class_of[REQUESTS] = {0};
    char *path = keepf("%s/truth.tgr", r->dir);
    struct truth *truth;
    size_t n;

    for (size_t i = 0; i < r->n; i++)
        class_of[r->rows[i].seq] = r->rows[i].class;
    truth = table_read(path, &schema_truth, &n);
    assert_int_equal(n, REQUESTS);
    for (size_t i = 0; i < n; i++) {
        assert_in_range(truth[i].id, 0, REQUESTS - 1);
        assert_int_equal(truth[i].tokens == 8, class_of[truth[i].id] == CHAT);
    }
}

static double class_number(const json_t *summary, size_t i, const char *path)
{
    return number_at(json_array_get(json_object_get(summary, "classes"), i),
                     path);
}

static void check_summary(const struct result *r)
{
    static const char *const keys[] = {"scheduled", "issued", "ok", "failed",
                                       "unsent"};
    json_t *summary = load_summary(r->dir);
    int64_t chats = 0;

    for (size_t i = 0; i < r->n; i++)
        chats += r->rows[i].class == CHAT;
    assert_true(class_number(summary, CHAT, "requests.ok") == (double)chats);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        char *key = keepf("requests.%s", keys[i]);

        assert_true(class_number(summary, CHAT, key) +
                        class_number(summary, EMBED, key) ==
                    number_at(summary, key));
    }
    for (size_t i = 0; i < 2; i++) {
        const json_t *class =
            json_array_get(json_object_get(summary, "classes"), i);

        assert_string_equal(
            json_string_value(json_object_get(class, "verdict")), "pass");
        assert_int_equal(json_array_size(json_object_get(class, "slo")), 1);
    }
}

/* The recording says all that the run said. */
static void check_report(const struct result *r)
{
    struct proc_result p = proc_run(ARGS("report", r->dir, "--format", "json"));
    json_t *again = json_loads(p.out, 0, NULL);
    json_t *first = load_summary(r->dir);

    assert_non_null(again);
    assert_true(json_equal(first, again));
    json_decref(again);
}

TEST(each_class_is_sent_as_it_says)
{
    static const char *const transports[] = {"native", "curl"};

    for (size_t t = 0; t < 2; t++) {
        struct result r = run(transports[t], "1", transports[t]);

        for (size_t i = 0; i < r.n; i++)
            check_row(&r.rows[i]);
        check_truth(&r);
        check_summary(&r);
        check_report(&r);
        result_fini(&r);
    }
}

/* Which class a request is of does not depend on who sends it. */
TEST(threads_do_not_matter)
{
    struct result one = run("one", "1", "native");
    struct result three = run("three", "3", "native");
    int64_t class_of[REQUESTS] = {0};

    for (size_t i = 0; i < one.n; i++)
        class_of[one.rows[i].seq] = one.rows[i].class;
    for (size_t i = 0; i < three.n; i++) {
        assert_int_equal(three.rows[i].class, class_of[three.rows[i].seq]);
        check_row(&three.rows[i]);
    }
    result_fini(&one);
    result_fini(&three);
}

/* One connection after the other carries requests of both. */
TEST(classes_share_connections)
{
    static const char closed[] =
        "target: {url: 'http://stub/v1/chat/completions', model: one}\n"
        "load: {clients: 1, requests: 60}\n"
        "data: {input_tokens: 5, output_tokens: 2}\n"
        "classes:\n"
        "  - {name: chat}\n"
        "  - {name: embed, target: {url: 'http://stub/v1/embeddings'}}\n"
        "stub: {service: none}\n";
    static const char *const transports[] = {"native", "curl"};
    char *file = tmpdir_write("c.yaml", closed, strlen(closed));

    for (size_t t = 0; t < 2; t++) {
        char *dir = keepf("%s/shared%zu", tmpdir_root(), t);
        struct proc_result r = proc_run(
            ARGS("run", file, "--transport", transports[t], "-q", "-o", dir));
        json_t *summary;

        expect_status_as_reported(&r, dir);
        summary = load_summary(dir);
        assert_true(number_at(summary, "requests.ok") == 60);
        assert_true(number_at(summary, "requests.opened_connection") == 1);
    }
}

/* What was left by a stream that is over says nothing of a plain answer that
 * takes its place, however long that takes. */
TEST(plain_requests_beside_streams)
{
    static const char both[] =
        "target: {url: 'http://stub/v1/chat/completions', model: one}\n"
        "load: {clients: 4, requests: 24}\n"
        "client: {threads: 1}\n"
        "classes:\n"
        "  - {name: chat, data: {input_tokens: 5, output_tokens: 2}}\n"
        "  - {name: plain, target: {url: 'http://stub/'}}\n"
        "stub: {service: fixed 300ms, replicas: 4}\n";
    char *file = tmpdir_write("b.yaml", both, strlen(both));
    char *dir = keepf("%s/plain", tmpdir_root());
    struct proc_result r = proc_run(ARGS("run", file, "-q", "-o", dir));
    json_t *summary;

    expect_status_as_reported(&r, dir);
    summary = load_summary(dir);
    assert_true(number_at(summary, "requests.ok") == 24);
    assert_true(class_number(summary, 1, "requests.ok") > 0);
}

/* validate says what each class comes to, and what it cannot answer. */
TEST(the_plan_lists_them)
{
    char *file = tmpdir_write("mix.yaml", text, strlen(text));
    struct proc_result r =
        proc_run(ARGS("validate", file, "--set", "slo=e2e p99 < 1s"));

    proc_expect(&r, 0);
    assert_non_null(strstr(r.out, "class      chat: 70% of the requests, about "
                                  "280 in the window"));
    assert_non_null(strstr(r.out, "prompts of 11 tokens"));
    assert_non_null(strstr(r.out, "slo        ttft p50 < 30s: needs at least"));
    r = proc_run(ARGS("validate", file, "-n", "5"));
    assert_non_null(strstr(r.err, "mix.yaml:8: classes: chat: slo: ttft p50 < "
                                  "30s: needs at least"));
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
