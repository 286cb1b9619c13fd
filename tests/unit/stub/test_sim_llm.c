/* The simulated language model under continuous and other batching. */
#include <stdlib.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/base/xalloc.h"
#include "tests/support/simrun.h"
#include "tests/support/test.h"

#define N 1000000

#define PREFILL INT64_C(1000) /* ns a prompt token */
#define STEP    INT64_C(10000)
#define ITEM    INT64_C(500)

static struct sim_settings llm(const struct policy_ops *policy,
                               int64_t chunk_tokens)
{
    struct sim_settings set = {
        .model = &model_llm,
        .model_settings = {.prefill_ns = PREFILL,
                           .decode_ns = STEP,
                           .decode_item_ns = ITEM,
                           .chunk_tokens = chunk_tokens},
        .policy = policy,
        .policy_settings = {.max_running = 16,
                            .max_batch = 2,
                            .max_delay_ns = NS_PER_S},
        .replicas = 1,
        .seed = 1,
    };
    struct err err = {0};

    dist_parse_counts("lognormal 20 20", &set.model_settings.prompt, &err);
    dist_parse_counts("exponential 6", &set.model_settings.output, &err);
    return set;
}

/* ---- by hand ---- */

struct request {
    int64_t arrival;
    int64_t prompt;
    int64_t output;
};

struct token {
    size_t job;
    int64_t at;
};

#define MAX_TOKENS 128

struct hand {
    struct job jobs[4];
    struct token tokens[MAX_TOKENS];
    size_t n_tokens;
};

static void note_token(void *arg, struct job *job, int64_t at_ns)
{
    struct hand *hand = arg;

    assert_true(hand->n_tokens < MAX_TOKENS);
    hand->tokens[hand->n_tokens++] =
        (struct token){(size_t)(job - hand->jobs), at_ns};
}

static void note_nothing(void *arg, struct job *job)
{
    (void)arg;
    (void)job;
}

static const struct sim_hooks hooks = {.token = note_token,
                                       .finished = note_nothing};

static void play(struct hand *hand, const struct sim_settings *set,
                 const struct request *requests, size_t n)
{
    struct sim *sim = sim_new(set, &hooks, hand);

    *hand = (struct hand){0};
    assert_true(n <= COUNT(hand->jobs));
    for (size_t i = 0; i < n; i++) {
        hand->jobs[i] = (struct job){.arrival_ns = requests[i].arrival,
                                     .prompt_tokens = requests[i].prompt,
                                     .output_tokens = requests[i].output};
        assert_int_equal(sim_arrive(sim, &hand->jobs[i]), SIM_TAKEN);
    }
    sim_advance(sim, INT64_MAX);
    assert_int_equal(sim_counts(sim).served, n);
    assert_int_equal(sim_counts(sim).tokens, hand->n_tokens);
    assert_int_equal(sim_counts(sim).kv_used, 0);
    sim_free(sim);
}

static void assert_tokens(const struct hand *hand, const struct token *want,
                          size_t n)
{
    assert_true(hand->n_tokens >= n);
    for (size_t i = 0; i < n; i++) {
        if (hand->tokens[i].job != want[i].job ||
            hand->tokens[i].at != want[i].at)
            fail_msg("token %zu: of %zu at %lld", i, hand->tokens[i].job,
                     (long long)hand->tokens[i].at);
    }
}

/* No other request: the prompt, then one step per token. */
TEST(alone_ttft_is_the_prefill)
{
    static const struct request requests[] = {
        {0, 1, 1}, {NS_PER_S, 7, 10}, {2 * NS_PER_S, 1000, 30}};
    static const int64_t chunks[] = {0, 1, 64, 5000};

    for (size_t i = 0; i < COUNT(chunks); i++) {
        struct sim_settings set = llm(policy_find("continuous"), chunks[i]);
        struct hand hand;
        size_t at = 0;

        play(&hand, &set, requests, COUNT(requests));
        for (size_t k = 0; k < COUNT(requests); k++) {
            const struct request *r = &requests[k];
            int64_t first = r->arrival + r->prompt * PREFILL;

            assert_int_equal(hand.jobs[k].start_ns, r->arrival);
            assert_int_equal(hand.jobs[k].first_ns, first);
            for (int64_t t = 0; t < r->output; t++)
                assert_int_equal(hand.tokens[at++].at,
                                 first + t * (STEP + ITEM));
            assert_int_equal(hand.jobs[k].finish_ns, hand.tokens[at - 1].at);
            assert_int_equal(hand.jobs[k].service_ns,
                             hand.jobs[k].finish_ns - r->arrival);
        }
    }
}

