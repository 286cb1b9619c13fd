/* `init`: the file that it writes passes `validate`, and holds what the server
 * said, if it said anything. */
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/xalloc.h"
#include "tests/support/keep.h"
#include "tests/support/proc.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

static struct proc stub;
static char *url;

/* The file, of which the caller frees the text. */
static char *init(const char *base, const char *path)
{
    char *target = keepf("%s%s", base, path);
    const char *file = tmpdir_path("i.yaml");
    struct proc_result r =
        proc_run(ARGS("init", target, "-o", file, "--force"));
    struct err err = {0};
    struct buf text;
    char *copy;

    proc_expect(&r, 0);
    assert_string_equal(r.out, "");
    buf_init(&text, 1 << 16);
    assert_int_equal(file_read(file, &text, &err), 0);
    copy = xstrdup(buf_text(&text));
    buf_fini(&text);
    return copy;
}

static const struct {
    const char *path;
    const char *api;
    const char *known;   /* from the stub */
    const char *unknown; /* not known to the tool */
} cases[] = {
    {"/v1/chat/completions", "api: openai-chat\n", "\n  model: \"stub\"\n",
     "\n  # model: NAME "},
    {"/v1/embeddings", "api: openai-embeddings\n", "\n  model: \"stub\"\n",
     ": Connection refused\n"},
    {"/v2/models/stub/infer", "api: kserve-http\n", "    - \"input0 FP32 1\"\n",
     "\n  # tensors: "},
    {"/v1/models/m:predict", "api: tfserving-http\n", "CHANGE THIS",
     "CHANGE THIS"},
    {"/generate_stream", "api: tgi\n", "- ttft p99 < 1s", "- ttft p99 < 1s"},
    {"/anything", "api: http\n", "- e2e p99 < 500ms", "# method: POST"},
};

TEST(the_file_is_valid)
{
    char *dead = keepf("http://127.0.0.1:%d", refusing_port());

    for (size_t i = 0; i < 2 * COUNT(cases); i++) {
        bool is_there = i < COUNT(cases);
        size_t c = i % COUNT(cases);
        char *text = init(is_there ? url : dead, cases[c].path);
        const char *want = is_there ? cases[c].known : cases[c].unknown;
        struct proc_result r =
            proc_run(ARGS("validate", tmpdir_path("i.yaml")));

        if (!strstr(text, cases[c].api) || !strstr(text, want))
            fail_msg("no '%s' or '%s' in:\n%s", cases[c].api, want, text);
        proc_expect(&r, 0);
        assert_string_equal(r.err, "");
        free(text);
    }
}

TEST(the_file_runs)
{
    char *text = init(url, "/v1/chat/completions");
    char *dir = tmpdir_path("run");
    struct proc_result r =
        proc_run(ARGS("run", "-v", tmpdir_path("i.yaml"), "--rate", "40", "-d",
                      "500ms", "--warmup", "0s", "-q", "-o", dir));

    run_expect(&r, dir, 4); /* too short for its SLO */
    assert_non_null(strstr(r.out, "failed 0"));
    free(text);
}

TEST(what_is_wrong_is_refused)
{
    char *file = tmpdir_write("kept.yaml", "kept", 4);
    const struct {
        const char *const *argv;
        int status;
        const char *want;
    } wrong[] = {
        {ARGS("init"), 2, "init takes one URL, not 0\n"},
        {ARGS("init", url, url), 2, "init takes one URL, not 2\n"},
        {ARGS("init", "ftp://h/"), 2, "the scheme 'ftp' is not supported"},
        {ARGS("init", url, "-o", file), 2,
         ": the file exists; --force replaces it\n"},
        {ARGS("init", "http://h/?api_key=xyzzy"), 2,
         "the URL has a secret, which would be written"},
        {ARGS("init", "http://u:xyzzy@h/"), 2,
         "cannot contain a user or password"},
    };

    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct proc_result r = proc_run(wrong[i].argv);

        proc_expect(&r, wrong[i].status);
        if (!strstr(r.err, wrong[i].want))
            fail_msg("no '%s' in: %s", wrong[i].want, r.err);
        assert_null(strstr(r.err, "xyzzy"));
        assert_string_equal(r.out, "");
    }
}

static int start(void **state)
{
    if (tmpdir_setup(state))
        return -1;
    stub = stub_start(ARGS("stub", "--port", "0"), &url);
    url[strcspn(url + strlen("http://"), "/") + strlen("http://")] = '\0';
    return 0;
}

static int stop(void **state)
{
    stub_stop(&stub);
    return tmpdir_teardown(state);
}

GROUP_FIXTURE(start, stop)
