/* A study: seeds, turns, and what is on disk however it ends. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/stop.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "study/child.h"
#include "study/study.h"
#include "tests/support/keep.h"
#include "tests/support/sided.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define MANY 1000

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

TEST(the_first_seed_is_the_given_one)
{
    static uint64_t seeds[2 * MANY];

    assert_true(study_seed(7, 1) == 7);
    assert_true(study_seed(UINT64_MAX, 1) == UINT64_MAX);
    assert_true(study_seed(7, 2) == study_seed(7, 2));
    for (int64_t i = 0; i < MANY; i++) {
        seeds[i] = study_seed(1, i + 1);
        seeds[MANY + i] = study_seed(2, i + 1);
        assert_true(seeds[i] < UINT64_C(1) << 48);
    }
    qsort(seeds, (size_t)2 * MANY, sizeof(seeds[0]), compare);
    for (size_t i = 1; i < (size_t)2 * MANY; i++)
        assert_true(seeds[i] != seeds[i - 1]);
}

/* They are part of what a seed means. */
TEST(seeds_stay_what_they_are)
{
    assert_true(study_seed(1, 2) == UINT64_C(275416395666060));
    assert_true(study_seed(1, 3) == UINT64_C(160862383480698));
}

TEST(every_seed_is_another)
{
    struct settings s;

    settings_init(&s);
    study_reseed(&s, 1);
    assert_true(s.load.seed == 1 && s.stub.seed == 1);
    study_reseed(&s, 2);
    assert_true(s.load.seed == study_seed(1, 2));
    assert_true(s.stub.seed == study_seed(1, 2));
    assert_true(s.load.schedule_seed == 0); /* of no use to our own */
    assert_true(s.data.nonce == 0);
    s.data.nonce = 5;
    s.load.seeds = SEEDS_MLPERF;
    study_reseed(&s, 2);
    assert_true(s.load.schedule_seed == study_seed(0, 2));
    assert_true(s.load.qsl_seed == 0); /* there are no samples to draw */
    assert_true(s.data.nonce == study_seed(5, 2));
    s.data.file = xstrdup("samples.jsonl");
    study_reseed(&s, 2);
    assert_true(s.load.qsl_seed == study_seed(0, 2));
    assert_true(s.load.sample_index_seed == study_seed(0, 2));
    settings_fini(&s);
}

/* What a class draws for its requests goes by its own copy of the seeds, and so
 * does which requests it takes for its own. */
TEST(those_of_classes_too)
{
    struct settings s;
    struct settings of_class;
    struct settings of_warmup;
    struct class_settings class = {.settings = &of_class};
    struct class_settings warmup = {.settings = &of_warmup};

    settings_init(&s);
    settings_init(&of_class);
    settings_init(&of_warmup);
    of_class.data.nonce = 5;
    s.classes = (struct classes){.items = &class, .len = 1};
    s.warmup = (struct classes){.items = &warmup, .len = 1};
    study_reseed(&s, 3);
    assert_true(of_class.load.seed == s.load.seed);
    assert_true(of_class.data.nonce == study_seed(5, 3));
    assert_true(of_warmup.load.seed == s.load.seed);
    s.classes = (struct classes){0};
    s.warmup = (struct classes){0};
    settings_fini(&of_warmup);
    settings_fini(&of_class);
    settings_fini(&s);
}

/* ---- turns ---- */

#define MAX_ARMS 4
#define NEVER    SIZE_MAX

