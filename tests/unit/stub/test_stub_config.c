#include <string.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/settings/option.h"
#include "common/settings/settings.h"
#include "common/wire/sse.h"
#include "server-stub/sim/batching.h"
#include "server-stub/sim/router.h"
#include "server-stub/stub_config.h"
#include "tests/support/stubflags.h"
#include "tests/support/test.h"

TEST(the_defaults_can_be_served)
{
    struct stub_config config;
    struct settings s;
    struct err err = {0};

    settings_init(&s);
    assert_int_equal(stub_config(&s.stub, &config, &err), 0);
    assert_int_equal(err.code, ERR_NONE);
    assert_ptr_equal(config.sim.model, &model_plain);
    assert_string_equal(config.sim.policy->name, "none");
    assert_null(config.sim.router);
    assert_int_equal(config.sim.replicas, 1);
    assert_int_equal(config.sim.queue_max, 0);
    assert_int_equal(config.sim.kv_tokens, 0);
    assert_int_equal(config.sim.stalls.stall_ns, 0);
    assert_int_equal(config.faults.len, 0);
    assert_false(config.has_eos);
    assert_int_equal(config.sse, 0);
    settings_fini(&s);
}

static const char *const all[] = {
    "--service=llm",
    "--prefill=1us",
    "--decode=2us",
    "--decode-item=3us",
    "--chunk=4",
    "--prompt-tokens=5",
    "--output-tokens=6",
    "--kv-tokens=7000",
    "--batching=dynamic",
    "--max-batch=8",
    "--max-delay=9ms",
    "--preferred=2,4",
    "--max-running=10",
    "--replicas=3",
    "--router=two-choices",
    "--speed=1,0.5",
    "--queue=11",
    "--discipline=priority",
    "--stall=12ms",
    "--stall-every=13s",
    "--cold=14",
    "--cold-factor=1.5",
    "--drift=16%",
    "--seed=17",
    "--fault=reset n=18",
    "--eos-tokens=19",
    "--sse=crlf,comments",
    NULL,
};

TEST(settings_reach_the_simulation)
{
    struct stub_config c;
    struct settings s;
    struct err err = {0};

    settings_init(&s);
    stub_tell(&s, all);
    assert_int_equal(stub_config(&s.stub, &c, &err), 0);
    assert_ptr_equal(c.sim.model, &model_llm);
    assert_int_equal(c.sim.model_settings.prefill_ns, 1 * NS_PER_US);
    assert_int_equal(c.sim.model_settings.decode_ns, 2 * NS_PER_US);
    assert_int_equal(c.sim.model_settings.decode_item_ns, 3 * NS_PER_US);
    assert_int_equal(c.sim.model_settings.chunk_tokens, 4);
    assert_true(dist_mean(&c.sim.model_settings.prompt) == 5);
    assert_true(dist_mean(&c.sim.model_settings.output) == 6);
    assert_int_equal(c.sim.kv_tokens, 7000);
    assert_string_equal(c.sim.policy->name, "dynamic");
    assert_int_equal(c.sim.policy_settings.max_batch, 8);
    assert_int_equal(c.sim.policy_settings.max_delay_ns, 9 * NS_PER_MS);
    assert_int_equal(c.sim.policy_settings.n_preferred, 2);
    assert_int_equal(c.sim.policy_settings.preferred[1], 4);
    assert_int_equal(c.sim.policy_settings.max_running, 10);
    assert_int_equal(c.sim.replicas, 3);
    assert_string_equal(c.sim.router->name, "two-choices");
    assert_true(c.sim.speed[0] == 1 && c.sim.speed[1] == 0.5);
    assert_true(c.sim.speed[2] == 0); /* stands for 1 */
    assert_int_equal(c.sim.queue_max, 11);
    assert_true(c.sim.by_priority);
    assert_int_equal(c.sim.stalls.stall_ns, 12 * NS_PER_MS);
    assert_int_equal(c.sim.stalls.every_ns, 13 * NS_PER_S);
    assert_int_equal(c.sim.cold_jobs, 14);
    assert_true(c.sim.cold_factor == 1.5);
    assert_true(c.sim.drift_per_min == 0.16);
    assert_int_equal(c.sim.seed, 17);
    assert_int_equal(c.faults.len, 1);
    assert_int_equal(c.faults.faults[0].nth, 18);
    assert_true(c.has_eos && dist_mean(&c.eos) == 19);
    assert_int_equal(c.sse, 1 << SSE_STYLE_CRLF | 1 << SSE_STYLE_COMMENTS);
    settings_fini(&s);
}

