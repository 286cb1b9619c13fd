/* Batching policies: what they decide, and what comes of it. */
#include <math.h>

#include "common/base/clk.h"
#include "tests/support/simrun.h"
#include "tests/support/test.h"

#define N SIMRUN_MANY

/* ---- decisions ---- */

#define NEVER INT64_MAX

struct decision {
    struct policy_view view; /* now, waiting, oldest, running */
    int64_t want;
    int64_t again_ns;
};

static void assert_decisions(const struct policy_ops *policy,
                             const struct policy_settings *settings,
                             const struct decision *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int64_t again_ns = INT64_MAX;
        int64_t got = policy->admit(settings, &cases[i].view, &again_ns);

        if (got != cases[i].want || again_ns != cases[i].again_ns)
            fail_msg("%s, case %zu: %lld, again at %lld", policy->name, i,
                     (long long)got, (long long)again_ns);
    }
}

TEST(policies_are_found_by_name)
{
    static const char *const names[] = {"none", "static", "dynamic",
                                        "continuous"};

    for (size_t i = 0; i < COUNT(names); i++) {
        assert_string_equal(policy_find(names[i])->name, names[i]);
        assert_non_null(policy_find(names[i])->help);
    }
    assert_null(policy_find("None"));
    assert_null(policy_find(""));
}

TEST(none_takes_one_when_idle)
{
    static const struct policy_settings settings = {0};
    static const struct decision cases[] = {
        {{100, 0, 0, 0}, 0, NEVER},
        {{100, 1, 90, 0}, 1, NEVER},
        {{100, 50, 90, 0}, 1, NEVER},
        {{100, 50, 90, 1}, 0, NEVER},
    };

    assert_decisions(policy_find("none"), &settings, cases, COUNT(cases));
}

TEST(static_waits_for_all_or_the_time)
{
    static const struct policy_settings settings = {.max_batch = 4,
                                                    .max_delay_ns = 20};
    static const struct decision cases[] = {
        {{100, 0, 0, 0}, 0, NEVER},  {{100, 1, 100, 0}, 0, 120},
        {{100, 3, 81, 0}, 0, 101},   {{100, 3, 80, 0}, 3, NEVER},
        {{100, 3, 50, 0}, 3, NEVER}, {{100, 4, 100, 0}, 4, NEVER},
        {{100, 9, 50, 0}, 4, NEVER}, {{100, 9, 50, 1}, 0, NEVER},
    };

    assert_decisions(policy_find("static"), &settings, cases, COUNT(cases));
}

TEST(dynamic_takes_what_waits_after_the_delay)
{
    static const struct policy_settings settings = {.max_batch = 8,
                                                    .max_delay_ns = 20};
    static const struct policy_settings at_once = {.max_batch = 8};
    static const struct decision cases[] = {
        {{100, 0, 0, 0}, 0, NEVER},  {{100, 7, 81, 0}, 0, 101},
        {{100, 7, 80, 0}, 7, NEVER}, {{100, 8, 100, 0}, 8, NEVER},
        {{100, 9, 50, 0}, 8, NEVER}, {{100, 9, 50, 3}, 0, NEVER},
    };
    static const struct decision cases_at_once[] = {
        {{100, 0, 0, 0}, 0, NEVER},
        {{100, 1, 100, 0}, 1, NEVER},
        {{100, 9, 100, 0}, 8, NEVER},
    };

    assert_decisions(policy_find("dynamic"), &settings, cases, COUNT(cases));
    assert_decisions(policy_find("dynamic"), &at_once, cases_at_once,
                     COUNT(cases_at_once));
}

