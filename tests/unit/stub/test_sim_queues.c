/* Queues of the simulated server against closed forms.  Services take 1 ms on
 * average, SIMRUN_MANY requests a case; simrun.h says how the margins come
 * about. */
#include <math.h>
#include <stdio.h>

#include "common/base/clk.h"
#include "common/base/rng.h"
#include "tests/support/simrun.h"
#include "tests/support/test.h"

#define N  SIMRUN_MANY
#define MS 1e6

/* A run of n requests at `load` of one replica of speed 1. */
static void run_at(struct simrun *run, const struct sim_settings *set,
                   double load, const char *what)
{
    simrun_init(run, set, N);
    simrun_poisson(run, MS / load, what);
}

/* ---- one server ---- */

/* The wait has the mean r/(1-r); by Daley (1968) the mean of n waits has the
 * variance r(2 + 5r - 4r^2 + r^3)/(1-r)^4 / n, with which the error from the
 * stretches must agree: 50 of them scatter by 1/sqrt(98), a tenth. */
TEST(mm1_waits_as_daley_says)
{
    static const double loads[] = {0.3, 0.5, 0.8};

    for (size_t i = 0; i < COUNT(loads); i++) {
        double r = loads[i];
        double error =
            sqrt(r * (2 + 5 * r - 4 * r * r + r * r * r) / pow(1 - r, 4) / N) *
            MS;
        struct sim_settings set = simrun_plain("exponential 1ms", 1 + i);
        struct simrun run;
        struct estimate wait;

        run_at(&run, &set, r, "M/M/1");
        wait = simrun_mean(&run, job_wait, 0);
        assert_true(fabs(wait.mean - r / (1 - r) * MS) < 5 * error);
        assert_true(fabs(wait.error / error - 1) < 0.5);
        simrun_fini(&run);
    }
}

/* The sojourn is exponential with mean 1/(1-r): the share above the p-quantile
 * -log(1-p)/(1-r) is 1-p. */
TEST(mm1_sojourn_is_exponential)
{
    static const double percentiles[] = {0.5, 0.9, 0.99, 0.999};
    const double mean = MS / (1 - 0.5);
    struct sim_settings set = simrun_plain("exponential 1ms", 11);
    struct simrun run;

    run_at(&run, &set, 0.5, "M/M/1");
    assert_mean("sojourn", simrun_mean(&run, job_sojourn, 0), mean, 0.01);
    for (size_t i = 0; i < COUNT(percentiles); i++) {
        double p = percentiles[i];
        char what[32];

        snprintf(what, sizeof(what), "above p%g", 100 * p);
        assert_mean(what, simrun_mean(&run, job_stays_over, -log(1 - p) * mean),
                    1 - p, 0.15);
    }
    simrun_fini(&run);
}

/* Pollaczek-Khinchine: the wait has the mean r E[S^2] / 2(1-r) E[S]. */
TEST(mg1_waits_as_pollaczek_khinchine_say)
{
    /* Uniform between a and b: E[S^2] = (a^2 + ab + b^2)/3. */
    static const struct {
        const char *service;
        double mean;
        double square;
    } cases[] = {
        {"fixed 1ms", 1, 1},
        {"lognormal 1ms 500us", 1, 1.25},
        {"lognormal 1ms 1.5ms", 1, 3.25},
        {"empirical 0:0.2ms 50:0.6ms 90:1.4ms 100:5ms", 0.92,
         (0.5 * (0.04 + 0.12 + 0.36) + 0.4 * (0.36 + 0.84 + 1.96) +
          0.1 * (1.96 + 7 + 25)) /
             3},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct sim_settings set = simrun_plain(cases[i].service, 21 + i);
        double load = 0.7 * cases[i].mean;
        double wait = 0.7 * cases[i].square / 2 / (1 - load) * MS;
        struct simrun run;

        run_at(&run, &set, 0.7, cases[i].service);
        assert_mean("wait", simrun_mean(&run, job_wait, 0), wait, 0.02);
        assert_mean("sojourn", simrun_mean(&run, job_sojourn, 0),
                    wait + cases[i].mean * MS, 0.02);
        assert_mean("arrivals that wait", simrun_mean(&run, job_waits_over, 0),
                    load, 0.01);
        simrun_fini(&run);
    }
}

