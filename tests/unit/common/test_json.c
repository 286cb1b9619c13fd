/* JSON files, and the whole files below them. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <jansson.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/text/json.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

TEST(objects_come_back)
{
    json_t *out = json_pack("{s:i, s:[s,b], s:{s:f}}", "z", 1, "a", "x\n\"é", 1,
                            "m", "k", 0.1);
    json_t *back = NULL;
    struct err err = {0};

    assert_int_equal(json_write_file(tmpdir_path("j"), out, &err), 0);
    assert_int_equal(json_read_file(tmpdir_path("j"), &back, &err), 0);
    assert_true(json_equal(out, back));
    json_decref(out);
    json_decref(back);
}

TEST(printing_keeps_the_order_of_keys)
{
    json_t *json = json_pack("{s:i, s:i}", "z", 1, "a", 2);
    struct buf out;

    buf_init(&out, 1000);
    json_print(json, &out);
    assert_string_equal(buf_text(&out), "{\n  \"z\": 1,\n  \"a\": 2\n}\n");
    buf_fini(&out);
    json_decref(json);
}

TEST(what_is_no_object_is_refused)
{
    static const struct {
        const char *text;
        const char *want; /* after the path */
    } cases[] = {
        {"", ":1: '[' or '{' expected near end of file"},
        {"{\n\"a\": 1,\n}", ":3: string or '}' expected near '}'"},
        {"{\"a\": 1", ":1: '}' expected near end of file"},
        {"{\"a\": 1, \"a\": 2}", ":1: duplicate object key near '\"a\"'"},
        {"{} x", ":1: end of file expected near 'x'"},
        {"[1]", ": not a JSON object"},
        {"{\"a\": \"\xff\"}", ":1: unable to decode byte 0xff near '\"'"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *path =
            tmpdir_write("j", cases[i].text, strlen(cases[i].text));
        json_t *json = NULL;
        struct err err = {0};
        char want[300];

        snprintf(want, sizeof(want), "%s%s", path, cases[i].want);
        assert_int_equal(json_read_file(path, &json, &err), -1);
        assert_int_equal(err.code, ERR_FORMAT);
        assert_string_equal(err.msg, want);
        assert_null(json);
    }
}

TEST(a_missing_file_is_named)
{
    json_t *json = NULL;
    struct err err = {0};
    char want[300];

    snprintf(want, sizeof(want), "%s: No such file or directory",
             tmpdir_path("none"));
    assert_int_equal(json_read_file(tmpdir_path("none"), &json, &err), -1);
    assert_int_equal(err.code, ERR_CONFIG);
    assert_string_equal(err.msg, want);
}

TEST(numbers_are_looked_up)
{
    json_t *json = json_pack("{s:I, s:s, s:f}", "n", (json_int_t)INT64_MAX, "s",
                             "5", "f", 2.0);

    assert_int_equal(json_get_int(json, "n", -1), INT64_MAX);
    assert_int_equal(json_get_int(json, "s", -1), -1);
    assert_int_equal(json_get_int(json, "f", -1), -1);
    assert_int_equal(json_get_int(json, "none", -7), -7);
    assert_int_equal(json_get_int(NULL, "n", -7), -7);
    json_decref(json);
}

/* Whatever a server sent can be written, and read again. */
TEST(any_bytes_make_a_string)
{
    static const struct {
        const char *bytes;
        size_t len;
        const char *want;
    } cases[] = {
        {"", 0, ""},
        {"plain", 5, "plain"},
        {"two\nlines\t", 10, "two\nlines\t"},
        {"\xc3\xa9t\xc3\xa9", 5, "\xc3\xa9t\xc3\xa9"},
        {"a\xff"
         "b\n",
         4, "a?b?"},
        {"cut \xc3", 5, "cut "},
        {"cut \xe2\x82", 6, "cut "},
        {"cut \xf0\x9f\x98", 7, "cut "},
        {"\xe2\x82\xac", 3, "\xe2\x82\xac"},
        {"\x80\x80", 2, "??"},
        {"\xff", 1, "?"},
        {"a\0b", 3, "a?b"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        json_t *out =
            json_pack("{s:o}", "s", json_bytes(cases[i].bytes, cases[i].len));
        json_t *back = NULL;
        struct err err = {0};

        assert_int_equal(json_write_file(tmpdir_path("j"), out, &err), 0);
        assert_int_equal(json_read_file(tmpdir_path("j"), &back, &err), 0);
        assert_string_equal(json_string_value(json_object_get(back, "s")),
                            cases[i].want);
        json_decref(out);
        json_decref(back);
    }
}

/* ---- whole files ---- */

/* What is flushed, in its order: 'f' a file or 'd' a directory, and the size
 * that the file to replace had then; and which of them fails, from 1 on.  Other
 * tests are let through. */
static struct {
    bool is_on;
    char calls[16];
    size_t n;
    size_t failing;
} disk;

static bool disk_fails(char kind)
{
    struct stat st;

    assert_int_equal(stat(tmpdir_path("s/f"), &st), 0);
    assert_true(disk.n < 4);
    disk.calls[2 * disk.n] = kind;
    disk.calls[2 * disk.n + 1] = (char)('0' + st.st_size);
    return ++disk.n == disk.failing;
}

int fsync(int fd)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return -1;
    if (disk.is_on && disk_fails(S_ISDIR(st.st_mode) ? 'd' : 'f')) {
        errno = EIO;
        return -1;
    }
    return (int)syscall(SYS_fsync, fd);
}

