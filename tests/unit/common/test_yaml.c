#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/text/yaml.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

static void load(struct yaml_node *root, const char *text)
{
    struct err err = {0};

    if (yaml_load_text(root, "f", text, strlen(text), &err))
        fail_msg("%s", err.msg);
}

static const struct yaml_node *at(const struct yaml_node *map, const char *key)
{
    for (size_t i = 0; i < map->len; i++) {
        if (strcmp(map->items[i].key, key) == 0)
            return &map->items[i];
    }
    fail_msg("no key %s", key);
    return NULL;
}

TEST(a_tree_knows_its_lines)
{
    static const char text[] = "# comment\n"
                               "a: 1\n"
                               "b:\n"
                               "  c: 'x y'\n"
                               "  d: [p, \"q\\n\"]\n"
                               "e:\n"
                               "- 5\n"
                               "- {f: g}\n"
                               "h: |\n"
                               "  two\n"
                               "  lines\n"
                               "i:\n";
    struct yaml_node root;

    load(&root, text);
    assert_int_equal(root.kind, YAML_MAP);
    assert_int_equal(root.len, 5);
    assert_string_equal(at(&root, "a")->text, "1");
    assert_int_equal(at(&root, "a")->line, 2);
    assert_int_equal(at(&root, "b")->line, 3); /* of the key */
    assert_string_equal(at(at(&root, "b"), "c")->text, "x y");
    assert_int_equal(at(at(&root, "b"), "d")->kind, YAML_LIST);
    assert_int_equal(at(at(&root, "b"), "d")->line, 5);
    assert_string_equal(at(at(&root, "b"), "d")->items[1].text, "q\n");
    assert_int_equal(at(&root, "e")->items[0].line, 7);
    assert_null(at(&root, "e")->items[0].key);
    assert_int_equal(at(&root, "e")->items[1].kind, YAML_MAP);
    assert_int_equal(at(&root, "e")->items[1].items[0].line, 8);
    assert_string_equal(at(&root, "h")->text, "two\nlines\n");
    assert_string_equal(at(&root, "i")->text, "");
    assert_int_equal(at(&root, "i")->line, 12);
    yaml_fini(&root);
    yaml_fini(&root);
}

TEST(line_ends_and_marks_do_not_matter)
{
    static const char *const texts[] = {
        "a: 1\r\nb: 2\r\n", "\357\273\277a: 1\nb: 2", "---\na: 1\nb: 2\n...\n",
        "{a: 1,\n b: 2}",   "a: 1\rb: 2\r",
    };

    for (size_t i = 0; i < COUNT(texts); i++) {
        struct yaml_node root;

        load(&root, texts[i]);
        assert_int_equal(root.len, 2);
        assert_string_equal(at(&root, "a")->text, "1");
        assert_string_equal(at(&root, "b")->text, "2");
        assert_int_equal(at(&root, "b")->line - at(&root, "a")->line, 1);
        yaml_fini(&root);
    }
}

TEST(an_empty_file_is_an_empty_map)
{
    static const char *const texts[] = {"", "\n\n", "# nothing\n", "{}"};

    for (size_t i = 0; i < COUNT(texts); i++) {
        struct yaml_node root;

        load(&root, texts[i]);
        assert_int_equal(root.kind, YAML_MAP);
        assert_int_equal(root.len, 0);
        yaml_fini(&root);
    }
}

#define DECORATED "anchors, aliases and tags are not allowed"

