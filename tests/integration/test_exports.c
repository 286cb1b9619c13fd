/* What other programs read: every JSON document is as its schema says, JUnit is
 * valid XML of its schema, Markdown renders, and trackers get their numbers. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/str.h"
#include "tests/support/keep.h"
#include "tests/support/proc.h"
#include "tests/support/schema.h"
#include "tests/support/sided.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"
#include "tests/support/tool.h"

#define MAX_TEXT ((size_t)4 << 20)

/* A name that would break out of XML, of a table, and call somebody. */
#define HOSTILE "a\"b|<script>`x`</script> @you \xC3\xA9"

static char *fast; /* meets its SLO */
static char *slow; /* misses it */
static char *late; /* its client was late: invalid */

static int make_recordings(void **state)
{
    assert_int_equal(tmpdir_setup(state), 0);
    fast = sided_write("fast", &(struct sided){.n = 1500,
                                               .e2e_ms = 5,
                                               .spread_ms = 1,
                                               .seed = 1,
                                               .batching = HOSTILE,
                                               .slo = "e2e p99 < 100ms",
                                               .at_s = 1700000000});
    slow = sided_write("slow", &(struct sided){.n = 1500,
                                               .e2e_ms = 8,
                                               .spread_ms = 2,
                                               .seed = 2,
                                               .batching = HOSTILE,
                                               .slo = "e2e p99 < 1ms",
                                               .at_s = 1700000100});
    late = sided_write("late", &(struct sided){.n = 1500,
                                               .e2e_ms = 5,
                                               .spread_ms = 1,
                                               .seed = 3,
                                               .batching = HOSTILE,
                                               .slo = "e2e p99 < 7ms",
                                               .lag_ms = 400,
                                               .at_s = 1700000200});
    return 0;
}

static char *text_of(const char *path)
{
    struct err err = {0};
    char *text = NULL;

    assert_int_equal(file_read_text(path, MAX_TEXT, &text, &err), 0);
    return keep(text);
}

/* What it prints is a document of this schema. */
static void prints(const char *schema, const char *const *argv, int status)
{
    struct proc_result r = proc_run(argv);

    proc_expect(&r, status);
    assert_schema_text(schema, r.out);
}

/* ---- tools ---- */

static bool has_tool(const char *name)
{
    char *command = keepf("command -v %s >/dev/null", name);

    if (system(command) == 0) /* NOLINT(cert-env33-c) */
        return true;
    print_message("%s is not installed: skipped\n", name);
    return false;
}

static void assert_junit(const char *path)
{
    if (!has_tool("xmllint"))
        return;
    tool_run(TOOL("xmllint", "--noout", "--schema",
                  keepf("%s/tests/junit.xsd", getenv("TAILGATE_SOURCE")), path),
             tmpdir_path("xmllint.log"));
}

/* ---- schemas ---- */

TEST(reports_of_a_run_are_documented)
{
    prints("run", ARGS("report", fast, "--json"), 0);
    prints("run", ARGS("report", slow, "--json", "--curve", "e2e"), 1);
    prints("run", ARGS("report", late, "--json"), 4);
    prints("run",
           ARGS("report", fast, "--json", "--slo", "gold: e2e p99 < 1ms",
                "--slo", "silver: e2e p99 < 1s", "--usd-per-hour", "2"),
           0);
    prints("profile", ARGS("report", fast, "--json", "--profile", "vllm"), 0);
    prints("checklist", ARGS("report", fast, "--json", "--checklist"), 1);
    assert_schema_file("manifest", keepf("%s/manifest.json", fast));
}

TEST(a_report_without_a_manifest_is_documented)
{
    char *dir = sided_write("lost", &(struct sided){.seed = 4});

    assert_int_equal(unlink(keepf("%s/manifest.json", dir)), 0);
    prints("salvage", ARGS("report", dir, "--json"), 4);
}

TEST(comparisons_are_documented)
{
    prints("compare",
           ARGS("compare", fast, slow, "--json", "--slo", "e2e p99 < 1s",
                "--on", "e2e p50"),
           1);
    prints("compare",
           ARGS("compare", fast, slow, "--format", "json", "--slo",
                "e2e p99 < 1s", "--on", "e2e p50", "--regression", "100%"),
           0);
    prints("compare",
           ARGS("compare", fast, slow, slow, "--json", "--slo", "e2e p99 < 1s",
                "--on", "e2e p50"),
           0);
    prints("compare-history",
           ARGS("compare", "--history", tmpdir_path("."), "--json", "--slo",
                "e2e p99 < 1s"),
           4);
}