/* The second comes while the first decodes; it joins at the end of the step.
 * Its prompt of 200 then stands in the way of the first one's tokens. */
TEST(a_long_prompt_stalls_decoding)
{
    static const struct request requests[] = {{0, 1, 7}, {12000, 200, 2}};
    static const struct token want[] = {{0, 1000},   {0, 11500},  {0, 22000},
                                        {1, 222000}, {0, 233000}, {1, 233000},
                                        {0, 243500}, {0, 254000}, {0, 264500}};
    struct sim_settings set = llm(policy_find("continuous"), 0);
    struct hand hand;

    play(&hand, &set, requests, COUNT(requests));
    assert_tokens(&hand, want, COUNT(want));
    assert_int_equal(hand.n_tokens, COUNT(want));
    assert_int_equal(hand.jobs[1].start_ns, 22000);
    assert_int_equal(hand.jobs[1].batch, 2);
}

/* In chunks of 50 it only makes four of the steps longer, by 50 us each. */
TEST(a_chunked_prompt_slows_decoding)
{
    static const struct request requests[] = {{0, 1, 9}, {12000, 200, 2}};
    static const struct token want[] = {{0, 1000},   {0, 11500},  {0, 22000},
                                        {0, 82500},  {0, 143000}, {0, 203500},
                                        {0, 264000}, {1, 264000}, {0, 275000},
                                        {1, 275000}, {0, 285500}};
    struct sim_settings set = llm(policy_find("continuous"), 50);
    struct hand hand;

    play(&hand, &set, requests, COUNT(requests));
    assert_tokens(&hand, want, COUNT(want));
    assert_int_equal(hand.n_tokens, COUNT(want));
}

/* Two prompts, 30 and 40, share chunks of 50 in the order in which they came:
 * 30 + 20, then 20 with the first one's second token. */
TEST(prompts_share_a_chunk)
{
    static const struct request requests[] = {
        {0, 1, 1}, {500, 30, 2}, {600, 40, 1}};
    static const struct token want[] = {
        {0, 1000}, {1, 51000}, {1, 81500}, {2, 81500}};
    struct sim_settings set = llm(policy_find("continuous"), 50);
    struct hand hand;

    play(&hand, &set, requests, COUNT(requests));
    assert_tokens(&hand, want, COUNT(want));
}

/* Of a static batch of two the shorter is done first; the two that come next
 * start when the longer is. */
TEST(a_static_batch_lets_nobody_join)
{
    static const struct request requests[] = {
        {0, 10, 9}, {0, 10, 2}, {1, 10, 2}, {2, 10, 1}};
    struct sim_settings set = llm(policy_find("static"), 0);
    int64_t both = 20 * PREFILL;
    int64_t short_done = both + STEP + 2 * ITEM;
    int64_t long_done = short_done + 7 * (STEP + ITEM);
    struct hand hand;

    play(&hand, &set, requests, COUNT(requests));
    assert_int_equal(hand.jobs[0].first_ns, both);
    assert_int_equal(hand.jobs[1].finish_ns, short_done);
    assert_int_equal(hand.jobs[0].finish_ns, long_done);
    for (size_t i = 2; i < 4; i++) {
        assert_int_equal(hand.jobs[i].start_ns, long_done);
        assert_int_equal(hand.jobs[i].first_ns, long_done + both);
        assert_int_equal(hand.jobs[i].batch, 2);
    }
    assert_int_equal(hand.jobs[3].finish_ns, long_done + both);
    assert_int_equal(hand.jobs[2].finish_ns, long_done + both + STEP + ITEM);
}

TEST(without_batching_one_goes_after_the_other)
{
    static const struct request requests[] = {{0, 10, 3}, {1, 5, 1}, {2, 1, 2}};
    struct sim_settings set = llm(policy_find("none"), 0);
    struct hand hand;

    play(&hand, &set, requests, COUNT(requests));
    for (size_t i = 0; i < COUNT(requests); i++) {
        const struct job *job = &hand.jobs[i];

        if (i > 0)
            assert_int_equal(job->start_ns, job[-1].finish_ns);
        assert_int_equal(job->finish_ns - job->start_ns,
                         requests[i].prompt * PREFILL +
                             (requests[i].output - 1) * (STEP + ITEM));
    }
}

/* A step that ends as a stall begins is followed by one after the stall. */
TEST(steps_stand_still_in_a_stall)
{
    static const struct request requests[] = {{0, 10, 4}};
    static const struct token want[] = {
        {0, 10000}, {0, 20500}, {0, 41000}, {0, 61500}};
    struct sim_settings set = llm(policy_find("continuous"), 0);
    struct hand hand;

    set.stalls = (struct stalls){0, 10000, 20500};
    play(&hand, &set, requests, COUNT(requests));
    assert_tokens(&hand, want, COUNT(want));
}

