/* One run by processes that a launcher starts.  ssh, srun, mpirun and kubectl
 * are played by tests/support/cluster, whose hosts are processes of this
 * machine. */
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/xalloc.h"
#include "common/recording/schema.h"
#include "tests/support/echoserver.h"
#include "tests/support/keep.h"
#include "tests/support/mpi.h"
#include "tests/support/netns.h"
#include "tests/support/proc.h"
#include "tests/support/table.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define REQUESTS      60
#define REQUESTS_TEXT "60"

/* A machine on which kubectl, ssh, srun and mpirun are scripts of ours. */
static char *own_path;

static int leave_cluster(void **state)
{
    setenv("PATH", own_path, 1);
    free(own_path);
    return tmpdir_teardown(state);
}

static void set_up_launchers(void)
{
    char *bin = tmpdir_path("bin");
    char *k8s = tmpdir_path("k8s");

    mkdir(bin, 0777);
    mkdir(k8s, 0777);
    assert_int_equal(symlink(getenv("TAILGATE"), keepf("%s/tailgate", bin)), 0);
    own_path = xstrdup(getenv("PATH"));
    setenv("PATH",
           keepf("%s:%s/tests/support/cluster:%s", bin,
                 getenv("TAILGATE_SOURCE"), getenv("PATH")),
           1);
    setenv("K8S", k8s, 1);
    setenv("TAILGATE_POLL", "0.1", 1);
}

#define LAUNCH(how)                                                            \
    "--launch", how, "--launch-lead", "2s", "-R", "100", "-n", REQUESTS_TEXT

/* The table of shards in the summary. */
static json_t *expect_shards(const char *dir, size_t n)
{
    json_t *summary = load_summary(dir);

    assert_true(number_at(summary, "requests.ok") == REQUESTS);
    assert_int_equal(json_array_size(json_object_get(summary, "shards")), n);
    assert_int_equal(access(keepf("%s.shards", dir), F_OK), -1);
    return summary;
}

/* The launcher for Kubernetes has deleted each object that it created. */
static void expect_deleted(void)
{
    assert_int_equal(system("test -s $K8S/created && "
                            "test \"$(sort -u $K8S/created)\" = "
                            "\"$(sort -u $K8S/deleted)\""),
                     0);
}

TEST_WITH(every_launcher_makes_one_recording, tmpdir_setup, leave_cluster)
{
    static const struct {
        const char *launch;
        const char *shards;
        bool has_clocks;
    } cases[] = {
        {"local:2", NULL, false},
        {"ssh:a,b", NULL, true},
        {"srun:2", NULL, false},
        {"srun", "2", false},
        {"mpirun:2", NULL, false},
        {"kubectl:2", NULL, true},
        {"for i in 0 1; do \"$TAILGATE_EXE\" shard \"$TAILGATE_PLAN\" --shard "
         "$i/$TAILGATE_SHARDS -o \"$TAILGATE_OUT\" & done; wait",
         "2", false},
    };
    struct proc runs[COUNT(cases)];
    char *dirs[COUNT(cases)];
    char *base;
    struct proc stub = stub_start(ARGS("stub"), &base);

    set_up_launchers();
    for (size_t i = 0; i < COUNT(cases); i++) {
        dirs[i] = tmpdir_path(keepf("run%zu", i));
        runs[i] = proc_start(ARGS("run", base, LAUNCH(cases[i].launch), "-o",
                                  dirs[i], cases[i].shards ? "--shards" : NULL,
                                  cases[i].shards));
    }
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct proc_result r = proc_wait(&runs[i]);
        const char *dir = dirs[i];
        json_t *summary;
        const json_t *first;

        run_expect(&r, dir, 0);
        assert_non_null(strstr(r.err, "launch     "));
        assert_non_null(strstr(r.err, "overhead"));
        summary = expect_shards(dir, 2);
        first = json_array_get(json_object_get(summary, "shards"), 0);
        assert_int_equal(json_object_get(first, "clock_offset_ms") != NULL,
                         cases[i].has_clocks);
        json_decref(summary);
    }
    stub_stop(&stub);
    /* On a busy machine shards may be late, and a second job is made. */
    expect_deleted();
}

