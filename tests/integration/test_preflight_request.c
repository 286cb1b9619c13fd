/* One request is sent before a run: a refusal ends it, anything else does not,
 * and it is neither recorded nor sent again by the same study. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/xalloc.h"
#include "tests/support/echoserver.h"
#include "tests/support/keep.h"
#include "tests/support/proc.h"
#include "tests/support/rawserver.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define MAX_LOG ((size_t)1 << 20)

/* What a server received. */
static char *read_log(const char *path)
{
    struct err err = {0};
    struct buf text;
    char *copy;

    buf_init(&text, MAX_LOG);
    if (file_read(path, &text, &err))
        fail_msg("%s", err.msg);
    copy = keepf("%s", buf_text(&text));
    buf_fini(&text);
    return copy;
}

static int count_in(const char *text, const char *part)
{
    int n = 0;

    for (; (text = strstr(text, part)); text += strlen(part))
        n++;
    return n;
}

TEST(refusals_end_the_run)
{
    static const struct {
        int status;
        const char *flag;
        int want; /* exit status */
        const char *said;
        int requests;
    } cases[] = {
        {401, "--quiet", 3, "the server refuses requests: HTTP status 401", 1},
        {403, "--quiet", 3, "the server refuses requests: HTTP status 403", 1},
        {404, "--quiet", 3, "the server refuses requests: HTTP status 404", 1},
        {422, "--quiet", 3, "the server refuses requests: HTTP status 422", 1},
        {404, "--trials=2", 3, "HTTP status 404", 1},
        {404, "--no-preflight", 1, "", 3},
        {404, "--success=404", 0, "", 4},
        {400, "--force", 1, "the preflight request failed: HTTP status 400", 4},
        {429, "--force", 1, "the preflight request failed: HTTP status 429", 4},
        {503, "--force", 1, "the preflight request failed: HTTP status 503", 4},
        {200, "--dry-run", 0, "", 0},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        char *log = keepf("%s/%zu.log", tmpdir_root(), i);
        char *dir = keepf("%s/%zu", tmpdir_root(), i);
        struct echoserver s = echoserver_start(
            &(struct echo_setup){.status = cases[i].status, .log = log});
        struct proc_result r = proc_run(
            ARGS("run", s.url, "-c", "1", "-n", "3", "-o", dir, cases[i].flag));

        if (cases[i].requests > 2) {
            run_expect(&r, dir, cases[i].want);
        } else { /* nothing is left behind */
            proc_expect(&r, cases[i].want);
            assert_int_not_equal(access(dir, F_OK), 0);
        }
        if (!strstr(r.err, cases[i].said))
            fail_msg("%zu: %s", i, r.err);
        echoserver_stop(&s);
        if (count_in(read_log(log), "GET / HTTP/1.1") != cases[i].requests)
            fail_msg("%zu: %s", i, read_log(log));
    }
}

/* The message of the server is shown, without the key. */
TEST(the_server_is_quoted)
{
    static const char answer[] =
        "HTTP/1.1 401 Unauthorized\r\nContent-Type: application/json\r\n"
        "Connection: close\r\n\r\n"
        "{\"error\": {\"message\": \"Incorrect API key: sk-12345678\"}}";
    struct rawserver s = rawserver_start(answer, strlen(answer), RAW_CLOSE);
    char *url = keepf("%sv1/chat/completions", s.url);
    struct proc_result r =
        proc_run(ARGS("run", url, "--model", "m", "-c", "1", "-n", "3", "-H",
                      "Authorization: Bearer sk-12345678"));

    proc_expect(&r, 3);
    assert_non_null(strstr(r.err, "the server refuses requests: HTTP status "
                                  "401: Incorrect API key: "));
    assert_null(strstr(r.err, "sk-12345678"));
    rawserver_stop(&s);
}

/* Once per study, and once per target. */
TEST(each_target_is_asked_once)
{
    char *logs[] = {tmpdir_path("a.log"), tmpdir_path("b.log")};
    struct echoserver s[2];
    char *dir = tmpdir_path("each");

    for (size_t i = 0; i < 2; i++)
        s[i] = echoserver_start(&(struct echo_setup){.log = logs[i]});
    proc_run(ARGS("run", s[0].url, s[1].url, "-R", "200", "-n", "4", "--trials",
                  "2", "--max-discarded", "0", "--settle", "0s", "-q", "-o",
                  dir));
    assert_non_null(load_manifest(keepf("%s/trial-2", dir)));
    for (size_t i = 0; i < 2; i++) {
        echoserver_stop(&s[i]);
        assert_int_equal(count_in(read_log(logs[i]), "GET / HTTP/1.1"),
                         1 + 2 * 2);
    }
}

TEST(each_class_is_asked_once)
{
    char *log = tmpdir_path("classes.log");
    struct echoserver s = echoserver_start(&(struct echo_setup){.log = log});
    char *text = keepf("target: {url: '%s'}\nload: {rate: 200, requests: 4}\n"
                       "classes:\n"
                       "  - {name: one, target: {url: '%sone'}}\n"
                       "  - {name: two, target: {url: '%stwo'}}\n",
                       s.url, s.url, s.url);
    char *file = tmpdir_write("classes.yaml", text, strlen(text));
    struct proc_result r =
        proc_run(ARGS("run", file, "-q", "-o", tmpdir_path("classes")));
    const char *received;

    echoserver_stop(&s);
    run_expect(&r, tmpdir_path("classes"), 0);
    received = read_log(log);
    assert_int_equal(count_in(received, "GET /"), 4 + 2);
    assert_ptr_equal(strstr(received, "GET /"), strstr(received, "GET /one"));
    assert_ptr_equal(strstr(strstr(received, "GET /") + 1, "GET /"),
                     strstr(received, "GET /two"));
}

/* Its prompt is not one of the run's: no cache knows them. */
TEST(prompts_of_the_run_stay_new)
{
    char *log = tmpdir_path("prompts.log");
    struct echoserver s = echoserver_start(&(struct echo_setup){.log = log});
    char *url = keepf("%sv1/completions", s.url);
    struct proc_result r =
        proc_run(ARGS("run", url, "--model", "m", "-c", "1", "-n", "3",
                      "--input-len", "8", "-q", "-o", tmpdir_path("prompts")));
    char *text;
    char *first;
    char *end;

    echoserver_stop(&s);
    run_expect(&r, tmpdir_path("prompts"), 1);
    text = read_log(log);
    first = strstr(text, "\"prompt\":");
    assert_int_equal(count_in(text, "\"prompt\":"), 4);
    end = strchr(first, ']');
    assert_non_null(end);
    *end = '\0';
    first = keepf("%s", first);
    *end = ']';
    assert_int_equal(count_in(text, first), 1);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
