/* Many runs: their seeds, their order, and what is on disk whatever ends them.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/base/err.h"
#include "common/base/stop.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "study/child.h"
#include "study/trials_study.h"
#include "tests/support/tmpdir.h"

#define MANY 1000

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void the_first_seed_is_the_given_one(void **state)
{
    static uint64_t seeds[2 * MANY];

    (void)state;
    assert_true(trial_seed(7, 1) == 7);
    assert_true(trial_seed(UINT64_MAX, 1) == UINT64_MAX);
    assert_true(trial_seed(7, 2) == trial_seed(7, 2));
    for (int64_t i = 0; i < MANY; i++) {
        seeds[i] = trial_seed(1, i + 1);
        seeds[MANY + i] = trial_seed(2, i + 1);
        assert_true(seeds[i] < UINT64_C(1) << 48);
    }
    qsort(seeds, (size_t)2 * MANY, sizeof(seeds[0]), compare);
    for (size_t i = 1; i < (size_t)2 * MANY; i++)
        assert_true(seeds[i] != seeds[i - 1]);
}

/* They are part of what a seed means. */
static void seeds_stay_what_they_are(void **state)
{
    (void)state;
    assert_true(trial_seed(1, 2) == UINT64_C(275416395666060));
    assert_true(trial_seed(1, 3) == UINT64_C(160862383480698));
}

static void every_seed_is_another(void **state)
{
    struct settings s;

    (void)state;
    settings_init(&s);
    trial_reseed(&s, 1);
    assert_true(s.load.seed == 1 && s.stub.seed == 1);
    trial_reseed(&s, 2);
    assert_true(s.load.seed == trial_seed(1, 2));
    assert_true(s.stub.seed == trial_seed(1, 2));
    assert_true(s.load.schedule_seed == 0); /* of no use to our own */
    assert_true(s.data.nonce == 0);
    s.data.nonce = 5;
    s.load.seeds = SEEDS_MLPERF;
    trial_reseed(&s, 2);
    assert_true(s.load.schedule_seed == trial_seed(0, 2));
    assert_true(s.load.qsl_seed == 0); /* there are no samples to draw */
    assert_true(s.data.nonce == trial_seed(5, 2));
    s.data.file = xstrdup("samples.jsonl");
    trial_reseed(&s, 2);
    assert_true(s.load.qsl_seed == trial_seed(0, 2));
    assert_true(s.load.sample_index_seed == trial_seed(0, 2));
    settings_fini(&s);
}

/* What a class draws for its requests goes by its own copy of the seeds, and so
 * does which requests it takes for its own. */
static void those_of_classes_too(void **state)
{
    struct settings s;
    struct settings of_class;
    struct settings of_warmup;
    struct class_settings class = {.settings = &of_class};
    struct class_settings warmup = {.settings = &of_warmup};

    (void)state;
    settings_init(&s);
    settings_init(&of_class);
    settings_init(&of_warmup);
    of_class.data.nonce = 5;
    s.classes = (struct classes){.items = &class, .len = 1};
    s.warmup = (struct classes){.items = &warmup, .len = 1};
    trial_reseed(&s, 3);
    assert_true(of_class.load.seed == s.load.seed);
    assert_true(of_class.data.nonce == trial_seed(5, 3));
    assert_true(of_warmup.load.seed == s.load.seed);
    s.classes = (struct classes){0};
    s.warmup = (struct classes){0};
    settings_fini(&of_warmup);
    settings_fini(&of_class);
    settings_fini(&s);
}

static void turns_are_balanced(void **state)
{
    char *one = trials_order(3, 1);
    char *two = trials_order(5, 2);

    (void)state;
    assert_string_equal(one, "AAA");
    assert_string_equal(two, "ABBAABBAAB");
    for (int64_t i = 0; i < 10; i++)
        assert_int_equal(trials_place(i, 2).number, i / 2 + 1);
    for (int64_t i = 0; i < 3; i++)
        assert_int_equal(trials_place(i, 1).number, i + 1);
    free(one);
    free(two);
}

/* ---- the loop ---- */

struct script {
    int made;
    int fails_at; /* 0: never */
    int stops_at;
};

static int play(void *arg, struct trial_place place, const char *dir,
                struct err *err)
{
    struct script *s = arg;
    char *expected = xasprintf("trial-%lld", (long long)place.number);

    assert_non_null(strstr(dir, expected));
    free(expected);
    s->made++;
    if (s->made == s->stops_at)
        atomic_store(&stop_signal, SIGINT);
    return s->made == s->fails_at ? err_set(err, ERR_IO, "the server is gone")
                                  : 0;
}

