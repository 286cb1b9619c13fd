#include "analyzer/read/client_log.h"

#include <math.h>
#include <stddef.h>

#include "common/base/clk.h"
#include "common/recording/shards.h"

/* Shorter spans are too coarse: ticks are of 10 ms. */
#define MIN_SPAN_NS (NS_PER_S / 2)

/* In shorter windows one observation is too large a share. */
#define MIN_OBSERVED_NS (5 * NS_PER_S)

/* Bound for the counter of one worker, so that their sum does not overflow. */
#define MAX_REQUESTS ((INT64_C(1) << 62) / RECORDING_MAX_SHARDS)

/* ---- collecting ---- */

void client_init(struct client *c, struct window window, int64_t n_shards)
{
    *c = (struct client){
        .window = window, .n_shards = 1, .n_hosts = 1, .only = -1};
    if (n_shards > 1)
        c->n_shards = n_shards < RECORDING_MAX_SHARDS ? (int)n_shards
                                                      : RECORDING_MAX_SHARDS;
}

void client_set_machines(struct client *c, const struct shard_list *list)
{
    if (list->len == 0)
        return;
    c->n_hosts = (int)list->of;
    c->n_shards = 0;
    c->is_part = !list->is_merged;
    c->first = list->items[0].index;
    for (size_t i = 0; i < RECORDING_MAX_SHARDS; i++)
        c->shards[i].is_absent = true;
    for (size_t i = 0; i < list->len; i++) {
        const struct shard_info *s = &list->items[i];

        for (int64_t w = 0; w < s->threads; w++) {
            int64_t at = s->index + list->of * w;

            if (at >= RECORDING_MAX_SHARDS)
                break;
            c->shards[at].is_absent = false;
            if (at >= c->n_shards)
                c->n_shards = (int)at + 1;
        }
    }
}

/* Is an answer about this worker, or this machine? */
static bool is_asked(const struct client *c, int worker)
{
    return !c->shards[worker].is_absent &&
           (c->only < 0 || worker % c->n_hosts == c->only);
}

static bool is_asked_host(const struct client *c, int host)
{
    return c->hosts[host].is_seen && (c->only < 0 || host == c->only);
}

static void observe(struct counter *c, int64_t at_ns, int64_t value)
{
    if (value == TIME_ABSENT)
        return;
    if (!c->is_seen || at_ns < c->from_ns) {
        c->from_ns = at_ns;
        c->from = value;
    }
    if (!c->is_seen || at_ns > c->to_ns) {
        c->to_ns = at_ns;
        c->to = value;
    }
    c->is_seen = true;
}

static int64_t bounded(int64_t count)
{
    return count < 0 ? 0 : count < MAX_REQUESTS ? count : MAX_REQUESTS;
}

static int64_t taken(const struct observation *seen)
{
    return bounded(bounded(seen->issued) + bounded(seen->unsent));
}

static void observe_worker(struct client_shard *s,
                           const struct observation *seen)
{
    observe(&s->taken, seen->at, taken(seen));
    observe(&s->cap_waits, seen->at, seen->cap_waits);
    observe(&s->cpu, seen->at, seen->cpu);
    observe(&s->spun, seen->at, seen->spun);
    observe(&s->record_wait, seen->at, seen->record_wait);
    observe(&s->cpu_wait, seen->at, seen->cpu_wait);
    observe(&s->cpu_turns, seen->at, seen->cpu_turns);
}

void client_add(struct client *c, unsigned shard,
                const struct observation *seen)
{
    static const struct observation start;
    struct client_shard *s;
    struct client_host *h;

    if (shard >= RECORDING_MAX_SHARDS)
        return;
    s = &c->shards[shard];
    s->is_absent = false;
    h = &c->hosts[(int)shard % c->n_hosts];
    if (!h->is_seen)
        *h = (struct client_host){.is_seen = true,
                                  .suspended_max_ns = TIME_ABSENT};
    if ((int)shard >= c->n_shards)
        c->n_shards = (int)shard + 1;
    if (!s->is_seen && c->window.start_ns <= 0)
        observe_worker(s, &start); /* its counters start at 0 with the run */
    if (!s->is_seen || seen->at >= s->last_ns) {
        s->is_seen = true;
        s->last_ns = seen->at;
        s->scheduled = taken(seen);
    }
    if (seen->suspended_max > h->suspended_max_ns)
        h->suspended_max_ns = seen->suspended_max;
    if (seen->asleep > h->asleep_ns)
        h->asleep_ns = seen->asleep;
    if (seen->at < c->window.start_ns ||
        seen->at - MIN_SPAN_NS > c->window.end_ns)
        return;
    s->observations++;
    observe_worker(s, seen);
    observe(&h->ticks, seen->at, seen->host_ticks);
    observe(&h->steal, seen->at, seen->host_steal);
    observe(&h->throttled, seen->at, seen->throttled);
    observe(&h->pressure, seen->at, seen->pressure);
}

static void add_seen(void *arg, unsigned worker, const void *row)
{
    struct client *c = arg;

    if (c->is_part)
        worker = (unsigned)c->first + (unsigned)c->n_hosts * worker;
    client_add(c, worker, row);
}

void client_read(struct client *c, const char *dir)
{
    tgr_each(dir, "client.tgr", &schema_client, add_seen, c);
}

/* ---- progress ---- */

int64_t client_scheduled(const struct client *c, int shard)
{
    return c->shards[shard].scheduled;
}

int64_t client_scheduled_in_all(const struct client *c)
{
    int64_t sum = 0;

    for (int i = 0; i < c->n_shards; i++)
        sum += c->shards[i].scheduled; /* 0 if it is absent */
    return sum;
}