/* The secret holds the plan, and so may hold an API key. */
TEST_WITH(jobs_and_secrets_are_deleted_if_all_shards_fail, tmpdir_setup,
          leave_cluster)
{
    char *dir = tmpdir_path("run");
    struct proc_result r;

    set_up_launchers();
    r = proc_run(ARGS("run", "null://", "--launch", "kubectl:3",
                      "--launch-lead", "1ms", "-R", "100", "-n", "10", "-o",
                      dir));
    proc_expect(&r, 3);
    expect_deleted();
}

/* The clock of one host is 50 ms ahead: the launcher compares them, and the
 * report names it.  The shards themselves know nothing of it. */
TEST_WITH(a_clock_that_is_off_is_named, tmpdir_setup, leave_cluster)
{
    char *dir = tmpdir_path("run");
    char *base;
    struct proc stub = stub_start(ARGS("stub"), &base);
    struct proc_result r;
    json_t *summary;
    const json_t *second;

    set_up_launchers();
    r = proc_run(ARGS("run", base, LAUNCH("ssh:right,fast"), "-o", dir));
    run_expect(&r, dir, 0);
    stub_stop(&stub);
    r = proc_run(ARGS("report", dir, "-v"));
    assert_non_null(strstr(r.out, "clocks: compared by the launcher; shard 1"));
    assert_non_null(strstr(r.out, "ms apart at most, measured"));
    summary = expect_shards(dir, 2);
    second = json_array_get(json_object_get(summary, "shards"), 1);
    assert_true(number_at(second, "clock_offset_ms") > 45);
    assert_true(number_at(second, "clock_offset_ms") < 55);
    json_decref(summary);
}

/* A launcher that fails: all shards are started once more.  If nothing is there
 * then, there is no recording; if a part is, its run is invalid. */
TEST_WITH(a_launcher_may_fail, tmpdir_setup, tmpdir_teardown)
{
    static const char once[] =
        "[ -e $MARK ] || { touch $MARK; exit 1; }; for i in 0 1; do "
        "\"$TAILGATE_EXE\" shard \"$TAILGATE_PLAN\" --shard $i/2 -o "
        "\"$TAILGATE_OUT\" & done; wait";
    static const char first_only[] =
        "\"$TAILGATE_EXE\" shard \"$TAILGATE_PLAN\" --shard 0/2 -o "
        "\"$TAILGATE_OUT\"";
    static const char stopped[] =
        "for i in 0 1; do \"$TAILGATE_EXE\" shard \"$TAILGATE_PLAN\" --shard "
        "$i/2 -o \"$TAILGATE_OUT\" & done; wait; sed -i "
        "'s/\"stopped_by\": 0/\"stopped_by\": 15/' "
        "\"$TAILGATE_OUT/1/manifest.json\"";
    static const char cut[] =
        "for i in 0 1; do \"$TAILGATE_EXE\" shard \"$TAILGATE_PLAN\" --shard "
        "$i/2 -o \"$TAILGATE_OUT\" & done; wait; echo '{' "
        ">\"$TAILGATE_OUT/1/manifest.json\"";
    static const struct {
        const char *launch;
        int status;
        const char *want;
    } cases[] = {
        {"exit 7", 3, "--launch failed twice: exit code 7"},
        {"sleep 60", 3, "it did not end within"},
        {first_only, 4, "shard 1 of 2 is missing"},
        {cut, 4, "shard 1 of 2 is missing"},
        {stopped, 4, "shard 1 of 2 was killed"},
        {once, 0, "starting all shards again"},
    };

    struct proc runs[COUNT(cases)];
    char *dirs[COUNT(cases)];

    setenv("MARK", tmpdir_path("mark"), 1);
    for (size_t i = 0; i < COUNT(cases); i++) {
        dirs[i] = tmpdir_path(keepf("run%zu", i));
        runs[i] = proc_start(ARGS("run", "null://", LAUNCH(cases[i].launch),
                                  "--shards", "2", "-o", dirs[i],
                                  "--launch-limit", i == 1 ? "1s" : "60s"));
    }
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct proc_result r = proc_wait(&runs[i]);
        const char *dir = dirs[i];

        if (!strstr(r.err, cases[i].want))
            fail_msg("%zu: %s", i, r.err);
        if (cases[i].status == 0)
            run_expect(&r, dir, 0);
        else
            proc_expect(&r, cases[i].status);
        assert_int_equal(access(dir, F_OK), cases[i].status == 3 ? -1 : 0);
        assert_int_equal(access(keepf("%s.shards", dir), F_OK), -1);
    }
}

