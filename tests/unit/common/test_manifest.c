#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/config.h"
#include "common/measure/measure.h"
#include "common/recording/dir.h"
#include "common/recording/failures.h"
#include "common/recording/manifest.h"
#include "common/spec/calibration.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

static void make_settings(struct settings *s)
{
    struct err err = {0};

    settings_init(s);
    assert_int_equal(settings_assign(s, "target.url=http://h/x", &err), 0);
    assert_int_equal(settings_assign(s, "load.rate=12.5", &err), 0);
    assert_int_equal(
        settings_assign(s, "target.headers=Authorization: Bearer s3cret", &err),
        0);
    assert_int_equal(settings_resolve(s, &err), 0);
}

static void begin(struct manifest *m, const char *const *argv)
{
    const struct run_start start = {.monotonic_ns = 123456789,
                                    .realtime_ns = INT64_C(1798761599000000000),
                                    .argv = argv,
                                    .settings_file = "chat.yaml"};
    struct settings s;

    make_settings(&s);
    manifest_init(m, &s, &start);
    settings_fini(&s);
}

static const json_t *get(const struct manifest *m, const char *a, const char *b)
{
    return json_object_get(json_object_get(m->json, a), b);
}

TEST(the_way_and_what_was_not_taken)
{
    static const char *const others[] = {"http_proxy",  "HTTP_PROXY",
                                         "https_proxy", "HTTPS_PROXY",
                                         "all_proxy",   "NO_PROXY"};
    const struct run_start start = {.transport = "curl"};
    struct manifest m = {0};
    const json_t *ignored;
    struct settings s;

    make_settings(&s);
    for (size_t i = 0; i < COUNT(others); i++)
        unsetenv(others[i]);
    setenv("ALL_PROXY", "http://p:1", 1);
    setenv("no_proxy", "", 1);
    manifest_init(&m, &s, &start);
    unsetenv("ALL_PROXY");
    unsetenv("no_proxy");
    ignored = get(&m, "environment", "ignored");
    assert_string_equal(manifest_transport(&m), "curl");
    assert_int_equal(json_array_size(ignored), 1);
    assert_string_equal(json_string_value(json_array_get(ignored, 0)),
                        "ALL_PROXY");
    manifest_fini(&m);
    begin(&m, NULL);
    assert_null(manifest_transport(&m)); /* of an older version */
    manifest_fini(&m);
    settings_fini(&s);
}

TEST(what_was_asked_comes_back)
{
    static const char *const argv[] = {"run", "chat.yaml", "\xff", NULL};
    struct manifest m = {0};
    struct err err = {0};

    begin(&m, argv);
    assert_int_equal(manifest_save(&m, tmpdir_root(), &err), 0);
    manifest_fini(&m);
    assert_int_equal(manifest_load(&m, tmpdir_root(), &err), 0);
    assert_int_equal(json_integer_value(get(&m, "clock", "monotonic_ns")),
                     123456789);
    assert_string_equal(json_string_value(json_object_get(m.json, "tailgate")),
                        TAILGATE_VERSION);
    assert_string_equal(json_string_value(get(&m, "clock", "utc")),
                        "2026-12-31T23:59:59Z");
    assert_string_equal(json_string_value(get(&m, "asked", "file")),
                        "chat.yaml");
    assert_int_equal(json_array_size(get(&m, "asked", "argv")), 3);
    assert_string_equal(
        json_string_value(json_array_get(get(&m, "asked", "argv"), 2)), "?");
    assert_non_null(json_string_value(get(&m, "environment", "host")));
    assert_true(json_integer_value(get(&m, "environment", "cpus")) > 0);
    manifest_fini(&m);
    manifest_fini(&m);
}

TEST(the_settings_come_back)
{
    struct manifest m = {0};
    struct settings s;
    struct err err = {0};

    begin(&m, NULL);
    assert_int_equal(manifest_save(&m, tmpdir_root(), &err), 0);
    manifest_fini(&m);
    assert_int_equal(manifest_load(&m, tmpdir_root(), &err), 0);
    settings_init(&s);
    assert_int_equal(manifest_settings(&m, &s, &err), 0);
    assert_string_equal(settings_url(&s), "http://h/x");
    assert_string_equal(s.target.method, "GET");
    assert_true(s.load.rate_rps == 12.5);
    assert_int_equal(s.load.scenario, SCENARIO_SERVER);
    assert_string_equal(strmap_get(&s.target.headers, "Authorization"),
                        "(redacted)");
    settings_fini(&s);
    manifest_fini(&m);
}

