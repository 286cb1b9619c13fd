/* Paths in a settings file, from where it is. */
#include <stdlib.h>

#include "common/base/err.h"
#include "common/settings/option.h"
#include "common/settings/settings.h"
#include "common/settings/settings_file.h"
#include "tests/support/keep.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

TEST(paths_count_from_the_file)
{
    static const struct {
        const char *file;
        enum opt_path path;
        const char *text;
        const char *want;
    } cases[] = {
        {"a/b.yaml", OPT_PATH, "c.jsonl", "a/c.jsonl"},
        {"a/b.yaml", OPT_PATH, "../c.jsonl", "a/../c.jsonl"},
        {"/a/b.yaml", OPT_PATH, "d/c.jsonl", "/a/d/c.jsonl"},
        {"/b.yaml", OPT_PATH, "c", "/c"},
        {"b.yaml", OPT_PATH, "c", "c"},
        {"a/b.yaml", OPT_PATH, "/c", "/c"},
        {"a/b.yaml", OPT_PATH, "", ""},
        {"a/b.yaml", OPT_PATH, "@c", "a/@c"},
        {"a/b.yaml", OPT_NO_PATH, "c", "c"},
        {"a/b.yaml", OPT_PATH_AT, "@c", "@a/c"},
        {"a/b.yaml", OPT_PATH_AT, "@/c", "@/c"},
        {"a/b.yaml", OPT_PATH_AT, "{\"to\":\"me@c\"}", "{\"to\":\"me@c\"}"},
        {"a/b.yaml", OPT_PATH_AT, "empirical @c", "empirical @a/c"},
        {"a/b.yaml", OPT_PATH_AT, "empirical 0:1 100:9", "empirical 0:1 100:9"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct opt opt = {.path = cases[i].path};
        char *got = settings_path_from(cases[i].file, &opt, cases[i].text);

        assert_string_equal(got, cases[i].want);
        free(got);
    }
}

/* In the file; what flags and --set say counts from where we are. */
TEST(only_those_of_the_file)
{
    static const char text[] = "target: {url: 'http://h/', body: '@b.json', "
                               "ca_file: ca.pem, model: m/x}\n"
                               "data: {file: d.jsonl}\n"
                               "load: {rate_table: r.csv}\n"
                               "trace: {file: t.csv}\n";
    char *path = tmpdir_write("s.yaml", text, sizeof(text) - 1);
    const char *root = tmpdir_root();
    struct settings s;
    struct err err = {0};
    char *want;

    settings_init(&s);
    assert_int_equal(settings_load(&s, path, &err), 0);
    want = keepf("@%s/b.json", root);
    assert_string_equal(s.target.body, want);
    want = keepf("%s/d.jsonl", root);
    assert_string_equal(s.data.file, want);
    want = keepf("%s/r.csv", root);
    assert_string_equal(s.load.rate_table, want);
    want = keepf("%s/t.csv", root);
    assert_string_equal(s.load.trace.file, want);
    want = keepf("%s/ca.pem", root);
    assert_string_equal(s.target.ca_file, want);
    assert_string_equal(s.target.model, "m/x");
    assert_int_equal(settings_assign(&s, "data.file=e.jsonl", &err), 0);
    assert_string_equal(s.data.file, "e.jsonl");
    settings_fini(&s);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
