#include "server-stub/stub_server.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/clk.h"
#include "common/base/heap.h"
#include "common/base/rng.h"
#include "common/base/xalloc.h"
#include "common/recording/schema.h"
#include "common/settings/settings.h"
#include "server-stub/api/stub_api.h"
#include "server-stub/front/call.h"
#include "server-stub/front/front.h"
#include "server-stub/front/reply.h"
#include "server-stub/front/wire.h"
#include "server-stub/seen_bodies.h"
#include "server-stub/sim/sim.h"

#include "server-stub/stub_config.h"
#include "server-stub/stub_page.h"
#include "server-stub/truth_log.h"

/* A token or an answer that waits in the heap until it is due. */
struct action {
    struct call *call;
    bool is_finish;
    struct action *next; /* in the list of unused actions */
};

struct server {
    const struct stub_settings *settings;
    const struct stub_config *config;
    struct truth_log *truth; /* NULL: not wanted */
    int64_t epoch_ns;
    bool is_null; /* every answer is immediate: no simulation needed */
    bool has_steps;
    bool is_advancing; /* further up the stack */
    struct sim *sim;
    struct rng fault_rng;
    struct rng accept_rng;
    struct rng eos_rng;
    struct seen seen;     /* bodies, for the cache */
    struct seen prefixes; /* of bodies, for the prefix cache */
    struct heap due;      /* of struct action */
    struct reply reply;
    int64_t nth;
    int64_t accepted;
    int64_t at_once;  /* served without the simulation: null mode, cache */
    int64_t unserved; /* refused without it: malformed, or a fault */
    struct call *unused_calls;
    struct action *unused_actions;
};

/* ---- calls and actions are kept for reuse ---- */

/* Reuse the call when both the simulation and the front are done with it. */
static void release(struct server *s, struct call *call)
{
    const struct job *job = &call->job;

    if (call->is_simulated || call->x)
        return;
    if (s->truth)
        truth_log_add(s->truth, &(struct truth){
                                    .id = call->id,
                                    .arrival = job->arrival_ns,
                                    .start = job->start_ns,
                                    .service = job->service_ns,
                                    .first = call->first_due_ns,
                                    .finish = call->finish_due_ns,
                                    .sent = call->sent_ns,
                                    .batch = job->batch,
                                    .replica = job->replica,
                                    .tokens = job->produced,
                                    .status = call->status,
                                    .faults = call->faults.kinds,
                                });
    call->next = s->unused_calls;
    s->unused_calls = call;
}

static void schedule(struct server *s, struct call *call, int64_t at_ns,
                     bool is_finish)
{
    struct action *action = s->unused_actions;

    if (action)
        s->unused_actions = action->next;
    else
        action = xcalloc(1, sizeof(*action));
    *action = (struct action){.call = call, .is_finish = is_finish};
    heap_push(&s->due, time_after(at_ns, call->delay_ns), action);
}

/* ---- hooks of the simulation ---- */

static void on_token(void *arg, struct job *job, int64_t at_ns)
{
    struct server *s = arg;
    struct call *call = (struct call *)job;

    if (s->config->sim.model->has_tokens && (call->streams || s->has_steps))
        schedule(s, call, at_ns, false);
}

static void on_finished(void *arg, struct job *job)
{
    schedule(arg, (struct call *)job, job->finish_ns, true);
}

static const struct sim_hooks sim_hooks = {.token = on_token,
                                           .finished = on_finished};

/* ---- sending what is due ---- */

static void give_answer(struct server *s, struct call *call, int64_t at_ns)
{
    if (call->first_due_ns == TIME_ABSENT)
        call->first_due_ns = time_after(call->job.first_ns, call->delay_ns);
    call->finish_due_ns = at_ns;
    if (!s->config->sim.model->has_tokens)
        call->due_tokens = call->job.produced;
    if (s->settings->cache)
        seen_add(&s->seen, call->body_hash, call->job.produced);
    reply_finish(&s->reply, call);
    call->is_simulated = false;
    release(s, call);
}

/* First the simulation, then the bytes: sending may bring in the next request
 * of a connection, which must not call a simulation that is running.  What that
 * request makes due is left to the outer call: thousands of connections may end
 * an answer at once, and recursion would overflow the stack. */