/* The KV budget is a language model's. */
TEST(a_batch_model_has_no_kv)
{
    static const char *const some[] = {"--service=batch 5ms 1ms",
                                       "--kv-tokens=10", NULL};
    struct stub_config c;
    struct settings s;
    struct err err = {0};

    settings_init(&s);
    stub_tell(&s, some);
    assert_int_equal(stub_config(&s.stub, &c, &err), 0);
    assert_ptr_equal(c.sim.model, &model_batch);
    assert_int_equal(c.sim.model_settings.base_ns, 5 * NS_PER_MS);
    assert_int_equal(c.sim.model_settings.per_item_ns, NS_PER_MS);
    assert_int_equal(c.sim.kv_tokens, 0);
    settings_fini(&s);
}

/* A stub alongside a run is told its settings as they are printed. */
TEST(what_is_printed_is_read_back)
{
    struct settings s;
    struct opt_set set = settings_set(&s, BLOCK_STUB);

    settings_init(&s);
    for (size_t i = 0; i < block_stub.len; i++) {
        const struct opt *opt = &block_stub.opts[i];
        struct err err = {0};
        struct buf text;

        if (opt->type->kind != OPT_SCALAR)
            continue;
        buf_init(&text, 1000);
        opt_print(&set, opt, &text);
        if (opt_assign(&set, opt, buf_text(&text), &err))
            fail_msg("%s: %s", opt->key, err.msg);
        buf_fini(&text);
    }
    settings_fini(&s);
}

/* Every name that the option table offers is known here. */
TEST(every_choice_is_known)
{
    struct stub_config c;
    struct settings s;
    struct err err = {0};

    settings_init(&s);
    for (int i = 0; batching_names[i]; i++) {
        s.stub.batching = i;
        assert_int_equal(stub_config(&s.stub, &c, &err), 0);
        assert_string_equal(c.sim.policy->name, batching_names[i]);
    }
    for (int i = 1; router_names[i]; i++) {
        s.stub.router = i;
        assert_int_equal(stub_config(&s.stub, &c, &err), 0);
        assert_string_equal(c.sim.router->name, router_names[i]);
    }
    settings_fini(&s);
}

#define SIZES "stub.preferred: sizes must ascend from 1 to stub.max_batch"

