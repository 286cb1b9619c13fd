/* What bends a curve is named rightly, on a server whose truth is known: fixed
 * sets on the stub's simulation, 1 to 8 replicas behind each router, in virtual
 * time.  All of it is due at 0, so that only router, service and a slow replica
 * decide. */
#include <math.h>
#include <stdlib.h>

#include "analyzer/scaling/bend.h"
#include "analyzer/scaling/scaling_point.h"
#include "analyzer/stats/order_stats.h"
#include "common/base/xalloc.h"
#include "server-stub/sim/router.h"
#include "tests/support/simrun.h"
#include "tests/support/test.h"

#define POINTS   4
#define RUNS     5
#define REQUESTS 800

struct series {
    const char *router; /* NULL: one queue for all */
    const char *service;
    double slow; /* speed of one replica from K = 2 on; 0: none is */
    enum bend_cause want;
};

static struct sim_settings server(const struct series *x, size_t k,
                                  uint64_t seed)
{
    struct sim_settings set = simrun_plain(x->service, seed);

    set.replicas = k;
    if (k > 1)
        set.speed[0] = x->slow;
    if (x->router) {
        set.router = router_find(x->router);
        assert_non_null(set.router);
    }
    return set;
}

static void add_run(struct scale_point *p, const struct series *x,
                    uint64_t seed)
{
    struct sim_settings set = server(x, (size_t)p->k, seed);
    double *ends = xcalloc(REQUESTS, sizeof(*ends));
    struct simrun run;
    struct drain d;

    simrun_init(&run, &set, REQUESTS);
    simrun_closed(&run, REQUESTS, "a fixed set");
    for (size_t i = 0; i < REQUESTS; i++)
        ends[i] = (double)run.jobs[i].finish_ns / 1e9;
    order_sort(ends, REQUESTS);
    scale_point_add_time(p, ends[REQUESTS - 1]);
    d = drain_of(ends, REQUESTS);
    drain_add(&p->drain, &d);
    simrun_fini(&run);
    free(ends);
}

static struct bend bend_of(const struct series *x)
{
    struct scale_point points[POINTS];
    struct bend b;

    for (size_t i = 0; i < POINTS; i++) {
        scale_point_init(&points[i], (int64_t)1 << i, "", "sim");
        for (uint64_t run = 0; run < RUNS; run++)
            add_run(&points[i], x, 100 * i + run + 1);
        scale_point_rate(&points[i], &points[0], SCALE_STRONG);
    }
    b = bend_find(points, POINTS, NAN);
    if (b.cause != x->want)
        print_message("%s, %s, %g: %s: %s\n", x->router ? x->router : "shared",
                      x->service, x->slow, bend_cause_name(b.cause),
                      b.evidence);
    for (size_t i = 0; i < POINTS; i++)
        scale_point_fini(&points[i]);
    return b;
}

TEST(causes_are_named_rightly)
{
    static const struct series all[] = {
        {NULL, "fixed 5ms", 0, BEND_NONE},
        {"round-robin", "fixed 5ms", 0, BEND_NONE},
        {"least-outstanding", "fixed 5ms", 0, BEND_NONE},
        {"two-choices", "fixed 5ms", 0, BEND_NONE},
        {NULL, "exponential 5ms", 0, BEND_NONE},
        /* by chance some have more */
        {"random", "fixed 5ms", 0, BEND_IMBALANCE},
        {"random", "exponential 5ms", 0, BEND_IMBALANCE},
        {"round-robin", "exponential 5ms", 0, BEND_IMBALANCE},
        /* one is slow, and the others do its work */
        {NULL, "fixed 5ms", 0.5, BEND_STRAGGLER},
        {NULL, "fixed 5ms", 0.3, BEND_STRAGGLER},
        /* one is slow, and has as much as the others */
        {"round-robin", "fixed 5ms", 0.5, BEND_STRAGGLER},
        {"round-robin", "fixed 5ms", 0.25, BEND_STRAGGLER},
        {"round-robin", "exponential 5ms", 0.5, BEND_STRAGGLER},
        {"least-outstanding", "fixed 5ms", 0.5, BEND_STRAGGLER},
        {"two-choices", "fixed 5ms", 0.5, BEND_STRAGGLER},
        {"random", "fixed 5ms", 0.4, BEND_STRAGGLER},
    };

    for (size_t i = 0; i < COUNT(all); i++) {
        struct bend b = bend_of(&all[i]);

        assert_int_equal(b.cause, all[i].want);
        assert_true(b.evidence[0]);
    }
}
