#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "server-stub/sim/sim.h"
#include "server-stub/stub_page.h"
#include "tests/support/keep.h"
#include "tests/support/test.h"

static const struct sim_counts counts = {
    .arrived = 100,
    .served = 60,
    .refused = 10,
    .waiting = 20,
    .running = 10,
    .kv_used = 1234,
    .tokens = 5000,
    .started = 70,
    .queued_ns = 3500000000,
    .prompt_tokens = 700,
    .batches = 66,
    .batched = 7777,
    .batch_sizes = {11, 10, 9, 8, 7, 6, 5, 4, 3, 3},
};

static const char *page(const char *path, struct buf *out, const char **type)
{
    struct page_view view = {.model = "a/model-1", .counts = &counts};

    buf_init(out, 1 << 20);
    assert_true(page_write(path, &view, out, type));
    assert_false(out->overflowed);
    return buf_text(out);
}

TEST(json_pages_are_json)
{
    static const char *const paths[] = {
        "/health",
        "/v2",
        "/v2/health/ready",
        "/v2/health/live",
        "/v2/models/m",
        "/v2/models/m/ready",
        "/v2/models/m/versions/1",
        "/v2/models/m/versions/1/ready",
        "/v1/models",
        "/v1/models/m",
        "/v1/models/m/versions/1",
        "/v1/models/m/labels/stable",
        "/info",
    };

    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        const char *type;
        struct buf out;
        json_t *json = json_loads(page(paths[i], &out, &type), 0, NULL);

        assert_true(json_is_object(json));
        assert_string_equal(type, "application/json");
        json_decref(json);
        buf_fini(&out);
    }
}

TEST(the_model_is_listed)
{
    const char *type;
    struct buf out;
    json_t *json = json_loads(page("/v1/models", &out, &type), 0, NULL);
    const json_t *data = json_object_get(json, "data");

    assert_int_equal(json_array_size(data), 1);
    assert_string_equal(
        json_string_value(json_object_get(json_array_get(data, 0), "id")),
        "a/model-1");
    json_decref(json);
    buf_fini(&out);
}

TEST(there_is_no_other_page)
{
    static const char *const paths[] = {
        "",        "/",         "/health/",         "/v1/models/",
        "/metric", "/metricss", "/v1/models/a/b",   "/v2/models/x/versions",
        "/infos",  "/v2/",      "/v2/models/x/live"};
    struct page_view view = {.model = "m", .counts = &counts};
    struct buf out;
    const char *type;

    buf_init(&out, 1 << 16);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        assert_false(page_write(paths[i], &view, &out, &type));
    assert_int_equal(out.len, 0);
    buf_fini(&out);
}

/* ---- metrics ---- */

/* The next line, cut out of *rest; each must have its newline. */
static char *next_line(char **rest)
{
    char *line = *rest;
    char *end = strchr(line, '\n');

    if (!*line)
        return NULL;
    assert_non_null(end);
    *end = '\0';
    *rest = end + 1;
    return line;
}

/* Of what metric is this sample, given its type? */
static bool belongs(const char *sample, const char *name, const char *type)
{
    size_t len = strlen(name);
    const char *rest = sample + len;

    if (strncmp(sample, name, len) != 0)
        return false;
    if (strcmp(type, "histogram") != 0)
        return *rest == ' ';
    return strncmp(rest, "_bucket{le=\"", 12) == 0 ||
           strncmp(rest, "_sum ", 5) == 0 || strncmp(rest, "_count ", 7) == 0;
}

/* HELP, TYPE, then samples of that metric, each with a number. */
TEST(metrics_are_well_formed)
{
    const char *content_type;
    struct buf out;
    char *text = xstrdup(page("/metrics", &out, &content_type));
    char *rest = text;
    char name[80] = "";
    char type[16] = "";
    bool has_help = false;
    int samples = 0;
    char *line;

    assert_string_equal(content_type, "text/plain; version=0.0.4");
    while ((line = next_line(&rest))) {
        char *value = strrchr(line, ' ') + 1;
        char *end;

        if (strncmp(line, "# HELP ", 7) == 0) {
            assert_false(has_help);
            assert_int_equal(sscanf(line + 7, "%79s %*c", name), 1);
            has_help = true;
        } else if (strncmp(line, "# TYPE ", 7) == 0) {
            assert_true(has_help);
            assert_memory_equal(line + 7, name, strlen(name));
            snprintf(type, sizeof(type), "%s", value);
            has_help = false;
        } else {
            assert_false(has_help);
            assert_true(belongs(line, name, type));
            strtod(value, &end);
            assert_true(end > value && *end == '\0');
            samples++;
        }
    }
    assert_int_equal(samples, 8 + SIM_BATCH_SIZES + 2 + 3);
    free(text);
    buf_fini(&out);
}

static long long sample(const char *text, const char *name)
{
    char *key = keepf("\n%s ", name);
    const char *at = strstr(text, key);
    long long value;

    assert_non_null(at);
    value = strtoll(at + strlen(key), NULL, 10);
    return value;
}

