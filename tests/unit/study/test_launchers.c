/* The parts of a launch that need no process: which launcher, how long it may
 * take, the plan of a shard, and the comparison of clocks. */
#include <fcntl.h>
#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/settings/settings.h"
#include "loadgen/engine/run.h"
#include "loadgen/prepare/preflight.h"
#include "study/launch/clock_exchange.h"
#include "study/launch/launch.h"
#include "study/launch/launchers.h"
#include "study/launch/shard_plan.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

TEST(launchers_are_found_by_name)
{
    static const struct {
        struct launch_ask ask;
        const char *name; /* NULL: refused */
        int64_t n;
        const char *rest;
    } cases[] = {
        {{.text = "local:4"}, "local", 4, "4"},
        {{.text = "ssh:a,b.example.org,user@c"}, "ssh", 3, NULL},
        {{.text = "srun", .shards = 5}, "srun", 5, ""},
        {{.text = "srun:6"}, "srun", 6, "6"},
        {{.text = "mpirun:2", .shards = 2}, "mpirun", 2, "2"},
        {{.text = "kubectl:1"}, "kubectl", 1, "1"},
        {{.text = "./mine -x", .shards = 3}, "command", 3, "./mine -x"},
        {{.text = "sshd:a", .shards = 3}, "command", 3, "sshd:a"},
        {{.text = "local"}, NULL, 0, NULL},
        {{.text = "local:x"}, NULL, 0, NULL},
        {{.text = "local:2000"}, NULL, 0, NULL},
        {{.text = "ssh:a,"}, NULL, 0, NULL},
        {{.text = "ssh:a b"}, NULL, 0, NULL},
        {{.text = "ssh:$(x)"}, NULL, 0, NULL},
        {{.text = "local:2", .shards = 3}, NULL, 0, NULL},
        {{.text = "./mine"}, NULL, 0, NULL},
    };

    unsetenv("SLURM_NTASKS");
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct launcher l = {0};
        struct err err = {0};
        int rc = launcher_find(&l, &cases[i].ask, &err);

        if (!cases[i].name) {
            assert_int_equal(rc, -1);
            assert_int_equal(err.code, ERR_USAGE);
            continue;
        }
        assert_int_equal(rc, 0);
        assert_string_equal(l.ops->name, cases[i].name);
        assert_int_equal(l.n, cases[i].n);
        if (cases[i].rest)
            assert_string_equal(l.rest, cases[i].rest);
        assert_true(l.lead_ns > 0);
    }
    setenv("SLURM_NTASKS", "7", 1);
    struct launcher l = {0};
    struct err err = {0};

    assert_int_equal(
        launcher_find(&l, &(struct launch_ask){.text = "srun"}, &err), 0);
    assert_int_equal(l.n, 7);
    unsetenv("SLURM_NTASKS");
}

TEST(a_launch_has_a_limit)
{
    struct settings s;

    settings_init(&s);
    s.load.scenario = SCENARIO_SERVER;
    s.load.rate_rps = 10;
    s.load.duration_ns = 20 * NS_PER_S;
    s.load.warmup_ns = 5 * NS_PER_S;
    s.load.cooldown_ns = 0;
    s.load.drain_ns = 3 * NS_PER_S;
    s.target.timeout_ns = 4 * NS_PER_S;
    assert_int_equal(launch_limit_ns(&s, 2 * NS_PER_S, NS_PER_S),
                     (2 + 1 + 5 + 20 + 3 + 4) * NS_PER_S + LAUNCH_SPARE_NS);
    s.load.duration_ns = 0;
    s.load.requests = 100; /* 10 s; twice that */
    assert_int_equal(launch_limit_ns(&s, 0, 0),
                     (5 + 20 + 3 + 4) * NS_PER_S + LAUNCH_SPARE_NS);
    s.load.rate_rps = 0; /* a closed loop: not known */
    s.load.scenario = SCENARIO_CLOSED;
    assert_int_equal(launch_limit_ns(&s, 0, 0), 86400 * NS_PER_S);
    settings_fini(&s);
}