int64_t client_known_until_ns(const struct client *c)
{
    int64_t min_ns = INT64_MAX;

    for (int i = 0; i < c->n_shards; i++) {
        if (is_asked(c, i) && c->shards[i].last_ns < min_ns)
            min_ns = c->shards[i].last_ns; /* 0 if it was never seen */
    }
    return min_ns == INT64_MAX ? 0 : min_ns;
}

/* ---- shares ---- */

static double grown(const struct counter *c)
{
    return c->to > c->from ? (double)(c->to - c->from) : 0;
}

static bool is_known(const struct counter *c)
{
    return c->is_seen && c->to_ns - c->from_ns >= MIN_SPAN_NS;
}

/* A counter of nanoseconds as a share of the time that passed. */
static bool share_of_time(const struct counter *c, double *share)
{
    if (!is_known(c))
        return false;
    *share = grown(c) / (double)(c->to_ns - c->from_ns);
    return true;
}

/* The first observation is made when the first second is over. */
bool client_observed(const struct client *c, double *share)
{
    int64_t length_ns = c->window.end_ns - c->window.start_ns;
    int64_t fewest = INT64_MAX;

    if (c->window.end_ns == INT64_MAX || length_ns < MIN_OBSERVED_NS)
        return false;
    for (int i = 0; i < c->n_shards; i++) {
        if (is_asked(c, i) && c->shards[i].observations < fewest)
            fewest = c->shards[i].observations;
    }
    if (fewest == INT64_MAX)
        return false;
    *share = fmin(1, (double)(fewest > 0 ? fewest + 1 : 0) * 1e9 /
                         (double)length_ns);
    return true;
}

bool client_busy(const struct client *c, double *share)
{
    bool is_any_known = false;

    *share = 0;
    for (int i = 0; i < c->n_shards; i++) {
        double cpu;
        double spun;
        double waited = 0;

        if (!is_asked(c, i) || !share_of_time(&c->shards[i].cpu, &cpu) ||
            !share_of_time(&c->shards[i].spun, &spun))
            continue;
        is_any_known = true;
        share_of_time(&c->shards[i].cpu_wait, &waited);
        *share = fmax(*share, cpu - spun + waited);
    }
    return is_any_known;
}

bool client_record_wait(const struct client *c, double *share)
{
    bool is_any_known = false;
    double waited;

    *share = 0;
    for (int i = 0; i < c->n_shards; i++) {
        if (!is_asked(c, i) ||
            !share_of_time(&c->shards[i].record_wait, &waited))
            continue;
        is_any_known = true;
        *share = fmax(*share, waited);
    }
    return is_any_known;
}

bool client_cpu_wait(const struct client *c, double *share, double *turns_hz)
{
    bool is_any_known = false;

    *share = 0;
    *turns_hz = 0;
    for (int i = 0; i < c->n_shards; i++) {
        double waited;
        double turns;

        if (!is_asked(c, i) ||
            !share_of_time(&c->shards[i].cpu_wait, &waited) ||
            !share_of_time(&c->shards[i].cpu_turns, &turns))
            continue;
        if (!is_any_known || waited > *share) {
            *share = waited;
            *turns_hz = 1e9 * turns;
        }
        is_any_known = true;
    }
    return is_any_known;
}

bool client_held_back(const struct client *c, double *share)
{
    bool is_any_known = false;
    double waits = 0;
    double requests = 0;

    for (int i = 0; i < c->n_shards; i++) {
        if (!is_asked(c, i) || !is_known(&c->shards[i].cap_waits))
            continue;
        is_any_known = true;
        waits += grown(&c->shards[i].cap_waits);
        requests += grown(&c->shards[i].taken);
    }
    /* A waiting request is counted before it is taken. */
    if (requests < waits)
        requests = waits;
    *share = requests > 0 ? waits / requests : 0;
    return is_any_known;
}

bool client_stolen(const struct client *c, double *share)
{
    bool is_any_known = false;

    *share = 0;
    for (int i = 0; i < c->n_hosts; i++) {
        const struct client_host *h = &c->hosts[i];

        if (!is_asked_host(c, i) || !is_known(&h->ticks) ||
            !is_known(&h->steal) || !(grown(&h->ticks) > 0))
            continue;
        is_any_known = true;
        *share = fmax(*share, grown(&h->steal) / grown(&h->ticks));
    }
    return is_any_known;
}

/* The largest share of time of a counter of each machine. */
static bool share_of_hosts(const struct client *c, size_t counter,
                           double *share)
{
    bool is_any_known = false;
    double one;

    *share = 0;
    for (int i = 0; i < c->n_hosts; i++) {
        const char *h = (const char *)&c->hosts[i];

        if (!is_asked_host(c, i) ||
            !share_of_time((const struct counter *)(h + counter), &one))
            continue;
        is_any_known = true;
        *share = fmax(*share, one);
    }
    return is_any_known;
}

bool client_throttled(const struct client *c, double *share)
{
    return share_of_hosts(c, offsetof(struct client_host, throttled), share);
}

bool client_pressed(const struct client *c, double *share)
{
    return share_of_hosts(c, offsetof(struct client_host, pressure), share);
}

int64_t client_suspended_max_ns(const struct client *c)
{
    int64_t max_ns = TIME_ABSENT;

    for (int i = 0; i < c->n_hosts; i++) {
        if (is_asked_host(c, i) && c->hosts[i].suspended_max_ns > max_ns)
            max_ns = c->hosts[i].suspended_max_ns;
    }
    return max_ns;
}

int64_t client_asleep_ns(const struct client *c)
{
    int64_t max_ns = 0;

    for (int i = 0; i < c->n_hosts; i++) {
        if (is_asked_host(c, i) && c->hosts[i].asleep_ns > max_ns)
            max_ns = c->hosts[i].asleep_ns;
    }
    return max_ns;
}
