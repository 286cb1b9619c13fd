/* Sessions against the stub: turns in sequence with what was said before, all
 * of them accounted for. */
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/recording/schema.h"
#include "tests/support/keep.h"
#include "tests/support/outcome.h"
#include "tests/support/proc.h"
#include "tests/support/table.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define PROMPT 8
#define ANSWER 4

/* As many sessions as come in a second and a half, of up to five turns. */
#define SESSIONS                                                               \
    "--rate", "60", "--duration", "1500ms", "--session-turns", "uniform 1 5",  \
        "--think", "exponential 10ms", "--input-len", "8", "--output-len",     \
        "4", "--timeout", "60s", "--cooldown", "0s", "-q"

static int by_turn(const void *a, const void *b)
{
    const struct facts *x = a;
    const struct facts *y = b;

    if (x->session != y->session)
        return x->session < y->session ? -1 : 1;
    return (x->turn > y->turn) - (x->turn < y->turn);
}

/* Session by session, turn by turn. */
static struct facts *read_turns(const char *dir, size_t *n)
{
    char *path = keepf("%s/requests.tgr", dir);
    struct facts *rows = table_read(path, &schema_requests, n);

    qsort(rows, *n, sizeof(*rows), by_turn);
    return rows;
}

/* begun = finished + broken + cut, as the rows have it. */
static void check_summary(const char *dir, const struct facts *rows, size_t n)
{
    json_t *summary = load_summary(dir);
    double begun = 0;
    double finished = 0;
    double broken = 0;

    for (size_t i = 0; i < n; i++) {
        begun += rows[i].turn == 0;
        finished +=
            rows[i].outcome == OUTCOME_OK && rows[i].turn + 1 == rows[i].turns;
        broken += rows[i].outcome != OUTCOME_OK;
    }
    assert_true(begun > 1);
    assert_true(number_at(summary, "sessions.begun") == begun);
    assert_true(number_at(summary, "sessions.finished") == finished);
    assert_true(number_at(summary, "sessions.broken") == broken);
    assert_true(number_at(summary, "sessions.cut") ==
                begun - finished - broken);
    assert_true(number_at(summary, "sessions.first.turns") == begun);
    assert_true(number_at(summary, "sessions.later.turns") ==
                (double)n - begun);
}

/* Each turn follows an answer, and no failure. */
static void check_sequence(const struct facts *rows, size_t n, int64_t threads)
{
    for (size_t i = 0; i < n; i++) {
        const struct facts *f = &rows[i];
        const struct facts *before = f - 1;

        assert_int_equal(f->seq % threads, f->session % threads);
        assert_true(f->turn < f->turns);
        if (f->turn == 0)
            continue;
        assert_true(i > 0);
        assert_int_equal(f->session, before->session);
        assert_int_equal(f->turn, before->turn + 1);
        assert_int_equal(before->outcome, OUTCOME_OK);
        assert_true(f->due >= before->end);
    }
}

TEST(later_turns_carry_what_was_said)
{
    static const char *const paths[] = {"v1/chat/completions", "v1/completions",
                                        "generate"};
    char *url;
    struct proc stub =
        stub_start(ARGS("stub", "--service", "llm", "--prefill", "1us",
                        "--decode", "100us", "--batching", "continuous"),
                   &url);

    for (size_t i = 0; i < COUNT(paths); i++) {
        char *dir = keepf("%s/turns%zu", tmpdir_root(), i);
        char *target = keepf("%s/%s", url, paths[i]);
        struct proc_result r = proc_run(
            ARGS("run", target, SESSIONS, "--threads", "2", "-o", dir, "--api",
                 i == 0   ? "openai-chat"
                 : i == 1 ? "openai-completions"
                          : "sglang"));
        struct facts *rows;
        size_t n;

        run_expect(&r, dir, 0);
        rows = read_turns(dir, &n);
        check_sequence(rows, n, 2);
        check_summary(dir, rows, n);
        for (size_t k = 0; k < n; k++) {
            assert_int_equal(rows[k].prompt_tokens,
                             PROMPT + rows[k].turn * (ANSWER + PROMPT));
            assert_int_equal(rows[k].prompt_asked, rows[k].prompt_tokens);
        }
    }
    stub_stop(&stub);
}

