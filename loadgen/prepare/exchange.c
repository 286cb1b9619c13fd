#include "loadgen/prepare/exchange.h"

#include <event2/event.h>
#include <stdlib.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/stop.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "loadgen/engine/handoff.h"
#include "loadgen/engine/request.h"
#include "loadgen/payload/workload.h"
#include "loadgen/transport/transport.h"

/* How often the clock and the stop flag are checked. */
#define TICK_NS (10 * NS_PER_MS)

struct drive {
    struct exchange *x;
    const struct exchange_plan *plan;
    struct workload workload;
    struct transport_env env;
    void *transport;
    struct handoff *handoff; /* the transport's, or NULL */
    struct request request;
    bool is_over;
};

static void on_tap(void *arg, bool is_sent, const char *data, size_t len)
{
    struct drive *d = arg;
    struct exchange_side *side = is_sent ? &d->x->sent : &d->x->received;
    size_t room = side->bytes.max - side->bytes.len;

    if (!is_sent && side->total == 0)
        d->x->first_byte = transport_now(&d->env);
    side->total += (int64_t)len;
    if (len > room)
        len = room;
    if (len > 0)
        buf_add(&side->bytes, data, len);
}

static void conclude(struct drive *d)
{
    d->x->facts = d->request.facts;
    if (d->plan->api)
        buf_swap(&d->x->body, &d->request.response.body);
    d->x->why = xstrdup(d->request.why ? d->request.why : "");
    d->is_over = true;
}

static void on_ended(void *arg, struct request *r)
{
    const struct drive *d = arg;

    (void)r;
    conclude(arg);
    event_base_loopbreak(d->env.base);
}

static void give_up(struct drive *d, enum outcome outcome, const char *why)
{
    d->plan->transport->cancel(d->transport, &d->request);
    request_break(&d->request, transport_now(&d->env), outcome, 0, why);
    conclude(d);
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg; /* only makes the loop return */
}

/* Is the answer good so far, and has it taken long enough?  gRPC has no status
 * before the end. */
static bool is_enough(const struct drive *d)
{
    const struct facts *f = &d->request.facts;
    const struct api *api = d->plan->api;

    return d->plan->cut_ns > 0 && f->head != TIME_ABSENT &&
           transport_now(&d->env) >= f->head + d->plan->cut_ns &&
           (!api || f->status == 0 ||
            statuses_have(&api->success, (int)f->status));
}

static void check(struct drive *d)
{
    const struct exchange_plan *plan = d->plan;

    if ((plan->ends_at_head && d->request.facts.head != TIME_ABSENT) ||
        is_enough(d))
        give_up(d, OUTCOME_OK, NULL);
    else if (atomic_load(&stop_signal) ||
             (plan->cancel && atomic_load(plan->cancel)))
        give_up(d, OUTCOME_UNFINISHED, "interrupted");
    else if (transport_now(&d->env) >= plan->timeout_ns)
        give_up(d, OUTCOME_TIMEOUT,
                request_timeout_text(d->request.facts.head != TIME_ABSENT));
}

static void loop(struct drive *d)
{
    struct timeval tv = clk_timeval(TICK_NS);
    struct event *tick = event_new(d->env.base, -1, EV_PERSIST, on_tick, NULL);

    event_add(tick, &tv);
    handoff_enter(d->handoff);
    d->plan->transport->start(d->transport, &d->request);
    while (!d->is_over) {
        handoff_leave(d->handoff);
        event_base_loop(d->env.base, EVLOOP_ONCE);
        handoff_enter(d->handoff);
        if (!d->is_over)
            check(d);
    }
    handoff_leave(d->handoff);
    event_free(tick);
}

int exchange_run(struct exchange *x, const struct exchange_plan *plan,
                 struct err *err)
{
    struct drive d = {.x = x, .plan = plan};
    int rc;

    *x = (struct exchange){.first_byte = TIME_ABSENT,
                           .kept = plan->keep,
                           .transport = plan->transport->name};
    if (plan->keep > 0) {
        buf_init(&x->sent.bytes, plan->keep);
        buf_init(&x->received.bytes, plan->keep);
    }
    workload_of_one(&d.workload, plan->targets, plan->api, plan->settings);
    d.env = (struct transport_env){
        .base = transport_base_new(plan->transport),
        .clk = &clk_monotonic,
        .start_ns = clk_now(&clk_monotonic),
        .workload = &d.workload,
        .settings = plan->settings,
        .max_connections = 1,
        .stamps_all = true,
        .lane = {.worker = 0, .workers = 1},
        .ended = on_ended,
        .arg = &d,
        .tap = plan->keep > 0 ? on_tap : NULL,
    };
    d.request.facts = facts_unknown(plan->seq, 0);
    d.request.facts.issued = 0;
    d.request.deadline_ns = plan->timeout_ns;
    d.request.class = &d.workload.one;
    if (plan->api && plan->api->sampler.has_sessions)
        d.request.facts.session = plan->seq; /* its first turn */
    if (plan->api)
        response_begin(&d.request.response, plan->api, &d.request.facts);
    if (!d.env.base)
        return err_set(err, ERR_IO, "cannot create an event loop");
    if (plan->row)
        row_copy(&d.request.row, plan->row);
    d.transport = xcalloc(1, plan->transport->state_size);
    rc = plan->transport->init(d.transport, &d.env, err);
    if (rc == 0 && plan->transport->handoff)
        d.handoff = plan->transport->handoff(d.transport);
    if (rc == 0)
        loop(&d);
    plan->transport->fini(d.transport);
    free(d.transport);
    event_base_free(d.env.base);
    response_fini(&d.request.response);
    row_fini(&d.request.row);
    return rc;
}

void exchange_fini(struct exchange *x)
{
    buf_fini(&x->sent.bytes);
    buf_fini(&x->received.bytes);
    buf_fini(&x->body);
    free(x->why);
    *x = (struct exchange){0};
}