TEST(scaling_is_documented)
{
    static const char csv[] = "k,seconds,quality\n1,100,0.9\n2,55,0.9\n"
                              "4,30,0.9\n8,20,0.9\n";
    char *file = tmpdir_write("k.csv", csv, sizeof(csv) - 1);

    prints("scale",
           ARGS("scale", file, "--strong", "--json", "--usd-per-hour", "2",
                "--deadline", "40s", "--junit", tmpdir_path("scale.xml")),
           0);
    assert_junit(tmpdir_path("scale.xml"));
}

TEST(baselines_are_documented)
{
    char *dir = sided_write_trials(
        "set", &(struct sided){.n = 600, .e2e_ms = 5, .seed = 5}, 3);
    char *base = tmpdir_path("base.json");
    struct proc_result r =
        proc_run(ARGS("baseline", "freeze", dir, "-o", base));

    proc_expect(&r, 0);
    assert_schema_file("baseline", base);
    prints("baseline-against",
           ARGS("baseline", "against", base, dir, "--json", "--junit",
                tmpdir_path("against.xml")),
           0);
    assert_junit(tmpdir_path("against.xml"));
}

/* Studies against a real server, as short as they can be. */
TEST(studies_are_documented)
{
    static const struct {
        const char *schema;
        const char *argv[8];
    } cases[] = {
        {"run", {"run", "FILE"}},
        {"trials", {"run", "FILE", "--trials", "2"}},
        {"sweep", {"sweep", "FILE", "--rates", "50,100"}},
        {"search", {"search", "SEARCH"}},
        {"variants", {"run", "VARIANTS"}},
    };
    static const char settings[] =
        "name: s\nstub: {service: fixed 1ms}\n"
        "load: {rate: 100, duration: 200ms}\nslo: [e2e p50 < 1s]\n"
        "study: {settle: 0s, max_discarded: 0}\n";
    static const char variants[] =
        "name: v\nload: {rate: 100, duration: 200ms}\nslo: [e2e p50 < 1s]\n"
        "study: {settle: 0s, max_discarded: 0}\nvariants:\n"
        "  - {name: one, stub: {service: fixed 1ms}}\n"
        "  - {name: two, stub: {service: fixed 2ms}}\n";
    static const char search[] =
        "stub: {service: fixed 10ms}\nload: {arrival: constant}\n"
        "slo: [e2e p50 < 50ms]\nstudy: {settle: 0s}\n"
        "search: {start: 60, probe: 200ms, no_confirm: true, tolerance: 20%, "
        "budget: 3s}\n";
    const struct {
        const char *name;
        const char *path;
    } files[] = {
        {"FILE", tmpdir_write("s.yaml", settings, sizeof(settings) - 1)},
        {"VARIANTS", tmpdir_write("v.yaml", variants, sizeof(variants) - 1)},
        {"SEARCH", tmpdir_write("c.yaml", search, sizeof(search) - 1)}};

    for (size_t i = 0; i < COUNT(cases); i++) {
        char *dir = tmpdir_path(keepf("study-%zu", i));
        const char *argv[16] = {"tailgate"};
        struct proc_result r;
        size_t n = 1;

        for (size_t k = 0; k < 8 && cases[i].argv[k]; k++) {
            argv[n] = cases[i].argv[k];
            for (size_t f = 0; f < COUNT(files); f++) {
                if (strcmp(argv[n], files[f].name) == 0)
                    argv[n] = files[f].path;
            }
            n++;
        }
        argv[n++] = "--json";
        argv[n++] = "-q";
        argv[n++] = "-o";
        argv[n++] = dir;
        argv[n++] = "--junit";
        argv[n++] = keepf("%s.xml", dir);
        r = proc_run(argv);
        expect_status_as_reported(&r, dir);
        assert_schema_text(cases[i].schema, r.out);
        assert_schema_file(cases[i].schema, keepf("%s/summary.json", dir));
        assert_junit(keepf("%s.xml", dir));
    }
}

/* ---- files ---- */