/* Two sides of three trials, in directories of their own. */
static int run_script(struct script *script, const char *restart,
                      struct trial_set read[2], struct err *err)
{
    static int runs;
    struct study_settings study = {.trials = 3, .restart = (char *)restart};
    uint64_t seeds[] = {1, 2, 3};
    char *dirs[2];
    struct trials t = {.n = 3, .n_sides = 2, .run = play, .arg = script};
    int rc;

    runs++;
    for (int i = 0; i < 2; i++) {
        dirs[i] = xasprintf("%s/set-%d-%d", tmpdir_root(), runs, i);
        assert_int_equal(study_make_dir(dirs[i], false, err), 0);
        t.sides[i] = (struct trials_side){
            .dir = dirs[i],
            .study = &study,
            .set = {.asked = 3, .seeds = seeds, .settings_hash = "00ff"}};
    }
    rc = trials_run(&t, err);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(trial_set_load(&read[i], dirs[i], &(struct err){0}),
                         0);
        free(dirs[i]);
    }
    atomic_store(&stop_signal, 0);
    return rc;
}

static void all_of_them(void **state)
{
    struct script script = {0};
    struct trial_set set[2];
    struct err err = {0};

    (void)state;
    assert_int_equal(run_script(&script, NULL, set, &err), 0);
    assert_int_equal(script.made, 6);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(set[i].asked, 3);
        assert_int_equal(set[i].recorded, 3);
        assert_int_equal(trial_set_launches(&set[i]), 1);
        assert_int_equal(set[i].seeds[2], 3);
        assert_string_equal(set[i].settings_hash, "00ff");
        assert_string_equal(set[i].failed, "");
        trial_set_fini(&set[i]);
    }
}

/* A1 B1 B2, and A2 fails. */
static void one_that_fails_ends_it(void **state)
{
    struct script script = {.fails_at = 4};
    struct trial_set set[2];
    struct err err = {0};

    (void)state;
    assert_int_equal(run_script(&script, NULL, set, &err), -1);
    assert_string_equal(err.msg, "the server is gone");
    assert_int_equal(set[0].recorded, 1);
    assert_int_equal(set[1].recorded, 2);
    assert_string_equal(set[0].failed, "the server is gone");
    assert_int_equal(set[0].stopped_by, 0);
    trial_set_fini(&set[0]);
    trial_set_fini(&set[1]);
}

static void a_signal_ends_it(void **state)
{
    struct script script = {.stops_at = 2};
    struct trial_set set[2];
    struct err err = {0};

    (void)state;
    assert_int_equal(run_script(&script, NULL, set, &err), 0);
    assert_int_equal(script.made, 2);
    assert_int_equal(set[0].recorded + set[1].recorded, 2);
    assert_int_equal(set[0].stopped_by, SIGINT);
    assert_int_equal(set[1].stopped_by, SIGINT);
    trial_set_fini(&set[0]);
    trial_set_fini(&set[1]);
}

static void a_restart_that_fails_ends_it(void **state)
{
    struct script script = {0};
    struct trial_set set[2];
    struct err err = {0};

    (void)state;
    assert_int_equal(run_script(&script, "exit 7", set, &err), -1);
    assert_int_equal(script.made, 0);
    assert_string_equal(err.msg, "study.restart: exit code 7");
    trial_set_fini(&set[0]);
    trial_set_fini(&set[1]);
}

static void commands_are_waited_for(void **state)
{
    char *command = xasprintf("echo x > %s/made", tmpdir_root());
    char *path = xasprintf("%s/made", tmpdir_root());
    struct err err = {0};

    (void)state;
    assert_int_equal(
        child_run_command(command, "study.restart", CHILD_PATIENCE_NS, &err),
        0);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(child_run_command("kill -9 $$", "study.restart",
                                       CHILD_PATIENCE_NS, &err),
                     -1);
    assert_string_equal(err.msg, "study.restart: signal 9");
    err = (struct err){0};
    atomic_store(&stop_signal, SIGINT);
    assert_int_equal(child_run_command("sleep 100", "study.restart",
                                       CHILD_PATIENCE_NS, &err),
                     -1);
    assert_int_equal(err.code, ERR_STOPPED);
    atomic_store(&stop_signal, 0);
    free(path);
    free(command);
}

/* ---- the directory ---- */

