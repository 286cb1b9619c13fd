#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/wire/prometheus.h"
#include "tests/support/test.h"

#define MAX_SEEN 32

/* The first few samples. */
struct seen {
    struct prom_sample samples[MAX_SEEN];
    size_t n;
};

static void on_sample(void *arg, const struct prom_sample *s)
{
    struct seen *seen = arg;

    if (seen->n < MAX_SEEN)
        seen->samples[seen->n++] = *s;
}

static struct prom_counts read_page(const char *page, struct seen *seen)
{
    *seen = (struct seen){0};
    return prom_read(page, strlen(page), on_sample, seen);
}

/* The one sample of that name; its value. */
static double value_of(const struct seen *seen, const char *name)
{
    const struct prom_sample *found = NULL;

    for (size_t i = 0; i < seen->n; i++) {
        if (!prom_is(seen->samples[i].name, name))
            continue;
        assert_null(found);
        found = &seen->samples[i];
    }
    assert_non_null(found);
    return found ? found->value : NAN;
}

/* ---- lines ---- */

TEST(numbers)
{
    static const struct {
        const char *line;
        double value;
    } cases[] = {
        {"a 1", 1},
        {"a 1.0", 1},
        {"a -0.5", -0.5},
        {"a +3", 3},
        {"a 1.789056823729462e+09", 1789056823.729462},
        {"a 1e-3", 1e-3},
        {"a 5E2\r", 500},
        {"a +Inf", INFINITY},
        {"a -Inf", -INFINITY},
        {"a inf", INFINITY},
        {"  a \t 7  ", 7},
        {"a{} 8", 8},
        {"a {x=\"1\"} 9", 9},
        {"a{x=\"1\"}10", 10},
        {"a:b_c9 11", 11},
        {"_ 12", 12},
        {":x 13", 13},
        {"a 14 1395066363000", 14},
        {"a 15  -1 ", 15},
    };
    struct seen seen;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct prom_counts c = read_page(cases[i].line, &seen);

        if (c.samples != 1 || c.damaged != 0)
            fail_msg("%s", cases[i].line);
        assert_true(seen.samples[0].value == cases[i].value);
    }
    read_page("a NaN", &seen);
    assert_true(isnan(seen.samples[0].value));
}

/* Each is skipped and counted; the good ones around it stand. */
TEST(damage)
{
    static const char *const lines[] = {
        "a",
        "a ",
        "a x",
        "a 1 2 3",
        "a 1 x",
        "a-1",
        "9a 1",
        "a nan(0)",
        "a 1,5",
        "a{ 1",
        "a{x} 1",
        "a{x=} 1",
        "a{x=1} 1",
        "a{x=\"1} 1",
        "a{x=\"1\\\"} 1",
        "a{x=\"1\\",
        "a{x=\"1\" y=\"2\"} 1",
        "a{,} 1",
        "a{x=\"1\",,} 1",
        "a{1x=\"1\"} 1",
        "a{x:y=\"1\"} 1",
        "{x=\"1\"} 1",
        "{\"quoted.name\",x=\"1\"} 1",
        "a_total 1 # {trace=\"x\"} 0.5",
        "<html><body>404 not found</body></html>",
        "{\"status\":\"ok\"}",
        "a 1e0000000000000000000000000000000000000000000000000000000000000001",
    };

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct prom_counts c;
        struct seen seen;
        struct buf page;

        buf_init(&page, 4096);
        buf_addf(&page, "before 1\n%s\nafter 2\n", lines[i]);
        c = read_page(buf_text(&page), &seen);
        if (c.samples != 2 || c.damaged != 1)
            fail_msg("%s: %" PRId64 " samples, %" PRId64 " damaged", lines[i],
                     c.samples, c.damaged);
        assert_true(value_of(&seen, "before") == 1);
        assert_true(value_of(&seen, "after") == 2);
        buf_fini(&page);
    }
}

TEST(nothing_is_no_damage)
{
    static const char *const pages[] = {"", "\n\n", "  \n\t\r\n",
                                        "# a comment\n#\n# EOF\n# TYPE\n"};
    struct seen seen;

    for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
        struct prom_counts c = read_page(pages[i], &seen);

        assert_int_equal(c.samples, 0);
        assert_int_equal(c.damaged, 0);
    }
}