/* The launcher fails in the middle of the run, since it has lost a shard, or is
 * given up: what it leaves of the others is not complete, either. */
TEST_WITH(what_a_launcher_cuts_is_not_complete, tmpdir_setup, tmpdir_teardown)
{
    static const char loses[] =
        "for i in 0 1; do \"$TAILGATE_EXE\" shard \"$TAILGATE_PLAN\" --shard "
        "$i/2 -o \"$TAILGATE_OUT\" & done; until find \"$TAILGATE_OUT/1\" "
        "-name requests.tgr -size +2 | grep -q .; do sleep 0.1; done "
        "2>/dev/null; kill -KILL $!; exit 1";
    static const struct {
        const char *launch;
        const char *limit;
        const char *want;
    } cases[] = {
        {loses, "60s", "--launch: exit code 1; starting all shards again"},
        {"local:2", "7s", "within 7s; starting all shards again"},
    };
    struct proc runs[COUNT(cases)];
    char *dirs[COUNT(cases)];

    for (size_t i = 0; i < COUNT(cases); i++) {
        dirs[i] = tmpdir_path(keepf("run%zu", i));
        runs[i] = proc_start(ARGS("run", "null://", "-R", "100", "-d", "600s",
                                  "--launch", cases[i].launch, "--shards", "2",
                                  "--launch-lead", "1s", "--launch-limit",
                                  cases[i].limit, "-o", dirs[i]));
    }
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct proc_result r = proc_wait(&runs[i]);
        json_t *summary;

        proc_expect(&r, 4);
        if (!strstr(r.err, cases[i].want) ||
            !strstr(r.err, "shard 0 of 2 was killed"))
            fail_msg("%zu: %s", i, r.err);
        summary = load_summary(dirs[i]);
        assert_true(number_at(summary, "requests.ok") > 0);
        json_decref(summary);
    }
}

/* Until it succeeds. */
static void await(const char *command)
{
    int tries = 0;

    while (system(command) != 0) {
        if (tries++ == 2000)
            fail_msg("not true after 20 s: %s", command);
        clk_sleep_ns(10 * NS_PER_MS);
    }
}

/* srun would kill its tasks on SIGTERM. */
TEST_WITH(an_interruption_is_that_of_the_user, tmpdir_setup, leave_cluster)
{
    static const char *const launches[] = {"local:2", "srun:2"};
    struct stat st;

    set_up_launchers();
    for (size_t i = 0; i < COUNT(launches); i++) {
        char *dir = tmpdir_path(keepf("run%zu", i));
        struct proc run = proc_start(
            ARGS("run", "null://", "--launch", launches[i], "--launch-lead",
                 "2s", "-R", "100", "-d", "600s", "-q", "-o", dir));
        struct proc_result r;
        json_t *summary;

        await(keepf("test $(find %s.shards -name requests.tgr -size +2 "
                    "2>/dev/null | wc -l) = 2",
                    dir));
        /* The plan may hold an API key. */
        assert_int_equal(stat(keepf("%s.shards", dir), &st), 0);
        assert_int_equal(st.st_mode & 0777, 0700);
        kill(run.pid, SIGINT);
        r = proc_wait(&run);
        proc_expect(&r, 128 + SIGINT);
        summary = load_summary(dir);
        assert_true(number_at(summary, "requests.ok") > 0);
        assert_int_equal(number_at(summary, "recording.lost_requests"), 0);
        json_decref(summary);
        assert_int_equal(access(keepf("%s.shards", dir), F_OK), -1);
    }
}

