#include "loadgen/observe/metrics_dialect.h"

#include <math.h>
#include <string.h>

#include "common/base/clk.h"

#define MAX_SERIES 12

/* Values are below 2^62 in a recording. */
#define MAX_VALUE 4e18

#define AT(field) offsetof(struct server_scrape, field)

/* Values are summed over all labels, except for a share, whose maximum counts:
 * one full engine is enough to make requests wait.  A part is a count whose
 * field is the sum of several series. */
enum kind { COUNT, SECONDS, SHARE, PART };

/* To the units of a recording: counts, microseconds, millionths. */
static const double scale[] = {
    [COUNT] = 1, [SECONDS] = 1e6, [SHARE] = 1e6, [PART] = 1};

struct series {
    const char *name; /* NULL: end of the list */
    size_t field;
    enum kind kind;
};

struct metrics_dialect {
    const char *name;
    /* Does the sample repeat what another sample says?  Optional. */
    bool (*repeats)(const struct prom_sample *sample);
    struct series series[MAX_SERIES];
};

static bool is_other_rank(const struct prom_sample *s, const char *label)
{
    char rank[16];

    return prom_label(s, label, rank, sizeof(rank)) && rank[0] &&
           strcmp(rank, "0") != 0;
}

/* With priorities there is a series for each, and one with an empty label for
 * all.  The ranks of one model may each report what all of them do; data
 * parallel ranks have requests of their own. */
static bool sglang_repeats(const struct prom_sample *s)
{
    char text[32];

    if (prom_label(s, "priority", text, sizeof(text)) && text[0])
        return true;
    return is_other_rank(s, "pp_rank") ||
           (!prom_label(s, "dp_rank", text, sizeof(text)) &&
            is_other_rank(s, "tp_rank"));
}

/* ---- the table ---- */

/* The stub is last: it shows its own names in addition to those of others. */
static const struct metrics_dialect dialects[] = {
    {.name = "vllm",
     .series = {{"vllm:num_requests_running", AT(running), COUNT},
                {"vllm:num_requests_waiting", AT(waiting), COUNT},
                {"vllm:kv_cache_usage_perc", AT(cache_use), SHARE},
                {"vllm:gpu_cache_usage_perc", AT(cache_use), SHARE},
                {"vllm:request_queue_time_seconds_sum", AT(queue_sum_us),
                 SECONDS},
                {"vllm:request_queue_time_seconds_count", AT(queue_count),
                 COUNT},
                {"vllm:prompt_tokens_total", AT(prompt_tokens), COUNT},
                {"vllm:generation_tokens_total", AT(generated_tokens), COUNT},
                {"vllm:prefix_cache_hits_total", AT(cached_tokens), COUNT},
                {"vllm:num_preemptions_total", AT(preemptions), COUNT},
                {"vllm:request_success_total", AT(requests), COUNT}}},
    {.name = "sglang",
     .repeats = sglang_repeats,
     .series = {{"sglang:num_running_reqs", AT(running), COUNT},
                {"sglang:num_queue_reqs", AT(waiting), COUNT},
                {"sglang:token_usage", AT(cache_use), SHARE},
                {"sglang:queue_time_seconds_sum", AT(queue_sum_us), SECONDS},
                {"sglang:queue_time_seconds_count", AT(queue_count), COUNT},
                {"sglang:prompt_tokens_total", AT(prompt_tokens), COUNT},
                {"sglang:generation_tokens_total", AT(generated_tokens), COUNT},
                {"sglang:cached_tokens_total", AT(cached_tokens), COUNT},
                {"sglang:num_retracted_requests_total", AT(preemptions), COUNT},
                {"sglang:num_requests_total", AT(requests), COUNT}}},
    {.name = "tgi",
     .series = {{"tgi_batch_current_size", AT(running), COUNT},
                {"tgi_queue_size", AT(waiting), COUNT},
                {"tgi_request_queue_duration_sum", AT(queue_sum_us), SECONDS},
                {"tgi_request_queue_duration_count", AT(queue_count), COUNT},
                {"tgi_request_input_length_sum", AT(prompt_tokens), COUNT},
                {"tgi_request_generated_tokens_sum", AT(generated_tokens),
                 COUNT},
                {"tgi_request_success", AT(requests), COUNT}}},
    {.name = "triton",
     .series = {{"nv_inference_pending_request_count", AT(waiting), COUNT},
                {"nv_inference_queue_duration_us", AT(queue_sum_us), COUNT},
                {"nv_inference_request_success", AT(queue_count), COUNT},
                {"nv_inference_request_success", AT(requests), COUNT}}},
    /* Its prompt tokens are those that were not cached; the cache's use is in
     * older versions only. */
    {.name = "llamacpp",
     .series =
         {{"llamacpp:requests_processing", AT(running), COUNT},
          {"llamacpp:requests_deferred", AT(waiting), COUNT},
          {"llamacpp:kv_cache_usage_ratio", AT(cache_use), SHARE},
          {"llamacpp:prompt_tokens_total", AT(prompt_tokens), PART},
          {"llamacpp:prompt_tokens_cached_total", AT(prompt_tokens), PART},
          {"llamacpp:prompt_tokens_cached_total", AT(cached_tokens), COUNT},
          {"llamacpp:tokens_predicted_total", AT(generated_tokens), COUNT}}},
    {.name = "stub",
     .series = {{"tailgate_stub_running", AT(running), COUNT},
                {"tailgate_stub_queue_depth", AT(waiting), COUNT},
                {"tailgate_stub_kv_share", AT(cache_use), SHARE},
                {"tailgate_stub_queue_seconds_sum", AT(queue_sum_us), SECONDS},
                {"tailgate_stub_queue_seconds_count", AT(queue_count), COUNT},
                {"tailgate_stub_prompt_tokens_total", AT(prompt_tokens), COUNT},
                {"tailgate_stub_tokens_total", AT(generated_tokens), COUNT},
                {"tailgate_stub_served_total", AT(requests), COUNT}}},
};