TEST(the_end_is_added)
{
    static const struct run_end end = {.stopped_by = SIGINT,
                                       .due_end_ns = 5,
                                       .scheduled = 100,
                                       .issued = 90,
                                       .unsent = 10,
                                       .aborted = "errors > 5%: why"};
    struct failures failures = {0};
    struct run_end back = {.issued = 77};
    struct manifest m = {0};
    struct err err = {0};

    failures_note(&failures, OUTCOME_RESET, 0, "reset", "\0\xff", 2);
    begin(&m, NULL);
    assert_int_equal(manifest_save(&m, tmpdir_root(), &err), 0);
    assert_false(manifest_end(&m, &back));
    assert_int_equal(back.issued, 77);
    manifest_complete(&m, &end, &failures);
    assert_int_equal(manifest_save(&m, tmpdir_root(), &err), 0);
    manifest_fini(&m);

    assert_int_equal(manifest_load(&m, tmpdir_root(), &err), 0);
    assert_true(manifest_end(&m, &back));
    assert_memory_equal(&back, &end, sizeof(end));
    assert_int_equal(json_array_size(json_object_get(m.json, "failures")), 1);
    manifest_fini(&m);
}

/* By whichever way a secret came in, it does not get out. */
TEST(secrets_do_not_reach_the_disk)
{
    static const char *const argv[] = {
        "-H",
        "Authorization: Bearer s3cret",
        "--header=x-api-key: s3cret",
        "-HCookie:s3cret",
        "-H cookie : s3cret",
        "--set",
        "target.headers=api-key: s3cret",
        "--set=target.headers=X-Auth-Token: s3cret",
        "-qHproxy-authorization: s3cret",
        "-qH",
        "x-goog-api-key: s3cret",
        "--header",
        "X-My-Password : s3cret",
        "-H",
        "x-team: shown",
        "--body",
        "{\"key\": \"body shown\"}",
        "--name=secret: shown",
        "http://h:80/?key=s3cret&a=b",
        "--url=http://h:80/?a=b;sig=s3cret",
        "--proxy",
        "me:s3cret@p:3128",
        "--set=target.proxy=me:s3cret@p:3128",
        NULL,
    };
    struct manifest m = {0};
    struct err err = {0};
    struct buf text;

    begin(&m, argv);
    assert_int_equal(manifest_save(&m, tmpdir_root(), &err), 0);
    manifest_fini(&m);
    buf_init(&text, 1 << 20);
    assert_int_equal(file_read(tmpdir_path("manifest.json"), &text, &err), 0);
    assert_null(strstr(buf_text(&text), "s3cret"));
    assert_non_null(strstr(buf_text(&text), "\"-HCookie: (redacted)\""));
    assert_non_null(strstr(buf_text(&text), "\"x-team: shown\""));
    assert_non_null(strstr(buf_text(&text), "\"x-goog-api-key: (redacted)\""));
    assert_non_null(strstr(buf_text(&text), "body shown"));
    assert_non_null(strstr(buf_text(&text), "\"--name=secret: shown\""));
    assert_non_null(strstr(buf_text(&text), "\"http://h:80/?key=***&a=b\""));
    buf_fini(&text);
}