void server_advance(struct server *s, int64_t now_ns)
{
    if (s->is_advancing)
        return;
    s->is_advancing = true;
    sim_advance(s->sim, now_ns);
    while (heap_first_key(&s->due) <= now_ns) {
        int64_t at_ns = heap_first_key(&s->due);
        struct action *action = heap_pop(&s->due);
        struct call *call = action->call;
        bool is_finish = action->is_finish;

        action->next = s->unused_actions;
        s->unused_actions = action;
        if (is_finish) {
            give_answer(s, call, at_ns);
            continue;
        }
        if (s->has_steps)
            truth_log_add_step(
                s->truth, &(struct truth_step){.id = call->id, .at = at_ns});
        if (call->first_due_ns == TIME_ABSENT)
            call->first_due_ns = at_ns;
        call->due_tokens++;
        reply_token(&s->reply, call);
    }
    s->is_advancing = false;
}

int64_t server_next_ns(const struct server *s)
{
    int64_t sim_ns = sim_next_ns(s->sim);
    int64_t due_ns = heap_first_key(&s->due);

    return sim_ns < due_ns ? sim_ns : due_ns;
}

/* ---- requests ---- */

static bool give_page(struct server *s, struct exchange *x,
                      const struct wire_ops *wire)
{
    struct sim_counts counts = sim_counts(s->sim);
    struct page_view view = {
        .model = s->settings->model,
        .counts = &counts,
        .kv_tokens =
            time_times(s->config->sim.kv_tokens, s->settings->replicas),
        .metrics_style = s->settings->metrics_style,
    };

    counts.arrived += s->at_once + s->unserved;
    counts.served += s->at_once;
    counts.refused += s->unserved;
    return wire->page(&s->reply, x, &view);
}

static struct call *begin_call(struct server *s, struct exchange *x,
                               const struct wire_ops *wire)
{
    struct call *call = s->unused_calls;

    if (call)
        s->unused_calls = call->next;
    else
        call = xcalloc(1, sizeof(*call));
    *call = (struct call){
        .job = {.arrival_ns = x->arrival_ns,
                .priority = x->priority,
                .start_ns = TIME_ABSENT,
                .first_ns = TIME_ABSENT,
                .finish_ns = TIME_ABSENT},
        .x = x,
        .id = x->id,
        .wire = wire,
        .faults = fault_draw(&s->config->faults, ++s->nth,
                             x->arrival_ns - s->epoch_ns, &s->fault_rng),
        .nth = s->nth,
        .delay_ns = s->settings->delay_ns,
        .first_due_ns = TIME_ABSENT,
        .finish_due_ns = TIME_ABSENT,
        .sent_ns = TIME_ABSENT,
    };
    x->owner = call;
    call->faults.kinds &= ~(UINT32_C(1) << FAULT_SLOW_ACCEPT); /* on accept */
    if (call_has(call, FAULT_HANG))
        call->delay_ns =
            time_after(call->delay_ns, call->faults.param[FAULT_HANG]);
    if (s->settings->cache)
        call->body_hash = seen_hash(x->path, strlen(x->path)) ^
                          seen_hash(x->body, x->body_len) << 1;
    return call;
}

/* Set what the request alone does not determine.  The answer is as long as
 * requested, or shorter if it ends by itself; 0: the model decides.  The tokens
 * that the body has in common with earlier ones are estimated by bytes; at
 * least one is read. */
static void settle_answer(struct server *s, struct call *call)
{
    const struct exchange *x = call->x;
    int64_t tokens = call->asked_tokens;
    size_t known = 0;

    if (call->api->tokens) {
        if (s->config->has_eos && !call->ignores_eos) {
            int64_t eos = dist_draw_count(&s->config->eos, &s->eos_rng);

            if (eos < call->min_tokens)
                eos = call->min_tokens;
            if (tokens == 0 || eos < tokens)
                tokens = eos;
        }
        if (tokens == 0 && call->api->is_single &&
            !s->config->sim.model->has_tokens)
            tokens = 1;
        if (call_has(call, FAULT_LENGTH))
            tokens = call->faults.param[FAULT_LENGTH];
        call->job.output_tokens = tokens;
    }
    if (s->settings->prefix_cache && call->job.prompt_tokens > 0)
        known = prefix_take(&s->prefixes, x->body, x->body_len);
    if (known > 0)
        call->job.cached_tokens = (call->job.prompt_tokens - 1) *
                                  (int64_t)known / (int64_t)x->body_len;
    if (call->api->can_reason)
        call->reasoning_tokens = s->settings->reasoning_tokens;
}

/* Refuse a request before the simulation, which counts its own refusals. */
static void refuse(struct server *s, struct call *call, int status)
{
    s->unserved++;
    reply_status(&s->reply, call, status);
}

/* Without queue and work: the whole answer is due on arrival. */
static void serve_at_once(struct server *s, struct call *call)
{
    struct job *job = &call->job;

    s->at_once++;
    if (job->output_tokens == 0)
        job->output_tokens = 1;
    job->produced = job->output_tokens;
    job->batch = 1;
    job->start_ns = job->first_ns = job->finish_ns = job->arrival_ns;
    call->is_simulated = true;
}