TEST(metrics_are_the_counts)
{
    static const struct {
        const char *name;
        long long want;
    } cases[] = {
        {"tailgate_stub_requests_total", 100},
        {"tailgate_stub_served_total", 60},
        {"tailgate_stub_refused_total", 10},
        {"tailgate_stub_tokens_total", 5000},
        {"tailgate_stub_prompt_tokens_total", 700},
        {"tailgate_stub_queue_seconds_bucket{le=\"+Inf\"}", 70},
        {"tailgate_stub_queue_seconds_sum", 3}, /* and a half */
        {"tailgate_stub_queue_seconds_count", 70},
        {"tailgate_stub_queue_depth", 20},
        {"tailgate_stub_running", 10},
        {"tailgate_stub_kv_tokens", 1234},
        {"tailgate_stub_batch_size_bucket{le=\"1\"}", 11},
        {"tailgate_stub_batch_size_bucket{le=\"2\"}", 21},
        {"tailgate_stub_batch_size_bucket{le=\"4\"}", 30},
        {"tailgate_stub_batch_size_bucket{le=\"8\"}", 38},
        {"tailgate_stub_batch_size_bucket{le=\"16\"}", 45},
        {"tailgate_stub_batch_size_bucket{le=\"32\"}", 51},
        {"tailgate_stub_batch_size_bucket{le=\"64\"}", 56},
        {"tailgate_stub_batch_size_bucket{le=\"128\"}", 60},
        {"tailgate_stub_batch_size_bucket{le=\"256\"}", 63},
        {"tailgate_stub_batch_size_bucket{le=\"+Inf\"}", 66},
        {"tailgate_stub_batch_size_sum", 7777},
        {"tailgate_stub_batch_size_count", 66},
    };
    const char *type;
    struct buf out;
    const char *text = page("/metrics", &out, &type);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(sample(text, cases[i].name), cases[i].want);
    buf_fini(&out);
}

/* Beside our own, under the names of others. */
TEST(metrics_have_other_names_too)
{
    static const struct {
        int style; /* enum metrics_style */
        const char *line;
    } cases[] = {
        {METRICS_OWN, "tailgate_stub_kv_share 0.617"},
        {METRICS_VLLM, "# TYPE vllm:num_requests_running gauge"},
        {METRICS_VLLM,
         "vllm:num_requests_running{engine=\"0\",model_name=\"m/7%s\"} 10"},
        {METRICS_VLLM,
         "vllm:num_requests_waiting{engine=\"0\",model_name=\"m/7%s\"} 20"},
        {METRICS_VLLM,
         "vllm:kv_cache_usage_perc{engine=\"0\",model_name=\"m/7%s\"} 0.617"},
        {METRICS_VLLM, "vllm:request_queue_time_seconds_bucket{engine=\"0\","
                       "model_name=\"m/7%s\",le=\"+Inf\"} 70"},
        {METRICS_VLLM, "vllm:request_queue_time_seconds_sum{engine=\"0\","
                       "model_name=\"m/7%s\"} 3.5"},
        {METRICS_VLLM, "vllm:prompt_tokens_total{engine=\"0\",model_name=\"m/"
                       "7%s\"} 700"},
        {METRICS_SGLANG, "sglang:num_running_reqs{model_name=\"m/7%s\"} 10"},
        {METRICS_SGLANG,
         "sglang:queue_time_seconds_count{model_name=\"m/7%s\"} 70"},
        {METRICS_SGLANG, "sglang:num_queue_reqs{model_name=\"m/7%s\"} 20"},
        {METRICS_SGLANG, "sglang:token_usage{model_name=\"m/7%s\"} 0.617"},
        {METRICS_TGI, "tgi_batch_current_size 10"},
        {METRICS_TGI, "tgi_queue_size 20"},
        {METRICS_TGI, "tgi_request_success 60"},
        {METRICS_TGI, "tgi_request_queue_duration_bucket{le=\"+Inf\"} 70"},
        {METRICS_TGI, "tgi_request_queue_duration_sum 3.5"},
        {METRICS_TGI, "tgi_request_generated_tokens_sum 5000"},
        {METRICS_TGI, "tgi_request_input_length_sum 700"},
        {METRICS_TRITON, "nv_inference_pending_request_count{model=\"m/7%s\","
                         "version=\"1\"} 20"},
        {METRICS_TRITON,
         "nv_inference_request_success{model=\"m/7%s\",version=\"1\"} 60"},
        {METRICS_TRITON, "nv_inference_queue_duration_us{model=\"m/7%s\","
                         "version=\"1\"} 3500000"},
        {METRICS_TRITON,
         "nv_inference_exec_count{model=\"m/7%s\",version=\"1\"} 66"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct page_view view = {.model = "m/7%s",
                                 .counts = &counts,
                                 .kv_tokens = 2000,
                                 .metrics_style = cases[i].style};
        char *line = keepf("\n%s\n", cases[i].line);
        const char *type;
        struct buf out;

        buf_init(&out, 1 << 20);
        assert_true(page_write("/metrics", &view, &out, &type));
        if (!strstr(buf_text(&out), line))
            fail_msg("no %s in\n%s", cases[i].line, buf_text(&out));
        assert_int_equal(sample(buf_text(&out), "tailgate_stub_running"), 10);
        buf_fini(&out);
    }
}
