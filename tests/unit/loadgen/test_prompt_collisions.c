#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "common/wire/api_names.h"
#include "loadgen/payload/prompt_collisions.h"
#include "loadgen/payload/sample.h"
#include "tests/support/keep.h"
#include "tests/support/test.h"

static void assign(struct settings *s, const char *what)
{
    struct err err = {0};

    if (settings_assign(s, what, &err))
        fail_msg("%s", err.msg);
}

static void ask(struct settings *s, int api, const char *input)
{
    char *text = keepf("data.input_tokens=%s", input);

    settings_init(s);
    assign(s, text);
    s->target.api = api;
    s->load.scenario = SCENARIO_SERVER;
    s->data.nonce = 7;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Prompts that are the same as another before them. */
static int count(const struct settings *s, bool is_ids, int n)
{
    char **prompts = xcalloc((size_t)n, sizeof(*prompts));
    struct sampler sampler;
    struct err err = {0};
    struct buf out;
    int repeats = 0;

    buf_init(&out, 10000);
    assert_int_equal(sampler_init(&sampler, s, &err), 0);
    for (int i = 0; i < n; i++) {
        struct sample sample = sample_draw(&sampler, i, NULL);

        buf_reset(&out);
        if (is_ids)
            sample_put_ids(&sampler, &sample, &out);
        else
            sample_put_text(&sampler, &sample, &out);
        prompts[i] = xstrdup(buf_text(&out));
    }
    qsort(prompts, (size_t)n, sizeof(*prompts), by_text);
    for (int i = 1; i < n; i++)
        repeats += strcmp(prompts[i], prompts[i - 1]) == 0;
    for (int i = 0; i < n; i++)
        free(prompts[i]);
    free(prompts);
    buf_fini(&out);
    sampler_fini(&sampler);
    return repeats;
}

/* What was expected is what is made.  Repeats vary less than independent events
 * would; lengths, of which a thousand are looked at, by some percent: five
 * deviations of the one and a fifth for the other. */
TEST(repeats_are_as_many_as_expected)
{
    static const struct {
        int api;
        const char *input;
    } cases[] = {
        {API_OPENAI_COMPLETIONS, "1"},   {API_OPENAI_CHAT, "1"},
        {API_OPENAI_CHAT, "2"},          {API_OPENAI_CHAT, "uniform 1 20"},
        {API_OPENAI_CHAT, "normal 2 1"}, {API_OPENAI_EMBEDDINGS, "uniform 1 3"},
    };
    const int n = 4000;

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct settings s;
        double expected;
        int found;

        ask(&s, cases[i].api, cases[i].input);
        expected = prompt_collisions_expected(&s, n);
        found = count(&s, cases[i].api != API_OPENAI_CHAT, n);
        print_message("%s: %d repeats, %.1f expected\n", cases[i].input, found,
                      expected);
        assert_true(expected > 1);
        assert_true(fabs(found - expected) <
                    5 * sqrt(expected) + 0.2 * expected);
        settings_fini(&s);
    }
}

TEST(longer_ones_do_not_repeat)
{
    static const struct {
        int api;
        const char *input;
    } cases[] = {
        {API_OPENAI_CHAT, "10"},
        {API_OPENAI_CHAT, "256"},
        {API_OPENAI_COMPLETIONS, "5"},
        {API_RERANK, "1"}, /* many of them */
        {API_HTTP, "1"},
        {API_KSERVE_HTTP, "1"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct settings s;

        ask(&s, cases[i].api, cases[i].input);
        assert_true(prompt_collisions_expected(&s, 1e6) < 1e-3);
        settings_fini(&s);
    }
}

/* Who asks for it needs no warning. */
TEST(repeats_that_are_meant)
{
    static const char *const asked[] = {"data.unique=false",
                                        "data.cache_check=true",
                                        "target.body=x", "data.file=f"};

    for (size_t i = 0; i < COUNT(asked); i++) {
        struct settings s;

        ask(&s, API_OPENAI_CHAT, "1");
        assert_true(prompt_collisions_expected(&s, 1000) > 800);
        assign(&s, asked[i]);
        assert_true(prompt_collisions_expected(&s, 1000) == 0);
        settings_fini(&s);
    }
}
