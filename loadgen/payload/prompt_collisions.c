#include "loadgen/payload/prompt_collisions.h"

#include <math.h>

#include "common/base/err.h"
#include "common/settings/settings.h"
#include "common/wire/api_names.h"
#include "loadgen/api/api.h"
#include "loadgen/payload/sample.h"

/* There are more prompts of this length than any run sends. */
#define LONG_ENOUGH 10

/* How many lengths are drawn to learn how often each occurs. */
#define LENGTHS 1000

/* Among n draws from equally likely kinds, kinds * (1 - (1 - 1/kinds)^n) are
 * expected to be different. */
static double count_repeats(const struct sampler *sampler, double kinds,
                            double requests)
{
    int drawn = requests < LENGTHS ? (int)ceil(requests) : LENGTHS;
    double of_length[LONG_ENOUGH] = {0};
    double repeats = 0;

    for (int i = 0; i < drawn; i++) {
        int64_t length = sample_draw(sampler, i, NULL).prompt_tokens;

        if (length < LONG_ENOUGH)
            of_length[length] += requests / drawn;
    }
    for (int i = 1; i < LONG_ENOUGH; i++) {
        double n = of_length[i];
        double all = pow(kinds, i);

        repeats += n / all < 1e-4 ? n * n / all / 2 : n + all * expm1(-n / all);
    }
    return repeats;
}

double prompt_collisions_expected(const struct settings *s, double requests)
{
    const struct data_settings *data = &s->data;
    bool is_ids = data->prompts != PROMPT_TEXT &&
                  api_takes_ids((enum api_kind)s->target.api);
    double kinds =
        is_ids ? (double)(data->last_id - data->first_id + 1) : SAMPLE_WORDS;
    struct sampler sampler;
    struct err ignored = {0}; /* the run reports it */
    double repeats = 0;

    /* Requests to rank have many documents, and turns of a session a history.
     */
    if (data->file || s->target.body || data->cache_check ||
        data->unique == UNIQUE_FALSE || s->load.scenario == SCENARIO_TRACE ||
        s->load.scenario == SCENARIO_SESSIONS || s->target.api == API_HTTP ||
        s->target.api == API_RERANK ||
        api_is_grpc((enum api_kind)s->target.api) ||
        api_takes_tensors((enum api_kind)s->target.api))
        return 0;
    if (sampler_init(&sampler, s, &ignored) == 0)
        repeats = count_repeats(&sampler, kinds, requests);
    sampler_fini(&sampler);
    return repeats;
}