/* What another machine reads is what was asked here, with its secrets. */
TEST_WITH(a_plan_keeps_everything, tmpdir_setup, tmpdir_teardown)
{
    static const char text[] =
        "name: all\n"
        "target: {url: 'http://h/v1/chat/completions?api_key=s', api: "
        "openai-chat, model: m, headers: {authorization: Bearer x}}\n"
        "load: {stages: [10/s 5s, 10/s..20/s 5s], warmup: 1s, seed: "
        "3}\n"
        "slo: [e2e p99 < 1s]\n"
        "client: {threads: 2, probe_shard: 50}\n"
        "classes:\n"
        "  - {name: a, weight: 2, data: {input_tokens: uniform 5 20}, slo: "
        "[ttft p99 < 1s]}\n"
        "  - {name: b, weight: 1, target: {headers: {x-api-key: k}}}\n";
    static const char *const argv[] = {"run", "s.yaml", NULL};
    const struct run_options options = {
        .argv = argv, .settings_file = "s.yaml", .wait_ready_ns = 7};
    char *path = tmpdir_path("plan.json");
    struct shard_plan read;
    struct run_plan plan;
    struct settings s;
    struct err err = {0};
    struct stat st;
    json_t *want;
    json_t *got;
    char *shown;

    settings_init(&s);
    if (settings_load(&s, tmpdir_write("s.yaml", text, strlen(text)), &err) ||
        settings_resolve(&s, &err))
        fail_msg("%s", err.msg);
    run_plan_init(&plan, &s);
    assert_int_equal(shard_plan_write(path, &plan, &options, 3, 12345, &err),
                     0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    if (shard_plan_read(&read, path, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(read.shards, 3);
    assert_int_equal(read.start_at_ns, 12345);
    assert_int_equal(read.wait_ready_ns, 7);
    assert_string_equal(read.argv.items[1], "s.yaml");
    want = settings_to_json_with_secrets(&s);
    got = settings_to_json_with_secrets(&read.settings);
    assert_true(json_equal(want, got));
    shown = json_dumps(got, 0);
    assert_non_null(strstr(shown, "Bearer x"));
    assert_non_null(strstr(shown, "api_key=s"));
    free(shown);
    json_decref(want);
    json_decref(got);
    shard_plan_fini(&read);
    run_plan_fini(&plan);
    settings_fini(&s);
}

TEST_WITH(a_wrong_plan_is_refused, tmpdir_setup, tmpdir_teardown)
{
    static const struct {
        const char *text;
        const char *want;
    } cases[] = {
        {"", "is not the plan of a launch"},
        {"[1]", "is not the plan of a launch"},
        {"{}", "no valid version"},
        {"{\"tailgate\": \"0.0.0\", \"shards\": 2, \"start_at_ns\": 5}",
         "install the same version"},
        {"{\"tailgate\": \"0.0.0\", \"shards\": 0, \"start_at_ns\": 5}",
         "no valid version"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        char *path = tmpdir_write("p", cases[i].text, strlen(cases[i].text));
        struct shard_plan p;
        struct err err = {0};

        assert_int_equal(shard_plan_read(&p, path, &err), -1);
        assert_int_equal(err.code, ERR_FORMAT);
        if (!strstr(err.msg, cases[i].want))
            fail_msg("%s", err.msg);
        shard_plan_fini(&p);
    }
}

/* ---- clocks ---- */

struct other_end {
    int in;
    int out;
};

static void *answer(void *arg)
{
    const struct other_end *e = arg;

    clock_answer(e->in, e->out, &(struct err){0});
    close(e->out);
    return NULL;
}

/* Both read the same clock: the offset is 0 within the error that is said. */
TEST(the_same_clock_is_not_off)
{
    struct clock_offset found;
    struct other_end end;
    struct err err = {0};
    pthread_t thread;
    int there[2];
    int back[2];

    assert_int_equal(pipe(there), 0);
    assert_int_equal(pipe(back), 0);
    end = (struct other_end){there[0], back[1]};
    assert_int_equal(pthread_create(&thread, NULL, answer, &end), 0);
    assert_int_equal(clock_ask(back[0], there[1], &found, &err), 0);
    close(there[1]);
    pthread_join(thread, NULL);
    assert_true(llabs(found.offset_ns) <= found.error_ns);
    assert_true(found.error_ns > 0);
    close(there[0]);
    close(back[0]);
}

TEST(what_is_no_clock_is_refused)
{
    static const char *const wrong[] = {"echo", "no time", NULL};
    static const char *const none[] = {"/nonexistent", NULL};
    struct clock_offset found;
    struct err err = {0};

    signal(SIGPIPE, SIG_IGN); /* as tailgate has it: echo may be gone */
    assert_int_equal(clock_ask_command(wrong, &found, &err), -1);
    assert_int_equal(err.code, ERR_IO);
    err = (struct err){0};
    assert_int_equal(clock_ask_command(none, &found, &err), -1);
}