/* A stub that knows bodies again has seen them all. */
TEST(threads_do_not_change_a_byte)
{
    char *url;
    struct proc stub =
        stub_start(ARGS("stub", "--service", "fixed 1ms", "--cache"), &url);
    char *target = keepf("%s/v1/chat/completions", url);
    struct facts *rows[2];
    size_t n[2];
    size_t found = 0;

    for (int i = 0; i < 2; i++) {
        char *dir = keepf("%s/threads%d", tmpdir_root(), i);
        struct proc_result r =
            proc_run(ARGS("run", target, SESSIONS, "--nonce", "5", "--threads",
                          i == 0 ? "1" : "2", "-o", dir));

        run_expect(&r, dir, 0);
        rows[i] = read_turns(dir, &n[i]);
    }
    for (size_t i = 0, k = 0; i < n[0]; i++) {
        while (k < n[1] && by_turn(&rows[1][k], &rows[0][i]) < 0)
            k++;
        if (k == n[1] || by_turn(&rows[1][k], &rows[0][i]) != 0)
            continue; /* one of them ended before it was due */
        found++;
        assert_int_equal(rows[0][i].turns, rows[1][k].turns);
        assert_int_equal(rows[0][i].cached_tokens, TIME_ABSENT);
        assert_int_equal(rows[1][k].cached_tokens, rows[1][k].prompt_tokens);
    }
    assert_true(found > 1);
    free(rows[0]);
    free(rows[1]);
    stub_stop(&stub);
}

TEST(a_failure_breaks_its_session)
{
    char *url;
    struct proc stub = stub_start(
        ARGS("stub", "--service", "fixed 1ms", "--fault", "status=500 every=5"),
        &url);
    char *target = keepf("%s/v1/completions", url);
    char *dir = tmpdir_path("broken");
    struct proc_result r = proc_run(ARGS("run", target, SESSIONS, "-o", dir));
    struct facts *rows;
    size_t broken = 0;
    size_t n;

    run_expect(&r, dir, 0);
    rows = read_turns(dir, &n);
    check_sequence(rows, n, 1);
    check_summary(dir, rows, n);
    for (size_t i = 0; i < n; i++)
        broken += rows[i].outcome == OUTCOME_STATUS;
    assert_true(broken > 0);
    stub_stop(&stub);
}

/* Of a mix all turns of a session are of one class, and after the window they
 * go on as before. */
TEST(a_session_is_of_one_class)
{
    static const int64_t prompt[] = {8, 20};
    char *url;
    struct proc stub =
        stub_start(ARGS("stub", "--service", "llm", "--prefill", "1us",
                        "--decode", "100us", "--batching", "continuous"),
                   &url);
    char *text =
        keepf("target: {url: \"%s/v1/chat/completions\", timeout: 60s}\n"
              "load: {rate: 60, turns: uniform 1 5, duration: 1s,\n"
              "       cooldown: 300ms}\n"
              "data: {input_tokens: 8, output_tokens: 4}\n"
              "client: {threads: 2}\n"
              "classes:\n"
              "  - {name: chat}\n"
              "  - {name: text, data: {input_tokens: 20},\n"
              "     target: {url: \"%s/v1/completions\"}}\n",
              url, url);
    char *file = tmpdir_write("mix.yaml", text, strlen(text));
    char *dir = tmpdir_path("mix");
    struct proc_result r = proc_run(ARGS("run", file, "-q", "-o", dir));
    size_t seen[2] = {0};
    struct facts *rows;
    size_t n;

    run_expect(&r, dir, 0);
    rows = read_turns(dir, &n);
    check_sequence(rows, n, 2);
    for (size_t i = 0; i < n; i++) {
        int64_t own = prompt[rows[i].class != 0];

        seen[rows[i].class != 0]++;
        assert_int_equal(rows[i].prompt_tokens,
                         own + rows[i].turn * (ANSWER + own));
        if (rows[i].turn > 0)
            assert_int_equal(rows[i].class, rows[i - 1].class);
    }
    assert_true(seen[0] > 1 && seen[1] > 1);
    stub_stop(&stub);
}

/* A cache of one server is of no use to the next turn at another. */
TEST(a_session_stays_where_it_began)
{
    char *truth_path = tmpdir_path("sticky.tgr");
    char *dir = tmpdir_path("sticky");
    char *urls[2];
    struct proc first = stub_start(
        ARGS("stub", "--service", "none", "--truth", truth_path), &urls[0]);
    struct proc second =
        stub_start(ARGS("stub", "--service", "none"), &urls[1]);
    char *a = keepf("%s/v1/completions", urls[0]);
    char *b = keepf("%s/v1/completions", urls[1]);
    struct proc_result r =
        proc_run(ARGS("run", "--url", a, "--url", b, SESSIONS, "--request-id",
                      "--threads", "2", "-o", dir));
    struct facts *rows;
    struct truth *truth;
    size_t n;
    size_t n_truth;
    size_t even = 0;

    run_expect(&r, dir, 0);
    stub_stop(&first);
    stub_stop(&second);
    rows = read_turns(dir, &n);
    truth = table_read(truth_path, &schema_truth, &n_truth);
    for (size_t i = 0; i < n; i++) {
        bool is_first = false;

        for (size_t k = 0; k < n_truth && !is_first; k++)
            is_first = truth[k].id == rows[i].seq;
        assert_int_equal(is_first, rows[i].session % 2 == 0);
        even += is_first;
    }
    assert_true(even > 1 && even < n);
    for (int i = 0; i < 2; i++)
        free(urls[i]);
}

