/* What drawing a schedule costs: due times of each arrival process and shape, a
 * second of CPU, without anything that happens at them. */
#include <stdio.h>
#include <stdlib.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "loadgen/schedule/source.h"

#define ARRIVALS 10000000

static const struct {
    const char *name;
    struct load_settings load;
} cases[] = {
    {"poisson", {.arrival = ARRIVAL_POISSON}},
    {"constant", {.arrival = ARRIVAL_CONSTANT}},
    {"gamma, cv 2", {.arrival = ARRIVAL_GAMMA, .cv = 2}},
    {"poisson in bursts",
     {.burst_on_ns = NS_PER_MS, .burst_off_ns = 9 * NS_PER_MS}},
    {"LoadGen's", {.seeds = SEEDS_MLPERF, .schedule_seed = 1}},
};

/* Arrivals per CPU second. */
static double measure(struct load_settings load)
{
    const struct lane all = {.workers = 1};
    void *self = xcalloc(1, source_open.state_size);
    struct err err = {0};
    int64_t last_ns = 0;
    int64_t spent_ns;

    load.scenario = SCENARIO_SERVER;
    load.rate_rps = 1e6;
    if (source_open.init(self, &load, all, &err)) {
        fprintf(stderr, "bench_schedule: %s\n", err.msg);
        abort();
    }
    spent_ns = -clk_thread_cpu_ns();
    for (int i = 0; i < ARRIVALS && source_open.peek_ns(self) < DUE_NEVER; i++)
        last_ns = source_open.take(self).at_ns;
    spent_ns += clk_thread_cpu_ns();
    source_open.fini(self);
    free(self);
    return last_ns > 0 ? ARRIVALS / ((double)spent_ns / 1e9) : 0;
}

int main(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        printf("%-20s %6.1f million arrivals per CPU second\n", cases[i].name,
               measure(cases[i].load) / 1e6);
    return 0;
}
