#include <jansson.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/settings/settings.h"
#include "loadgen/payload/sample.h"
#include "loadgen/trace/trace_format.h"
#include "tests/support/test.h"

static struct sampler make(const char *input, uint64_t seed, uint64_t nonce)
{
    struct settings s;
    struct sampler sampler;
    struct err err = {0};
    struct opt_set set;

    settings_init(&s);
    set = settings_set(&s, BLOCK_DATA);
    assert_int_equal(
        opt_assign(&set, opt_by_key(set.block, "input_tokens"), input, &err),
        0);
    s.data.nonce = nonce;
    s.load.seed = seed;
    assert_int_equal(sampler_init(&sampler, &s, &err), 0);
    settings_fini(&s);
    return sampler;
}

static void put(const struct sampler *sampler, int64_t seq, bool ids,
                struct buf *out)
{
    struct sample sample = sample_draw(sampler, seq, NULL);

    buf_reset(out);
    if (ids)
        sample_put_ids(sampler, &sample, out);
    else
        sample_put_text(sampler, &sample, out);
}

TEST(lengths_are_those_of_the_distribution)
{
    struct sampler s = make("lognormal 512 256", 1, 7);
    double sum = 0;
    const int n = 20000;

    for (int i = 0; i < n; i++)
        sum += (double)sample_draw(&s, i, NULL).prompt_tokens;
    /* 5 standard errors of the mean */
    assert_true(sum / n > 512 - 5 * 256 / 141.4);
    assert_true(sum / n < 512 + 5 * 256 / 141.4);
    assert_int_equal(sample_draw(&s, 5, NULL).output_tokens, 128);
    sampler_fini(&s);
}

TEST(prompts_are_the_same_again_and_differ)
{
    struct sampler s = make("40", 1, 7);
    struct sampler other = make("40", 1, 8);
    struct buf a;
    struct buf b;

    buf_init(&a, 10000);
    buf_init(&b, 10000);
    for (int ids = 0; ids < 2; ids++) {
        put(&s, 3, ids, &a);
        put(&s, 3, ids, &b);
        assert_string_equal(buf_text(&a), buf_text(&b));
        put(&s, 4, ids, &b);
        assert_string_not_equal(buf_text(&a), buf_text(&b));
        put(&other, 3, ids, &b);
        assert_string_not_equal(buf_text(&a), buf_text(&b));
    }
    buf_fini(&a);
    buf_fini(&b);
    sampler_fini(&s);
    sampler_fini(&other);
}

/* The seed draws lengths and the nonce content: another run of the same load
 * has the same lengths. */
TEST(a_nonce_does_not_move_lengths)
{
    struct sampler s = make("lognormal 512 256", 1, 7);
    struct sampler other = make("lognormal 512 256", 1, 8);

    for (int i = 0; i < 100; i++)
        assert_int_equal(sample_draw(&s, i, NULL).prompt_tokens,
                         sample_draw(&other, i, NULL).prompt_tokens);
    sampler_fini(&s);
    sampler_fini(&other);
}

TEST(a_prompt_has_its_tokens)
{
    struct sampler s = make("17", 1, 7);
    struct buf out;
    size_t words = 1;
    json_t *ids;

    buf_init(&out, 10000);
    put(&s, 9, false, &out);
    for (const char *p = buf_text(&out); *p; p++)
        words += *p == ' ';
    assert_int_equal(words, 17);
    buf_reset(&out);
    buf_adds(&out, "[");
    {
        struct sample sample = sample_draw(&s, 9, NULL);

        sample_put_ids(&s, &sample, &out);
    }
    buf_adds(&out, "]");
    ids = json_loadb(buf_text(&out), out.len, 0, NULL);
    assert_int_equal(json_array_size(ids), 17);
    for (size_t i = 0; i < 17; i++)
        assert_in_range(json_integer_value(json_array_get(ids, i)), 1000, 9999);
    json_decref(ids);
    buf_fini(&out);
    sampler_fini(&s);
}

TEST(no_tokens_to_draw_from)
{
    struct settings s;
    struct sampler sampler;
    struct err err = {0};

    settings_init(&s);
    s.data.first_id = 5;
    s.data.last_id = 4;
    assert_int_equal(sampler_init(&sampler, &s, &err), -1);
    assert_int_equal(err.code, ERR_CONFIG);
    sampler_fini(&sampler);
    settings_fini(&s);
}

/* What a class sends again was sent by itself. */
TEST(reuse_stays_within_a_class)
{
    struct class_settings two[2] = {{.weight = 1}, {.weight = 3}};
    const struct classes workload = {.items = two, .len = 2};
    struct settings s;
    struct sampler sampler;
    struct err err = {0};
    int64_t again = 0;

    settings_init(&s);
    s.data.cache_hit_rate = 0.5;
    s.data.workload = &workload;
    s.data.class = 0;
    assert_int_equal(sampler_init(&sampler, &s, &err), 0);
    for (int64_t seq = 0; seq < 4000; seq++) {
        struct sample sample;

        if (classes_draw(&workload, s.load.seed, seq) != 0)
            continue;
        sample = sample_draw(&sampler, seq, NULL);
        assert_in_range(sample.from, 0, seq);
        assert_int_equal(classes_draw(&workload, s.load.seed, sample.from), 0);
        again += sample.from < seq;
    }
    /* An eighth of 4000, within 5 deviations of the binomial. */
    assert_in_range(again, 395, 605);
    sampler_fini(&sampler);
    settings_fini(&s);
}

/* ---- of a trace ---- */

static struct sampler of_trace(uint64_t nonce)
{
    struct settings s;
    struct sampler sampler;
    struct err err = {0};