/* A line at the bound is read, one above it is not; so with labels. */
TEST(bounds)
{
    struct seen seen;
    struct buf page;

    buf_init(&page, 1 << 20);
    for (size_t more = 0; more < 2; more++) {
        struct prom_counts c;

        buf_reset(&page);
        buf_adds(&page, "a{x=\"");
        while (page.len < PROM_MAX_LINE - 4 + more)
            buf_adds(&page, "y");
        buf_adds(&page, "\"} 1\nb 2\n");
        c = prom_read(page.data, page.len, on_sample,
                      memset(&seen, 0, sizeof(seen)));
        assert_int_equal(c.damaged, more);
        assert_int_equal(c.samples, 2 - more);

        buf_reset(&page);
        buf_adds(&page, "a{");
        for (size_t i = 0; i < PROM_MAX_LABELS + more; i++)
            buf_addf(&page, "l%zu=\"\",", i);
        buf_adds(&page, "} 1\nb 2\n");
        c = prom_read(page.data, page.len, on_sample,
                      memset(&seen, 0, sizeof(seen)));
        assert_int_equal(c.damaged, more);
    }
    buf_fini(&page);
}

/* ---- labels ---- */

TEST(labels)
{
    struct seen seen;
    char text[32];

    read_page("a{ path = \"C:\\\\DIR\\\\\" , error=\"no \\\"x\\\"\\nhere\","
              "odd=\"\\t\", braces=\"}{,=\", empty=\"\", } 1.458255915e9",
              &seen);
    assert_int_equal(seen.n, 1);
    assert_true(prom_label(&seen.samples[0], "path", text, sizeof(text)));
    assert_string_equal(text, "C:\\DIR\\");
    assert_true(prom_label(&seen.samples[0], "error", text, sizeof(text)));
    assert_string_equal(text, "no \"x\"\nhere");
    assert_true(prom_label(&seen.samples[0], "odd", text, sizeof(text)));
    assert_string_equal(text, "\\t");
    assert_true(prom_label(&seen.samples[0], "braces", text, sizeof(text)));
    assert_string_equal(text, "}{,=");
    assert_true(prom_label(&seen.samples[0], "empty", text, sizeof(text)));
    assert_string_equal(text, "");
    assert_false(prom_label(&seen.samples[0], "pat", text, sizeof(text)));
    assert_false(prom_label(&seen.samples[0], "error", text, 8));
    assert_string_equal(text, "");
}

/* ---- as servers write them ---- */

TEST(vllm)
{
    static const char page[] =
        "# HELP python_gc_objects_collected_total Objects collected during gc\n"
        "# TYPE python_gc_objects_collected_total counter\n"
        "python_gc_objects_collected_total{generation=\"0\"} 11233.0\n"
        "# HELP vllm:num_requests_running Number of requests in model "
        "execution batches.\n"
        "# TYPE vllm:num_requests_running gauge\n"
        "vllm:num_requests_running{engine=\"0\",model_name=\"Qwen/Qwen3-8B\"} "
        "24.0\n"
        "# TYPE vllm:kv_cache_usage_perc gauge\n"
        "vllm:kv_cache_usage_perc{engine=\"0\",model_name=\"Qwen/Qwen3-8B\"} "
        "0.4565217391304348\n"
        "# TYPE vllm:prefix_cache_queries_total counter\n"
        "vllm:prefix_cache_queries_total{engine=\"0\"} 2e+06\n"
        "# TYPE vllm:prefix_cache_queries_created gauge\n"
        "vllm:prefix_cache_queries_created{engine=\"0\"} "
        "1.789056823729462e+09\n"
        "# TYPE vllm:request_queue_time_seconds histogram\n"
        "vllm:request_queue_time_seconds_bucket{engine=\"0\",le=\"0.3\"} 7.0\n"
        "vllm:request_queue_time_seconds_sum{engine=\"0\"} "
        "0.00013256072998046875\n"
        "vllm:request_queue_time_seconds_count{engine=\"0\"} 7.0\n";
    struct prom_counts c;
    struct seen seen;
    char text[32];

    c = read_page(page, &seen);
    assert_int_equal(c.damaged, 0);
    assert_int_equal(c.samples, 8);
    assert_true(value_of(&seen, "vllm:num_requests_running") == 24);
    assert_true(value_of(&seen, "vllm:prefix_cache_queries_total") == 2e6);
    assert_true(value_of(&seen, "vllm:request_queue_time_seconds_sum") ==
                0.00013256072998046875);
    assert_true(prom_label(&seen.samples[1], "model_name", text, sizeof(text)));
    assert_string_equal(text, "Qwen/Qwen3-8B");
}

TEST(triton)
{
    static const char page[] =
        "# HELP nv_inference_queue_duration_us Cumulative inference queuing "
        "duration in microseconds (includes cached requests)\n"
        "# TYPE nv_inference_queue_duration_us counter\n"
        "nv_inference_queue_duration_us{model=\"a\",version=\"1\"} "
        "58356.000000\n"
        "nv_inference_queue_duration_us{gpu_uuid=\"GPU-8674351b-fff7\","
        "model=\"b\",version=\"1\"} 89\n";
    struct prom_counts c;
    struct seen seen;

    c = read_page(page, &seen);
    assert_int_equal(c.damaged, 0);
    assert_int_equal(c.samples, 2);
    assert_true(seen.samples[0].value == 58356);
}