static void only_trials_are_replaced(void **state)
{
    char *dir = xstrdup(tmpdir_path("forced"));
    char *trial = trial_set_path(dir, 1);
    uint64_t seed = 1;
    const struct trial_set set = {.asked = 1, .seeds = &seed};
    struct trial_set read;
    struct err err = {0};

    (void)state;
    assert_int_equal(study_make_dir(dir, false, &err), 0);
    assert_int_equal(mkdir(trial, 0777), 0);
    for (int force = 0; force < 2; force++) {
        assert_int_equal(study_make_dir(dir, force, &err), -1);
        assert_int_equal(err.code, ERR_USAGE); /* it has no study.json */
        assert_non_null(strstr(err.msg, "holds no study to replace"));
        err = (struct err){0};
    }
    assert_int_equal(trial_set_save(&set, dir, &err), 0);
    assert_int_equal(study_make_dir(dir, false, &err), -1);
    assert_int_equal(err.code, ERR_USAGE);
    err = (struct err){0};
    assert_int_equal(study_make_dir(dir, true, &err), 0);
    assert_int_equal(access(trial, F_OK), -1);
    assert_false(study_is_at(dir));
    assert_int_equal(trial_set_save_pair(dir, "ABBA", &err), 0);
    assert_int_equal(trial_set_load(&read, dir, &err), -1);
    assert_int_equal(err.code, ERR_CONFIG);
    err = (struct err){0};
    assert_int_equal(study_remove(dir, &err), 0);
    assert_int_equal(access(dir, F_OK), -1);
    free(trial);
    free(dir);
}

/* In the directory of the study, before or after its first study.json, and in
 * that of a trial. */
static void what_a_crash_left_is_replaced(void **state)
{
    char *dir = xstrdup(tmpdir_path("crashed"));
    char *trial = trial_set_path(dir, 1);
    uint64_t seed = 1;
    const struct trial_set set = {.asked = 1, .seeds = &seed};
    struct err err = {0};

    (void)state;
    for (int has_study = 0; has_study < 2; has_study++) {
        assert_int_equal(study_make_dir(dir, false, &err), 0);
        assert_int_equal(mkdir(trial, 0777), 0);
        tmpdir_write("crashed/study.json.new", "{", 1);
        tmpdir_write("crashed/summary.json.new", "{", 1);
        tmpdir_write("crashed/trial-1/manifest.json.new", "{", 1);
        if (has_study)
            assert_int_equal(trial_set_save(&set, dir, &err), 0);
        tmpdir_write("crashed/study.json.new-1-0", "{", 1);
        assert_int_equal(study_make_dir(dir, true, &err), 0);
        assert_int_equal(rmdir(dir), 0); /* nothing is left */
    }

    /* a recording is not a study, even if it has such a file */
    assert_int_equal(mkdir(dir, 0777), 0);
    tmpdir_write("crashed/manifest.json", "{}", 2);
    tmpdir_write("crashed/summary.json.new-1-0", "{", 1);
    assert_int_equal(study_make_dir(dir, true, &err), -1);
    assert_int_equal(err.code, ERR_USAGE);
    free(trial);
    free(dir);
}

static void damaged_files_are_refused(void **state)
{
    static const char *const texts[] = {
        "{\"version\": 2, \"kind\": \"trials\"}",
        "{\"version\": 1, \"kind\": \"sweep\"}",
        "{\"version\": 1, \"kind\": \"trials\", \"trials\": 2, \"recorded\": "
        "3, \"seeds\": [\"1\", \"2\"]}",
        "{\"version\": 1, \"kind\": \"trials\", \"trials\": 2, \"recorded\": "
        "1, \"seeds\": [\"1\"]}",
        "{\"version\": 1, \"kind\": \"trials\", \"trials\": 1000000000000, "
        "\"recorded\": 1, \"seeds\": []}",
        "not json",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct trial_set set;
        struct err err = {0};

        tmpdir_write("study.json", texts[i], strlen(texts[i]));
        assert_int_equal(trial_set_load(&set, tmpdir_root(), &err), -1);
        assert_int_equal(err.code, ERR_FORMAT);
        trial_set_fini(&set);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_seed_is_the_given_one),
        cmocka_unit_test(seeds_stay_what_they_are),
        cmocka_unit_test(every_seed_is_another),
        cmocka_unit_test(those_of_classes_too),
        cmocka_unit_test(turns_are_balanced),
        cmocka_unit_test(all_of_them),
        cmocka_unit_test(one_that_fails_ends_it),
        cmocka_unit_test(a_signal_ends_it),
        cmocka_unit_test(a_restart_that_fails_ends_it),
        cmocka_unit_test(commands_are_waited_for),
        cmocka_unit_test(only_trials_are_replaced),
        cmocka_unit_test(what_a_crash_left_is_replaced),
        cmocka_unit_test(damaged_files_are_refused),
    };

    return cmocka_run_group_tests_name("trials", tests, tmpdir_setup,
                                       tmpdir_teardown);
}