TEST(each_arm_has_its_turn)
{
    static const struct {
        size_t n;
        size_t made[MAX_ARMS];
        size_t wanted[MAX_ARMS];
        size_t failing;  /* which arm fails, ... */
        size_t fails_at; /* ... with this many recordings */
        const char *log;
    } rows[] = {
        {1, {0}, {3}, NEVER, 0, "AAA"},
        {2, {0}, {5, 5}, NEVER, 0, "ABBAABBAAB"},
        {3, {0}, {3, 3, 3}, NEVER, 0, "ABCCBAABC"},
        /* searches differ in length */
        {3, {0}, {1, 3, 2}, NEVER, 0, "ABCCBB"},
        /* the others go on */
        {3, {0}, {3, 3, 3}, 1, 0, "ABCCAAC"},
        {3, {0}, {3, 3, 3}, 1, 1, "ABCCBAAC"},
        /* an earlier attempt got as far as A B C C */
        {3, {1, 1, 2}, {3, 3, 3}, NEVER, 0, "BAABC"},
        {3, {3, 3, 3}, {3, 3, 3}, NEVER, 0, ""},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct study_turn turns[MAX_ARMS];
        char log[64] = "";
        size_t len = 0;
        size_t k;

        for (k = 0; k < rows[i].n; k++)
            turns[k] = (struct study_turn){
                rows[i].made[k], rows[i].made[k] == rows[i].wanted[k]};
        while (study_next_turn(turns, rows[i].n, &k)) {
            log[len++] = (char)('A' + k);
            if (k == rows[i].failing && turns[k].made == rows[i].fails_at)
                turns[k].is_over = true;
            else
                turns[k].is_over = ++turns[k].made == rows[i].wanted[k];
        }
        assert_string_equal(log, rows[i].log);
    }
}

TEST(the_order_of_a_pair)
{
    char *order = study_order(5);

    assert_string_equal(order, "ABBAABBAAB");
    free(order);
}

/* ---- the driver ---- */

struct script {
    const char *restart; /* NULL: none */
    bool resume;
    int made;
    int fails_at; /* 0: never */
    int stops_at;
    char log[64]; /* the arms, as they were recorded */
};

/* A recording that was made without a run. */
static int play(void *arg, const struct settings *s,
                const struct study_recording *r, struct err *err)
{
    const struct study *study = r->arm->study;
    struct script *script = arg;

    assert_true(s->load.seed == r->arm->set.points[r->arm->set.recorded].seed);
    assert_int_equal(r->is_first, script->made == 0);
    script->log[script->made++] = (char)('A' + (r->arm - study->arms));
    if (script->made == script->stops_at)
        atomic_store(&stop_signal, SIGINT);
    if (script->made == script->fails_at)
        return err_set(err, ERR_IO, "the server is gone");
    sided_write(r->dir + strlen(tmpdir_root()) + 1, &(struct sided){.n = 100});
    return 0;
}

/* Two arms of three trials. */
static int run_study(struct script *script, enum study_form form,
                     const char *dir, struct study_set read[2], struct err *err)
{
    const struct settings_file no_file = {0};
    struct settings asked;
    const struct study_source source = {.asked = &asked, .file = &no_file};
    struct study study = {.policy = &study_trials,
                          .form = form,
                          .dir = dir,
                          .resume = script->resume,
                          .record = play,
                          .arg = script};
    int rc;

    settings_init(&asked);
    strlist_add(&asked.target.urls, "http://127.0.0.1:1/");
    asked.load.rate_rps = 100;
    asked.study.trials = 3;
    asked.study.settle_ns = 0;
    asked.study.restart = script->restart ? xstrdup(script->restart) : NULL;
    study_add(&study, "a", &source);
    study_add(&study, "b", &source);
    rc = study_plan(&study, err);
    if (rc == 0)
        rc = study_run(&study, err);
    for (int i = 0; i < 2; i++) {
        char *side = keepf("%s/%c", dir, 'a' + i);

        read[i] = (struct study_set){0};
        if (study_is_at(side))
            assert_int_equal(study_set_load_kind(&read[i], side, STUDY_TRIALS,
                                                 &(struct err){0}),
                             0);
    }
    atomic_store(&stop_signal, 0);
    study_fini(&study);
    settings_fini(&asked);
    return rc;
}

static void fini_sets(struct study_set set[2])
{
    study_set_fini(&set[0]);
    study_set_fini(&set[1]);
}

TEST(all_of_them)
{
    char *dir = tmpdir_path("all");
    struct script script = {0};
    struct study_set set[2];
    struct err err = {0};

    assert_int_equal(run_study(&script, STUDY_TURNS, dir, set, &err), 0);
    assert_string_equal(script.log, "ABBAAB");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(set[i].asked, 3);
        assert_int_equal(set[i].recorded, 3);
        assert_int_equal(study_set_recorded(&set[i]), 3);
        assert_int_equal(study_set_launches(&set[i]), 1);
        assert_true(set[i].points[2].seed == study_seed(1, 3));
        assert_int_equal(strlen(set[i].settings_hash), STUDY_HASH - 1);
        assert_string_equal(set[i].failed, "");
    }
    fini_sets(set);
}

