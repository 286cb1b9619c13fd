/* A study that is given where a recording is expected. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