TEST(dynamic_prefers_sizes)
{
    static const struct policy_settings settings = {.max_batch = 10,
                                                    .max_delay_ns = 20,
                                                    .preferred = {4, 8},
                                                    .n_preferred = 2};
    static const struct decision cases[] = {
        {{100, 3, 90, 0}, 0, 110},     {{100, 3, 80, 0}, 3, NEVER},
        {{100, 4, 100, 0}, 4, NEVER},  {{100, 7, 100, 0}, 4, NEVER},
        {{100, 8, 100, 0}, 8, NEVER},  {{100, 9, 100, 0}, 8, NEVER},
        {{100, 10, 100, 0}, 8, NEVER}, {{100, 99, 0, 0}, 8, NEVER},
        {{100, 8, 100, 1}, 0, NEVER},
    };
    /* None of the size of the largest batch, or above it, is made too large. */
    static const struct policy_settings above = {
        .max_batch = 4, .max_delay_ns = 20, .preferred = {6}, .n_preferred = 1};
    static const struct decision cases_above[] = {
        {{100, 3, 90, 0}, 0, 110},
        {{100, 5, 90, 0}, 4, NEVER},
        {{100, 7, 90, 0}, 4, NEVER},
    };

    assert_decisions(policy_find("dynamic"), &settings, cases, COUNT(cases));
    assert_decisions(policy_find("dynamic"), &above, cases_above,
                     COUNT(cases_above));
}

TEST(continuous_fills_the_room)
{
    static const struct policy_settings settings = {.max_running = 8};
    static const struct decision cases[] = {
        {{100, 0, 0, 0}, 0, NEVER},  {{100, 0, 0, 5}, 0, NEVER},
        {{100, 3, 90, 0}, 3, NEVER}, {{100, 3, 90, 5}, 3, NEVER},
        {{100, 4, 90, 5}, 3, NEVER}, {{100, 4, 90, 8}, 0, NEVER},
        {{100, 4, 90, 9}, 0, NEVER},
    };

    assert_decisions(policy_find("continuous"), &settings, cases, COUNT(cases));
}

/* ---- what comes of them ---- */

/* A batch of b takes 2 ms + b x 0.5 ms. */
#define SERVICE(b) (2 * NS_PER_MS + (b)*NS_PER_MS / 2)

static struct sim_settings batched(const struct policy_ops *policy,
                                   int64_t max_batch, int64_t max_delay_ns)
{
    return (struct sim_settings){
        .model = &model_batch,
        .model_settings = {.base_ns = 2 * NS_PER_MS,
                           .per_item_ns = NS_PER_MS / 2},
        .policy = policy,
        .policy_settings = {.max_batch = max_batch,
                            .max_delay_ns = max_delay_ns},
        .replicas = 1,
        .seed = 1,
    };
}

static const char *const both[] = {"static", "dynamic"};

/* Enough clients for a batch in service and one that waits, on every replica:
 * all batches are full, and no time is lost between them. */
TEST(saturated_throughput_is_that_of_full_batches)
{
    static const size_t sizes[] = {1, 8, 50};
    static const size_t replicas[] = {1, 4};

    for (size_t i = 0; i < COUNT(both) * COUNT(sizes) * COUNT(replicas); i++) {
        size_t b = sizes[i / 2 % COUNT(sizes)];
        size_t k = replicas[i % 2];
        struct sim_settings set =
            batched(policy_find(both[i / 6]), (int64_t)b, 100 * NS_PER_MS);
        struct simrun run;
        struct sim_counts c;

        set.replicas = k;
        simrun_init(&run, &set, 120000 / (b * k) * b * k);
        simrun_closed(&run, 2 * b * k, set.policy->name);
        c = sim_counts(run.sim);
        assert_int_equal(c.batches * (int64_t)b, run.n);
        assert_int_equal(c.batched, run.n);
        assert_int_equal(c.running_max, b);
        assert_int_equal(run.last_ns,
                         (int64_t)(run.n / (b * k)) * SERVICE((int64_t)b));
        simrun_fini(&run);
    }
}

/* With a service that varies, the rate is that on average: of n / B services
 * of 1 ms, exponential, the sum has the error 1 / sqrt(n / B). */
TEST(saturated_throughput_of_a_random_service)
{
    const double batches = N / 8.0;
    struct sim_settings set = simrun_plain("exponential 1ms", 5);
    struct simrun run;

    set.policy = policy_find("dynamic");
    set.policy_settings =
        (struct policy_settings){.max_batch = 8, .max_delay_ns = NS_PER_S};
    simrun_init(&run, &set, N);
    simrun_closed(&run, 16, "dynamic, exponential");
    assert_true(fabs((double)run.last_ns / 1e6 / batches - 1) <
                5 / sqrt(batches));
    simrun_fini(&run);
}

