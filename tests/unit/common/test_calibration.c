/* A calibration: to disk and back, and whether it applies here. */
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/config.h"
#include "common/spec/calibration.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

static const struct calibration full = {
    .place = {.host = "h1", .version = "1.2.3", .cpus = 4, .kernel = "6.1"},
    .transports =
        {
            [CALIBRATED_NATIVE] = {.date = "2026-11-16T10:00:00Z",
                                   .floor_ns = 1,
                                   .floor_sent_ns = 2,
                                   .lag_p50_ns = 3,
                                   .lag_p99_ns = 4,
                                   .spin_lag_p50_ns = 5,
                                   .spin_lag_p99_ns = 6,
                                   .max_rate_rps = 120000,
                                   .limit = LIMIT_STUB},
            [CALIBRATED_CURL] = {.date = "2026-11-17T10:00:00Z",
                                 .is_quick = true,
                                 .is_disturbed = true,
                                 .floor_ns = -1,
                                 .floor_sent_ns = -1,
                                 .lag_p50_ns = -1,
                                 .lag_p99_ns = 0,
                                 .spin_lag_p50_ns = -1,
                                 .spin_lag_p99_ns = -1,
                                 .max_rate_rps = 0,
                                 .limit = LIMIT_CLIENT},
        },
};

static void assert_same(const struct calibration *a,
                        const struct calibration *b)
{
    json_t *x = calibration_to_json(a);
    json_t *y = calibration_to_json(b);

    assert_true(json_equal(x, y));
    json_decref(x);
    json_decref(y);
}

static int in_tmpdir(void **state)
{
    return tmpdir_setup(state) || setenv("XDG_STATE_HOME", tmpdir_root(), 1);
}

/* ---- the file ---- */

TEST(what_is_saved_comes_back)
{
    struct calibration back;
    struct err err = {0};

    assert_int_equal(calibration_load(&back, &err), 0);
    assert_int_equal(calibration_save(&full, &err), 0);
    assert_int_equal(access(tmpdir_path("tailgate/calibration.json"), R_OK), 0);
    assert_int_equal(calibration_load(&back, &err), 1);
    assert_same(&back, &full);
    for (int i = 0; i < CALIBRATED_COUNT; i++)
        assert_memory_equal(&back.transports[i], &full.transports[i],
                            sizeof(back.transports[i]));
    assert_memory_equal(&back.place, &full.place, sizeof(back.place));
}

TEST(scripts_may_rely_on_its_keys)
{
    json_t *json = calibration_to_json(&full);
    const json_t *transports = json_object_get(json, "transports");
    const json_t *native = json_object_get(transports, "native");
    const json_t *curl = json_object_get(transports, "curl");

    assert_int_equal(json_integer_value(json_object_get(json, "schema")), 1);
    assert_string_equal(json_string_value(json_object_get(json, "date")),
                        "2026-11-17T10:00:00Z");
    assert_true(json_real_value(json_object_get(native, "max_rate_rps")) ==
                120000);
    assert_true(json_is_true(json_object_get(native, "is_at_least")));
    assert_true(json_is_null(json_object_get(curl, "max_rate_rps")));
    assert_non_null(json_object_get(curl, "max_rate_note"));
    assert_true(json_is_null(json_object_get(curl, "floor_ns")));
    assert_int_equal(json_integer_value(json_object_get(curl, "lag_p99_ns")),
                     0);
    json_decref(json);
}

/* Every prefix of a good file, and files with one thing wrong. */
TEST(a_damaged_one_is_refused)
{
    static const char *const texts[] = {
        "",
        "[]",
        "{}",
        "{\"schema\": 2}",
        "{\"schema\": 1}",
        "{\"schema\": 1, \"host\": \"h\", \"tailgate\": \"1\", \"cpus\": 0, "
        "\"kernel\": \"k\", \"transports\": {}}",
        "{\"schema\": 1, \"host\": \"\\u001b[2J\", \"tailgate\": \"1\", "
        "\"cpus\": 1, \"kernel\": \"k\", \"transports\": {}}",
        "{\"schema\": 1, \"host\": \"h\", \"tailgate\": \"1\", \"cpus\": 1, "
        "\"kernel\": \"k\", \"transports\": {\"native\": 7}}",
        "{\"schema\": 1, \"host\": \"h\", \"tailgate\": \"1\", \"cpus\": 1, "
        "\"kernel\": \"k\", \"transports\": {\"curl\": {\"date\": \"d\"}}}",
    };
    struct calibration c;

    for (size_t i = 0; i < COUNT(texts); i++) {
        struct err err = {0};

        tmpdir_write("tailgate/calibration.json", texts[i], strlen(texts[i]));
        assert_int_equal(calibration_load(&c, &err), -1);
        assert_int_equal(err.code, ERR_FORMAT);
        assert_non_null(strstr(err.msg, "/tailgate/calibration.json:"));
    }
}

TEST(every_number_is_checked)
{
    static const struct {
        const char *key;
        const char *value;
    } cases[] = {
        {"floor_ns", "-1"},       {"floor_ns", "1.5"},
        {"lag_p99_ns", "\"x\""},  {"max_rate_rps", "-1"},
        {"max_rate_rps", "0"},    {"max_rate_rps", "\"9\""},
        {"limit", "\"weather\""}, {"limit", "null"},
        {"date", "\"\""},         {"date", "\"\\u0007\""},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        json_t *json = calibration_to_json(&full);
        json_t *native =
            json_object_get(json_object_get(json, "transports"), "native");
        struct calibration c;
        struct err err = {0};

        json_object_set_new(native, cases[i].key,
                            json_loads(cases[i].value, JSON_DECODE_ANY, NULL));
        assert_int_equal(calibration_from_json(&c, json, &err), -1);
        assert_string_equal(err.msg, "not a calibration of native");
        json_decref(json);
    }
}