    settings_init(&s);
    s.load.scenario = SCENARIO_TRACE;
    s.data.nonce = nonce;
    assert_int_equal(sampler_init(&sampler, &s, &err), 0);
    settings_fini(&s);
    return sampler;
}

/* A prompt of blocks of four tokens. */
static void put_row(const struct sampler *sampler, int64_t seq, int64_t input,
                    const int64_t blocks[2], bool ids, struct buf *out)
{
    int64_t copy[2] = {blocks[0], blocks[1]};
    struct row row = {.input = input,
                      .output = 9,
                      .blocks = copy,
                      .n_blocks = 2,
                      .block_tokens = 4};
    struct sample sample = sample_draw(sampler, seq, &row);

    assert_int_equal(sample.prompt_tokens, input);
    assert_int_equal(sample.output_tokens, 9);
    buf_reset(out);
    if (ids)
        sample_put_ids(sampler, &sample, out);
    else
        sample_put_text(sampler, &sample, out);
}

/* How many words, or ids, two prompts have in common from their beginning. */
static int64_t common_tokens(const struct buf *a, const struct buf *b, char sep)
{
    const char *p = buf_text(a);
    const char *q = buf_text(b);
    int64_t n = 0;

    for (; *p && *p == *q; p++, q++)
        n += *p == sep;
    return n + (*p == *q || (!*p && *q == sep) || (!*q && *p == sep));
}

static int64_t count_tokens(const struct buf *a, char sep)
{
    int64_t n = 1;

    for (const char *p = buf_text(a); *p; p++)
        n += *p == sep;
    return n;
}

TEST(prompts_of_common_blocks_begin_alike)
{
    static const struct {
        int64_t a[2];
        int64_t b[2];
        int64_t input_a;
        int64_t input_b;
        int64_t want;
    } cases[] = {
        {{1, 2}, {1, 2}, 8, 8, 8},   {{1, 2}, {1, 3}, 8, 8, 4},
        {{1, 2}, {4, 2}, 8, 8, 0},   {{1, 2}, {1, 2}, 12, 12, 8},
        {{1, 2}, {1, 2}, 7, 10, 7},  {{1, 2}, {1, 3}, 3, 8, 3},
        {{-1, 2}, {-1, 3}, 8, 8, 4},
    };
    struct sampler s = of_trace(7);
    struct buf a;
    struct buf b;

    buf_init(&a, 10000);
    buf_init(&b, 10000);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (int ids = 0; ids < 2; ids++) {
            char sep = ids ? ',' : ' ';

            put_row(&s, 3, cases[i].input_a, cases[i].a, ids, &a);
            put_row(&s, 4, cases[i].input_b, cases[i].b, ids, &b);
            assert_int_equal(common_tokens(&a, &b, sep), cases[i].want);
            assert_int_equal(count_tokens(&a, sep), cases[i].input_a);
            assert_int_equal(count_tokens(&b, sep), cases[i].input_b);
        }
    }
    buf_fini(&a);
    buf_fini(&b);
    sampler_fini(&s);
}

/* What a cache kept of one run does not help in the next. */
TEST(blocks_are_of_one_run)
{
    static const int64_t blocks[2] = {1, 2};
    struct sampler s = of_trace(7);
    struct sampler other = of_trace(8);
    struct buf a;
    struct buf b;

    buf_init(&a, 10000);
    buf_init(&b, 10000);
    put_row(&s, 3, 8, blocks, true, &a);
    put_row(&other, 3, 8, blocks, true, &b);
    assert_int_equal(common_tokens(&a, &b, ','), 0);
    put_row(&s, 9, 8, blocks, true, &b);
    assert_string_equal(buf_text(&a), buf_text(&b));
    buf_fini(&a);
    buf_fini(&b);
    sampler_fini(&s);
    sampler_fini(&other);
}

/* ---- of a cache check ---- */

static struct sampler of_cache_check(void)
{
    struct settings s;
    struct sampler sampler;
    struct err err = {0};
    struct opt_set set;

    settings_init(&s);
    set = settings_set(&s, BLOCK_DATA);
    assert_int_equal(opt_assign(&set, opt_by_key(set.block, "input_tokens"),
                                "uniform 20 400", &err),
                     0);
    s.data.nonce = 7;
    s.data.cache_check = true;
    assert_int_equal(sampler_init(&sampler, &s, &err), 0);
    settings_fini(&s);
    return sampler;
}

/* Of two neighbours one repeats, now the first and now the second; all are of
 * one length, and no other is like it. */
TEST(half_of_a_cache_check_is_one_prompt)
{
    struct sampler s = of_cache_check();
    const int n = 400;
    struct buf first;
    struct buf other;
    int even = 0;

    buf_init(&first, 10000);
    buf_init(&other, 10000);
    put(&s, sample_draw(&s, 0, NULL).is_repeat ? 0 : 1, false, &first);
    for (int i = 0; i < n; i++) {
        struct sample sample = sample_draw(&s, i, NULL);

        assert_int_equal(sample.is_repeat,
                         !sample_draw(&s, i ^ 1, NULL).is_repeat);
        even += i % 2 == 0 && sample.is_repeat;
        put(&s, i, false, &other);
        assert_int_equal(count_tokens(&other, ' '), count_tokens(&first, ' '));
        if (sample.is_repeat)
            assert_string_equal(buf_text(&first), buf_text(&other));
        else
            assert_string_not_equal(buf_text(&first), buf_text(&other));
    }
    /* Of 200 coins half, by five deviations. */
    assert_in_range(even, 100 - 36, 100 + 36);
    assert_true(sampler_cached_share(&s) < 0);
    buf_fini(&first);
    buf_fini(&other);
    sampler_fini(&s);
}
