#include "loadgen/engine/run_limits.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/recording/schema.h"
#include "common/settings/settings.h"
#include "common/spec/dist.h"
#include "common/spec/load_shape.h"
#include "common/spec/shard_id.h"
#include "loadgen/schedule/source.h"

/* One thread can send more than twice this rate; at half of its capacity it is
 * punctual. */
#define THREAD_RPS     50000.0
#define THREAD_CLIENTS 256.0

/* Kernel timestamps cost 2 to 3 us each (15 % of a request to an idle server on
 * loopback): this many per second take less than 1 % of a core. */
#define MAX_STAMPS_RPS 2000.0

/* A thread that goes to sleep and is woken by a timer uses 10 us of CPU and is
 * 40 to 70 us late on common virtual machines. */
#define SHORT_WAIT_NS (50 * NS_PER_US)

/* Open files besides the connections: in all, and per thread. */
#define SPARE_FILES        64
#define SPARE_FILES_THREAD 8

/* By default responses may use half of the machine's memory, since the server
 * may run on it as well; MIN_MEMORY if its size is not known. */
#define MEMORY_PARTS 2
#define MIN_MEMORY   ((int64_t)64 << 20)

static int64_t min_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t max_of(int64_t a, int64_t b)
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

/* Requests in flight at most, without a schedule. */
static int64_t max_at_once(const struct load_settings *load)
{
    if (load->scenario == SCENARIO_OFFLINE)
        return load->requests;
    return load->scenario == SCENARIO_MULTI_STREAM ? load->query_size
                                                   : load->clients;
}

/* The limit of connections, whichever setting it comes from; 0: none.  Offline
 * there are as many as possible. */
static int64_t connection_limit(const struct settings *s)
{
    const struct client_settings *c = &s->client;
    int64_t limit = INT64_MAX;

    if (!scenario_has_schedule(s->load.scenario) &&
        s->load.scenario != SCENARIO_OFFLINE)
        limit = min_of(max_at_once(&s->load), PLAN_MAX_IN_FLIGHT);
    if (c->connections > 0)
        limit = min_of(limit, c->connections);
    if (c->max_in_flight > 0)
        limit = min_of(limit, c->max_in_flight);
    return limit < INT64_MAX ? limit : 0;
}

/* By default a core is left for the recorder and other processes; in a closed
 * loop, which takes all it can get, half of them.  Each thread needs a
 * connection and something to send; a query has one sender. */
static int64_t choose_threads(const struct settings *s, struct lane share,
                              int64_t limit, int64_t cores)
{
    const struct load_settings *load = &s->load;
    bool is_open = scenario_has_schedule(load->scenario);
    int64_t room = max_of(is_open ? cores - 1 : cores / 2, 1);
    double wanted = is_open ? plan_peak_rps(load) / THREAD_RPS
                            : (double)max_at_once(load) / THREAD_CLIENTS;
    int64_t threads = s->client.threads;

    if (load->scenario == SCENARIO_MULTI_STREAM)
        return 1;
    wanted /= (double)share.workers;
    room = min_of(room, RECORDING_MAX_WORKERS);
    room = min_of(room, RECORDING_MAX_SHARDS / share.shards.count);
    if (threads <= 0)
        threads =
            wanted < (double)room ? max_of((int64_t)ceil(wanted), 1) : room;
    if (load->scenario == SCENARIO_OFFLINE)
        threads = min_of(threads, lane_share(load->requests, share));
    return limit > 0 ? min_of(threads, limit) : threads;
}

/* Of a total that all shards share, this one has nothing. */
static int refuse_nothing(const struct client_settings *c, int64_t total,
                          const char *what, struct err *err)
{
    return err_set(err, ERR_CONFIG,
                   "client.shard: %lld %s cannot be divided among the shards: "
                   "shard %s has none",
                   (long long)total, what, c->shard);
}

static int check(const struct settings *s, struct lane share, int64_t limit,
                 struct err *err)
{
    const struct client_settings *c = &s->client;
    double peak_rps = plan_peak_rps(&s->load);