static void count_entries(const char *dir, size_t want)
{
    DIR *d = opendir(dir);
    size_t n = 0;

    assert_non_null(d);
    /* No other thread has this stream. */
    while (readdir(d))
        n++;
    closedir(d);
    assert_int_equal(n, want + 2); /* . and .. */
}

/* A crash of the machine leaves the old file or the new one; a disk that fails
 * is reported, and no temporary file stays. */
TEST(files_are_on_the_disk_before_they_are_renamed)
{
    static const struct {
        size_t failing;
        const char *calls;
        const char *content;
    } cases[] = {
        {0, "f3d5", "newer"},
        {1, "f3", "old"},
        {2, "f3d5", "newer"},
    };

    assert_int_equal(mkdir(tmpdir_path("s"), 0777), 0);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = {0};
        struct buf text;
        int rc;

        assert_int_equal(file_replace(tmpdir_path("s/f"), "old", 3, &err), 0);
        memset(&disk, 0, sizeof(disk));
        disk.failing = cases[i].failing;
        disk.is_on = true;
        rc = file_replace(tmpdir_path("s/f"), "newer", 5, &err);
        disk.is_on = false;
        assert_int_equal(rc, cases[i].failing ? -1 : 0);
        assert_int_equal(err.code, cases[i].failing ? ERR_IO : ERR_NONE);
        assert_string_equal(disk.calls, cases[i].calls);
        buf_init(&text, 5);
        assert_int_equal(file_read(tmpdir_path("s/f"), &text, &err), 0);
        assert_string_equal(buf_text(&text), cases[i].content);
        buf_fini(&text);
        count_entries(tmpdir_path("s"), 1);
    }
}

/* Names of other writers, also those that a crash left, are not touched. */
TEST(temporary_names_are_unique)
{
    struct err err = {0};
    char name[64];

    assert_int_equal(mkdir(tmpdir_path("u"), 0777), 0);
    tmpdir_write("u/f.new", "x", 1);
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof(name), "u/f.new-%ld-%d", (long)getpid(), i);
        tmpdir_write(name, "x", 1);
    }
    assert_int_equal(file_replace(tmpdir_path("u/f"), "text", 4, &err), 0);
    count_entries(tmpdir_path("u"), 102);
}

/* /dev/null stays what it is, also for root. */
TEST(a_pipe_is_written_into)
{
    struct err err = {0};
    struct stat st;
    char text[5] = "";
    int fd;

    assert_int_equal(mkfifo(tmpdir_path("pipe"), 0666), 0);
    fd = open(tmpdir_path("pipe"), O_RDWR);
    assert_true(fd >= 0);
    assert_int_equal(file_replace(tmpdir_path("pipe"), "text", 4, &err), 0);
    assert_int_equal(read(fd, text, 4), 4);
    assert_string_equal(text, "text");
    assert_int_equal(stat(tmpdir_path("pipe"), &st), 0);
    assert_true(S_ISFIFO(st.st_mode));
    close(fd);
}

TEST(files_are_replaced_in_one_step)
{
    struct err err = {0};
    struct stat before;
    struct stat after;
    struct buf text;

    buf_init(&text, 5);
    assert_int_equal(file_replace(tmpdir_path("f"), "old", 3, &err), 0);
    assert_int_equal(stat(tmpdir_path("f"), &before), 0);
    assert_int_equal(file_replace(tmpdir_path("f"), "newer", 5, &err), 0);
    assert_int_equal(stat(tmpdir_path("f"), &after), 0);
    assert_true(before.st_ino != after.st_ino);
    assert_int_equal(file_read(tmpdir_path("f"), &text, &err), 0);
    assert_string_equal(buf_text(&text), "newer");
    buf_fini(&text);
}

/* The old file stays, and nothing lies about. */
TEST(a_failed_replacement_changes_nothing)
{
    struct err err = {0};
    char want[300];

    assert_int_equal(mkdir(tmpdir_path("d"), 0777), 0);
    assert_int_equal(mkdir(tmpdir_path("d/x"), 0777), 0);
    snprintf(want, sizeof(want), "%s: %s", tmpdir_path("d"), strerror(EISDIR));
    assert_int_equal(file_replace(tmpdir_path("d"), "x", 1, &err), -1);
    assert_int_equal(err.code, ERR_IO);
    assert_string_equal(err.msg, want);
    assert_int_equal(access(tmpdir_path("d/x"), F_OK), 0);
}

TEST(reading_is_bounded)
{
    struct err err = {0};
    struct buf text;
    char want[300];

    buf_init(&text, 4);
    snprintf(want, sizeof(want), "%s: larger than 4 bytes",
             tmpdir_write("f", "12345", 5));
    assert_int_equal(file_read(tmpdir_path("f"), &text, &err), -1);
    assert_string_equal(err.msg, want);
    err = (struct err){0};
    buf_reset(&text);
    assert_int_equal(file_read(tmpdir_write("f", "1234", 4), &text, &err), 0);
    assert_string_equal(buf_text(&text), "1234");
    buf_fini(&text);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
