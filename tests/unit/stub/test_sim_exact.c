/* The simulated server where every time can be told exactly. */
#include <math.h>
#include <stdbool.h>

#include "common/base/clk.h"
#include "common/base/rng.h"
#include "common/spec/dist.h"
#include "tests/support/simrun.h"
#include "tests/support/test.h"

#define N SIMRUN_MANY

/* ---- the queue ---- */

/* W(n+1) = max(0, W(n) + S(n) - gap(n)), without ever naming a time. */
TEST(agrees_with_lindley)
{
    struct sim_settings set = simrun_plain("exponential 0.9ms", 7);
    struct rng services = rng_stream(7, RNG_SERVICE);
    struct simrun run;
    int64_t wait = 0;

    simrun_init(&run, &set, N);
    simrun_poisson(&run, 1e6, "Lindley");
    for (size_t i = 0; i < run.n; i++) {
        int64_t service = dist_draw_ns(&set.model_settings.service, &services);
        const struct job *job = &run.jobs[i];

        if (i > 0)
            wait -= job->arrival_ns - job[-1].arrival_ns;
        if (wait < 0)
            wait = 0;
        assert_int_equal(job->start_ns - job->arrival_ns, wait);
        assert_int_equal(job->finish_ns - job->start_ns, service);
        assert_int_equal(job->service_ns, service);
        assert_int_equal(job->first_ns, job->finish_ns);
        assert_int_equal(job->batch, 1);
        assert_int_equal(job->replica, 0);
        wait += service;
    }
    simrun_fini(&run);
}

TEST(a_queue_that_never_ends_stays_there)
{
    struct sim_settings set = simrun_plain("fixed 40000d", 1);
    struct simrun run;

    set.stalls = (struct stalls){.stall_ns = 9, .every_ns = 10};
    simrun_init(&run, &set, 3);
    for (size_t i = 0; i < run.n; i++) {
        run.jobs[i].arrival_ns = (int64_t)i;
        assert_int_equal(sim_arrive(run.sim, &run.jobs[i]), SIM_TAKEN);
    }
    sim_advance(run.sim, INT64_MAX);
    assert_int_equal(sim_next_ns(run.sim), INT64_MAX);
    assert_int_equal(sim_counts(run.sim).running, 1);
    assert_int_equal(sim_counts(run.sim).waiting, 2);
    assert_int_equal(run.jobs[0].service_ns, NS_PER_S * 86400 * 40000);
    simrun_fini(&run);
}

/* ---- stalls ---- */

/* A stall of 3 in every 10 after the epoch: [110, 113), [120, 123), ... */
TEST(stalls_by_hand)
{
    static const struct {
        int64_t arrival;
        const char *service;
        int64_t start;
        int64_t finish;
    } cases[] = {
        {100, "fixed 4ns", 100, 104}, {104, "fixed 6ns", 104, 110},
        {104, "fixed 7ns", 104, 114}, {110, "fixed 2ns", 113, 115},
        {112, "fixed 2ns", 113, 115}, {113, "fixed 7ns", 113, 120},
        {115, "none", 115, 115},      {121, "none", 123, 123},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct sim_settings set = simrun_plain(cases[i].service, 1);
        struct simrun run;

        set.stalls = (struct stalls){100, 3, 10};
        simrun_init(&run, &set, 1);
        run.jobs[0].arrival_ns = cases[i].arrival;
        assert_int_equal(sim_arrive(run.sim, &run.jobs[0]), SIM_TAKEN);
        sim_advance(run.sim, INT64_MAX);
        assert_int_equal(run.jobs[0].start_ns, cases[i].start);
        assert_int_equal(run.jobs[0].finish_ns, cases[i].finish);
        simrun_fini(&run);
    }
}

static bool is_stalled(int64_t at_ns, const struct stalls *s)
{
    return at_ns >= s->every_ns && at_ns % s->every_ns < s->stall_ns;
}

/* The server, a nanosecond at a time. */
static int64_t serve_slowly(const struct stalls *s, int64_t free_ns,
                            const struct job *job, int64_t service_ns)
{
    int64_t at = job->arrival_ns > free_ns ? job->arrival_ns : free_ns;

    while (is_stalled(at, s))
        at++;
    assert_int_equal(job->start_ns, at);
    for (; service_ns > 0; at++)
        service_ns -= !is_stalled(at, s);
    assert_int_equal(job->finish_ns, at);
    return at;
}

