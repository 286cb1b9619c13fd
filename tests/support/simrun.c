#include "tests/support/simrun.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/base/xalloc.h"

#define STRETCHES 50
#define MANY      100000 /* requests tell a speed */

/* Millions of times: one test, no calls. */
static void check_counts(const struct simrun *run)
{
    struct sim_counts c = sim_counts(run->sim);

    if (c.arrived != c.served + c.refused + c.waiting + c.running ||
        c.served != run->finished || c.waiting < 0 || c.running < 0 ||
        c.kv_used < 0)
        fail_msg("the counts do not add up");
}

static void on_token(void *arg, struct job *job, int64_t at_ns)
{
    struct simrun *run = arg;

    assert_true(at_ns >= run->last_ns);
    run->last_ns = at_ns;
    job->owner = (void *)((uintptr_t)job->owner + 1); /* it has none: counts */
    assert_int_equal(job->produced, (uintptr_t)job->owner);
    if (job->produced == 1)
        assert_int_equal(job->first_ns, at_ns);
}

static void on_finished(void *arg, struct job *job)
{
    struct simrun *run = arg;

    run->finished++;
    assert_int_equal(job->finish_ns, run->last_ns);
    assert_int_equal(job->produced, job->output_tokens);
    check_counts(run);
}

static const struct sim_hooks hooks = {.token = on_token,
                                       .finished = on_finished};

/* The same ones for every run: to get a million from the system takes longer
 * than to simulate them. */
static struct job *clean_jobs(size_t n)
{
    static struct job *jobs;
    static size_t cap;

    if (!jobs || n > cap) {
        jobs = xrealloc(jobs, n, sizeof(*jobs));
        cap = n;
    }
    memset(jobs, 0, n * sizeof(*jobs));
    return jobs;
}

void simrun_init(struct simrun *run, const struct sim_settings *settings,
                 size_t n)
{
    *run = (struct simrun){.n = n, .seed = settings->seed};
    run->jobs = clean_jobs(n);
    run->sim = sim_new(settings, &hooks, run);
}

void simrun_fini(struct simrun *run)
{
    sim_free(run->sim);
    *run = (struct simrun){0};
}

static void arrive(struct simrun *run, size_t i, int64_t at_ns)
{
    run->jobs[i].arrival_ns = at_ns;
    run->refused += sim_arrive(run->sim, &run->jobs[i]) != SIM_TAKEN;
    check_counts(run);
}

static void end_run(struct simrun *run, int64_t began_ns, const char *what)
{
    int64_t took_ns;

    sim_advance(run->sim, INT64_MAX);
    took_ns = clk_now(&clk_monotonic) - began_ns;
    if (run->n >= MANY)
        print_message("%s: %.3g million requests/s\n", what,
                      (double)run->n * 1e3 / (double)took_ns);
    check_counts(run);
    assert_int_equal(sim_next_ns(run->sim), INT64_MAX);
    assert_int_equal(run->finished + run->refused, run->n);
    assert_int_equal(sim_counts(run->sim).refused, run->refused);
}

void simrun_poisson(struct simrun *run, double gap_ns, const char *what)
{
    int64_t began_ns = clk_now(&clk_monotonic);
    struct rng rng = rng_stream(run->seed, RNG_ARRIVAL);
    double at_ns = 0;

    for (size_t i = 0; i < run->n; i++) {
        at_ns += rng_exponential(&rng) * gap_ns;
        arrive(run, i, llround(at_ns));
    }
    end_run(run, began_ns, what);
}

void simrun_closed(struct simrun *run, size_t clients, const char *what)
{
    int64_t began_ns = clk_now(&clk_monotonic);
    size_t next = 0;

    while (next < clients)
        arrive(run, next++, 0);
    while (next < run->n) {
        int64_t now_ns = sim_next_ns(run->sim);

        assert_true(now_ns < INT64_MAX);
        sim_advance(run->sim, now_ns);
        while (next < run->n && next < clients + (size_t)run->finished)
            arrive(run, next++, now_ns);
    }
    end_run(run, began_ns, what);
}

struct sim_settings simrun_plain(const char *service, uint64_t seed)
{
    struct sim_settings set = {.model = &model_plain,
                               .policy = policy_find("none"),
                               .replicas = 1,
                               .seed = seed};
    struct err err = {0};

    assert_int_equal(dist_parse(service, &set.model_settings.service, &err), 0);
    return set;
}

struct estimate simrun_mean(const struct simrun *run,
                            double (*value)(const struct job *job, double arg),
                            double arg)
{
    double sums[STRETCHES] = {0};
    double counts[STRETCHES] = {0};
    double count = 0;
    double sum = 0;
    double square = 0;

    for (size_t i = 0; i < run->n; i++) {
        double x = value(&run->jobs[i], arg);

        if (isnan(x))
            continue;
        sums[i * STRETCHES / run->n] += x;
        counts[i * STRETCHES / run->n]++;
    }
    for (size_t i = 0; i < STRETCHES; i++) {
        sum += sums[i];
        count += counts[i];
    }
    for (size_t i = 0; i < STRETCHES; i++)
        square += pow(sums[i] / counts[i] - sum / count, 2);
    return (struct estimate){
        .mean = sum / count,
        .error = sqrt(square / (STRETCHES - 1) / STRETCHES),
    };
}

double job_wait(const struct job *job, double unused)
{
    (void)unused;
    return job->finish_ns == TIME_ABSENT
               ? NAN
               : (double)(job->start_ns - job->arrival_ns);
}

double job_sojourn(const struct job *job, double unused)
{
    (void)unused;
    return job->finish_ns == TIME_ABSENT
               ? NAN
               : (double)(job->finish_ns - job->arrival_ns);
}

double job_waits_over(const struct job *job, double ns)
{
    return job_wait(job, 0) > ns;
}

double job_stays_over(const struct job *job, double ns)
{
    return job_sojourn(job, 0) > ns;
}

void assert_mean(const char *what, struct estimate got, double want,
                 double worst)
{
    if (!(fabs(got.mean - want) <= 5 * got.error))
        fail_msg("%s: %g is %.1f errors from %g", what, got.mean,
                 fabs(got.mean - want) / got.error, want);
    if (!(got.error <= worst * sqrt(1e6 / SIMRUN_MANY) * want))
        fail_msg("%s: %g +- %g shows nothing", what, got.mean, got.error);
}
