#include "server-stub/sim/sim.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/clk.h"
#include "common/base/heap.h"
#include "common/base/rng.h"
#include "common/base/xalloc.h"
#include "server-stub/sim/model.h"

/* Longer work would overflow the clock. */
#define MAX_WORK_NS 0x1p62

struct replica {
    struct heap queue;    /* used if there is a router */
    struct job **running; /* owned; cap entries */
    size_t n_running;
    size_t cap;
    bool is_busy;     /* an iteration is under way */
    int64_t ends_ns;  /* end of that iteration, or INT64_MAX */
    int64_t again_ns; /* next call of the policy, or INT64_MAX */
    int64_t kv_used;
};

struct sim {
    struct sim_settings set;
    const struct sim_hooks *hooks;
    void *arg;
    struct heap shared;
    struct replica replicas[SIM_MAX_REPLICAS];
    struct rng service_rng;
    struct rng demand_rng;
    struct rng router_rng;
    struct sim_counts counts;
};

/* ---- the iteration ---- */

static void begin_iteration(struct sim *sim, struct replica *r, int64_t now_ns)
{
    const struct sim_settings *set = &sim->set;
    double speed = set->speed[r - sim->replicas];
    double factor = speed > 0 ? 1 / speed : 1;
    int64_t work_ns = set->model->iterate_ns(&set->model_settings, r->running,
                                             r->n_running, &sim->service_rng);

    if (sim->counts.served < set->cold_jobs && set->cold_factor > 0)
        factor *= set->cold_factor;
    factor *=
        1 + set->drift_per_min * (double)(now_ns - set->stalls.epoch_ns) / 60e9;
    if (factor != 1)
        work_ns = llround(fmin((double)work_ns * factor, MAX_WORK_NS));
    for (size_t i = 0; i < r->n_running; i++)
        r->running[i]->service_ns =
            time_after(r->running[i]->service_ns, work_ns);
    r->is_busy = true;
    r->ends_ns = stalls_work(&set->stalls, now_ns, work_ns);
}

/* The iteration of which the job was a part has ended; it may have made a
 * token. */
static void progress(struct sim *sim, struct job *job, int64_t now_ns)
{
    bool makes_token = job->step_decodes;

    job->prefill_left -= job->step_prefill;
    if (job->step_prefill > 0 && job->prefill_left == 0)
        makes_token = true; /* the end of the prompt makes the first token */
    job->step_prefill = 0;
    job->step_decodes = false;
    if (!makes_token)
        return;
    /* A model without tokens makes the whole answer at once. */
    job->produced += sim->set.model->has_tokens ? 1 : job->output_tokens;
    sim->counts.tokens += sim->set.model->has_tokens;
    if (job->first_ns == TIME_ABSENT)
        job->first_ns = now_ns;
    if (sim->hooks->token)
        sim->hooks->token(sim->arg, job, now_ns);
}

/* Finished jobs leave; the others keep their order. */
static void end_iteration(struct sim *sim, struct replica *r, int64_t now_ns)
{
    size_t kept = 0;

    r->is_busy = false;
    r->ends_ns = INT64_MAX;
    for (size_t i = 0; i < r->n_running; i++) {
        struct job *job = r->running[i];

        progress(sim, job, now_ns);
        if (job->produced < job->output_tokens) {
            r->running[kept++] = job;
            continue;
        }
        job->finish_ns = now_ns;
        r->kv_used -= job->kv_tokens;
        sim->counts.kv_used -= job->kv_tokens;
        sim->counts.running--;
        sim->counts.served++;
        sim->hooks->finished(sim->arg, job);
    }
    r->n_running = kept;
}

/* ---- joining ---- */

static void join(struct sim *sim, struct replica *r, struct job *job,
                 int64_t now_ns)
{
    if (r->n_running == r->cap) {
        r->cap = r->cap ? 2 * r->cap : 16;
        r->running = xrealloc(r->running, r->cap, sizeof(struct job *));
    }
    r->running[r->n_running++] = job;
    job->start_ns = now_ns;
    job->replica = r - sim->replicas;
    r->kv_used += job->kv_tokens;
    sim->counts.kv_used += job->kv_tokens;
    sim->counts.waiting--;
    sim->counts.running++;
    sim->counts.started++;
    sim->counts.queued_ns =
        time_after(sim->counts.queued_ns, now_ns - job->arrival_ns);
    sim->counts.prompt_tokens += job->prompt_tokens;
}

static void count_batch(struct sim_counts *c, const struct replica *r)
{
    int64_t size = (int64_t)r->n_running;
    size_t at = 0;

    while (at < SIM_BATCH_SIZES - 1 && size > INT64_C(1) << at)
        at++;
    c->batches++;
    c->batched += size;
    c->batch_sizes[at]++;
    if (size > c->running_max)
        c->running_max = size;
    if (r->kv_used > c->kv_max)
        c->kv_max = r->kv_used;
}

/* Admit what the policy allows, as far as the KV budget goes. */
static void admit(struct sim *sim, struct replica *r, int64_t now_ns)
{
    struct heap *queue = sim->set.router ? &r->queue : &sim->shared;
    size_t before = r->n_running;
    struct policy_view view = {.now_ns = now_ns,
                               .waiting = (int64_t)queue->len,
                               .oldest_ns = INT64_MAX,
                               .running = (int64_t)r->n_running};

    /* With priorities the first to go need not have waited longest. */
    for (size_t i = 0; i < (sim->set.by_priority ? queue->len : !!queue->len);
         i++) {
        const struct job *job = queue->items[i].what;

        if (job->arrival_ns < view.oldest_ns)
            view.oldest_ns = job->arrival_ns;
    }
    for (int64_t n = sim->set.policy->admit(&sim->set.policy_settings, &view,
                                            &r->again_ns);
         n > 0; n--) {
        const struct job *job = heap_first(queue);

        if (sim->set.kv_tokens > 0 &&
            r->kv_used + job->kv_tokens > sim->set.kv_tokens)
            break;
        join(sim, r, heap_pop(queue), now_ns);
    }
    if (r->n_running == before)
        return;
    for (size_t i = before; i < r->n_running; i++)
        r->running[i]->batch = (int64_t)r->n_running;
    count_batch(&sim->counts, r);
}

