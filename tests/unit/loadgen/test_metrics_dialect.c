/* Pages as servers write them, and what they come to. */
#include <inttypes.h>
#include <string.h>

#include "common/base/clk.h"
#include "loadgen/observe/metrics_dialect.h"
#include "loadgen/observe/scrape.h"
#include "tests/support/test.h"

static struct server_scrape look_at(const char *page, const char *dialect)
{
    struct prom_counts counts;
    struct server_scrape look;
    const char *found =
        metrics_dialect_read(page, strlen(page), &look, &counts);

    assert_int_equal(counts.damaged, 0);
    if (dialect)
        assert_string_equal(found, dialect);
    else
        assert_null(found);
    return look;
}

static void must_be(const char *page, const char *dialect,
                    const struct server_scrape *want)
{
    struct server_scrape got = look_at(page, dialect);

    for (size_t i = 0; i < schema_server.len; i++) {
        const struct tgr_column *c = &schema_server.columns[i];
        int64_t a;
        int64_t b;

        memcpy(&a, (const char *)&got + c->offset, sizeof(a));
        memcpy(&b, (const char *)want + c->offset, sizeof(b));
        if (a != b)
            fail_msg("%s: %" PRId64 ", not %" PRId64, c->name, a, b);
    }
}

/* Two engines; the series of reasons and of times of creation are others. */
TEST(vllm)
{
    static const char page[] =
        "# HELP vllm:num_requests_running Number of requests in model "
        "execution batches.\n"
        "# TYPE vllm:num_requests_running gauge\n"
        "vllm:num_requests_running{engine=\"0\",model_name=\"m\"} 24.0\n"
        "vllm:num_requests_running{engine=\"1\",model_name=\"m\"} 8.0\n"
        "# TYPE vllm:num_requests_waiting gauge\n"
        "vllm:num_requests_waiting{engine=\"0\",model_name=\"m\"} 72.0\n"
        "vllm:num_requests_waiting{engine=\"1\",model_name=\"m\"} 0.0\n"
        "vllm:num_requests_waiting_by_reason{engine=\"0\",model_name=\"m\","
        "reason=\"capacity\"} 72.0\n"
        "# TYPE vllm:kv_cache_usage_perc gauge\n"
        "vllm:kv_cache_usage_perc{engine=\"0\",model_name=\"m\"} 0.4565217\n"
        "vllm:kv_cache_usage_perc{engine=\"1\",model_name=\"m\"} 0.25\n"
        "# TYPE vllm:prefix_cache_queries_total counter\n"
        "vllm:prefix_cache_queries_total{engine=\"0\",model_name=\"m\"} 900.0\n"
        "# TYPE vllm:prefix_cache_hits_total counter\n"
        "vllm:prefix_cache_hits_total{engine=\"0\",model_name=\"m\"} 300.0\n"
        "# TYPE vllm:num_preemptions_total counter\n"
        "vllm:num_preemptions_total{engine=\"0\",model_name=\"m\"} 2.0\n"
        "# TYPE vllm:prompt_tokens_total counter\n"
        "vllm:prompt_tokens_total{engine=\"0\",model_name=\"m\"} 4.88226e+06\n"
        "# TYPE vllm:prompt_tokens_created gauge\n"
        "vllm:prompt_tokens_created{engine=\"0\",model_name=\"m\"} 1.7e+09\n"
        "# TYPE vllm:generation_tokens_total counter\n"
        "vllm:generation_tokens_total{engine=\"0\",model_name=\"m\"} "
        "139795.0\n"
        "# TYPE vllm:request_success_total counter\n"
        "vllm:request_success_total{engine=\"0\",finished_reason=\"stop\"} "
        "40.0\n"
        "vllm:request_success_total{engine=\"0\",finished_reason=\"length\"} "
        "2.0\n"
        "# TYPE vllm:request_queue_time_seconds histogram\n"
        "vllm:request_queue_time_seconds_bucket{engine=\"0\",le=\"0.3\"} 7.0\n"
        "vllm:request_queue_time_seconds_bucket{engine=\"0\",le=\"+Inf\"} "
        "43.0\n"
        "vllm:request_queue_time_seconds_count{engine=\"0\"} 43.0\n"
        "vllm:request_queue_time_seconds_sum{engine=\"0\"} 1.5132\n";
    struct server_scrape want = server_look_none();

    want.running = 32;
    want.waiting = 72;
    want.cache_use = 456522;
    want.queue_sum_us = 1513200;
    want.queue_count = 43;
    want.prompt_tokens = 4882260;
    want.generated_tokens = 139795;
    want.cached_tokens = 300;
    want.preemptions = 2;
    want.requests = 42;
    must_be(page, "vllm", &want);
    want = server_look_none();
    want.cache_use = 500000; /* as it was called before */
    must_be("vllm:gpu_cache_usage_perc{model_name=\"m\"} 0.5\n", "vllm", &want);
}