static const struct {
    const char *text;
    const char *want;
} refused[] = {
    {"a: 1\nb: 2\na: 3\n", "f:3: duplicate key 'a', first on line 1"},
    {"x:\n  a: 1\n  a: 1\n", "f:3: duplicate key 'a', first on line 2"},
    {"{a: 1, 'a': 2}", "f:1: duplicate key 'a', first on line 1"},
    {"a: &x 1\n", "f:1: " DECORATED},
    {"a: 1\nb: *x\n", "f:2: " DECORATED},
    {"a: 1\n&x b: 2\n", "f:2: " DECORATED},
    {"a: 1\n!!str b: 2\n", "f:2: " DECORATED},
    {"a:\n- &x {b: 1}\n- *x\n", "f:2: " DECORATED},
    {"a: &x [1]\n", "f:1: " DECORATED},
    {"a: !!int 5\n", "f:1: " DECORATED},
    {"a: ! 5\n", "f:1: " DECORATED},
    {"a: !x [5]\n", "f:1: " DECORATED},
    {"a: !x {b: 5}\n", "f:1: " DECORATED},
    {"<<: *x\n", "f:1: " DECORATED},
    {"*x : 1\n", "f:1: a key must be a plain word"},
    {"? [a]\n: 1\n", "f:1: a key must be a plain word"},
    {"a: 1\n? {b: 2}\n: 1\n", "f:2: a key must be a plain word"},
    {"a: 1\n---\nb: 2\n", "f:2: the file must contain only one document"},
    {"a: 1\n...\n---\n", "f:3: the file must contain only one document"},
    {"just words\n", "f:1: expected 'key: value' lines"},
    {"\n- a\n- b\n", "f:2: expected 'key: value' lines"},
    {"---\n", "f:2: expected 'key: value' lines"},
    {"a: 1\nb: \"x\\0y\"\n", "f:2: a NUL character in a value"},
    {"a: 1\n\"x\\0y\": 2\n", "f:2: a NUL character in a key"},
    {"a: [[[[[[[[1]]]]]]]]\n", "f:1: nested too deeply"},
    {"a: {b: {c: {d: {e: {f: {g: {h: 1}}}}}}}\n", "f:1: nested too deeply"},
    {"a: 1\n b: 2\n",
     "f:2: the indentation is wrong, or a value with a ':' needs quotes"},
    {"a: [1\n", "f:2: a ',' or ']' is missing"},
    {"a: 'x\n", "f:1: a quote is not closed"},
    {"a: 1\n\tb: 2\n", "f:2: found a tab character that violates indentation"},
    {"a: 1\n}\n", "f:2: the indentation does not fit the lines above, or "
                  "there is one bracket too many"},
    {"a: 1\nb\n", "f:2: a ':' is missing after the key, or the line belongs to "
                  "the one above"},
    {"a: 1\nb: \xff\xfe\n", "f:2: invalid leading UTF-8 octet"},
    {"a: 1\nb: \x01\n", "f:2: control characters are not allowed"},
    {"a: %x\n", "f:1: a tab or a character that needs quotes"},
};

TEST(what_is_not_strict_is_refused)
{
    for (size_t i = 0; i < COUNT(refused); i++) {
        struct yaml_node root;
        struct err err = {0};

        assert_int_equal(yaml_load_text(&root, "f", refused[i].text,
                                        strlen(refused[i].text), &err),
                         -1);
        assert_int_equal(err.code, ERR_CONFIG);
        assert_string_equal(err.msg, refused[i].want);
    }
}

TEST(a_nul_byte_is_refused)
{
    static const char text[] = "a: 1\nb: \0\n";
    struct yaml_node root;
    struct err err = {0};

    assert_int_equal(yaml_load_text(&root, "f", text, sizeof(text) - 1, &err),
                     -1);
    assert_string_equal(err.msg, "f:2: control characters are not allowed");
}

/* 7 below the top is as deep as it goes. */
TEST(the_greatest_depth_is_read)
{
    struct yaml_node root;

    load(&root, "a: [[[[[[1]]]]]]\n");
    yaml_fini(&root);
}

/* ---- files ---- */

TEST(a_file_is_read_under_its_name)
{
    static const char text[] = "a: 1\na: 2\n";
    const char *path = tmpdir_write("dup.yaml", text, sizeof(text) - 1);
    struct yaml_node root;
    struct err err = {0};
    char want[300];

    snprintf(want, sizeof(want), "%s:2: duplicate key 'a', first on line 1",
             path);
    assert_int_equal(yaml_load_file(&root, path, &err), -1);
    assert_string_equal(err.msg, want);
    err = (struct err){0};
    path = tmpdir_write("good.yaml", "a: 1\n", 5);
    assert_int_equal(yaml_load_file(&root, path, &err), 0);
    assert_string_equal(at(&root, "a")->text, "1");
    yaml_fini(&root);
}

static void check_unreadable(const char *path, const char *why)
{
    struct yaml_node root;
    struct err err = {0};
    char want[300];

    snprintf(want, sizeof(want), "%s: %s", path, why);
    assert_int_equal(yaml_load_file(&root, path, &err), -1);
    assert_int_equal(err.code, ERR_CONFIG);
    assert_string_equal(err.msg, want);
}

TEST(a_file_that_cannot_be_read_is_named)
{
    check_unreadable(tmpdir_path("none.yaml"), "No such file or directory");
    check_unreadable(tmpdir_root(), "Is a directory");
}

TEST(the_size_of_a_file_is_bounded)
{
    const size_t most = 1 << 20;
    char *text = xcalloc(most + 1, 1);
    struct yaml_node root;
    struct err err = {0};

    memset(text, '#', most + 1);
    assert_int_equal(
        yaml_load_file(&root, tmpdir_write("full.yaml", text, most), &err), 0);
    yaml_fini(&root);
    check_unreadable(tmpdir_write("large.yaml", text, most + 1),
                     "larger than 1048576 bytes");
    free(text);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
