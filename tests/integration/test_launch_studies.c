/* Studies whose recordings are each made by several processes: trials, a sweep,
 * variants, and searches that lose probes. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/text/json.h"
#include "tests/support/keep.h"
#include "tests/support/proc.h"
#include "tests/support/searched.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define MAX_PARTS 4

static const char load[] = "target: {url: 'null://'}\n"
                           "load: {rate: 100, requests: 40}\n"
                           "study: {settle: 0s, max_discarded: 0}\n";

/* A recording that two processes made together: all that was due. */
static void expect_merged(const char *dir)
{
    json_t *manifest = searched_json(dir, "manifest.json");
    const json_t *shards = json_object_get(manifest, "shards");

    assert_int_equal(json_get_int(shards, "of", 0), 2);
    assert_int_equal(json_array_size(json_object_get(shards, "list")), 2);
    assert_int_equal(
        json_get_int(json_object_get(manifest, "end"), "scheduled", 0), 40);
    json_decref(manifest);
}

static int count(const char *text, const char *what)
{
    int n = 0;

    for (; (text = strstr(text, what)); text += strlen(what))
        n++;
    return n;
}

/* Each is launched, and what it costs is said for each. */
TEST_WITH(each_recording_of_a_study_is_launched, tmpdir_setup, tmpdir_teardown)
{
    static const struct {
        const char *command;
        const char *flag;
        const char *value;
        const char *settings;
        const char *parts[MAX_PARTS];
        int n;
    } cases[] = {
        {"run", "--trials", "2", "", {"trial-1", "trial-2"}, 2},
        {"sweep", "--rates", "90,110", "", {"point-1", "point-2"}, 2},
        {"run",
         "--trials",
         "2",
         "variants:\n  - {name: a, conditions: {side: left}}\n"
         "  - {name: b, conditions: {side: right}}\n",
         {"a/trial-1", "a/trial-2", "b/trial-1", "b/trial-2"},
         4},
    };
    struct proc runs[COUNT(cases)];
    char *dirs[COUNT(cases)];

    for (size_t i = 0; i < COUNT(cases); i++) {
        char *text = keepf("%s%s", load, cases[i].settings);
        char *file = tmpdir_write(keepf("s%zu.yaml", i), text, strlen(text));

        dirs[i] = tmpdir_path(keepf("study%zu", i));
        runs[i] = proc_start(ARGS(cases[i].command, file, cases[i].flag,
                                  cases[i].value, "--launch", "local:2",
                                  "--launch-lead", "2s", "-o", dirs[i]));
    }
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct proc_result r = proc_wait(&runs[i]);

        for (size_t k = 0; k < MAX_PARTS && cases[i].parts[k]; k++)
            expect_merged(keepf("%s/%s", dirs[i], cases[i].parts[k]));
        assert_int_equal(count(r.err, "launch     local, 2 shards"),
                         cases[i].n);
        expect_status_as_reported(&r, dirs[i]);
    }
}

/* ---- lost probes ---- */

#define BOTH                                                                   \
    "for i in 0 1; do \"$TAILGATE_EXE\" shard \"$TAILGATE_PLAN\" --shard "     \
    "$i/2 -o \"$TAILGATE_OUT\" & done; wait; "

#define FIRST_SHARD                                                            \
    "\"$TAILGATE_EXE\" shard \"$TAILGATE_PLAN\" --shard 0/2 -o "               \
    "\"$TAILGATE_OUT\""

/* The first two launches, which are the first probe, are to fail. */
#define FIRST                                                                  \
    "n=$(cat $MARK 2>/dev/null || echo 0); echo $((n + 1)) >$MARK; [ $n -lt "  \
    "2 ] && "

static const char small_search[] =
    "load: {arrival: constant}\n"
    "slo: [errors < 50%]\n"
    "search: {start: 100, max: 120, probe: 300ms, confirm: 300ms}\n"
    "study: {settle: 0s}\n"
    "target: {url: 'null://'}\n";

/* The first probe is lost, or has a partial recording; the search finds the
 * capacity with the others. */
TEST_WITH(a_search_survives_lost_probes, tmpdir_setup, tmpdir_teardown)
{
    static const struct {
        const char *launch;
        const char *limit;
    } cases[] = {
        {FIRST "exit 1; " BOTH, "60s"},
        {FIRST "sleep 60; " BOTH, "6s"},
        {FIRST "{ " FIRST_SHARD "; exit; }; " BOTH, "60s"},
        {FIRST "{ " BOTH "sed -i 's/\"stopped_by\": 0/\"stopped_by\": 15/' "
               "\"$TAILGATE_OUT\"/?/manifest.json; exit; }; " BOTH,
         "60s"},
    };
    char *file = tmpdir_write("s.yaml", small_search, strlen(small_search));
    struct proc runs[COUNT(cases)];
    char *dirs[COUNT(cases)];

    for (size_t i = 0; i < COUNT(cases); i++) {
        dirs[i] = tmpdir_path(keepf("search%zu", i));
        setenv("MARK", tmpdir_path(keepf("mark%zu", i)), 1);
        runs[i] =
            proc_start(ARGS("search", file, "--launch", cases[i].launch,
                            "--shards", "2", "--launch-lead", "2s",
                            "--launch-limit", cases[i].limit, "-o", dirs[i]));
    }
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct proc_result r = proc_wait(&runs[i]);
        json_t *summary;
        const json_t *first;

        expect_status_as_reported(&r, dirs[i]);
        summary = searched_json(dirs[i], "summary.json");
        first = json_array_get(json_object_get(summary, "probes"), 0);
        assert_string_equal(
            json_string_value(json_object_get(first, "set_aside")), "launch");
        assert_true(json_array_size(json_object_get(summary, "probes")) > 1);
        json_decref(summary);
    }
}

/* A launcher that always fails, hangs or loses a shard: no capacity is found,
 * and no load is said to be too much. */
TEST_WITH(a_search_without_a_probe_is_undecided, tmpdir_setup, tmpdir_teardown)
{
    static const char *const launches[] = {"false", "sleep 60", FIRST_SHARD};
    char *file = tmpdir_write("s.yaml", small_search, strlen(small_search));
    struct proc runs[COUNT(launches)];

    for (size_t i = 0; i < COUNT(launches); i++)
        runs[i] = proc_start(ARGS("search", file, "--set", "search.budget=4s",
                                  "--launch", launches[i], "--shards", "2",
                                  "--launch-lead", "2s", "--launch-limit",
                                  i == 1 ? "100ms" : "60s", "-o",
                                  tmpdir_path(keepf("never%zu", i))));
    for (size_t i = 0; i < COUNT(launches); i++) {
        struct proc_result r = proc_wait(&runs[i]);

        proc_expect(&r, 4);
        if (i < 2 ? !strstr(r.err, "UNDECIDED: all") ||
                        !strstr(r.err, "because of: --launch failed twice")
                  : !strstr(r.out, "nothing is known yet"))
            fail_msg("%zu: %s%s", i, r.out, r.err);
    }
}