/* ---- the KV budget ---- */

/* 60 of 100 are held; 50 do not fit, and 10, which would, come after them. */
TEST(who_does_not_fit_waits_and_is_not_overtaken)
{
    static const struct request requests[] = {
        {0, 10, 50}, {10, 40, 10}, {20, 5, 5}};
    struct sim_settings set = llm(policy_find("continuous"), 0);
    struct hand hand;

    set.kv_tokens = 100;
    play(&hand, &set, requests, 3);
    assert_int_equal(hand.jobs[1].start_ns, hand.jobs[0].finish_ns);
    assert_int_equal(hand.jobs[2].start_ns, hand.jobs[0].finish_ns);
    set.kv_tokens = 110;
    play(&hand, &set, requests, 3);
    assert_int_equal(hand.jobs[1].start_ns, 10000);
    assert_int_equal(hand.jobs[2].start_ns, hand.jobs[1].finish_ns);
}

TEST(too_large_is_refused)
{
    static const struct {
        int64_t prompt;
        int64_t output;
        enum sim_reply want;
    } cases[] = {
        {60, 40, SIM_TAKEN}, {60, 41, SIM_TOO_LARGE}, {101, 1, SIM_TOO_LARGE},
        {50, 50, SIM_TAKEN}, {1, 1, SIM_FULL},        {60, 41, SIM_TOO_LARGE},
    };
    struct sim_settings set = llm(policy_find("continuous"), 0);
    struct simrun run;

    set.kv_tokens = 100;
    set.queue_max = 1;
    simrun_init(&run, &set, COUNT(cases));
    for (size_t i = 0; i < run.n; i++) {
        run.jobs[i].prompt_tokens = cases[i].prompt;
        run.jobs[i].output_tokens = cases[i].output;
        assert_int_equal(sim_arrive(run.sim, &run.jobs[i]), cases[i].want);
    }
    assert_int_equal(sim_counts(run.sim).refused, 4);
    sim_advance(run.sim, INT64_MAX);
    assert_int_equal(sim_counts(run.sim).served, 2);
    simrun_fini(&run);
}

/* ---- many ---- */

struct change {
    int64_t at_ns;
    int64_t by;
};

/* Who leaves makes room for who joins in the same moment. */
static int compare_changes(const void *a, const void *b)
{
    const struct change *x = a;
    const struct change *y = b;

    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    return (x->by > y->by) - (x->by < y->by);
}

static int64_t one(const struct job *job)
{
    (void)job;
    return 1;
}

static int64_t tokens_held(const struct job *job)
{
    return job->prompt_tokens + job->output_tokens;
}

/* The most there ever is at once on a replica, from starts and finishes. */
static int64_t most_at_once(const struct simrun *run, int64_t replica,
                            int64_t (*of)(const struct job *job))
{
    struct change *changes = xcalloc(2 * run->n, sizeof(*changes));
    size_t n = 0;
    int64_t now = 0;
    int64_t most = 0;

    for (size_t i = 0; i < run->n; i++) {
        const struct job *job = &run->jobs[i];

        if (job->finish_ns == TIME_ABSENT || job->replica != replica)
            continue;
        changes[n++] = (struct change){job->start_ns, of(job)};
        changes[n++] = (struct change){job->finish_ns, -of(job)};
    }
    qsort(changes, n, sizeof(*changes), compare_changes);
    for (size_t i = 0; i < n; i++) {
        now += changes[i].by;
        most = now > most ? now : most;
    }
    assert_int_equal(now, 0);
    free(changes);
    return most;
}

static int64_t sum_outputs(const struct simrun *run)
{
    int64_t sum = 0;

    for (size_t i = 0; i < run->n; i++) {
        if (run->jobs[i].finish_ns != TIME_ABSENT)
            sum += run->jobs[i].output_tokens;
    }
    return sum;
}

/* At a load where now the cap binds and now the budget; simrun.c sees to it
 * that every job gets its tokens one by one. */
static void assert_bounds_hold(int64_t chunk_tokens, const char *what)
{
    struct sim_settings set = llm(policy_find("continuous"), chunk_tokens);
    struct sim_counts c;
    struct simrun run;

    set.kv_tokens = 256;
    simrun_init(&run, &set, N);
    simrun_poisson(&run, 35000, what);
    c = sim_counts(run.sim);
    assert_int_equal(c.tokens, sum_outputs(&run));
    assert_int_equal(c.kv_used, 0);
    assert_int_equal(c.running_max, 16);
    assert_int_equal(most_at_once(&run, 0, one), 16);
    assert_int_equal(c.kv_max, 256);
    assert_int_equal(most_at_once(&run, 0, tokens_held), 256);
    assert_true(run.refused > 0);
    for (size_t i = 0; i < run.n; i++)
        assert_int_equal(run.jobs[i].finish_ns == TIME_ABSENT,
                         tokens_held(&run.jobs[i]) > 256);
    simrun_fini(&run);
}

