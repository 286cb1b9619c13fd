/* What a recording of someone else names is shown, and neither opened nor run
 * without consent. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <jansson.h>

#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "tests/support/keep.h"
#include "tests/support/proc.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

static char *own;      /* a recording */
static char *stranger; /* the same, whose manifest is changed */
static json_t *original;

static int make_recordings(void **state)
{
    assert_int_equal(tmpdir_setup(state), 0);
    own = tmpdir_path("own");
    stranger = tmpdir_path("stranger");
    run_as_reported(
        ARGS("run", "null://", "-q", "-c", "1", "-n", "3", "-o", own));
    run_as_reported(
        ARGS("run", "null://", "-q", "-c", "1", "-n", "3", "-o", stranger));
    original = load_manifest(stranger);
    return 0;
}

/* Write the manifest with these settings over the original ones. */
static void plant(const char *settings)
{
    char *path = keepf("%s/manifest.json", stranger);
    json_t *manifest = json_deep_copy(original);
    json_t *changes = json_loads(settings, 0, NULL);

    assert_non_null(changes);
    json_object_update_recursive(json_object_get(manifest, "settings"),
                                 changes);
    assert_int_equal(json_dump_file(manifest, path, 0), 0);
    json_decref(changes);
    json_decref(manifest);
}

static void ends(const char *const *argv, int status, const char *message)
{
    struct proc_result r = proc_run(argv);

    proc_expect(&r, status);
    if (!message)
        assert_string_equal(r.err, "");
    else if (!strstr(r.err, message))
        fail_msg("'%s' is not in: %s", message, r.err);
}

static void refused(const char *list)
{
    char *why = keepf("tailgate: %s: the recording would use commands, keys "
                      "or files of this machine: %s; --allow-commands "
                      "shows and allows them\n",
                      stranger, list);

    ends(ARGS("validate", stranger), 2, why);
    ends(ARGS("run", stranger, "-q"), 2, why);
    ends(ARGS("rerun", stranger, "-q"), 2, why);
}

static bool was_opened(int watch)
{
    char events[4096];
    ssize_t n = read(watch, events, sizeof(events));

    assert_true(n > 0 || errno == EAGAIN);
    return n > 0;
}

/* Lengths may come from a file: reading the manifest does not open it. */
TEST(a_file_of_lengths_is_not_opened)
{
    static const struct {
        const char *where;
        const char *settings; /* %f: the text */
    } cases[] = {
        {"data.output_tokens", "{'data': {'output_tokens': '%f'}}"},
        {"classes: a: data.input_tokens",
         "{'classes': [{'name': 'a', 'weight': 1, 'data': {'input_tokens': "
         "'%f'}}]}"},
        {"warmup_data: data.input_tokens",
         "{'warmup_data': {'input_tokens': '%f'}}"},
        {"data.input_tokens", "{'data': {'input_tokens': '%f'}}"},
    };
    char *file = tmpdir_write("lengths", "secret\n", 7);
    char *text = keepf("empirical @%s", file);
    int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

    assert_true(inotify_add_watch(watch, file, IN_OPEN) >= 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *quoted = str_replace(cases[i].settings, "'", "\"");
        char *settings = str_replace(quoted, "%f", text);
        char *list = keepf("%s '%s'", cases[i].where, text);

        plant(settings);
        refused(list);
        ends(ARGS("report", stranger), 0, NULL);
        free(settings);
        free(quoted);
    }
    ends(ARGS("compare", stranger, own), 4, NULL);
    assert_false(was_opened(watch));
    ends(ARGS("validate", stranger, "--allow-commands"), 2,
         "lengths: line 1: 'secret' is not a count");
    assert_true(was_opened(watch));
    close(watch);
}

/* A warm-up keeps its file when the run is given another. */
TEST(a_file_of_the_warmup_is_not_opened)
{
    plant("{\"data\": {\"input_tokens\": \"empirical @/nowhere\"},"
          " \"warmup_data\": {\"input_tokens\": \"empirical @/nowhere\"}}");
    ends(ARGS("validate", stranger, "--input-len", "5"), 2,
         "of this machine: warmup_data: data.input_tokens 'empirical "
         "@/nowhere'; --allow-commands");
}

/* What is planted is shown on one line, without what a terminal obeys. */
TEST(values_are_shown)
{
    plant("{\"server\": {\"start\": \"echo a\\n\\u001b[2J\"},"
          " \"data\": {\"file\": \"/x\"}}");
    refused("data.file '/x', server.start 'echo a??[2J'");
}

/* Long values have lines of their own, and a maximum. */
TEST(long_values_are_shown_before)
{
    char *command = xcalloc(1, 1202);
    char *settings;
    char *shown;
    char *why;

    memset(command, 'c', 1000);
    settings = keepf("{\"server\": {\"start\": \"%s\"}}", command);
    shown = keepf("tailgate: in the recording: server.start: %s\n", command);
    plant(settings);
    ends(ARGS("rerun", stranger, "-q"), 2, shown);
    refused("server.start");
    memset(command, 'c', 1201);
    settings = keepf("{\"server\": {\"start\": \"%s\"}}", command);
    why = keepf("tailgate: in the recording: server.start: %.1000s...\n",
                command);
    plant(settings);
    ends(ARGS("rerun", stranger, "-q"), 2, why);
    free(command);
}

/* A trial is repeated as one run: nothing is restarted, or paused. */
TEST(a_trial_needs_no_restart)
{
    char *set = tmpdir_path("set");
    char *trial = keepf("%s/trial-1", set);
    char *mark = tmpdir_path("mark");
    char *command = keepf("touch %s", mark);
    char *why = keepf("study.restart '%s'; --allow-commands", command);
    char *such = keepf("tailgate: %s is a set of trials: name one of its "
                       "recordings, such as %s\n",
                       set, trial);

    run_as_reported(ARGS("run", "null://", "-q", "-c", "1", "-n", "3",
                         "--trials", "2", "--settle", "0s", "--restart",
                         command, "-o", set));
    assert_int_equal(unlink(mark), 0);
    run_as_reported(ARGS("rerun", trial, "-q", "-o", tmpdir_path("again")));
    ends(ARGS("validate", trial), 0, NULL);
    ends(ARGS("rerun", trial, "-q", "--trials", "2"), 2, why);
    ends(ARGS("sweep", trial, "-q", "--concurrencies", "1,2"), 2, why);
    assert_int_equal(access(mark, F_OK), -1);
    ends(ARGS("rerun", "-q", set), 2, such);
    ends(ARGS("validate", set), 2, such);
}

GROUP_FIXTURE(make_recordings, tmpdir_teardown)