TEST(stalls_agree_with_a_walk_through_every_moment)
{
    for (int64_t stall = 0; stall < 8; stall++) {
        struct sim_settings set = simrun_plain("exponential 5ns", 3);
        struct rng services = rng_stream(3, RNG_SERVICE);
        int64_t free_ns = 0;
        struct simrun run;

        set.stalls = (struct stalls){0, stall, 8};
        simrun_init(&run, &set, 20000);
        simrun_poisson(&run, 20, "stalls");
        for (size_t i = 0; i < run.n; i++)
            free_ns = serve_slowly(
                &set.stalls, free_ns, &run.jobs[i],
                dist_draw_ns(&set.model_settings.service, &services));
        simrun_fini(&run);
    }
}

static double wait_if_any(const struct job *job, double unused)
{
    return job_waits_over(job, 0) > 0 ? job_wait(job, unused) : NAN;
}

/* Who arrives at random at a server that stalls 1 s in 5 waits with a chance
 * of a fifth, and then uniformly up to 1 s. */
TEST(a_random_observer_sees_the_stall)
{
    struct sim_settings set = simrun_plain("none", 3);
    struct simrun run;

    set.stalls = (struct stalls){-5 * NS_PER_S, NS_PER_S, 5 * NS_PER_S};
    simrun_init(&run, &set, N);
    simrun_poisson(&run, 1e9, "an observer of stalls");
    assert_mean("waits", simrun_mean(&run, job_waits_over, 0), 0.2, 0.005);
    assert_mean("wait", simrun_mean(&run, wait_if_any, 0), 0.5e9, 0.005);
    simrun_fini(&run);
}

/* ---- priority ---- */

static void assert_order(bool by_priority, const size_t *want)
{
    static const int64_t priorities[] = {5, 3, 1, 3, 0, 1};
    struct sim_settings set = simrun_plain("fixed 10ns", 1);
    struct simrun run;

    set.by_priority = by_priority;
    simrun_init(&run, &set, COUNT(priorities));
    for (size_t i = 0; i < run.n; i++) {
        run.jobs[i].arrival_ns = (int64_t)i;
        run.jobs[i].priority = priorities[i];
        assert_int_equal(sim_arrive(run.sim, &run.jobs[i]), SIM_TAKEN);
    }
    sim_advance(run.sim, INT64_MAX);
    for (size_t i = 0; i < run.n; i++)
        assert_int_equal(run.jobs[want[i]].start_ns, 10 * i);
    simrun_fini(&run);
}

/* The first is in service before the others come. */
TEST(priority_goes_first_and_equals_in_turn)
{
    static const size_t in_turn[] = {0, 1, 2, 3, 4, 5};
    static const size_t by_priority[] = {0, 4, 2, 5, 1, 3};

    assert_order(false, in_turn);
    assert_order(true, by_priority);
}

/* ---- a bounded queue ---- */

/* One server, a bounded queue: requests still waiting are those of the last
 * few taken that have not started. */
TEST(refused_are_those_that_found_it_full)
{
    struct sim_settings set = simrun_plain("exponential 1ms", 5);
    int64_t starts[3] = {TIME_ABSENT, TIME_ABSENT, TIME_ABSENT};
    struct simrun run;
    size_t taken = 0;

    set.queue_max = 3;
    simrun_init(&run, &set, N);
    simrun_poisson(&run, 0.8e6, "a bounded queue");
    assert_in_range(run.refused, N / 10, N / 2);
    for (size_t i = 0; i < run.n; i++) {
        const struct job *job = &run.jobs[i];
        bool is_full = true;

        for (size_t k = 0; k < COUNT(starts); k++)
            is_full = is_full && starts[k] > job->arrival_ns;
        assert_int_equal(job->finish_ns == TIME_ABSENT, is_full);
        if (!is_full)
            starts[taken++ % COUNT(starts)] = job->start_ns;
    }
    simrun_fini(&run);
}

TEST(each_queue_has_its_own_bound)
{
    static const enum sim_reply want[] = {SIM_TAKEN, SIM_TAKEN, SIM_TAKEN,
                                          SIM_TAKEN, SIM_FULL,  SIM_FULL};
    struct sim_settings set = simrun_plain("fixed 1ms", 1);
    struct simrun run;

    set.replicas = 2;
    set.router = router_find("round-robin");
    set.queue_max = 1;
    simrun_init(&run, &set, COUNT(want));
    for (size_t i = 0; i < run.n; i++)
        assert_int_equal(sim_arrive(run.sim, &run.jobs[i]), want[i]);
    assert_int_equal(sim_counts(run.sim).waiting, 2);
    assert_int_equal(sim_counts(run.sim).running, 2);
    assert_int_equal(sim_counts(run.sim).refused, 2);
    simrun_fini(&run);
}