/* The plan is a secret in the cluster by then. */
TEST_WITH(an_interruption_deletes_the_secret, tmpdir_setup, leave_cluster)
{
    static const char slow[] = "#!/bin/sh\n"
                               "kubectl \"$@\" || exit\n"
                               "[ \"$1\" != create ] || sleep 60\n";
    char *script = tmpdir_write("slow", slow, strlen(slow));
    struct proc run;
    struct proc_result r;

    set_up_launchers();
    assert_int_equal(chmod(script, 0755), 0);
    setenv("TAILGATE_KUBECTL", script, 1);
    run = proc_start(
        ARGS("run", "null://", LAUNCH("kubectl:2"), "-o", tmpdir_path("run")));
    await("test -s $K8S/created");
    kill(run.pid, SIGTERM);
    r = proc_wait(&run);
    unsetenv("TAILGATE_KUBECTL");
    proc_expect(&r, 128 + SIGTERM);
    assert_int_equal(system("grep -q '^secret ' $K8S/deleted"), 0);
}

/* The first process of a pod is a shell: it passes SIGTERM on, waits for the
 * end, and fails. */
TEST_WITH(the_shell_of_a_pod_passes_signals_on, tmpdir_setup, tmpdir_teardown)
{
    static const char play[] =
        "#!/bin/sh\n"
        "trap 'sleep 0.5; touch $DIR/told; exit 143' TERM\n"
        "touch $DIR/here\n"
        "for i in $(seq 100); do sleep 0.1; done\n";
    static const char *const files[] = {"job.yaml", "run.yaml"};
    char *tailgate = tmpdir_write("tailgate", play, strlen(play));

    assert_int_equal(chmod(tailgate, 0755), 0);
    setenv("DIR", tmpdir_root(), 1);
    for (size_t i = 0; i < COUNT(files); i++) {
        char *command = keepf(
            "cd $DIR; rm -f here told; sed -n '/^            - |/,/^          "
            "[a-z]/s/^              //p' %s/packaging/k8s/%s | sed "
            "\"s|/results|$DIR|g\" >pod; PATH=$DIR:$PATH sh pod & until [ -e "
            "here ]; do sleep 0.1; done; kill $!; wait $!; [ $? = 1 ] && [ -e "
            "told ]",
            getenv("TAILGATE_SOURCE"), files[i]);

        if (system(command) != 0)
            fail_msg("%s", files[i]);
    }
}

/* What the hosts have recorded by then is fetched. */
TEST_WITH(an_interruption_over_ssh_keeps_what_was_recorded, tmpdir_setup,
          leave_cluster)
{
    char *dir = tmpdir_path("run");
    char *far = tmpdir_path("far");
    struct proc run;
    struct proc_result r;
    json_t *summary;

    set_up_launchers();
    mkdir(far, 0777);
    setenv("TMPDIR", far, 1);
    run = proc_start(ARGS("run", "null://", "--launch", "ssh:a,b",
                          "--launch-lead", "2s", "-R", "100", "-d", "600s",
                          "-q", "-o", dir));
    /* Of directories whose names are not known. */
    await("test $(find $TMPDIR -name requests.tgr -size +2 | wc -l) = 2");
    kill(run.pid, SIGTERM);
    r = proc_wait(&run);
    unsetenv("TMPDIR");
    proc_expect(&r, 128 + SIGTERM);
    summary = load_summary(dir);
    assert_true(number_at(summary, "requests.ok") > 0);
    json_decref(summary);
}

