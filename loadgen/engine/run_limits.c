#include "loadgen/engine/run_limits.h"

#include <math.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/recording/schema.h"
#include "common/settings/settings.h"
#include "common/spec/dist.h"
#include "common/spec/load_shape.h"

/* One thread sends well over twice of this; at half its power it is punctual.
 */
#define RATE_A_THREAD    50000.0
#define CLIENTS_A_THREAD 256.0

/* Kernel timestamps cost 2 to 3 us each (15 % of a request to an idle server on
 * loopback): this many are under 1 % of a core. */
#define STAMPS_A_SECOND 2000.0

/* A thread that goes to sleep and is woken by a timer uses 10 us of CPU and is
 * 40 to 70 us late on common virtual machines. */
#define SHORT_WAIT_NS (50 * NS_PER_US)

/* Open files beside the connections: in all, and for each thread. */
#define SPARE_FILES        64
#define SPARE_FILES_THREAD 8

/* By default responses may use half of the machine's memory, since the server
 * may run on it, too; MIN_MEMORY if its size is not known. */
#define MEMORY_PARTS 2
#define MIN_MEMORY   ((int64_t)64 << 20)

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

double plan_turns(const struct load_settings *load)
{
    struct err ignored = {0};
    struct dist turns;
    double mean = 1;

    if (load->scenario == SCENARIO_SESSIONS && load->turns &&
        !dist_parse_counts(load->turns, &turns, &ignored)) {
        mean = fmax(dist_mean(&turns), 1);
        dist_fini(&turns);
    }
    return mean;
}

double plan_peak_rps(const struct load_settings *load)
{
    double peak = load->rate_rps;

    if (load->scenario == SCENARIO_TRACE)
        return load->trace.peak_rps;
    if (load->burst_on_ns > 0)
        peak *= (double)(load->burst_on_ns + load->burst_off_ns) /
                (double)load->burst_on_ns;
    for (size_t i = 0; i < load->stages.len; i++) {
        struct err ignored = {0};
        struct load_stage stage = {0};

        load_stage_parse(load->stages.items[i], &stage, &ignored);
        peak = fmax(peak, fmax(stage.from_rps, stage.to_rps));
    }
    return peak * plan_turns(load);
}

/* Requests that a loop which is not open has in flight at most. */
static int64_t at_once(const struct load_settings *load)
{
    if (load->scenario == SCENARIO_OFFLINE)
        return load->requests;
    return load->scenario == SCENARIO_MULTI_STREAM ? load->query_size
                                                   : load->clients;
}

/* A core is left for the recorder and everybody else; in a closed loop, which
 * takes what it can get, half of them. */
static int64_t choose_threads(const struct load_settings *load, int64_t cores)
{
    bool is_open = scenario_has_schedule(load->scenario);
    int64_t room = most(is_open ? cores - 1 : cores / 2, 1);
    double wanted = is_open ? plan_peak_rps(load) / RATE_A_THREAD
                            : (double)at_once(load) / CLIENTS_A_THREAD;

    room = least(room, RECORDING_MAX_SHARDS);
    return wanted < (double)room ? most((int64_t)ceil(wanted), 1) : room;
}

/* The cap on connections, whichever way it was asked for; 0: there is none.
 * Offline it is as many as there can be. */
static int64_t cap_of(const struct settings *s)
{
    const struct client_settings *c = &s->client;
    int64_t cap = INT64_MAX;

    if (!scenario_has_schedule(s->load.scenario) &&
        s->load.scenario != SCENARIO_OFFLINE)
        cap = least(cap, least(at_once(&s->load), PLAN_MAX_IN_FLIGHT));
    if (c->connections > 0)
        cap = least(cap, c->connections);
    if (c->max_in_flight > 0)
        cap = least(cap, c->max_in_flight);
    return cap < INT64_MAX ? cap : 0;
}

/* A schedule is walked whole, whether or not it can be sent. */
static int check_rate(const struct load_settings *load, struct err *err)
{
    if (plan_peak_rps(load) > PLAN_MAX_RPS)
        return err_set(err, ERR_CONFIG,
                       "load.%s: %g/s at its highest; no client sends more "
                       "than %g/s",
                       settings_rate_key(load), plan_peak_rps(load),
                       (double)PLAN_MAX_RPS);
    return 0;
}

static int check(const struct client_settings *c, int64_t cap, struct err *err)
{
    if (c->threads > RECORDING_MAX_SHARDS)
        return err_set(err, ERR_CONFIG, "client.threads: %lld; at most %d",
                       (long long)c->threads, RECORDING_MAX_SHARDS);
    if (cap > 0 && c->preconnect > cap)
        return err_set(err, ERR_CONFIG,
                       "client.preconnect: %lld; at most %lld connections "
                       "are allowed",
                       (long long)c->preconnect, (long long)cap);
    return 0;
}

/* Each needs a connection, and something to send; a query has one sender. */
static int64_t threads_of(const struct settings *s, int64_t cap, int64_t cores)
{
    int64_t threads = s->client.threads > 0 ? s->client.threads
                                            : choose_threads(&s->load, cores);

    if (s->load.scenario == SCENARIO_MULTI_STREAM)
        return 1;
    if (s->load.scenario == SCENARIO_OFFLINE)
        threads = least(threads, s->load.requests);
    return cap > 0 ? least(threads, cap) : threads;
}

/* Threads of a closed loop have clients of their own, so that none knows when
 * all of them together have sent the last of the window. */
static int check_cooldown(const struct settings *s, struct err *err)
{
    const struct load_settings *load = &s->load;
    bool has_count = load->requests > 0 || load->min_requests > 0 ||
                     load->min_duration_ns > 0;

    if (load->cooldown_ns > 0 && has_count && s->client.threads > 1 &&
        !scenario_is_open(load->scenario))
        return err_set(err, ERR_CONFIG,
                       "load.cooldown: where a count ends the window of a "
                       "closed loop it needs one thread, not %lld; say "
                       "--threads 1, or give a duration",
                       (long long)s->client.threads);
    return 0;
}

int plan_client(struct settings *s, struct machine machine, struct err *err)
{
    struct client_settings *c = &s->client;
    int64_t cap = cap_of(s);
    int64_t asked;
    int64_t spare;
    long long needed;

    if (check_rate(&s->load, err) || check(c, cap, err))
        return -1;
    c->threads = threads_of(s, cap, machine.cores);
    if (check_cooldown(s, err))
        return -1;
    asked = most(most(cap, c->preconnect), c->threads);
    spare = SPARE_FILES + SPARE_FILES_THREAD * c->threads;
    needed = asked + spare;
    if (needed > machine.files)
        return err_set(err, ERR_IO,
                       "%lld connections need %lld open files; the limit is "
                       "%lld (ulimit -Hn)",
                       (long long)asked, needed, (long long)machine.files);
    if (cap == 0) {
        cap = least(PLAN_MAX_IN_FLIGHT, machine.files - spare);
        cap = most(cap, c->preconnect);
    }
    if (s->load.scenario == SCENARIO_OFFLINE)
        cap = least(cap, s->load.requests);
    c->max_in_flight = cap;
    if (c->memory == OPT_AUTO)
        c->memory = most(machine.memory / MEMORY_PARTS, MIN_MEMORY);
    return 0;
}

bool plan_stamps_all(const struct load_settings *load)
{
    return scenario_has_schedule(load->scenario) &&
           plan_peak_rps(load) <= STAMPS_A_SECOND;
}

int64_t plan_short_wait_ns(struct machine machine)
{
    return machine.cores > 1 ? SHORT_WAIT_NS : 0;
}
