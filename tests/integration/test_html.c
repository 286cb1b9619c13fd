/* Pages and pictures from the command line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/hash.h"
#include "common/base/str.h"
#include "tests/support/keep.h"
#include "tests/support/proc.h"
#include "tests/support/rendered.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define MAX_PAGE ((size_t)4 << 20)

static char *stub_url; /* of the stub that serves all tests here */
static struct proc stub;
static char *recording;

/* A name that would break out of a title, a script and an attribute. */
#define HOSTILE "</title></script><script>alert('1')</script>\" onload=\"x"

static int record_one(void **state)
{
    struct proc_result r;

    assert_int_equal(tmpdir_setup(state), 0);
    stub = stub_start(ARGS("stub", "--service", "fixed 1ms"), &stub_url);
    recording = tmpdir_path("rec");
    r = proc_run(ARGS("run", stub_url, "--rate", "200", "-d", "1s", "--name",
                      HOSTILE, "--label", keepf("note=%s", HOSTILE), "--slo",
                      "e2e p50 < 500ms", "-o", recording, "--html",
                      tmpdir_path("run.html")));
    run_expect(&r, recording, 0);
    return 0;
}

static int end_stub(void **state)
{
    stub_stop(&stub);
    return tmpdir_teardown(state);
}

static char *text_of(const char *path)
{
    struct err err = {0};
    char *text = NULL;

    assert_int_equal(file_read_text(path, MAX_PAGE, &text, &err), 0);
    return keep(text);
}

/* The same recording gives the same bytes, from `run` and from `report`. */
TEST(run_and_report_write_the_same_page)
{
    char *path = tmpdir_path("report.html");
    struct proc_result r =
        proc_run(ARGS("report", "-v", recording, "--html", path));

    run_expect(&r, recording, 0);
    assert_non_null(strstr(r.out, "verdict")); /* the text is still printed */
    assert_string_equal(text_of(path), text_of(tmpdir_path("run.html")));
}

static size_t count(const char *text, const char *word)
{
    size_t n = 0;

    for (const char *p = text; (p = strstr(p, word)); p++)
        n++;
    return n;
}

TEST(names_from_outside_stay_text)
{
    const char *page = text_of(tmpdir_path("run.html"));

    assert_null(strstr(page, "<script>alert"));
    assert_null(strstr(page, "\" onload"));
    assert_non_null(strstr(page, "&lt;script&gt;alert(&#39;1&#39;)"));
    assert_int_equal(count(page, "<script"), 2); /* ours and the data */
    assert_int_equal(count(page, "</script"), 2);
}

/* The text between two words. */
static char *between(const char *page, const char *from, const char *to)
{
    const char *start = strstr(page, from);
    const char *end;

    assert_non_null(start);
    start += strlen(from);
    end = strstr(start, to);
    assert_non_null(end);
    return keepf("%.*s", (int)(end - start), start);
}

/* The policy allows exactly the style and the script that are there. */
TEST(the_policy_has_the_hashes)
{
    static const char *const parts[][3] = {
        {"<style>", "</style>", "style-src 'sha256-"},
        {"<script>", "</script>", "script-src 'sha256-"}};
    const char *page = text_of(tmpdir_path("run.html"));

    assert_non_null(strstr(page, "default-src 'none'"));
    for (size_t i = 0; i < 2; i++) {
        char *text = between(page, parts[i][0], parts[i][1]);
        char *named = between(page, parts[i][2], "'");
        char hex[SHA256_TEXT];
        char got[SHA256_TEXT] = "";
        struct buf bytes;

        sha256_bytes(text, strlen(text), hex);
        buf_init(&bytes, 64);
        assert_int_equal(base64_decode(named, strlen(named), &bytes), 0);
        assert_int_equal(bytes.len, 32);
        for (size_t k = 0; k < 32; k++)
            snprintf(got + 2 * k, 3, "%02x", (unsigned char)bytes.data[k]);
        assert_string_equal(got, hex);
        buf_fini(&bytes);
    }
}

/* Everything that the answer depends on is in the command, and a shell takes it
 * as it stands. */
TEST(pages_say_how_to_make_them_again)
{
    char *dir = tmpdir_path("two words");
    char *page = tmpdir_path("again.html");
    struct proc_result r =
        proc_run(ARGS("run", stub_url, "--rate", "100", "-d", "200ms", "--slo",
                      "e2e p50 < 500ms", "--trials", "2", "-o", dir));

    proc_expect(&r, 0);
    r = proc_run(ARGS("report", keepf("%s/trial-1", dir), "--slo",
                      "e2e p50 < 1s,e2e p50 < 2s", "--usd-per-hour", "3",
                      "--html", page));
    proc_expect(&r, 0);
    assert_says(text_of(page),
                "<pre>tailgate report &#39;%s/trial-1&#39; --slo &#39;e2e p50 "
                "&lt; 1s&#39; --slo &#39;e2e p50 &lt; 2s&#39; --usd-per-hour "
                "3</pre>",
                dir);
    r = proc_run(ARGS("report", dir, "--slo", "e2e p50 < 1s", "--html", page));
    proc_expect(&r, 0);
    assert_says(text_of(page),
                "<pre>tailgate report &#39;%s&#39; --slo &#39;e2e p50 &lt; "
                "1s&#39; --html",
                dir);
    r = proc_run(ARGS("compare", keepf("%s/trial-1", dir),
                      keepf("%s/trial-2", dir), "--slo", "e2e p50 < 1s", "--on",
                      "e2e p50", "--regression", "5%", "--html", page));
    assert_says(text_of(page),
                "<pre>tailgate compare &#39;%s/trial-1&#39; &#39;%s/trial-2"
                "&#39; --on &#39;e2e p50&#39; --regression 5%% --slo &#39;e2e "
                "p50 &lt; 1s&#39; --html",
                dir, dir);
}

TEST(pictures)
{
    char *path = tmpdir_path("rates.svg");
    struct proc_result r =
        proc_run(ARGS("report", recording, "--svg", "spectrum"));

    run_expect(&r, recording, 0);
    assert_int_equal(strncmp(r.out, "<svg xmlns=", 11), 0);
    r = proc_run(ARGS("report", recording, "--svg", keepf("rates=%s", path)));
    run_expect(&r, recording, 0);
    assert_string_equal(r.out, "");
    assert_int_equal(strncmp(text_of(path), "<svg xmlns=", 11), 0);
    r = proc_run(ARGS("report", recording, "--svg", "cat"));
    proc_expect(&r, 2);
    assert_non_null(strstr(r.err, "no picture 'cat'"));
}

GROUP_FIXTURE(record_one, end_stub)