/* A1 B1 B2, and A2 fails. */
TEST(one_that_fails_ends_a_pair)
{
    char *dir = tmpdir_path("fails");
    struct script script = {.fails_at = 4};
    struct study_set set[2];
    struct err err = {0};

    assert_int_equal(run_study(&script, STUDY_TURNS, dir, set, &err), -1);
    assert_string_equal(err.msg, "the server is gone");
    assert_int_equal(set[0].recorded, 1);
    assert_int_equal(set[1].recorded, 2);
    for (int i = 0; i < 2; i++) {
        assert_string_equal(set[i].failed, "the server is gone");
        assert_int_equal(set[i].stopped_by, 0);
    }
    fini_sets(set);
}

TEST(a_signal_ends_it)
{
    char *dir = tmpdir_path("signal");
    struct script script = {.stops_at = 2};
    struct study_set set[2];
    struct err err = {0};

    assert_int_equal(run_study(&script, STUDY_TURNS, dir, set, &err), 0);
    assert_string_equal(script.log, "AB");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(set[i].recorded, 1);
        assert_int_equal(set[i].stopped_by, SIGINT);
    }
    fini_sets(set);
}

TEST(a_restart_that_fails_ends_it)
{
    char *dir = tmpdir_path("restart");
    struct script script = {.restart = "exit 7"};
    struct study_set set[2];
    struct err err = {0};

    assert_int_equal(run_study(&script, STUDY_TURNS, dir, set, &err), -1);
    assert_string_equal(script.log, "");
    assert_string_equal(err.msg, "study.restart: exit code 7");
    assert_int_equal(access(dir, F_OK), -1); /* nothing was recorded */
}

/* A fails in its second trial and B goes on; a second attempt repeats nothing
 * that is recorded. */
TEST(variants_are_resumed)
{
    char *dir = tmpdir_path("variants");
    struct script first = {.fails_at = 4};
    struct script second = {.resume = true};
    struct variant_set variants;
    struct study_set set[2];
    struct err err = {0};

    assert_int_equal(run_study(&first, STUDY_OF_VARIANTS, dir, set, &err), 0);
    assert_string_equal(first.log, "ABBAB");
    assert_int_equal(set[0].recorded, 1);
    assert_int_equal(set[1].recorded, 3);
    fini_sets(set);
    assert_int_equal(variant_set_load(&variants, dir, &err), 0);
    assert_string_equal(variants.list[0].failed, "the server is gone");
    assert_string_equal(variants.list[1].failed, "");
    variant_set_fini(&variants);

    assert_int_equal(run_study(&second, STUDY_OF_VARIANTS, dir, set, &err), 0);
    assert_string_equal(second.log, "AA");
    assert_int_equal(set[0].recorded, 3);
    assert_string_equal(set[0].failed, "");
    fini_sets(set);
}

TEST(commands_are_waited_for)
{
    char *command = keepf("echo x > %s/made", tmpdir_root());
    char *path = keepf("%s/made", tmpdir_root());
    struct err err = {0};

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
}

/* ---- the directory ---- */

