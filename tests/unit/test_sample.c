#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/settings.h"
#include "loadgen/sample.h"

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
    assert_int_equal(sampler_init(&sampler, &s.data, seed, &err), 0);
    settings_fini(&s);
    return sampler;
}

static void put(const struct sampler *sampler, int64_t seq, bool ids,
                struct buf *out)
{
    struct sample sample = sample_draw(sampler, seq);

    buf_reset(out);
    if (ids)
        sample_put_ids(sampler, &sample, out);
    else
        sample_put_text(&sample, out);
}

static void lengths_are_those_of_the_distribution(void **state)
{
    struct sampler s = make("lognormal 512 256", 1, 7);
    double sum = 0;
    const int n = 20000;

    (void)state;
    for (int i = 0; i < n; i++)
        sum += (double)sample_draw(&s, i).prompt_tokens;
    /* 5 standard errors of the mean */
    assert_true(sum / n > 512 - 5 * 256 / 141.4);
    assert_true(sum / n < 512 + 5 * 256 / 141.4);
    assert_int_equal(sample_draw(&s, 5).output_tokens, 128);
}

static void prompts_are_the_same_again_and_differ(void **state)
{
    struct sampler s = make("40", 1, 7);
    struct sampler other = make("40", 1, 8);
    struct buf a;
    struct buf b;

    (void)state;
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
}

/* The seed draws lengths and the nonce content: another run of the same load
 * has the same lengths. */
static void a_nonce_does_not_move_lengths(void **state)
{
    struct sampler s = make("lognormal 512 256", 1, 7);
    struct sampler other = make("lognormal 512 256", 1, 8);

    (void)state;
    for (int i = 0; i < 100; i++)
        assert_int_equal(sample_draw(&s, i).prompt_tokens,
                         sample_draw(&other, i).prompt_tokens);
}

static void a_prompt_has_its_tokens(void **state)
{
    struct sampler s = make("17", 1, 7);
    struct buf out;
    size_t words = 1;
    json_t *ids;

    (void)state;
    buf_init(&out, 10000);
    put(&s, 9, false, &out);
    for (const char *p = buf_text(&out); *p; p++)
        words += *p == ' ';
    assert_int_equal(words, 17);
    buf_reset(&out);
    buf_adds(&out, "[");
    {
        struct sample sample = sample_draw(&s, 9);

        sample_put_ids(&s, &sample, &out);
    }
    buf_adds(&out, "]");
    ids = json_loadb(buf_text(&out), out.len, 0, NULL);
    assert_int_equal(json_array_size(ids), 17);
    for (size_t i = 0; i < 17; i++)
        assert_in_range(json_integer_value(json_array_get(ids, i)), 1000, 9999);
    json_decref(ids);
    buf_fini(&out);
}

static void no_tokens_to_draw_from(void **state)
{
    struct settings s;
    struct sampler sampler;
    struct err err = {0};

    (void)state;
    settings_init(&s);
    s.data.first_id = 5;
    s.data.last_id = 4;
    assert_int_equal(sampler_init(&sampler, &s.data, 1, &err), -1);
    assert_int_equal(err.code, ERR_CONFIG);
    settings_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths_are_those_of_the_distribution),
        cmocka_unit_test(prompts_are_the_same_again_and_differ),
        cmocka_unit_test(a_nonce_does_not_move_lengths),
        cmocka_unit_test(a_prompt_has_its_tokens),
        cmocka_unit_test(no_tokens_to_draw_from),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