/* ---- what is sent ---- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The bodies of all requests in the log of a server, sorted. */
static char **read_bodies(const char *path, size_t *n)
{
    static const char length[] = "\r\nContent-Length: ";
    struct err err = {0};
    char **out = NULL;
    char *text;

    if (file_read_text(path, 1 << 20, &text, &err))
        fail_msg("%s", err.msg);
    *n = 0;
    for (char *p = text; (p = strcasestr(p, length));) {
        size_t len = strtoul(p + strlen(length), &p, 10);
        char *body = strstr(p, "\r\n\r\n");

        assert_non_null(body);
        out = xrealloc(out, *n + 1, sizeof(*out));
        out[(*n)++] = keepf("%.*s", (int)len, body + 4);
        p = body + 4 + len;
    }
    assert_true(*n > 0);
    qsort(out, *n, sizeof(*out), by_text);
    free(text);
    return out;
}

/* Of equal bodies keep one.  Returns how many are left. */
static size_t drop_repeats(char **bodies, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        if (kept == 0 || strcmp(bodies[kept - 1], bodies[i]) != 0)
            bodies[kept++] = bodies[i];
    return kept;
}

static struct facts *read_rows(const char *dir, size_t *n)
{
    struct facts *rows =
        table_read(keepf("%s/requests.tgr", dir), &schema_requests, n);
    struct facts *out = xcalloc(*n, sizeof(*out));

    for (size_t i = 0; i < *n; i++) {
        assert_in_range(rows[i].seq, 0, *n - 1);
        out[rows[i].seq] = rows[i];
    }
    return out;
}

/* Two classes: due times and classes by place in the schedule, and the bodies,
 * byte by byte, do not depend on the number of processes. */
TEST_WITH(shards_send_the_same_bytes, tmpdir_setup, tmpdir_teardown)
{
    static const char text[] =
        "load: {rate: 100, requests: 60, seed: 7}\n"
        "target: {api: openai-chat, model: m, stream: off}\n"
        "data: {nonce: 5}\n"
        "classes:\n"
        "  - {name: short, weight: 3, data: {input_tokens: uniform 5 20}}\n"
        "  - {name: long, weight: 1, data: {input_tokens: uniform 90 200, "
        "output_tokens: uniform 3 9}}\n";
    static const char *const launches[] = {NULL,      "local:1", "local:2",
                                           "local:4", "local:7", "mpi:3"};
    char *file = tmpdir_write("s.yaml", text, strlen(text));
    char **want = NULL;
    struct facts *rows = NULL;
    size_t n = 0;
    size_t n_long = 0;

    for (size_t i = 0; i < COUNT(launches) - !mpi_set_up(); i++) {
        char *log = tmpdir_path(keepf("log%zu", i));
        char *dir = tmpdir_path(keepf("run%zu", i));
        struct echoserver server =
            echoserver_start(&(struct echo_setup){.log = log});
        struct proc_result r;
        struct facts *got_rows;
        size_t n_rows;
        size_t n_got;
        char **got;

        r = proc_run(ARGS("run", file, "--url",
                          keepf("%s/v1/chat/completions", server.url), "-q",
                          "--no-preflight", "-o", dir,
                          launches[i] ? "--launch" : NULL, launches[i]));
        echoserver_stop(&server);
        got = read_bodies(log, &n_got);
        /* On a busy machine a shard may be late for the start.  The others may
         * have begun to send by then, and all send the same bytes again. */
        if (strstr(r.err, "starting all shards again"))
            n_got = drop_repeats(got, n_got);
        got_rows = read_rows(dir, &n_rows);
        assert_int_equal(n_got, 60);
        assert_int_equal(n_rows, 60);
        if (i == 0) {
            want = got;
            rows = got_rows;
            n = n_got;
            continue;
        }
        for (size_t k = 0; k < n; k++) {
            assert_string_equal(got[k], want[k]);
            assert_int_equal(got_rows[k].due, rows[k].due);
            assert_int_equal(got_rows[k].class, rows[k].class);
            n_long += rows[k].class == 1;
        }
        free(got_rows);
        free(got);
    }
    assert_true(n_long > 0);
    free(rows);
    free(want);
}

/* ---- refused ---- */