TEST(sglang)
{
    static const char page[] =
        "# TYPE sglang:num_running_reqs gauge\n"
        "sglang:num_running_reqs{engine_type=\"unified\",model_name=\"m\","
        "pp_rank=\"0\",tp_rank=\"0\"} 14.0\n"
        "# TYPE sglang:num_queue_reqs gauge\n"
        "sglang:num_queue_reqs{model_name=\"m\"} 3.0\n"
        "# TYPE sglang:token_usage gauge\n"
        "sglang:token_usage{model_name=\"m\"} 0.74\n"
        "# TYPE sglang:cache_hit_rate gauge\n"
        "sglang:cache_hit_rate{model_name=\"m\"} 0.5\n"
        "# TYPE sglang:prompt_tokens_total counter\n"
        "sglang:prompt_tokens_total{model_name=\"m\"} 4882260.0\n"
        "# TYPE sglang:generation_tokens_total counter\n"
        "sglang:generation_tokens_total{model_name=\"m\"} 139795.0\n"
        "# TYPE sglang:cached_tokens_total counter\n"
        "sglang:cached_tokens_total{cache_source=\"device\"} 100.0\n"
        "sglang:cached_tokens_total{cache_source=\"host\"} 20.0\n"
        "# TYPE sglang:num_requests_total counter\n"
        "sglang:num_requests_total{model_name=\"m\"} 99.0\n"
        "# TYPE sglang:queue_time_seconds histogram\n"
        "sglang:queue_time_seconds_sum{model_name=\"m\"} 0.25\n"
        "sglang:queue_time_seconds_bucket{le=\"0.0\",model_name=\"m\"} 0.0\n"
        "sglang:queue_time_seconds_count{model_name=\"m\"} 10.0\n";
    struct server_scrape want = server_look_none();

    want.running = 14;
    want.waiting = 3;
    want.cache_use = 740000;
    want.queue_sum_us = 250000;
    want.queue_count = 10;
    want.prompt_tokens = 4882260;
    want.generated_tokens = 139795;
    want.cached_tokens = 120;
    want.requests = 99;
    must_be(page, "sglang", &want);
}

/* Tensor and pipeline parallel ranks say the same, data parallel ones do not;
 * of priorities there is a sum. */