TEST(bad_settings_name_their_key)
{
    static const struct {
        const char *flags[3];
        const char *want;
    } cases[] = {
        {{"--body-size=1"}, "stub.body_size: must be from 2 bytes to 64 MiB"},
        {{"--body-size=65MiB"},
         "stub.body_size: must be from 2 bytes to 64 MiB"},
        {{"--full-status=200"}, "stub.full_status: must be 429 or 503"},
        {{"--full-status=600"}, "stub.full_status: must be 429 or 503"},
        {{"--model=a\"b"},
         "stub.model: cannot contain quotes, backslashes or line ends"},
        {{"--model=a\\b"},
         "stub.model: cannot contain quotes, backslashes or line ends"},
        {{"--max-batch=0"}, "stub.max_batch: must be at least 1"},
        {{"--max-running=0"}, "stub.max_running: must be at least 1"},
        {{"--preferred=2,x"},
         "stub.preferred: 'x' is not a count; write 1000, 10k or 1M"},
        {{"--preferred=0,2"}, SIZES},
        {{"--preferred=4,2"}, SIZES},
        {{"--preferred=2,2"}, SIZES},
        {{"--preferred=2,9"}, SIZES},
        {{"--replicas=0"}, "stub.replicas: must be from 1 to 64"},
        {{"--replicas=65"}, "stub.replicas: must be from 1 to 64"},
        {{"--speed=1,2"}, "stub.speed: more speeds than replicas"},
        {{"--speed=0"}, "stub.speed: must be above 0"},
        {{"--speed=fast"},
         "stub.speed: 'fast' is not valid; write a number from 0 up, such as "
         "0.5"},
        {{"--embedding-size=0"}, "stub.embedding_size: must be from 1 to 8192"},
        {{"--embedding-size=8193"},
         "stub.embedding_size: must be from 1 to 8192"},
        {{"--tokens-per-event=0"}, "stub.tokens_per_event: must be at least 1"},
        {{"--events-per-write=0"}, "stub.events_per_write: must be at least 1"},
        {{"--sse=cr,crlf"}, "stub.sse: crlf cannot be combined with cr"},
        {{"--stall=1s"}, "stub.stall: requires stub.stall_every"},
        {{"--stall-every=5s"}, "stub.stall_every: requires stub.stall"},
        {{"--stall=5s", "--stall-every=5s"},
         "stub.stall: must be shorter than stub.stall_every"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct stub_config config;
        struct settings s;
        struct err err = {0};

        settings_init(&s);
        stub_tell(&s, cases[i].flags);
        assert_int_equal(stub_config(&s.stub, &config, &err), -1);
        assert_int_equal(err.code, ERR_CONFIG);
        assert_string_equal(err.msg, cases[i].want);
        settings_fini(&s);
    }
}

/* What the option table would have refused, from elsewhere. */
TEST(bad_texts_name_their_key)
{
    static const struct {
        size_t offset;
        const char *text;
        const char *want;
    } cases[] = {
        {offsetof(struct stub_settings, service), "slow",
         "stub.service: 'slow' is not a distribution"},
        {offsetof(struct stub_settings, prompt_tokens), "many",
         "stub.prompt_tokens: 'many' is not a distribution"},
        {offsetof(struct stub_settings, eos_tokens), "few",
         "stub.eos_tokens: 'few' is not a distribution"},
        {offsetof(struct stub_settings, output_tokens), "few",
         "stub.output_tokens: 'few' is not a distribution"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct stub_config config;
        struct settings s;
        struct stub_settings bad;
        struct err err = {0};

        settings_init(&s);
        bad = s.stub;
        *(const char **)((char *)&bad + cases[i].offset) = cases[i].text;
        assert_int_equal(stub_config(&bad, &config, &err), -1);
        assert_int_equal(err.code, ERR_CONFIG);
        assert_memory_equal(err.msg, cases[i].want, strlen(cases[i].want));
        settings_fini(&s);
    }
}

TEST(long_lists_are_refused)
{
    static const struct {
        size_t offset;
        const char *item;
        const char *want;
    } cases[] = {
        {offsetof(struct stub_settings, faults), "reset",
         "stub.faults: more than 16 faults"},
        {offsetof(struct stub_settings, faults), "rest",
         "stub.faults: unknown fault 'rest'; did you mean 'reset'?"},
        {offsetof(struct stub_settings, preferred), "1",
         "stub.preferred: more than 8 sizes"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int n = strcmp(cases[i].item, "rest") == 0 ? 1 : 17;
        struct stub_config config;
        struct settings s;
        struct err err = {0};

        settings_init(&s);
        for (int k = 0; k < n; k++)
            strlist_add((struct strlist *)((char *)&s.stub + cases[i].offset),
                        cases[i].item);
        assert_int_equal(stub_config(&s.stub, &config, &err), -1);
        assert_string_equal(err.msg, cases[i].want);
        settings_fini(&s);
    }
}

/* A name that the settings take and the stub does not serve would be a crash.
 */
TEST(every_name_is_served)
{
    for (size_t i = 0; batching_names[i]; i++)
        assert_non_null(policy_find(batching_names[i]));
    for (size_t i = 1; router_names[i]; i++) /* 0: no router */
        assert_non_null(router_find(router_names[i]));
}
