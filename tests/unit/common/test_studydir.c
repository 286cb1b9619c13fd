/* A study that is given where a recording is expected. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/recording/studydir.h"
#include "tests/support/keep.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

/* Make the directory, unless it is there, and the file in it. */
static void put(const char *dir, const char *file, const char *text)
{
    char *path = keepf("%s/%s", dir, file);

    mkdir(tmpdir_path(dir), 0700);
    tmpdir_write(path, text, strlen(text));
}

static void put_study(const char *dir, const char *kind, const char *variant)
{
    char *text = keepf("{\"version\": 1, \"kind\": \"%s\", "
                       "\"variants\": [{\"name\": \"%s\"}]}",
                       kind, variant);

    put(dir, "study.json", text);
}

TEST(the_first_recording_is_named)
{
    static const struct {
        const char *kind;
        const char *below; /* the set of trials in it; NULL: none */
        const char *first; /* the recording; NULL: none */
        const char *message;
    } cases[] = {
        {"trials", NULL, "trial-1", "set of trials"},
        {"pair", "a", "a/trial-1", "pair of trial sets"},
        {"sweep", NULL, "point-1", "sweep"},
        {"search", NULL, "probe-1", "search"},
        {"variants", NULL, "fast", "set of variants"},
        {"variants", "fast", "fast/trial-1", "set of variants"},
        {"trials", NULL, NULL, "set of trials"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *name = keepf("study-%zu", i);
        char *set = keepf("%s/%s", name, cases[i].below);
        char *first = keepf("%s/%s", name, cases[i].first);
        char *dir = tmpdir_path(name);
        char *such = cases[i].first
                         ? xasprintf(", such as %s/%s", dir, cases[i].first)
                         : xstrdup("");
        char *expected = keepf("%s is a %s: name one of its recordings%s", dir,
                               cases[i].message, such);
        struct err err = {0};

        put_study(name, cases[i].kind, "fast");
        if (cases[i].below)
            put_study(set, "trials", "");
        if (cases[i].first)
            put(first, "manifest.json", "{}");
        assert_int_equal(study_refuse_as_run(dir, &err), -1);
        assert_int_equal(err.code, ERR_CONFIG);
        assert_string_equal(err.msg, expected);
        free(such);
    }
}

/* ---- what --force replaces ---- */

static bool has(const char *dir, const char *name)
{
    char *path = keepf("%s/%s", dir, name);

    return access(tmpdir_path(path), F_OK) == 0;
}

/* A search that was interrupted in its first look has no other part. */
static void put_search(const char *dir, const char *part)
{
    put_study(dir, "search", "");
    put(keepf("%s/%s", dir, part), "manifest.json", "{}");
}

TEST(every_part_is_removed)
{
    static const char *const parts[] = {"look-1", "probe-12", "confirm-2",
                                        "point-3", "trial-4"};

    for (size_t i = 0; i < COUNT(parts); i++) {
        char *of_variant = keepf("removed-%zu/fast", i);
        char *name = keepf("removed-%zu", i);
        struct err err = {0};

        put_study(name, "variants", "fast");
        put_search(of_variant, parts[i]);
        assert_int_equal(study_remove(tmpdir_path(name), &err), 0);
        assert_int_equal(access(tmpdir_path(name), F_OK), -1);
    }
}

/* The process may be killed after any step, and --force given again. */
TEST(a_study_is_kept_until_another_replaces_it)
{
    static const struct {
        const char *name;
        int times; /* that a new study was begun */
        bool drops;
    } rows[] = {{"once", 1, false}, {"twice", 2, false}, {"dropped", 2, true}};

    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *name = rows[i].name;
        char *dir = tmpdir_path(name);
        struct err err = {0};

        put_search(name, "look-1");
        put(name, "notes.txt", "not ours");
        for (int k = 0; k < rows[i].times; k++) {
            assert_int_equal(study_make_dir(dir, true, &err), 0);
            assert_false(study_is_at(dir));
            assert_false(has(name, "look-1"));
            put_search(name, "probe-1");
        }
        if (rows[i].drops)
            assert_int_equal(study_drop_replaced(dir, &err), 0);
        assert_int_equal(study_restore_replaced(dir, &err), !rows[i].drops);
        assert_true(study_is_at(dir));
        assert_int_equal(has(name, "look-1"), !rows[i].drops);
        assert_int_equal(has(name, "probe-1"), rows[i].drops);
        assert_true(has(name, "notes.txt"));
        assert_false(has(name, ".replaced"));
    }
}

/* In the middle of setting it aside, or of putting it back. */
TEST(a_study_in_two_places_is_kept)
{
    char *dir = tmpdir_path("halves");
    struct err err = {0};

    put("halves", "notes.txt", "");
    mkdir(tmpdir_path("halves/probe-1"), 0700);
    put("halves/probe-1", "manifest.json", "{}");
    put_search("halves/.replaced", "look-1");
    assert_int_equal(study_make_dir(dir, false, &err), -1);
    err = (struct err){0};
    assert_int_equal(study_make_dir(dir, true, &err), 0);
    assert_false(has("halves", "probe-1"));
    assert_int_equal(study_restore_replaced(dir, &err), 1);
    assert_true(has("halves", "probe-1/manifest.json"));
    assert_true(has("halves", "look-1/manifest.json"));
}

TEST(the_part_that_was_begun_is_found)
{
    char *found;

    put_study("begun", "variants", "fast");
    put_study("begun/fast", "sweep", "");
    put("begun/fast/point-1", "server.log", "");
    put("begun/other", "manifest.json", "{}"); /* not a part */
    assert_null(study_part_with(tmpdir_path("begun"), "manifest.json"));
    found = study_part_with(tmpdir_path("begun"), "server.log");
    assert_string_equal(found, tmpdir_path("begun/fast/point-1"));
    free(found);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