TEST(other_manifests_are_refused)
{
    static const struct {
        const char *text;
        enum err_code code;
        const char *want; /* after the path */
    } cases[] = {
        {"{\"schema\": 2}", ERR_FORMAT,
         ": unknown schema 2; this tailgate reads schema 1"},
        {"{}", ERR_FORMAT, ": unknown schema -1; this tailgate reads schema 1"},
        {"{\"schema\": \"1\"}", ERR_FORMAT,
         ": unknown schema -1; this tailgate reads schema 1"},
        {"[]", ERR_FORMAT, ": not a JSON object"},
        {"{\"schema\"", ERR_FORMAT, ":1: ':' expected near end of file"},
        {"{\"schema\": 1, \"end\": {\"scheduled\": -1, \"issued\": -1}}",
         ERR_FORMAT, ": -1 scheduled are not -1 issued + 0 unsent"},
        {"{\"schema\": 1, \"end\": {\"scheduled\": 3, \"issued\": 4, "
         "\"unsent\": -1}}",
         ERR_FORMAT, ": 3 scheduled are not 4 issued + -1 unsent"},
        {"{\"schema\": 1, \"end\": {\"scheduled\": 9, \"issued\": 4, "
         "\"unsent\": 4}}",
         ERR_FORMAT, ": 9 scheduled are not 4 issued + 4 unsent"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *path =
            tmpdir_write("manifest.json", cases[i].text, strlen(cases[i].text));
        struct manifest m = {0};
        struct err err = {0};
        char want[300];

        snprintf(want, sizeof(want), "%s%s", path, cases[i].want);
        assert_int_equal(manifest_load(&m, tmpdir_root(), &err), -1);
        assert_int_equal(err.code, cases[i].code);
        assert_string_equal(err.msg, want);
        manifest_fini(&m);
    }
}

TEST(a_directory_without_one_is_named)
{
    struct manifest m = {0};
    struct err err = {0};
    char want[300];

    snprintf(want, sizeof(want), "%s/manifest.json: No such file or directory",
             tmpdir_path("none"));
    assert_int_equal(manifest_load(&m, tmpdir_path("none"), &err), -1);
    assert_int_equal(err.code, ERR_CONFIG);
    assert_string_equal(err.msg, want);
}

TEST(the_server_comes_back)
{
    static const char *const argv[] = {NULL};
    struct server_source back;
    struct manifest m = {0};

    begin(&m, argv);
    assert_false(manifest_server(&m, &back));
    manifest_set_server(&m, &(struct server_source){.url = "http://h/metrics"});
    assert_true(manifest_server(&m, &back));
    assert_null(back.dialect);
    assert_string_equal(back.url, "http://h/metrics");
    assert_false(back.is_partial);
    manifest_set_server(&m, &(struct server_source){.dialect = "vllm",
                                                    .url = "http://h/\xff",
                                                    .is_partial = true});
    assert_true(manifest_server(&m, &back));
    assert_string_equal(back.dialect, "vllm");
    assert_non_null(back.url);
    assert_true(back.is_partial);
    manifest_fini(&m);
}

TEST(the_trace_comes_back)
{
    static const char *const argv[] = {NULL};
    const struct trace_seen seen = {.format = "azure",
                                    .rows = 5,
                                    .damaged = 4,
                                    .failed = 3,
                                    .tied = 2,
                                    .has_blocks = true,
                                    .hash = 0xfedcba9876543210};
    struct strlist damage = {0};
    struct trace_seen with_lines = seen;
    struct trace_seen back;
    struct manifest m = {0};

    strlist_add(&damage, "\xff.csv:3: negative");
    with_lines.damage = &damage;
    begin(&m, argv);
    assert_false(manifest_trace(&m, &back));
    manifest_set_trace(&m, &with_lines);
    strlist_fini(&damage);
    assert_int_equal(json_array_size(get(&m, "trace", "damage")), 1);
    assert_true(manifest_trace(&m, &back));
    assert_string_equal(back.format, "azure");
    assert_int_equal(back.rows, seen.rows);
    assert_int_equal(back.damaged, seen.damaged);
    assert_int_equal(back.failed, seen.failed);
    assert_int_equal(back.tied, seen.tied);
    assert_true(back.has_blocks);
    assert_true(back.hash == seen.hash);
    manifest_fini(&m);
}

TEST(the_calibration_comes_back)
{
    const struct calibration_stamp stamp = {.standing = CALIBRATION_STALE,
                                            .stale = "another host"};
    const struct run_start start = {.calibration = &stamp};
    struct calibration_stamp back;
    struct manifest m = {0};
    struct settings s;

    make_settings(&s);
    manifest_init(&m, &s, &start);
    settings_fini(&s);
    assert_string_equal(json_string_value(get(&m, "calibration", "stale")),
                        "another host");
    manifest_calibration(&m, &back);
    assert_int_equal(back.standing, CALIBRATION_STALE);
    manifest_fini(&m);

    begin(&m, NULL);
    assert_true(json_is_null(json_object_get(m.json, "calibration")));
    json_object_del(m.json, "calibration"); /* as in an older recording */
    manifest_calibration(&m, &back);
    assert_int_equal(back.standing, CALIBRATION_NONE);
    manifest_fini(&m);
}

/* ---- its directory ---- */

TEST(a_directory_is_made_not_its_parents)
{
    static const char *const names[] = {"new", "new/er", "x/"};
    char want[200];
    struct err err = {0};

    for (size_t i = 0; i < COUNT(names); i++) {
        assert_int_equal(recording_make_dir(tmpdir_path(names[i]), false, &err),
                         0);
        assert_int_equal(access(tmpdir_path(names[i]), W_OK), 0);
    }
    snprintf(want, sizeof(want), "%s: No such file or directory",
             tmpdir_path("nope/x"));
    assert_int_equal(recording_make_dir(tmpdir_path("nope/x"), true, &err), -1);
    assert_int_equal(err.code, ERR_IO);
    assert_string_equal(err.msg, want);
    assert_int_equal(access(tmpdir_path("nope"), F_OK), -1);
}

TEST(a_directory_in_use_is_not_overwritten)
{
    struct err err = {0};
    char want[300];

    assert_int_equal(recording_make_dir(tmpdir_path("used"), false, &err), 0);
    tmpdir_write("used/notes.txt", "mine", 4);
    tmpdir_write("used/manifest.json", "{}", 2);
    snprintf(want, sizeof(want),
             "%s: is not empty; --force replaces the recording in it",
             tmpdir_path("used"));
    assert_int_equal(recording_make_dir(tmpdir_path("used"), false, &err), -1);
    assert_int_equal(err.code, ERR_USAGE);
    assert_string_equal(err.msg, want);
    assert_int_equal(access(tmpdir_path("used/manifest.json"), F_OK), 0);

    err = (struct err){0};
    assert_int_equal(recording_make_dir(tmpdir_path("used"), true, &err), 0);
    assert_int_equal(access(tmpdir_path("used/manifest.json"), F_OK), -1);
    assert_int_equal(access(tmpdir_path("used/notes.txt"), F_OK), 0);
}

/* What a crash leaves while a file is replaced is ours, too. */
TEST(what_a_crash_left_is_replaced)
{
    static const char *const names[] = {"manifest.json.new", "summary.json.new",
                                        "manifest.json.new-4711-0"};
    struct err err = {0};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char name[64];

        snprintf(name, sizeof(name), "left-%zu", i);
        assert_int_equal(mkdir(tmpdir_path(name), 0777), 0);
        snprintf(name, sizeof(name), "left-%zu/%s", i, names[i]);
        tmpdir_write(name, "{", 1);
        snprintf(name, sizeof(name), "left-%zu", i);
        assert_int_equal(recording_make_dir(tmpdir_path(name), false, &err),
                         -1);
        assert_int_equal(err.code, ERR_USAGE);
        err = (struct err){0};
        assert_int_equal(recording_make_dir(tmpdir_path(name), true, &err), 0);
        assert_int_equal(recording_remove(tmpdir_path(name), &err), 0);
    }
}