TEST_WITH(a_launch_that_cannot_be_is_refused, tmpdir_setup, tmpdir_teardown)
{
    static const struct {
        const char *launch;
        const char *flag;
        const char *value;
        const char *want;
    } cases[] = {
        {"local:0", NULL, NULL, "expected local:N"},
        {"local", NULL, NULL, "does not say how many shards"},
        {"ssh:", NULL, NULL, "expected ssh:HOST,HOST"},
        {"ssh:a,;b", NULL, NULL, "expected ssh:HOST,HOST"},
        {"ssh:-oProxyCommand", NULL, NULL, "expected ssh:HOST,HOST"},
        {"loca:2", NULL, NULL, "requires --shards N"},
        {"local:2", "--shards", "3", "has 2 shards, --shards 3"},
        {"local:2", "--shard", "0/2", "cannot be combined"},
        {"local:2", "--until", "e2e p50 +- 50%",
         "--launch cannot be combined with --until"},
        {"local:2", "--stop", "decided",
         "--launch cannot be combined with --stop decided"},
        {NULL, "--shards", "3", "require --launch"},
        {"local:2", "--probe-shard", "1", "leaves no request"},
        {"local:10", NULL, NULL, "9 requests cannot be divided"},
        {"local:33", "-t", "64", "above the maximum of 1024"},
        {NULL, "--probe-shard", "9", "requires at least two shards"},
    };
    struct proc_result without_rate;

    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *launch = cases[i].launch ? cases[i].launch : "1";
        struct proc_result r = proc_run(ARGS(
            "run", "null://", "-n", "9", "--nonce", "1", "--slo",
            "e2e p50 < 1s", "-o", tmpdir_path("run"),
            cases[i].launch ? "--launch" : "-R", launch,
            cases[i].launch ? "-R" : "-t", "1", cases[i].flag, cases[i].value));

        proc_expect(&r, 2);
        if (!strstr(r.err, cases[i].want))
            fail_msg("%zu: %s", i, r.err);
    }
    without_rate = proc_run(ARGS("run", "null://", "-n", "9", "--launch",
                                 "local:2", "--scenario", "single-stream"));
    proc_expect(&without_rate, 2);
    assert_non_null(
        strstr(without_rate.err,
               "--launch cannot be combined with --scenario single-stream"));
}

/* Nothing is sent that could not be kept. */
TEST_WITH(a_place_that_is_in_use_is_refused, tmpdir_setup, tmpdir_teardown)
{
    static const char *const files[] = {"run/manifest.json", "run.shards/left"};
    char *dir = tmpdir_path("run");
    char *mark = tmpdir_path("mark");
    struct proc_result r;

    setenv("MARK", mark, 1);
    for (size_t i = 0; i < COUNT(files); i++) {
        char *place = tmpdir_path(i == 0 ? "run" : "run.shards");

        mkdir(place, 0777);
        tmpdir_write(files[i], "{", 1);
        r = proc_run(ARGS("run", "null://", LAUNCH("touch $MARK; exit 1"),
                          "--shards", "2", "-o", dir));
        proc_expect(&r, 2);
        assert_non_null(strstr(r.err, "--force"));
        assert_int_equal(access(mark, F_OK), -1);
        assert_int_equal(access(tmpdir_path(files[i]), F_OK), 0);
        if (i == 0)
            unlink(tmpdir_path(files[i]));
        rmdir(dir);
    }
    r = proc_run(
        ARGS("run", "null://", LAUNCH("local:2"), "--force", "-o", dir));
    run_expect(&r, dir, 0);
    json_decref(expect_shards(dir, 2));
}