TEST(only_trials_are_replaced)
{
    char *dir = tmpdir_path("forced");
    char *trial = study_trial_path(dir, 1);
    struct study_set set = {.asked = 1};
    struct study_set read;
    struct err err = {0};

    study_set_add(&set, POINT_TRIAL, 0);
    assert_int_equal(study_make_dir(dir, false, &err), 0);
    assert_int_equal(mkdir(trial, 0777), 0);
    for (int force = 0; force < 2; force++) {
        assert_int_equal(study_make_dir(dir, force, &err), -1);
        assert_int_equal(err.code, ERR_USAGE); /* it has no study.json */
        assert_non_null(strstr(err.msg, "does not contain a study to replace"));
        err = (struct err){0};
    }
    assert_int_equal(study_set_save(&set, dir, &err), 0);
    assert_int_equal(study_make_dir(dir, false, &err), -1);
    assert_int_equal(err.code, ERR_USAGE);
    err = (struct err){0};
    assert_int_equal(study_make_dir(dir, true, &err), 0);
    assert_int_equal(access(trial, F_OK), -1);
    assert_false(study_is_at(dir));
    assert_int_equal(study_drop_replaced(dir, &err), 0);
    assert_int_equal(study_save_pair(dir, "ABBA", &err), 0);
    assert_int_equal(study_set_load_kind(&read, dir, STUDY_TRIALS, &err), -1);
    assert_int_equal(err.code, ERR_CONFIG);
    err = (struct err){0};
    assert_int_equal(study_remove(dir, &err), 0);
    assert_int_equal(access(dir, F_OK), -1);
    study_set_fini(&set);
    free(trial);
}

/* In the directory of the study, before or after its first study.json, and in
 * that of a trial. */
TEST(what_a_crash_left_is_replaced)
{
    char *dir = tmpdir_path("crashed");
    char *trial = study_trial_path(dir, 1);
    struct study_set set = {.asked = 1};
    struct err err = {0};

    study_set_add(&set, POINT_TRIAL, 0);
    for (int has_study = 0; has_study < 2; has_study++) {
        assert_int_equal(study_make_dir(dir, false, &err), 0);
        assert_int_equal(mkdir(trial, 0777), 0);
        tmpdir_write("crashed/study.json.new", "{", 1);
        tmpdir_write("crashed/summary.json.new", "{", 1);
        tmpdir_write("crashed/trial-1/manifest.json.new", "{", 1);
        if (has_study)
            assert_int_equal(study_set_save(&set, dir, &err), 0);
        tmpdir_write("crashed/study.json.new-1-0", "{", 1);
        assert_int_equal(study_make_dir(dir, true, &err), 0);
        assert_int_equal(study_drop_replaced(dir, &err), 0);
        assert_int_equal(rmdir(dir), 0); /* nothing is left */
    }

    /* a recording is not a study, even if it has such a file */
    assert_int_equal(mkdir(dir, 0777), 0);
    tmpdir_write("crashed/manifest.json", "{}", 2);
    tmpdir_write("crashed/summary.json.new-1-0", "{", 1);
    assert_int_equal(study_make_dir(dir, true, &err), -1);
    assert_int_equal(err.code, ERR_USAGE);
    study_set_fini(&set);
    free(trial);
}

/* Before sets of trials had points, the first ones were those recorded. */
TEST(older_sets_of_trials_are_read)
{
    static const char text[] =
        "{\"version\": 1, \"kind\": \"trials\", \"trials\": 3, "
        "\"recorded\": 2, \"seeds\": [\"7\", \"8\", \"9\"], "
        "\"settings_hash\": \"00ff\", \"launched_by\": \"stub\", "
        "\"launches\": 2}";
    struct study_set set;
    struct err err = {0};

    tmpdir_write("study.json", text, strlen(text));
    assert_int_equal(
        study_set_load_kind(&set, tmpdir_root(), STUDY_TRIALS, &err), 0);
    assert_int_equal(set.len, 3);
    assert_int_equal(study_set_recorded(&set), 2);
    assert_true(set.points[1].is_recorded && !set.points[2].is_recorded);
    assert_true(set.points[2].seed == 9 && set.points[2].number == 3);
    assert_int_equal(study_set_launches(&set), 2);
    study_set_fini(&set);
}

TEST(damaged_files_are_refused)
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
        "{\"version\": 1, \"kind\": \"trials\", \"trials\": 1, "
        "\"recorded\": 1, \"seeds\": [\"1\"], \"points\": [{\"role\": "
        "\"trial\", \"number\": 1, \"recorded\": false}]}",
        "not json",
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct study_set set;
        struct err err = {0};

        tmpdir_write("study.json", texts[i], strlen(texts[i]));
        assert_int_equal(
            study_set_load_kind(&set, tmpdir_root(), STUDY_TRIALS, &err), -1);
        assert_int_equal(err.code, ERR_FORMAT);
        study_set_fini(&set);
    }
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