/* The batch from `first` on, of one replica that is free from `free_ns` on: it
 * starts when it is full or its first has waited long enough.  Who comes in
 * the moment of a start is too late, but for the one who makes it full. */
static size_t next_batch(const struct simrun *run,
                         const struct policy_settings *s, size_t first,
                         int64_t free_ns, int64_t *start_ns)
{
    const struct job *jobs = &run->jobs[first];
    size_t left = run->n - first;
    size_t full = (size_t)s->max_batch;
    size_t size = 0;

    *start_ns = jobs->arrival_ns + s->max_delay_ns;
    if (left >= full && jobs[full - 1].arrival_ns < *start_ns)
        *start_ns = jobs[full - 1].arrival_ns;
    if (free_ns > *start_ns)
        *start_ns = free_ns;
    while (size < full && size < left && jobs[size].arrival_ns < *start_ns)
        size++;
    if (left >= full && jobs[full - 1].arrival_ns == *start_ns)
        size = full;
    return size;
}

static void assert_batches(const struct simrun *run,
                           const struct policy_settings *s)
{
    int64_t free_ns = 0;
    size_t size;

    for (size_t i = 0; i < run->n; i += size) {
        int64_t start_ns;

        size = next_batch(run, s, i, free_ns, &start_ns);
        assert_true(size > 0);
        free_ns = start_ns + SERVICE((int64_t)size);
        for (size_t k = i; k < i + size; k++) {
            assert_int_equal(run->jobs[k].start_ns, start_ns);
            assert_int_equal(run->jobs[k].batch, size);
            assert_int_equal(run->jobs[k].finish_ns, free_ns);
        }
    }
}

/* Every batch, at loads from light to 0.93 of what full batches of 8 can do,
 * 8 in 6 ms. */
TEST(batches_agree_with_a_plain_account)
{
    static const double gaps_ms[] = {20, 2, 1, 0.8};

    for (size_t i = 0; i < COUNT(both) * COUNT(gaps_ms); i++) {
        struct sim_settings set =
            batched(policy_find(both[i / 4]), 8, 5 * NS_PER_MS);
        struct simrun run;

        set.seed = 10 + i;
        simrun_init(&run, &set, N / 2);
        simrun_poisson(&run, gaps_ms[i % 4] * 1e6, set.policy->name);
        assert_batches(&run, &set.policy_settings);
        assert_true(sim_counts(run.sim).running_max <= 8);
        simrun_fini(&run);
    }
}

/* Light load: a batch takes in requests that come within 5 ms, so a server is
 * busy for less than 6.5 ms after that, and in these more than 8 never come
 * (mean: 0.12).  The wait is the delay at most, and the rest of a service. */
TEST(the_flush_bounds_the_wait_at_light_load)
{
    const int64_t delay_ns = 5 * NS_PER_MS;

    for (size_t i = 0; i < COUNT(both); i++) {
        struct sim_settings set = batched(policy_find(both[i]), 8, delay_ns);
        struct simrun run;
        size_t alone = 0;

        simrun_init(&run, &set, N);
        simrun_poisson(&run, 1e8, "light load");
        for (size_t k = 0; k < run.n; k++) {
            const struct job *job = &run.jobs[k];
            int64_t wait_ns = job->start_ns - job->arrival_ns;

            assert_true(wait_ns <= delay_ns + SERVICE(8));
            if (job->batch > 1 ||
                (k > 0 && job->arrival_ns + delay_ns <= job[-1].finish_ns))
                continue;
            assert_int_equal(wait_ns, delay_ns);
            alone++;
        }
        assert_true(alone > run.n / 2);
        simrun_fini(&run);
    }
}

