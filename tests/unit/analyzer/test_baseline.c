/* The file of a baseline: what is sealed comes back, and no byte of it can be
 * another without that being said. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/studies/baseline.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/xalloc.h"
#include "tests/support/keep.h"
#include "tests/support/rendered.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define MAX_FILE 65536

static struct baseline made(void)
{
    struct baseline b = {.name = xstrdup("chat"),
                         .frozen = xstrdup("2026-11-16T12:00:00Z"),
                         .version = xstrdup("0.1.0"),
                         .chosen = xstrdup("the fastest of 2"),
                         .n_answers = 2};
    char hash[SHA256_TEXT];

    b.amounts[BASELINE_TIME] = (struct baseline_amount){.is_present = true,
                                                        .median = 1.0 / 3,
                                                        .least = 0.1,
                                                        .greatest = 2e9 / 7,
                                                        .n = 5};
    b.amounts[BASELINE_THROUGHPUT] = (struct baseline_amount){
        .is_present = true, .median = 517.2280678217793, .n = 5};
    snprintf(b.amounts[BASELINE_MEMORY].note, BASELINE_NOTE, "not measured");
    snprintf(b.amounts[BASELINE_QUALITY].note, BASELINE_NOTE, "not checked");
    strmap_put(&b.conditions, "conditions.hardware", "1xL4 \"new\"");
    strmap_put(&b.conditions, "load.requests", "300");
    sha256_bytes("abc", 3, hash);
    baseline_add_file(&b, "one/trial-1/requests.tgr", hash);
    b.answers = xcalloc(2, sizeof(*b.answers));
    b.answers[0] = (struct baseline_answer){0, "0123456789abcdef"};
    b.answers[1] = (struct baseline_answer){7, "fedcba9876543210"};
    return b;
}

static char *sealed_file(void)
{
    struct baseline b = made();
    struct err err = {0};
    char *path = tmpdir_path("base.json");

    unlink(path);
    assert_int_equal(baseline_save(&b, path, &err), 0);
    baseline_fini(&b);
    return path;
}

/* The published digests of nothing and of "abc". */
TEST(digests_are_those_of_the_standard)
{
    char hash[SHA256_TEXT];
    char file[SHA256_TEXT];
    struct err err = {0};

    sha256_bytes("", 0, hash);
    assert_string_equal(hash, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934c"
                              "a495991b7852b855");
    sha256_bytes("abc", 3, hash);
    assert_string_equal(hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9c"
                              "b410ff61f20015ad");
    assert_int_equal(sha256_file(tmpdir_write("abc", "abc", 3), file, &err), 0);
    assert_string_equal(file, hash);
    assert_int_equal(sha256_file(tmpdir_path("none"), file, &err), -1);
    assert_int_equal(err.code, ERR_IO);
}

TEST(what_is_sealed_comes_back)
{
    char *path = sealed_file();
    char why[BASELINE_WHY] = "";
    struct baseline want = made();
    struct baseline b;
    struct err err = {0};

    assert_int_equal(baseline_load(&b, path, why, &err), 0);
    assert_string_equal(b.name, want.name);
    assert_string_equal(b.chosen, want.chosen);
    assert_true(b.amounts[BASELINE_TIME].n == 5);
    assert_true(b.amounts[BASELINE_THROUGHPUT].median > 517.228067821 &&
                b.amounts[BASELINE_THROUGHPUT].median < 517.228067822);
    assert_string_equal(b.amounts[BASELINE_MEMORY].note, "not measured");
    assert_string_equal(strmap_get(&b.conditions, "conditions.hardware"),
                        "1xL4 \"new\"");
    assert_int_equal(b.n_files, 1);
    assert_int_equal(b.n_answers, 2);
    assert_int_equal(b.answers[1].index, 7);
    assert_string_equal(b.answers[1].hash, want.answers[1].hash);
    baseline_fini(&b);
    baseline_fini(&want);
}

TEST(it_is_never_overwritten)
{
    char *path = sealed_file();
    struct baseline b = made();
    struct err err = {0};

    assert_int_equal(baseline_save(&b, path, &err), -1);
    assert_int_equal(err.code, ERR_USAGE);
    assert_says(err.msg, "never overwritten");
    baseline_fini(&b);
}

/* The part whose key opens a line before this place. */
static const char *part_of(const char *text, size_t at)
{
    static const char *const parts[] = {
        "about", "conditions", "quantities", "recordings", "answers", "seal"};
    const char *found = "about";

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        char *key = keepf("\n  \"%s\"", parts[i]);

        if ((size_t)(strstr(text, key) - text) <= at)
            found = parts[i];
    }
    return found;
}

/* Inside of a text of the part: there the part itself must be named. */
static bool is_in_value(const char *text, size_t at)
{
    size_t start = at;

    while (start > 0 && text[start - 1] != '\n')
        start--;
    return at > start + 8 && text[at] >= '0' && text[at] <= '9' &&
           strncmp(text + start, "    \"", 5) == 0;
}

TEST(every_byte_counts)
{
    char *path = sealed_file();
    struct err err = {0};
    struct buf text;
    size_t named = 0;

    buf_init(&text, MAX_FILE);
    assert_int_equal(file_read(path, &text, &err), 0);
    for (size_t i = 0; i < text.len; i++) {
        char why[BASELINE_WHY] = "";
        struct baseline b;
        const char *bad;

        text.data[i] ^= 1;
        bad = tmpdir_write("bad.json", text.data, text.len);
        text.data[i] ^= 1;
        err = (struct err){0};
        assert_true(baseline_load(&b, bad, why, &err) != 0);
        if (is_in_value(text.data, i)) {
            assert_non_null(strstr(why, part_of(text.data, i)));
            named++;
        }
        baseline_fini(&b);
    }
    assert_true(named > 300);
    buf_fini(&text);
}

TEST(a_recording_that_was_altered_is_named)
{
    struct baseline b = made();
    struct buf out;
    char hash[SHA256_TEXT];

    sha256_bytes("abc", 3, hash);
    baseline_add_file(&b, tmpdir_write("same", "abc", 3), hash);
    baseline_add_file(&b, tmpdir_write("other", "abd", 3), hash);
    buf_init(&out, MAX_FILE);
    assert_int_equal(baseline_check_files(&b, &out), 2);
    assert_says(buf_text(&out), "one/trial-1/requests.tgr: No such file");
    assert_says(buf_text(&out), "/other: altered since it was sealed");
    buf_fini(&out);
    baseline_fini(&b);
}

TEST(a_file_of_another_kind_is_none)
{
    static const char text[] = "{\"a\": 1}\n";
    char why[BASELINE_WHY] = "";
    struct baseline b;
    struct err err = {0};

    assert_int_equal(baseline_load(&b,
                                   tmpdir_write("a.json", text, strlen(text)),
                                   why, &err),
                     -1);
    assert_int_equal(err.code, ERR_CONFIG);
    baseline_fini(&b);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