/* The replica is between two iterations: admit jobs and start the next one. */
static void turn(struct sim *sim, struct replica *r, int64_t now_ns)
{
    int64_t awake_ns = stalls_skip(&sim->set.stalls, now_ns);

    r->again_ns = INT64_MAX;
    if (awake_ns > now_ns) {
        r->again_ns = awake_ns;
        return;
    }
    admit(sim, r, now_ns);
    if (r->n_running > 0)
        begin_iteration(sim, r, now_ns);
}

/* ---- time ---- */

static int64_t replica_next_ns(const struct replica *r)
{
    return r->ends_ns < r->again_ns ? r->ends_ns : r->again_ns;
}

static const struct replica *next_replica(const struct sim *sim)
{
    const struct replica *best = &sim->replicas[0];

    for (size_t i = 1; i < sim->set.replicas; i++) {
        if (replica_next_ns(&sim->replicas[i]) < replica_next_ns(best))
            best = &sim->replicas[i];
    }
    return best;
}

int64_t sim_next_ns(const struct sim *sim)
{
    return replica_next_ns(next_replica(sim));
}

void sim_advance(struct sim *sim, int64_t now_ns)
{
    for (;;) {
        struct replica *r = &sim->replicas[next_replica(sim) - sim->replicas];
        int64_t at_ns = replica_next_ns(r);

        if (at_ns > now_ns || at_ns == INT64_MAX)
            return;
        if (r->ends_ns == at_ns)
            end_iteration(sim, r, at_ns);
        turn(sim, r, at_ns);
    }
}

/* ---- arrival ---- */

enum sim_reply sim_arrive(struct sim *sim, struct job *job)
{
    const struct sim_settings *set = &sim->set;
    struct heap *queue = &sim->shared;
    size_t first = 0;
    size_t end = set->replicas;
    int64_t outstanding[SIM_MAX_REPLICAS];

    sim_advance(sim, job->arrival_ns);
    job->start_ns = job->first_ns = job->finish_ns = TIME_ABSENT;
    job->service_ns = job->produced = job->prefill_left = 0;
    job->step_prefill = 0;
    job->step_decodes = false;
    if (set->model->demand)
        set->model->demand(&set->model_settings, job, &sim->demand_rng);
    else if (job->output_tokens == 0)
        job->output_tokens = 1;
    job->kv_tokens = job->prompt_tokens + job->output_tokens;
    if (set->router) {
        for (size_t i = 0; i < set->replicas; i++)
            outstanding[i] = (int64_t)(sim->replicas[i].queue.len +
                                       sim->replicas[i].n_running);
        first =
            set->router->pick(outstanding, set->replicas,
                              (uint64_t)sim->counts.arrived, &sim->router_rng);
        end = first + 1;
        queue = &sim->replicas[first].queue;
    }
    sim->counts.arrived++;
    if (set->kv_tokens > 0 && job->kv_tokens > set->kv_tokens) {
        sim->counts.refused++;
        return SIM_TOO_LARGE;
    }
    if (set->queue_max > 0 && (int64_t)queue->len >= set->queue_max) {
        sim->counts.refused++;
        return SIM_FULL;
    }
    sim->counts.waiting++;
    heap_push(queue, set->by_priority ? job->priority : 0, job);
    for (; first < end; first++) {
        struct replica *r = &sim->replicas[first];

        if (!r->is_busy && queue->len > 0)
            turn(sim, r, job->arrival_ns);
    }
    return SIM_TAKEN;
}

struct sim_counts sim_counts(const struct sim *sim)
{
    return sim->counts;
}

/* ---- creation ---- */

struct sim *sim_new(const struct sim_settings *settings,
                    const struct sim_hooks *hooks, void *arg)
{
    struct sim *sim = xcalloc(1, sizeof(*sim));

    sim->set = *settings;
    sim->hooks = hooks;
    sim->arg = arg;
    sim->service_rng = rng_stream(settings->seed, RNG_SERVICE);
    sim->demand_rng = rng_stream(settings->seed, RNG_DEMAND);
    sim->router_rng = rng_stream(settings->seed, RNG_ROUTER);
    for (size_t i = 0; i < settings->replicas; i++)
        sim->replicas[i].ends_ns = sim->replicas[i].again_ns = INT64_MAX;
    return sim;
}

void sim_drain(struct sim *sim, void (*take)(void *arg, struct job *job),
               void *arg)
{
    while (sim->shared.len > 0)
        take(arg, heap_pop(&sim->shared));
    for (size_t i = 0; i < sim->set.replicas; i++) {
        struct replica *r = &sim->replicas[i];

        while (r->queue.len > 0)
            take(arg, heap_pop(&r->queue));
        while (r->n_running > 0)
            take(arg, r->running[--r->n_running]);
        r->ends_ns = r->again_ns = INT64_MAX;
    }
}

void sim_free(struct sim *sim)
{
    if (!sim)
        return;
    for (size_t i = 0; i < sim->set.replicas; i++) {
        heap_fini(&sim->replicas[i].queue);
        free(sim->replicas[i].running);
    }
    heap_fini(&sim->shared);
    free(sim);
}