/* ---- speed ---- */

static void serve_every_second(struct simrun *run, int64_t epoch_ns)
{
    for (size_t i = 0; i < run->n; i++) {
        run->jobs[i].arrival_ns = epoch_ns + (int64_t)i * NS_PER_S;
        assert_int_equal(sim_arrive(run->sim, &run->jobs[i]), SIM_TAKEN);
    }
    sim_advance(run->sim, INT64_MAX);
}

TEST(the_first_ones_are_cold)
{
    struct sim_settings set = simrun_plain("fixed 1ms", 1);
    struct simrun run;

    set.cold_jobs = 5;
    set.cold_factor = 2.5;
    simrun_init(&run, &set, 10);
    serve_every_second(&run, 0);
    for (size_t i = 0; i < run.n; i++)
        assert_int_equal(run.jobs[i].finish_ns - run.jobs[i].start_ns,
                         i < 5 ? 2500 * NS_PER_US : NS_PER_MS);
    simrun_fini(&run);
}

/* 60 % slower each minute: 1 % of what it was at first each second. */
TEST(drift_slows_from_the_epoch_on)
{
    struct sim_settings set = simrun_plain("fixed 1ms", 1);
    struct simrun run;

    set.drift_per_min = 0.6;
    set.stalls.epoch_ns = 77 * NS_PER_S;
    simrun_init(&run, &set, 1000);
    serve_every_second(&run, 77 * NS_PER_S);
    for (size_t i = 0; i < run.n; i++)
        assert_int_equal(run.jobs[i].service_ns,
                         NS_PER_MS + (int64_t)i * 10 * NS_PER_US);
    simrun_fini(&run);
}

TEST(speed_divides_and_factors_multiply)
{
    struct sim_settings set = simrun_plain("fixed 1ms", 1);
    struct simrun run;

    set.replicas = 3;
    set.speed[0] = 0.5;
    set.speed[2] = 4;
    set.cold_jobs = 3;
    set.cold_factor = 3;
    set.router = router_find("round-robin");
    simrun_init(&run, &set, 6);
    serve_every_second(&run, 0);
    assert_int_equal(run.jobs[0].service_ns, 6 * NS_PER_MS);
    assert_int_equal(run.jobs[1].service_ns, 3 * NS_PER_MS);
    assert_int_equal(run.jobs[2].service_ns, 750 * NS_PER_US);
    assert_int_equal(run.jobs[3].service_ns, 2 * NS_PER_MS);
    assert_int_equal(run.jobs[4].service_ns, NS_PER_MS);
    assert_int_equal(run.jobs[5].service_ns, 250 * NS_PER_US);
    simrun_fini(&run);
}

/* ---- the run as a whole ---- */

/* As simrun_poisson(), but never late. */
static void arrive_step_by_step(struct simrun *run, double gap_ns)
{
    struct rng rng = rng_stream(run->seed, RNG_ARRIVAL);
    double at_ns = 0;

    for (size_t i = 0; i < run->n; i++) {
        int64_t arrival_ns;

        at_ns += rng_exponential(&rng) * gap_ns;
        arrival_ns = llround(at_ns);
        while (sim_next_ns(run->sim) < arrival_ns)
            sim_advance(run->sim, sim_next_ns(run->sim));
        sim_advance(run->sim, arrival_ns - 1);
        run->jobs[i].arrival_ns = arrival_ns;
        assert_int_equal(sim_arrive(run->sim, &run->jobs[i]), SIM_TAKEN);
    }
    sim_advance(run->sim, INT64_MAX);
}

/* Calling at every event, or only at arrivals, makes no difference. */
TEST(a_late_caller_delays_nothing)
{
    struct sim_settings set = simrun_plain("exponential 1ms", 9);
    static int64_t finishes[20000];
    struct simrun run;

    set.replicas = 3;
    set.stalls = (struct stalls){0, NS_PER_MS, 20 * NS_PER_MS};
    simrun_init(&run, &set, COUNT(finishes));
    simrun_poisson(&run, 0.4e6, "called at arrivals");
    for (size_t i = 0; i < run.n; i++)
        finishes[i] = run.jobs[i].finish_ns;
    simrun_fini(&run);

    simrun_init(&run, &set, COUNT(finishes));
    arrive_step_by_step(&run, 0.4e6);
    for (size_t i = 0; i < run.n; i++)
        assert_int_equal(run.jobs[i].finish_ns, finishes[i]);
    simrun_fini(&run);
}