    if (peak_rps > PLAN_MAX_RPS) /* a schedule is walked as a whole */
        return err_set(err, ERR_CONFIG,
                       "load.%s: a rate of %g/s is above the maximum of %g/s",
                       settings_rate_key(&s->load), peak_rps,
                       (double)PLAN_MAX_RPS);
    if (c->threads > RECORDING_MAX_WORKERS)
        return err_set(err, ERR_CONFIG,
                       "client.threads: %lld is above the maximum of %d",
                       (long long)c->threads, RECORDING_MAX_WORKERS);
    if (c->threads * share.shards.count > RECORDING_MAX_SHARDS)
        return err_set(err, ERR_CONFIG,
                       "client.threads: %lld on each of %lld shards are above "
                       "the maximum of %d in one recording",
                       (long long)c->threads, (long long)share.shards.count,
                       RECORDING_MAX_SHARDS);
    if (limit > 0 && c->preconnect > limit)
        return err_set(err, ERR_CONFIG,
                       "client.preconnect: %lld is above the limit of %lld "
                       "connections",
                       (long long)c->preconnect, (long long)limit);
    if (limit > 0 && lane_share(limit, share) == 0)
        return refuse_nothing(c, limit, "connections or clients", err);
    if (s->load.requests > 0 &&
        shard_share(share.shards, share.worker, s->load.requests) == 0)
        return refuse_nothing(c, s->load.requests, "requests", err);
    return 0;
}

/* "auto" becomes what the environment says. */
static int find_shard(struct client_settings *c, struct lane *share,
                      struct err *err)
{
    char text[SHARD_ID_TEXT];
    struct shard_id id;

    if (shard_id_parse(c->shard, &id, err))
        return -1;
    if (c->probe_shard > 0 && id.count < 2)
        return err_set(err, ERR_CONFIG,
                       "client.probe_shard requires at least two shards "
                       "(--shard or --launch)");
    *share = lane_of_shard(
        id.index, (struct shard_layout){id.count, c->probe_shard}, 0, 1);
    if (c->shard) {
        free(c->shard);
        c->shard = xstrdup(shard_id_print(id, text));
    }
    return 0;
}

int plan_client(struct settings *s, struct machine machine, struct err *err)
{
    const struct load_settings *load = &s->load;
    bool has_count = load->requests > 0 || load->min_requests > 0 ||
                     load->min_duration_ns > 0;
    struct client_settings *c = &s->client;
    int64_t limit = connection_limit(s); /* of all shards, ... */
    int64_t own;                         /* ... and of this one */
    int64_t connections;
    int64_t spare;
    int64_t needed;
    struct lane share;

    if (find_shard(c, &share, err) || check(s, share, limit, err))
        return -1;
    own = lane_share(limit, share);
    c->threads = choose_threads(s, share, own, machine.cores);
    /* Each thread of a closed loop has its own clients, so that none knows when
     * all of them together have sent the last request of the window. */
    if (load->cooldown_ns > 0 && has_count &&
        !scenario_is_open(load->scenario) && share.workers > 1)
        return err_set(err, ERR_CONFIG,
                       "load.cooldown: a closed loop that ends after a number "
                       "of requests cannot be combined with client.shard; end "
                       "it after a duration");
    if (load->cooldown_ns > 0 && has_count && c->threads > 1 &&
        !scenario_is_open(load->scenario))
        return err_set(err, ERR_CONFIG,
                       "load.cooldown: a closed loop that ends after a number "
                       "of requests requires one thread, not %lld; use "
                       "--threads 1, or end it after a duration",
                       (long long)c->threads);
    connections =
        max_of(max_of(own, lane_share(c->preconnect, share)), c->threads);
    spare = SPARE_FILES + SPARE_FILES_THREAD * c->threads;
    needed = connections + spare;
    if (needed > machine.files)
        return err_set(err, ERR_IO,
                       "%lld connections need %lld open files; the limit is "
                       "%lld (ulimit -Hn)",
                       (long long)connections, (long long)needed,
                       (long long)machine.files);
    if (limit == 0) /* only this machine's is known; others are like it */
        limit = share.workers *
                max_of(min_of(PLAN_MAX_IN_FLIGHT, machine.files - spare),
                       lane_share(c->preconnect, share));
    if (load->scenario == SCENARIO_OFFLINE)
        limit = min_of(limit, load->requests);
    c->max_in_flight = limit;
    if (c->memory == OPT_AUTO)
        c->memory = max_of(machine.memory / MEMORY_PARTS, MIN_MEMORY);
    return 0;
}

bool plan_stamps_all(const struct load_settings *load)
{
    return scenario_has_schedule(load->scenario) &&
           plan_peak_rps(load) <= MAX_STAMPS_RPS;
}

int64_t plan_short_wait_ns(struct machine machine)
{
    return machine.cores > 1 ? SHORT_WAIT_NS : 0;
}