static void start_call(struct server *s, struct call *call)
{
    struct job *job = &call->job;
    int64_t cached =
        s->settings->cache ? seen_find(&s->seen, call->body_hash) : 0;
    enum sim_reply taken;

    if (s->is_null) { /* one write, no timer and no heap */
        serve_at_once(s, call);
        call->due_tokens = job->produced;
        give_answer(s, call, job->arrival_ns);
        return;
    }
    if (cached > 0) { /* as many tokens as the first time, all at once */
        job->output_tokens = cached;
        job->cached_tokens = job->prompt_tokens;
        serve_at_once(s, call);
        for (int64_t i = 0; i < cached; i++)
            on_token(s, job, job->arrival_ns);
        on_finished(s, job);
        return;
    }
    call->is_simulated = true;
    taken = sim_arrive(s->sim, job);
    if (taken == SIM_TAKEN)
        return;
    call->is_simulated = false;
    reply_status(&s->reply, call,
                 taken == SIM_FULL ? (int)s->settings->full_status : 413);
}

void server_request(struct server *s, struct exchange *x,
                    const struct wire_ops *wire)
{
    struct call *call;

    if (give_page(s, x, wire))
        return;
    call = begin_call(s, x, wire);
    if (!wire->read(x, call)) {
        refuse(s, call, call->refusal ? call->refusal : 400);
        return;
    }
    settle_answer(s, call);
    if (call_has(call, FAULT_STATUS)) {
        refuse(s, call, (int)call->faults.param[FAULT_STATUS]);
        return;
    }
    start_call(s, call);
    if (!call->is_over)
        reply_begin(&s->reply, call);
    server_advance(s, x->arrival_ns);
}

void server_ended(struct server *s, struct exchange *x, int64_t sent_ns)
{
    struct call *call = x->owner;

    if (!call)
        return; /* it was about the server itself */
    call->sent_ns = sent_ns;
    call->x = NULL;
    release(s, call);
}

int64_t server_accept_delay_ns(struct server *s, int64_t now_ns)
{
    struct fault_set set = fault_draw(&s->config->faults, ++s->accepted,
                                      now_ns - s->epoch_ns, &s->accept_rng);

    return fault_has(&set, FAULT_SLOW_ACCEPT) ? set.param[FAULT_SLOW_ACCEPT]
                                              : 0;
}

/* ---- start and end ---- */

static bool is_null(const struct stub_settings *settings,
                    const struct stub_config *config)
{
    return strcmp(settings->service, "none") == 0 && settings->delay_ns == 0 &&
           config->sim.policy == policy_find("none") &&
           settings->queue_max == 0 && config->sim.stalls.stall_ns == 0 &&
           config->faults.len == 0 && !settings->cache &&
           !settings->prefix_cache;
}

struct server *server_new(const struct stub_settings *settings,
                          const struct stub_config *config,
                          struct truth_log *truth, int64_t epoch_ns)
{
    struct server *s = xcalloc(1, sizeof(*s));
    struct sim_settings sim = config->sim;

    s->settings = settings;
    s->config = config;
    s->truth = truth;
    s->epoch_ns = epoch_ns;
    s->is_null = is_null(settings, config);
    s->has_steps = truth && config->sim.model->has_tokens;
    sim.stalls.epoch_ns = epoch_ns;
    s->sim = sim_new(&sim, &sim_hooks, s);
    s->fault_rng = rng_stream(settings->seed, RNG_FAULT);
    s->accept_rng = rng_stream(settings->seed, RNG_ACCEPT);
    s->eos_rng = rng_stream(settings->seed, RNG_EOS);
    reply_init(&s->reply, settings, config->sse);
    return s;
}

static void forget_job(void *arg, struct job *job)
{
    struct server *s = arg;
    struct call *call = (struct call *)job;

    call->is_simulated = false;
    release(s, call);
}

void server_free(struct server *s)
{
    if (!s)
        return;
    while (s->due.len > 0) {
        struct action *action = heap_pop(&s->due);

        if (action->is_finish)
            forget_job(s, &action->call->job);
        free(action);
    }
    while (s->unused_actions) {
        struct action *action = s->unused_actions;

        s->unused_actions = action->next;
        free(action);
    }
    sim_drain(s->sim, forget_job, s);
    sim_free(s->sim);
    while (s->unused_calls) {
        struct call *call = s->unused_calls;

        s->unused_calls = call->next;
        free(call);
    }
    heap_fini(&s->due);
    seen_fini(&s->seen);
    seen_fini(&s->prefixes);
    reply_fini(&s->reply);
    free(s);
}