TEST(where_it_is_kept)
{
    static const struct {
        const char *state_home;
        const char *home;
        const char *want; /* NULL: nowhere */
    } cases[] = {
        {"/s", "/h", "/s/tailgate/calibration.json"},
        {NULL, "/h", "/h/.local/state/tailgate/calibration.json"},
        {"", "/h", "/h/.local/state/tailgate/calibration.json"},
        {"relative", "/h", "/h/.local/state/tailgate/calibration.json"},
        {NULL, NULL, NULL},
    };
    char *home = getenv("HOME") ? xstrdup(getenv("HOME")) : NULL;

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = {0};
        char *path;

        unsetenv("XDG_STATE_HOME");
        unsetenv("HOME");
        if (cases[i].state_home)
            setenv("XDG_STATE_HOME", cases[i].state_home, 1);
        if (cases[i].home)
            setenv("HOME", cases[i].home, 1);
        path = calibration_path(&err);
        assert_int_equal(err.code, cases[i].want ? ERR_NONE : ERR_IO);
        if (cases[i].want)
            assert_string_equal(path, cases[i].want);
        else
            assert_null(path);
        free(path);
    }
    if (home)
        setenv("HOME", home, 1);
    setenv("XDG_STATE_HOME", tmpdir_root(), 1);
    free(home);
}

TEST(a_state_directory_that_is_none)
{
    struct calibration c;
    struct err err = {0};

    setenv("XDG_STATE_HOME", tmpdir_write("file", "x", 1), 1);
    assert_int_equal(calibration_load(&c, &err), 0);
    assert_int_equal(calibration_prepare(&err), -1);
    assert_int_equal(err.code, ERR_IO);
    err = (struct err){0};
    assert_int_equal(calibration_save(&full, &err), -1);
    setenv("XDG_STATE_HOME", tmpdir_root(), 1);
}

/* ---- does it apply? ---- */

TEST(which_of_the_three_differs)
{
    static const struct {
        struct calibration_place here;
        const char *want;
    } cases[] = {
        {{"h1", "1.2.3", 4, "6.1"}, ""},
        {{"h1", "1.2.3", 4, "6.2"}, ""},
        {{"h2", "1.2.3", 4, "6.1"}, "another host"},
        {{"h1", "1.2.4", 4, "6.1"}, "another version"},
        {{"h1", "1.2.3", 5, "6.1"}, "another number of CPUs"},
        {{"h2", "1", 5, ""},
         "another host, another version, another number of CPUs"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        char why[CALIBRATION_TEXT];

        calibration_differs(&full.place, &cases[i].here, why);
        assert_string_equal(why, cases[i].want);
    }
}

TEST(this_is_here)
{
    struct calibration_place here = calibration_here();

    assert_true(here.host[0] && here.kernel[0] && here.cpus > 0);
    assert_string_equal(here.version, TAILGATE_VERSION);
}

/* ---- in a manifest ---- */

TEST(stamps_come_back)
{
    static const struct calibration_place other = {"h2", "1.2.3", 4, ""};
    static const struct {
        const struct calibration *c;
        const struct calibration_place *here;
        const char *transport;
        enum calibration_standing want;
    } cases[] = {
        {&full, &full.place, "native", CALIBRATED},
        {&full, &full.place, "curl", CALIBRATED},
        {&full, &full.place, "null", CALIBRATION_NONE},
        {&full, &other, "native", CALIBRATION_STALE},
        {&full, &other, "null", CALIBRATION_NONE},
        {NULL, &other, "native", CALIBRATION_NONE},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct calibration_stamp s =
            calibration_stamp_of(cases[i].c, cases[i].here, cases[i].transport);
        json_t *json = calibration_stamp_to_json(&s);
        struct calibration_stamp back;

        assert_int_equal(s.standing, cases[i].want);
        calibration_stamp_from_json(&back, json);
        assert_int_equal(back.standing, s.standing);
        assert_string_equal(back.stale, s.stale);
        assert_string_equal(back.transport, s.transport);
        assert_memory_equal(&back.of, &s.of, sizeof(s.of));
        json_decref(json);
    }
}

TEST(names_of_transports)
{
    static const struct {
        const char *transport;
        bool has_tls;
        const char *want;
    } cases[] = {
        {"native", false, "native"}, {"native", true, "tls"},
        {"http2", false, "http2"},   {"http2", true, "http2"},
        {"curl", true, "curl"},      {"grpc", true, "grpc"},
    };

    for (size_t i = 0; i < COUNT(cases); i++)
        assert_string_equal(
            calibrated_name(cases[i].transport, cases[i].has_tls),
            cases[i].want);
}

TEST(other_stamps_are_none)
{
    static const char *const texts[] = {
        "null", "1", "{}", "{\"transport\": \"native\"}", "{\"stale\": 1}"};

    for (size_t i = 0; i < COUNT(texts); i++) {
        json_t *json = json_loads(texts[i], JSON_DECODE_ANY, NULL);
        struct calibration_stamp s;

        calibration_stamp_from_json(&s, json);
        assert_int_equal(s.standing, CALIBRATION_NONE);
        json_decref(json);
    }
}

GROUP_FIXTURE(in_tmpdir, tmpdir_teardown)