TEST(bounds_hold_when_prefill_stalls)
{
    assert_bounds_hold(0, "continuous, prefill stalls");
}

TEST(bounds_hold_when_prefill_is_chunked)
{
    assert_bounds_hold(16, "continuous, prefill in chunks");
}

TEST(replicas_have_budgets_of_their_own)
{
    struct sim_settings set = llm(policy_find("continuous"), 0);
    struct simrun run;

    set.kv_tokens = 200;
    set.replicas = 3;
    set.router = router_find("least-outstanding");
    simrun_init(&run, &set, 200000);
    simrun_poisson(&run, 12000, "continuous, three replicas");
    for (int64_t i = 0; i < 3; i++) {
        assert_in_range(most_at_once(&run, i, one), 8, 16);
        assert_in_range(most_at_once(&run, i, tokens_held), 190, 200);
    }
    assert_int_equal(sim_counts(run.sim).kv_used, 0);
    simrun_fini(&run);
}

/* Twice as many clients as may run, all with the same demand: in step, each
 * round of 16 reads 16 prompts of 10 and decodes 4 times. */
TEST(saturated_throughput_is_that_of_full_steps)
{
    struct sim_settings set = llm(policy_find("continuous"), 0);
    int64_t round_ns = 160 * PREFILL + 4 * (STEP + 16 * ITEM);
    struct simrun run;

    simrun_init(&run, &set, N / 5);
    for (size_t i = 0; i < run.n; i++) {
        run.jobs[i].prompt_tokens = 10;
        run.jobs[i].output_tokens = 5;
    }
    /* The first finds the server idle and starts alone, at once. */
    run.jobs[0].prompt_tokens = 1;
    run.jobs[0].output_tokens = 1;
    simrun_closed(&run, 33, "continuous, saturated");
    assert_int_equal(run.jobs[0].finish_ns, PREFILL);
    for (size_t i = 1; i + 16 < run.n; i++)
        assert_int_equal(run.jobs[i].finish_ns,
                         PREFILL + (int64_t)((i - 1) / 16 + 1) * round_ns);
    simrun_fini(&run);
}

/* ---- demand ---- */

/* What the request says holds; for the rest each request draws its prompt and
 * then its output, in order of arrival. */
TEST(demand_is_the_requests_or_drawn)
{
    struct sim_settings set = llm(policy_find("continuous"), 0);
    struct rng rng = rng_stream(set.seed, RNG_DEMAND);
    struct simrun run;

    simrun_init(&run, &set, 1000);
    for (size_t i = 0; i < run.n; i++) {
        run.jobs[i].prompt_tokens = i % 2 ? 11 : 0;
        run.jobs[i].output_tokens = i % 3 ? 7 : 0;
    }
    simrun_poisson(&run, 1e6, "demand");
    for (size_t i = 0; i < run.n; i++) {
        int64_t prompt =
            i % 2 ? 11 : dist_draw_count(&set.model_settings.prompt, &rng);
        int64_t output =
            i % 3 ? 7 : dist_draw_count(&set.model_settings.output, &rng);

        assert_int_equal(run.jobs[i].prompt_tokens, prompt);
        assert_int_equal(run.jobs[i].output_tokens, output);
        assert_int_equal(run.jobs[i].produced, output);
    }
    simrun_fini(&run);
}

/* Demands that no time can hold end nothing and overflow nothing. */
TEST(absurd_demands_never_end)
{
    struct sim_settings set = llm(policy_find("continuous"), 0);
    struct simrun run;

    set.model_settings.prefill_ns = INT64_C(1) << 61;
    simrun_init(&run, &set, 3);
    for (size_t i = 0; i < run.n; i++) {
        run.jobs[i].arrival_ns = (int64_t)i;
        run.jobs[i].prompt_tokens = INT64_C(1) << 40;
        run.jobs[i].output_tokens = INT64_C(1) << 40;
        assert_int_equal(sim_arrive(run.sim, &run.jobs[i]), SIM_TAKEN);
    }
    sim_advance(run.sim, INT64_MAX);
    assert_int_equal(sim_counts(run.sim).running, 1);
    assert_int_equal(sim_counts(run.sim).waiting, 2);
    simrun_fini(&run);
}