TEST_WITH(what_cannot_be_merged_is_kept, tmpdir_setup, tmpdir_teardown)
{
    static const char twice[] =
        "\"$TAILGATE_EXE\" shard \"$TAILGATE_PLAN\" --shard 0/2 -o "
        "\"$TAILGATE_OUT\"; cp -r \"$TAILGATE_OUT/0\" \"$TAILGATE_OUT/1\"";
    char *dir = tmpdir_path("run");
    struct proc_result r = proc_run(
        ARGS("run", "null://", LAUNCH(twice), "--shards", "2", "-o", dir));

    proc_expect(&r, 3);
    assert_non_null(strstr(
        r.err, keepf("the recordings of the shards are in %s.shards: ", dir)));
    assert_non_null(strstr(r.err, "given twice"));
    assert_int_equal(access(keepf("%s.shards/0/manifest.json", dir), F_OK), 0);
}

/* The server runs here, and its log is in the directory. */
TEST_WITH(a_server_is_ended_with_its_launch, tmpdir_setup, tmpdir_teardown)
{
    char *text = keepf("target: {url: 'http://127.0.0.1:{port}/'}\n"
                       "load: {rate: 100, requests: 60}\n"
                       "server: {start: '%s stub --port $TAILGATE_PORT'}\n"
                       "cost: {memory_of: server}\n",
                       getenv("TAILGATE"));
    char *file = tmpdir_write("s.yaml", text, strlen(text));
    char *dir = tmpdir_path("run");
    struct proc_result r = proc_run(
        ARGS("run", file, "--launch", "exit 7", "--shards", "2", "-o", dir));

    proc_expect(&r, 3);
    assert_non_null(strstr(r.err, "--launch failed twice: exit code 7"));
    assert_int_equal(access(dir, F_OK), -1);
    r = proc_run(ARGS("run", file, "--launch", "ssh:a,b", "-o", dir));
    proc_expect(&r, 2);
    assert_non_null(strstr(r.err, "is a process of this machine"));
    assert_int_equal(access(dir, F_OK), -1);
}

/* ---- hosts as network namespaces ---- */

static bool is_done(const char *command)
{
    return system(command) == 0;
}

/* Two hosts, each with a cable to us. */
static bool make_hosts(void)
{
    return netns_enter() &&
           is_done(
               "for i in 1 2; do h=tg$PPID-$i; ip netns add $h && ip link add "
               "v$i type veth peer name e0 netns $h && ip addr add "
               "10.99.$i.1/24 dev v$i && ip link set v$i up && ip -n $h addr "
               "add 10.99.$i.2/24 dev e0 && ip -n $h link set e0 up && ip -n "
               "$h link set lo up && ip -n $h route add default via "
               "10.99.$i.1 || exit 1; done 2>/dev/null");
}

TEST_WITH(ssh_reaches_other_hosts, tmpdir_setup, tmpdir_teardown)
{
    static const char play[] =
        "#!/bin/sh\n"
        "host=$1; shift\n"
        "exec ip netns exec $host unshare --uts sh -c \"hostname $host; $*\"\n";
    char *dir = tmpdir_path("run");
    char *a = keepf("tg%d-1", (int)getpid());
    char *b = keepf("tg%d-2", (int)getpid());
    struct proc stub;
    struct proc_result r;
    json_t *summary;
    char *script;
    char *url;

    if (getuid() != 0 || !make_hosts()) {
        print_message("skipped: network namespaces need root and iproute2\n");
        skip();
    }
    script = tmpdir_write("ssh", play, strlen(play));
    assert_int_equal(chmod(script, 0755), 0);
    setenv("TAILGATE_SSH", script, 1);
    setenv("TAILGATE_REMOTE", getenv("TAILGATE"), 1);
    stub = stub_start(ARGS("stub", "--bind", "0.0.0.0"), &url);
    r = proc_run(ARGS("run", keepf("http://10.99.1.1%s", strrchr(url, ':')),
                      LAUNCH(keepf("ssh:%s,%s", a, b)), "-o", dir));
    stub_stop(&stub);
    is_done("for i in 1 2; do ip netns del tg$PPID-$i; done");
    run_expect(&r, dir, 0);
    summary = expect_shards(dir, 2);
    r = proc_run(ARGS("report", dir, "-v"));
    assert_non_null(strstr(r.out, a));
    assert_non_null(strstr(r.out, b));
    json_decref(summary);
}