TEST(names_of_temporary_files)
{
    static const struct {
        const char *name;
        bool is;
    } rows[] = {
        {"summary.json.new", true},        {"summary.json.new-12-3", true},
        {"summary.json", false},           {"summary.json.newer", false},
        {"summary.json.new-12", false},    {"summary.json.new-12-", false},
        {"summary.json.new-12-3x", false}, {"summary.json.new-a-3", false},
        {"other.json.new-12-3", false},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(file_is_temporary(rows[i].name, "summary.json"),
                         rows[i].is);
}

/* Not even with --force: what is in it is not ours. */
TEST(a_directory_of_something_else_is_left_alone)
{
    struct err err = {0};
    char want[300];

    assert_int_equal(mkdir(tmpdir_path("other"), 0777), 0);
    tmpdir_write("other/notes.txt", "mine", 4);
    snprintf(want, sizeof(want),
             "%s: is not empty and does not contain a recording to replace",
             tmpdir_path("other"));
    for (int force = 0; force < 2; force++) {
        err = (struct err){0};
        assert_int_equal(recording_make_dir(tmpdir_path("other"), force, &err),
                         -1);
        assert_int_equal(err.code, ERR_USAGE);
        assert_string_equal(err.msg, want);
    }
}

/* Taken by one run it is not empty for another; a run that never began leaves
 * nothing. */
TEST(a_directory_is_taken_once)
{
    struct err err = {0};

    assert_int_equal(recording_make_dir(tmpdir_path("once"), false, &err), 0);
    assert_int_equal(recording_make_dir(tmpdir_path("once"), false, &err), -1);
    assert_int_equal(err.code, ERR_USAGE);
    recording_remove(tmpdir_path("once"), &(struct err){0});
    assert_int_equal(access(tmpdir_path("once"), F_OK), -1);
}

TEST(what_cannot_be_a_directory_is_named)
{
    struct err err = {0};
    char want[300];

    assert_int_equal(recording_make_dir("", false, &err), -1);
    assert_int_equal(err.code, ERR_USAGE);
    err = (struct err){0};
    snprintf(want, sizeof(want), "%s: Not a directory",
             tmpdir_write("file", "x", 1));
    assert_int_equal(recording_make_dir(tmpdir_path("file"), true, &err), -1);
    assert_int_equal(err.code, ERR_IO);
    assert_string_equal(err.msg, want);
}

/* All of a recording, and nothing else. */
TEST(a_recording_is_removed)
{
    struct err err = {0};

    assert_int_equal(recording_make_dir(tmpdir_path("gone"), false, &err), 0);
    tmpdir_write("gone/manifest.json", "{}", 2);
    tmpdir_write("gone/notes.txt", "mine", 4);
    assert_int_equal(recording_remove(tmpdir_path("gone"), &err), -1);
    assert_int_equal(err.code, ERR_IO);
    assert_int_equal(access(tmpdir_path("gone/notes.txt"), F_OK), 0);
    assert_int_equal(unlink(tmpdir_path("gone/notes.txt")), 0);
    err = (struct err){0};
    assert_int_equal(recording_remove(tmpdir_path("gone"), &err), 0);
    assert_int_equal(access(tmpdir_path("gone"), F_OK), -1);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