TEST(a_killed_run_is_accounted_for)
{
    char *url;
    struct proc stub = stub_start(ARGS("stub", "--service", "fixed 1ms"), &url);
    char *target = keepf("%s/v1/completions", url);
    char *dir = tmpdir_path("killed");
    struct proc run = proc_start(ARGS("run", target, SESSIONS, "--duration",
                                      "1h", "--threads", "2", "-o", dir));
    struct proc_result r;
    json_t *json;

    wait_for_rows(dir);
    assert_int_equal(kill(run.pid, SIGKILL), 0);
    r = proc_wait(&run);
    r = proc_run(ARGS("report", dir, "--format", "json"));
    json = json_loads(r.out, 0, NULL);
    assert_non_null(json);
    assert_true(number_at(json, "requests.ok") > 0);
    assert_true(number_at(json, "requests.issued") ==
                number_at(json, "requests.ok") +
                    failures_of(json, "unfinished"));
    assert_true(failures_of(json, "unfinished") ==
                number_at(json, "recording.lost_requests"));
    assert_true(number_at(json, "sessions.begun") ==
                number_at(json, "sessions.finished") +
                    number_at(json, "sessions.broken") +
                    number_at(json, "sessions.cut"));
    json_decref(json);
    stub_stop(&stub);
}

static const char talks[] =
    "{\"conversations\":[{\"from\":\"human\",\"value\":\"a b c\"},{\"from\":"
    "\"gpt\",\"value\":\"d e\"},{\"from\":\"human\",\"value\":\"f\"},{\"from\":"
    "\"gpt\",\"value\":\"g\"}]}\n"
    "{\"conversations\":[{\"from\":\"human\",\"value\":\"a b c\"},{\"from\":"
    "\"gpt\",\"value\":\"d e\"},{\"from\":\"human\",\"value\":\"f\"},{\"from\":"
    "\"gpt\",\"value\":\"g\"}]}\n";

TEST(conversations_are_held_as_they_were)
{
    char *url;
    struct proc stub = stub_start(ARGS("stub", "--service", "fixed 1ms"), &url);
    char *target = keepf("%s/v1/chat/completions", url);
    char *data = tmpdir_write("talks.jsonl", talks, sizeof(talks) - 1);
    char *dir = tmpdir_path("talks");
    struct proc_result r;
    struct facts *rows;
    size_t n;

    r = proc_run(ARGS("run", target, "--rate", "60", "--duration", "1s",
                      "--data", data, "--turns", "session", "--history",
                      "recorded", "--repeat-prompts", "--timeout", "60s", "-q",
                      "-o", dir));
    run_expect(&r, dir, 0);
    rows = read_turns(dir, &n);
    check_sequence(rows, n, 1);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(rows[i].turns, 2);
        assert_int_equal(rows[i].prompt_tokens, rows[i].turn == 0 ? 3 : 6);
    }
    stub_stop(&stub);
}

static void assert_says(const char *const *argv, const char *text)
{
    struct proc_result r = proc_run(argv);

    if (!strstr(r.out, text))
        fail_msg("no '%s' in: %s%s", text, r.out, r.err);
}

/* Reports explain what it is. */
TEST(plan_and_report_say_sessions)
{
    char *dir = tmpdir_path("said");

    assert_says(ARGS("validate", "null://", "--rate", "60", "--duration",
                     "1500ms", "--session-turns", "uniform 1 5"),
                "at most about 270 in the window: 90 sessions of 3 turns on "
                "average");
    assert_says(ARGS("run", "-v", "null://", "--rate", "100", "--duration",
                     "300ms", "--session-turns", "2", "-q", "-o", dir),
                "closed loop inside sessions, which arrive in an open loop, "
                "poisson 100/s, turns 2,");
    assert_says(ARGS("report", "-v", dir), "\nsessions   ");
    assert_says(ARGS("report", dir, "--format", "json"),
                "\"scenario\": \"sessions\"");
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