/* ---- several servers, one queue ---- */

/* Erlang's C from his B: B(0) = 1, B(k) = aB(k-1) / (k + aB(k-1)). */
static double erlang_c(int servers, double load)
{
    double a = servers * load;
    double b = 1;

    for (int k = 1; k <= servers; k++)
        b = a * b / (k + a * b);
    return b / (1 - load * (1 - b));
}

TEST(mmc_waits_as_erlang_says)
{
    static const struct {
        int servers;
        double load;
    } cases[] = {{2, 0.7}, {4, 0.8}, {16, 0.85}, {64, 0.85}};

    for (size_t i = 0; i < COUNT(cases); i++) {
        int c = cases[i].servers;
        double load = cases[i].load;
        struct sim_settings set = simrun_plain("exponential 1ms", 31 + i);
        struct simrun run;

        set.replicas = (size_t)c;
        run_at(&run, &set, c * load, "M/M/c");
        assert_mean("waits", simrun_mean(&run, job_waits_over, 0),
                    erlang_c(c, load), 0.05);
        assert_mean("wait", simrun_mean(&run, job_wait, 0),
                    erlang_c(c, load) / (c * (1 - load)) * MS, 0.05);
        simrun_fini(&run);
    }
}

/* ---- several servers behind a router ---- */

#define REPLICAS 4

static double wait_on(const struct job *job, double replica)
{
    return (double)job->replica == replica ? job_wait(job, 0) : NAN;
}

static double is_on(const struct job *job, double replica)
{
    return (double)job->replica == replica;
}

static void run_routed(struct simrun *run, const char *router, double load,
                       uint64_t seed)
{
    struct sim_settings set = simrun_plain("exponential 1ms", seed);

    set.replicas = REPLICAS;
    set.router = router_find(router);
    assert_non_null(set.router);
    run_at(run, &set, REPLICAS * load, router);
}

TEST(random_routing_makes_independent_queues)
{
    const double mean = MS / (1 - 0.7);
    struct simrun run;

    run_routed(&run, "random", 0.7, 41);
    for (int i = 0; i < REPLICAS; i++) {
        assert_mean("share", simrun_mean(&run, is_on, i), 1.0 / REPLICAS, 0.01);
        assert_mean("wait", simrun_mean(&run, wait_on, i), mean - MS, 0.03);
    }
    assert_mean("above p50", simrun_mean(&run, job_stays_over, log(2) * mean),
                0.5, 0.02);
    assert_mean("above p99", simrun_mean(&run, job_stays_over, log(100) * mean),
                0.01, 0.1);
    simrun_fini(&run);
}

/* E_K/M/1: who arrives finds the server of rate mu busy with the chance s that
 * solves s = (K / (K + mu (1-s) gap))^K, and waits s / (mu (1-s)) on average.
 * `load` is 1 / (mu gap). */
static double erlang_arrivals_wait(int k, double load)
{
    double s = 0;

    for (int i = 0; i < 1000; i++)
        s = pow(k / (k + (1 - s) / load), k);
    return s / (1 - s);
}

TEST(round_robin_makes_erlang_arrivals)
{
    double want = erlang_arrivals_wait(REPLICAS, 0.8) * MS;
    struct simrun run;

    assert_true(fabs(erlang_arrivals_wait(1, 0.8) - 4) < 1e-9); /* M/M/1 */
    assert_true(want < 0.7 * 4 * MS);
    run_routed(&run, "round-robin", 0.8, 42);
    for (int i = 0; i < REPLICAS; i++)
        assert_mean("wait", simrun_mean(&run, wait_on, i), want, 0.05);
    for (size_t i = 0; i < run.n; i++)
        assert_int_equal(run.jobs[i].replica, i % REPLICAS);
    simrun_fini(&run);
}

static struct estimate routed_wait(const char *router)
{
    struct estimate wait;
    struct simrun run;

    run_routed(&run, router, 0.8, 43);
    wait = simrun_mean(&run, job_wait, 0);
    simrun_fini(&run);
    return wait;
}