/* The file is written next to what is printed, whatever the verdict. */
TEST(junit_is_valid)
{
    const struct {
        const char *const *argv;
        int status;
        const char *holds;
    } cases[] = {
        {ARGS("report", fast, "--junit", "FILE"), 0,
         "failures=\"0\" errors=\"0\""},
        {ARGS("report", slow, "--junit", "FILE"), 1, "<failure type=\"fail\""},
        {ARGS("report", late, "--junit", "FILE"), 4, "<error type="},
        {ARGS("compare", fast, slow, "--slo", "e2e p99 < 1s", "--on", "e2e p50",
              "--junit", "FILE"),
         1, "<failure type=\"worse\""},
    };

    if (!has_tool("xmllint"))
        skip();
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *path = tmpdir_path(keepf("junit-%zu.xml", i));
        const char *argv[16] = {0};
        struct proc_result r;

        for (size_t k = 0; cases[i].argv[k]; k++)
            argv[k] =
                strcmp(cases[i].argv[k], "FILE") == 0 ? path : cases[i].argv[k];
        r = proc_run(argv);
        proc_expect(&r, cases[i].status);
        assert_non_null(strstr(r.out, "verdict")); /* the text is printed */
        assert_non_null(strstr(text_of(path), cases[i].holds));
        assert_junit(path);
    }
}

TEST(markdown_renders)
{
    char *md = tmpdir_path("run.md");
    char *html = tmpdir_path("run.md.html");
    struct proc_result r = proc_run(ARGS("report", slow, "--md", md));
    const char *page;

    proc_expect(&r, 1);
    r = proc_run(ARGS("report", slow, "--format", "md"));
    proc_expect(&r, 1);
    assert_string_equal(r.out, text_of(md));
    if (!has_tool("cmark-gfm"))
        skip();
    tool_run(TOOL("cmark-gfm", "--unsafe", "-e", "table", "-e", "strikethrough",
                  "-e", "autolink", md),
             html);
    page = text_of(html);
    assert_non_null(strstr(page, "<h3>\xE2\x9D\x8C FAIL"));
    assert_non_null(strstr(page, "<th align=\"left\">term</th>"));
    assert_non_null(strstr(page, "<td align=\"left\">e2e p99 &lt; 1ms</td>"));
    assert_non_null(strstr(page, "<details>\n<summary>Details</summary>"));
    assert_non_null(strstr(page, "&lt;script&gt;`x`&lt;/script&gt;"));
    assert_null(strstr(page, "<script>"));
    assert_null(strstr(page, "<code>x"));
    assert_null(strstr(page, "@you"));
}

/* ---- trackers ---- */

TEST(trackers_get_numbers_or_none)
{
    static const struct {
        const char *format;
        const char *holds;
        const char *none;
    } cases[] = {
        {"bencher", "\"e2e-p99-ms\": {\n      \"value\": ", "{}\n"},
        {"github-smaller", ": e2e p99_ms\",\n    \"unit\": \"ms\"", "[]\n"},
        {"github-bigger", ": goodput_rps\",\n    \"unit\": \"/s\"", "[]\n"},
        {"llm-d", "\"request_latency\": {\n            \"units\": \"ms\"",
         NULL},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct proc_result r =
            proc_run(ARGS("report", slow, "--format", cases[i].format));

        proc_expect(&r, 1);
        assert_string_equal(r.err, "");
        assert_non_null(strstr(r.out, cases[i].holds));
        r = proc_run(ARGS("report", late, "--format", cases[i].format));
        proc_expect(&r, 4);
        assert_string_equal(r.err,
                            "tailgate: no numbers for a tracker: a trust "
                            "check failed\n");
        if (cases[i].none)
            assert_string_equal(r.out, cases[i].none);
        else
            assert_non_null(strstr(r.out, "\"results\": {}"));
    }
}

/* ---- what does not go together ---- */

TEST(formats_that_do_not_fit_are_refused)
{
    const struct {
        const char *const *argv;
        const char *says;
    } cases[] = {
        {ARGS("report", fast, "--json", "--format", "md"),
         "--json cannot be combined with --format md"},
        {ARGS("compare", fast, slow, "--json", "--format", "md"),
         "--json cannot be combined with --format md"},
        {ARGS("compare", fast, slow, "--format", "bencher"),
         "'bencher' is not one of"},
        {ARGS("run", "http://h/", "--rate", "1", "--trials", "2", "--format",
              "llm-d"),
         "--format llm-d requires a single run"},
        {ARGS("report", fast, "--claim", "--junit", "x"),
         "--profile, --checklist and --claim require"},
        {ARGS("report", fast, "--profile", "vllm", "--format", "bencher"),
         "--profile, --checklist and --claim require"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct proc_result r = proc_run(cases[i].argv);

        proc_expect(&r, 2);
        assert_non_null(strstr(r.err, cases[i].says));
    }
}

GROUP_FIXTURE(make_recordings, tmpdir_teardown)