TEST(sglang_says_things_twice)
{
    static const struct {
        const char *page;
        int64_t running;
    } cases[] = {
        {"sglang:num_running_reqs{tp_rank=\"0\"} 4\n"
         "sglang:num_running_reqs{tp_rank=\"1\"} 4\n",
         4},
        {"sglang:num_running_reqs{pp_rank=\"0\",tp_rank=\"0\"} 4\n"
         "sglang:num_running_reqs{pp_rank=\"1\",tp_rank=\"0\"} 4\n",
         4},
        {"sglang:num_running_reqs{dp_rank=\"0\",tp_rank=\"0\"} 4\n"
         "sglang:num_running_reqs{dp_rank=\"1\",tp_rank=\"1\"} 5\n",
         9},
        {"sglang:num_running_reqs{priority=\"\"} 14\n"
         "sglang:num_running_reqs{priority=\"-9223372036854775808\"} 0\n"
         "sglang:num_running_reqs{priority=\"1\"} 14\n",
         14},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(look_at(cases[i].page, "sglang").running,
                         cases[i].running);
}

TEST(tgi)
{
    static const char page[] =
        "# TYPE tgi_request_success counter\n"
        "tgi_request_success{method=\"generate\"} 30\n"
        "tgi_request_success{method=\"generate_stream\"} 10\n"
        "# TYPE tgi_request_count counter\n"
        "tgi_request_count 42\n"
        "# TYPE tgi_queue_size gauge\n"
        "tgi_queue_size 7\n"
        "# TYPE tgi_batch_current_size gauge\n"
        "tgi_batch_current_size 4\n"
        "# TYPE tgi_request_queue_duration histogram\n"
        "tgi_request_queue_duration_bucket{le=\"0.0001\"} 0\n"
        "tgi_request_queue_duration_sum 0.0355\n"
        "tgi_request_queue_duration_count 44\n"
        "# TYPE tgi_request_generated_tokens histogram\n"
        "tgi_request_generated_tokens_sum 8123\n"
        "# TYPE tgi_request_input_length histogram\n"
        "tgi_request_input_length_sum 900\n";
    struct server_scrape want = server_look_none();

    want.running = 4;
    want.waiting = 7;
    want.queue_sum_us = 35500;
    want.queue_count = 44;
    want.prompt_tokens = 900;
    want.generated_tokens = 8123;
    want.requests = 40;
    must_be(page, "tgi", &want);
}

TEST(triton)
{
    static const char page[] =
        "# TYPE nv_inference_request_success counter\n"
        "nv_inference_request_success{model=\"a\",version=\"1\"} 1000\n"
        "nv_inference_request_success{model=\"b\",version=\"1\"} 0\n"
        "# TYPE nv_inference_count counter\n"
        "nv_inference_count{model=\"a\",version=\"1\"} 4000\n"
        "# TYPE nv_inference_exec_count counter\n"
        "nv_inference_exec_count{model=\"a\",version=\"1\"} 200\n"
        "# TYPE nv_inference_queue_duration_us counter\n"
        "nv_inference_queue_duration_us{model=\"a\",version=\"1\"} 2500000\n"
        "# TYPE nv_inference_pending_request_count gauge\n"
        "nv_inference_pending_request_count{model=\"a\",version=\"1\"} 12\n";
    struct server_scrape want = server_look_none();

    want.waiting = 12;
    want.queue_sum_us = 2500000;
    want.queue_count = 1000;
    want.requests = 1000;
    must_be(page, "triton", &want);
}

/* As its server of autumn 2026 writes them, after 6886 prompt tokens of which
 * 2000 were cached; and an older one, which has the cache's use. */
TEST(llamacpp)
{
    static const char page[] =
        "# HELP llamacpp:prompt_tokens_total Number of prompt tokens "
        "processed, excluding cached tokens\n"
        "# TYPE llamacpp:prompt_tokens_total counter\n"
        "llamacpp:prompt_tokens_total 4886\n"
        "# TYPE llamacpp:prompt_tokens_cached_total counter\n"
        "llamacpp:prompt_tokens_cached_total 2000\n"
        "# TYPE llamacpp:prompt_seconds_total counter\n"
        "llamacpp:prompt_seconds_total 2.903\n"
        "# TYPE llamacpp:tokens_predicted_total counter\n"
        "llamacpp:tokens_predicted_total 3469\n"
        "# TYPE llamacpp:n_decode_total counter\n"
        "llamacpp:n_decode_total 3500\n"
        "# TYPE llamacpp:predicted_tokens_seconds gauge\n"
        "llamacpp:predicted_tokens_seconds 97.8\n"
        "# TYPE llamacpp:requests_processing gauge\n"
        "llamacpp:requests_processing 4\n"
        "# TYPE llamacpp:requests_deferred gauge\n"
        "llamacpp:requests_deferred 46\n"
        "# TYPE llamacpp:n_busy_slots_per_decode gauge\n"
        "llamacpp:n_busy_slots_per_decode 3.61\n";
    static const char older[] = "llamacpp:prompt_tokens_total 4886\n"
                                "llamacpp:tokens_predicted_total 3469\n"
                                "llamacpp:kv_cache_usage_ratio 0.25\n"
                                "llamacpp:kv_cache_tokens 512\n"
                                "llamacpp:requests_processing 4\n"
                                "llamacpp:requests_deferred 46\n";
    struct server_scrape want = server_look_none();

    want.running = 4;
    want.waiting = 46;
    want.prompt_tokens = 6886;
    want.cached_tokens = 2000;
    want.generated_tokens = 3469;
    must_be(page, "llamacpp", &want);
    want.prompt_tokens = 4886;
    want.cached_tokens = TIME_ABSENT;
    want.cache_use = 250000;
    must_be(older, "llamacpp", &want);
}

/* Those of others stand next to the stub's own, and count. */
TEST(stub)
{
    static const char page[] = "tailgate_stub_running 2\n"
                               "tailgate_stub_queue_depth 5\n"
                               "tailgate_stub_kv_share 0.5\n"
                               "tailgate_stub_queue_seconds_sum 3.5\n"
                               "tailgate_stub_queue_seconds_count 70\n";
    struct server_scrape want = server_look_none();

    want.running = 2;
    want.waiting = 5;
    want.cache_use = 500000;
    want.queue_sum_us = 3500000;
    want.queue_count = 70;
    must_be(page, "stub", &want);
    want = server_look_none();
    want.waiting = 1;
    must_be("tailgate_stub_running 2\ntgi_queue_size 1\n", "tgi", &want);
}

TEST(what_is_not_known_is_absent)
{
    static const char *const pages[] = {
        "", "process_cpu_seconds_total 12.5\n",
        "vllm:num_requests_running_total 5\n",
        "vllm:num_requests_running NaN\n",
        "vllm:num_requests_running -1\nvllm:num_requests_running +Inf\n"};
    struct server_scrape none = server_look_none();

    for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
        must_be(pages[i], NULL, &none);
    assert_true(look_at("tgi_queue_size 1e300\n", "tgi").waiting < INT64_C(1)
                                                                       << 62);
}

/* One look a second, and over time at every part of it alike. */
TEST(looks_are_spread_over_the_second)
{
    int tenths[10] = {0};

    assert_int_equal(scrape_due_ns(0), 0);
    for (int64_t n = 0; n < 100; n++) {
        int64_t within = scrape_due_ns(n) - n * NS_PER_S;

        assert_in_range(within, 0, NS_PER_S - 1);
        tenths[within / (NS_PER_S / 10)]++;
    }
    for (size_t i = 0; i < 10; i++)
        assert_in_range(tenths[i], 8, 12);
}