/* One queue for all is best, and its wait is known; no router can beat it. */
TEST(routers_that_look_wait_less)
{
    static const char *const worse[] = {"least-outstanding", "two-choices",
                                        "round-robin", "random"};
    struct estimate better = {.mean = erlang_c(REPLICAS, 0.8) /
                                      (REPLICAS * (1 - 0.8)) * MS};

    for (size_t i = 0; i < COUNT(worse); i++) {
        struct estimate wait = routed_wait(worse[i]);

        if (!(wait.mean - better.mean > 5 * hypot(wait.error, better.error)))
            fail_msg("%s: %g after %g", worse[i], wait.mean, better.mean);
        better = wait;
    }
}

/* Two replicas, the second of half the speed.  In turn, each gets every second
 * request: E_2/M/1 at the loads 0.4 and 0.8. */
TEST(a_slow_replica_hurts_who_does_not_look)
{
    const double fast = erlang_arrivals_wait(2, 0.4) * MS;
    const double slow = erlang_arrivals_wait(2, 0.8) * 2 * MS;
    const double blind = (fast + MS + slow + 2 * MS) / 2; /* with the service */
    struct sim_settings set = simrun_plain("exponential 1ms", 51);
    struct estimate seeing;
    struct estimate share;
    struct simrun run;

    set.replicas = 2;
    set.speed[1] = 0.5;
    set.router = router_find("round-robin");
    run_at(&run, &set, 0.8, "a slow replica, round-robin");
    assert_mean("fast", simrun_mean(&run, wait_on, 0), fast, 0.05);
    assert_mean("slow", simrun_mean(&run, wait_on, 1), slow, 0.05);
    simrun_fini(&run);

    set.router = router_find("least-outstanding");
    run_at(&run, &set, 0.8, "a slow replica, least-outstanding");
    seeing = simrun_mean(&run, job_sojourn, 0);
    share = simrun_mean(&run, is_on, 0);
    assert_true(share.mean > 0.5 + 5 * share.error);
    simrun_fini(&run);
    assert_true(seeing.mean + 5 * seeing.error < 0.5 * blind);
}

/* ---- disciplines and bounds ---- */

static double wait_of_class(const struct job *job, double priority)
{
    return (double)job->priority == priority ? job_wait(job, 0) : NAN;
}

/* Cobham: with half of the load r in each class and W0 = r E[S^2]/2 E[S], the
 * first waits W0/(1 - r/2), the second W0/((1 - r/2)(1 - r)). */
TEST(priority_waits_as_cobham_says)
{
    const double r = 0.8;
    const double first = r / (1 - r / 2) * MS;
    struct sim_settings set = simrun_plain("exponential 1ms", 61);
    struct rng rng = rng_stream(61, RNG_DEMAND);
    struct simrun run;

    set.by_priority = true;
    simrun_init(&run, &set, N);
    for (size_t i = 0; i < run.n; i++)
        run.jobs[i].priority = (int64_t)(rng_next(&rng) % 2);
    simrun_poisson(&run, MS / r, "priority");
    assert_mean("first", simrun_mean(&run, wait_of_class, 0), first, 0.02);
    assert_mean("second", simrun_mean(&run, wait_of_class, 1), first / (1 - r),
                0.04);
    simrun_fini(&run);
}

static double is_refused(const struct job *job, double unused)
{
    (void)unused;
    return job->finish_ns == TIME_ABSENT;
}

/* M/M/1/n: of Poisson arrivals the share (1-r) r^n / (1 - r^(n+1)) find all n
 * places, the one in service among them, taken. */
TEST(a_bounded_queue_refuses_as_mm1n)
{
    static const double loads[] = {0.7, 1.5};

    for (size_t i = 0; i < COUNT(loads); i++) {
        double r = loads[i];
        struct sim_settings set = simrun_plain("exponential 1ms", 71 + i);
        struct simrun run;

        set.queue_max = 4;
        run_at(&run, &set, r, "M/M/1/5");
        assert_mean("refused", simrun_mean(&run, is_refused, 0),
                    (1 - r) * pow(r, 5) / (1 - pow(r, 6)), 0.02);
        simrun_fini(&run);
    }
}