TEST(alone_each_waits_exactly_the_delay)
{
    for (size_t i = 0; i < COUNT(both); i++) {
        struct sim_settings set =
            batched(policy_find(both[i]), 8, 5 * NS_PER_MS);
        struct simrun run;

        set.replicas = 1 + i;
        simrun_init(&run, &set, 100);
        for (size_t k = 0; k < run.n; k++) {
            run.jobs[k].arrival_ns = (int64_t)k * NS_PER_S;
            sim_arrive(run.sim, &run.jobs[k]);
        }
        sim_advance(run.sim, INT64_MAX);
        for (size_t k = 0; k < run.n; k++)
            assert_int_equal(run.jobs[k].finish_ns - run.jobs[k].arrival_ns,
                             5 * NS_PER_MS + SERVICE(1));
        simrun_fini(&run);
    }
}

TEST(preferred_sizes_leave_at_once)
{
    static const int64_t batches[] = {4, 4, 4, 4, 1, 4, 4, 4, 4};
    static const int64_t starts_ms[] = {3, 3, 3, 3, 9, 12, 12, 12, 12};
    struct sim_settings set = batched(policy_find("dynamic"), 8, 5 * NS_PER_MS);
    int64_t queued_ns = 0;
    struct sim_counts c;
    struct simrun run;

    set.policy_settings.preferred[0] = 4;
    set.policy_settings.n_preferred = 1;
    simrun_init(&run, &set, COUNT(batches));
    for (size_t i = 0; i < run.n; i++) {
        run.jobs[i].arrival_ns = (int64_t)(i < 5 ? i : i + 4) * NS_PER_MS;
        sim_arrive(run.sim, &run.jobs[i]);
    }
    sim_advance(run.sim, INT64_MAX);
    for (size_t i = 0; i < run.n; i++) {
        assert_int_equal(run.jobs[i].batch, batches[i]);
        assert_int_equal(run.jobs[i].start_ns, starts_ms[i] * NS_PER_MS);
        queued_ns += run.jobs[i].start_ns - run.jobs[i].arrival_ns;
    }
    c = sim_counts(run.sim);
    assert_int_equal(c.started, run.n);
    assert_int_equal(c.queued_ns, queued_ns);
    simrun_fini(&run);
}

/* Several replicas take full batches from one queue: none idles while a batch
 * could be made.  Any start with a batch that is not full has a first that has
 * waited long enough. */
TEST(replicas_share_a_queue_of_batches)
{
    struct sim_settings set = batched(policy_find("dynamic"), 8, 5 * NS_PER_MS);
    int64_t busy_until_ns[3] = {0, 0, 0};
    struct simrun run;

    set.replicas = 3;
    simrun_init(&run, &set, N);
    simrun_poisson(&run, 0.3e6, "a shared queue of batches");
    for (size_t i = 0; i < run.n;) {
        const struct job *first = &run.jobs[i];
        size_t end = i + (size_t)first->batch;

        assert_in_range(first->batch, 1, 8);
        assert_true(first->start_ns >= busy_until_ns[first->replica]);
        assert_true(first->batch == 8 ||
                    first->start_ns >= first->arrival_ns + 5 * NS_PER_MS);
        busy_until_ns[first->replica] = first->finish_ns;
        for (; i < end; i++) {
            assert_int_equal(run.jobs[i].start_ns, first->start_ns);
            assert_int_equal(run.jobs[i].replica, first->replica);
            assert_int_equal(run.jobs[i].finish_ns,
                             first->start_ns + SERVICE(first->batch));
        }
    }
    simrun_fini(&run);
}

/* 1, 2, 3-4, 5-8, ...: by size, and what is larger than all in the last. */
TEST(batch_sizes_are_counted)
{
    static const struct {
        int64_t size;
        size_t at;
    } cases[] = {{1, 0}, {2, 1},   {3, 2},   {4, 2},   {5, 3},   {8, 3},
                 {9, 4}, {128, 7}, {256, 8}, {257, 9}, {512, 9}, {2000, 9}};

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct sim_settings set =
            batched(policy_find("static"), cases[i].size, 1);
        struct simrun run;
        struct sim_counts c;

        simrun_init(&run, &set, (size_t)cases[i].size);
        simrun_closed(&run, run.n, "one batch");
        c = sim_counts(run.sim);
        assert_int_equal(c.batches, 1);
        assert_int_equal(c.batch_sizes[cases[i].at], 1);
        simrun_fini(&run);
    }
}