#define N_DIALECTS (sizeof(dialects) / sizeof(dialects[0]))

/* ---- reading ---- */

/* By dialect and series of the table. */
struct sums {
    struct {
        double value;
        bool is_seen;
    } of[N_DIALECTS][MAX_SERIES];
};

static void take_sample(struct sums *sums, size_t d,
                        const struct prom_sample *s)
{
    const struct series *series = dialects[d].series;

    for (size_t i = 0; i < MAX_SERIES && series[i].name; i++) {
        double *sum = &sums->of[d][i].value;

        if (!prom_is(s->name, series[i].name) ||
            (dialects[d].repeats && dialects[d].repeats(s)))
            continue;
        *sum = series[i].kind == SHARE ? fmax(*sum, s->value) : *sum + s->value;
        sums->of[d][i].is_seen = true;
    }
}

static void on_sample(void *arg, const struct prom_sample *s)
{
    if (!(s->value >= 0 && isfinite(s->value)))
        return;
    for (size_t d = 0; d < N_DIALECTS; d++)
        take_sample(arg, d, s);
}

/* False: the page has no series of this dialect.  A share may have two names,
 * of an older and a newer version. */
static bool put_all(const struct sums *sums, size_t d,
                    struct server_scrape *look)
{
    const struct series *series = dialects[d].series;
    bool is_any_seen = false;

    for (size_t i = 0; i < MAX_SERIES && series[i].name; i++) {
        int64_t *field = (int64_t *)(void *)((char *)look + series[i].field);
        int64_t value = llround(
            fmin(sums->of[d][i].value * scale[series[i].kind], MAX_VALUE));

        if (!sums->of[d][i].is_seen)
            continue;
        is_any_seen = true;
        if (series[i].kind == PART && *field != TIME_ABSENT)
            *field += value;
        else if (value > *field)
            *field = value; /* TIME_ABSENT is less than any value */
    }
    return is_any_seen;
}

struct server_scrape server_look_none(void)
{
    return (struct server_scrape){
        .at = TIME_ABSENT,
        .took = TIME_ABSENT,
        .running = TIME_ABSENT,
        .waiting = TIME_ABSENT,
        .cache_use = TIME_ABSENT,
        .queue_sum_us = TIME_ABSENT,
        .queue_count = TIME_ABSENT,
        .prompt_tokens = TIME_ABSENT,
        .generated_tokens = TIME_ABSENT,
        .cached_tokens = TIME_ABSENT,
        .preemptions = TIME_ABSENT,
        .requests = TIME_ABSENT,
    };
}

const char *metrics_dialect_read(const char *page, size_t len,
                                 struct server_scrape *look,
                                 struct prom_counts *counts)
{
    struct sums sums = {0};

    *look = server_look_none();
    *counts = prom_read(page, len, on_sample, &sums);
    for (size_t d = 0; d < N_DIALECTS; d++) {
        if (put_all(&sums, d, look))
            return dialects[d].name;
    }
    return NULL;
}
