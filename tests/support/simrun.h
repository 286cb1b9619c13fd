/* simrun.h - the simulated server driven through a whole run, and averages
 * over that run with their own error.
 *
 * Neighbours in a queue fare alike, so the scatter of single values says too
 * little about that of their mean.  The run is cut into 50 stretches, each far
 * longer than the queue remembers; their means are as good as independent, and
 * the error of the whole is their scatter / sqrt(50).  Five of these errors
 * are a false alarm in 10^5 (Student, 49 degrees); seeds are fixed, so a test
 * that passes once passes always.
 */
#ifndef TESTS_SUPPORT_SIMRUN_H
#define TESTS_SUPPORT_SIMRUN_H

#include <stddef.h>
#include <stdint.h>

#include "server-stub/sim/model.h"
#include "server-stub/sim/sim.h"

/* Requests of a long run: 10^6, fewer where a sanitizer makes each of them ten
 * times as slow.  assert_mean() takes that into account. */
#ifndef SIMRUN_MANY
#define SIMRUN_MANY 1000000
#endif

struct simrun {
    struct sim *sim;
    struct job *jobs; /* in order of arrival; finish_ns: TIME_ABSENT: refused */
    size_t n;
    uint64_t seed;
    int64_t last_ns; /* of the last hook */
    int64_t refused;
    int64_t finished;
};

/* A server and n requests, all zero, which the test may describe.  One run at
 * a time. */
void simrun_init(struct simrun *run, const struct sim_settings *settings,
                 size_t n);
void simrun_fini(struct simrun *run);

/* Poisson arrivals with this mean gap, until the last request is served; for
 * `what`, which a printed line says the speed of.  Asserts that each token is
 * told once and none after a later one, and at every moment that arrived =
 * served + refused + waiting + running. */
void simrun_poisson(struct simrun *run, double gap_ns, const char *what);

/* Requests of `clients`, each of which sends the next as the last comes back,
 * n in all; the first come at 0. */
void simrun_closed(struct simrun *run, size_t clients, const char *what);

/* Plain service drawn from this distribution, policy none, one replica. */
struct sim_settings simrun_plain(const char *service, uint64_t seed);

struct estimate {
    double mean;
    double error;
};

/* The mean over all requests for which the value is not NAN. */
struct estimate simrun_mean(const struct simrun *run,
                            double (*value)(const struct job *job, double arg),
                            double arg);

/* Values: the wait and the sojourn in ns, and whether they are longer than
 * `arg`, as 1 or 0. */
double job_wait(const struct job *job, double unused);
double job_sojourn(const struct job *job, double unused);
double job_waits_over(const struct job *job, double ns);
double job_stays_over(const struct job *job, double ns);

/* Within five errors; an error that is not below `worst` times `want`, or with
 * fewer than 10^6 requests sqrt(10^6 / SIMRUN_MANY) times that, would show
 * nothing. */
void assert_mean(const char *what, struct estimate got, double want,
                 double worst);

#endif
