/* Ties the parts together: a request from the front is put on the timeline,
 * waits in the heap until its answer is due, and ends in the truth log. */
#include "server-stub/stub.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "common/clk.h"
#include "common/dist.h"
#include "common/err.h"
#include "common/files.h"
#include "common/recording/schema.h"
#include "common/rng.h"
#include "common/settings.h"
#include "common/stop.h"
#include "server-stub/answer.h"
#include "server-stub/front.h"
#include "server-stub/listener.h"
#include "server-stub/loop.h"
#include "server-stub/pending.h"
#include "server-stub/timeline.h"
#include "server-stub/truth.h"

#define TICK_NS (50 * NS_PER_MS)

struct stub {
    const struct clk *clk;
    struct dist service;
    struct rng rng;
    int64_t delay_ns;
    struct timeline timeline;
    struct pending pending; /* of struct conn */
    struct answers answers;
    struct loop *loop;
    struct timer *due;  /* the earliest of pending */
    struct timer *tick; /* the stop flag and the truth log */
    struct front *front;
    struct listener *listener;
    struct truth_log *truth; /* NULL: not asked for */
};

int stub_check(const struct stub_settings *settings, struct err *err)
{
    struct dist service;

    if (dist_parse(settings->service, &service, err))
        return err_context(err, "stub.service");
    if (settings->stall_ns > 0 && settings->stall_every_ns == 0)
        return err_set(err, ERR_CONFIG,
                       "stub.stall: needs stub.stall_every as well");
    if (settings->stall_ns == 0 && settings->stall_every_ns > 0)
        return err_set(err, ERR_CONFIG,
                       "stub.stall_every: needs stub.stall as well");
    if (settings->stall_ns > 0 &&
        settings->stall_ns >= settings->stall_every_ns)
        return err_set(err, ERR_CONFIG,
                       "stub.stall: must be shorter than stub.stall_every");
    if (settings->body_bytes < ANSWER_MIN_BODY ||
        settings->body_bytes > ANSWER_MAX_BODY)
        return err_set(err, ERR_CONFIG,
                       "stub.body_size: must be from %d bytes to 64 MiB",
                       ANSWER_MIN_BODY);
    return 0;
}

/* ---- the life of a request ---- */

static bool on_request(void *arg, struct conn *conn, struct truth *truth)
{
    struct stub *stub = arg;
    struct span span;

    truth->service = dist_draw_ns(&stub->service, &stub->rng);
    span = timeline_serve(&stub->timeline, truth->arrival, truth->service);
    truth->start = span.start_ns;
    truth->finish = timeline_after(span.finish_ns, stub->delay_ns);
    if (truth->finish <= truth->arrival)
        return true;
    if (truth->finish < pending_next_ns(&stub->pending))
        timer_set(stub->due, truth->finish);
    pending_push(&stub->pending, truth->finish, conn);
    return false;
}

/* Never early: the clock is asked again before each answer. */
static void on_due(void *arg)
{
    struct stub *stub = arg;

    while (pending_next_ns(&stub->pending) <= clk_now(stub->clk))
        front_answer(pending_pop(&stub->pending));
    timer_set(stub->due, pending_next_ns(&stub->pending));
}

static void on_answered(void *arg, const struct truth *truth)
{
    struct stub *stub = arg;

    if (stub->truth)
        truth_log_add(stub->truth, truth);
}

static const struct front_hooks hooks = {
    .request = on_request,
    .answered = on_answered,
};

static void on_client(void *arg, int fd)
{
    struct stub *stub = arg;

    front_take(stub->front, fd);
}

static void on_tick(void *arg)
{
    struct stub *stub = arg;

    if (stub->truth)
        truth_log_tick(stub->truth, clk_now(stub->clk));
    if (atomic_load(&stop_signal) ||
        (stub->truth && truth_log_has_failed(stub->truth)))
        loop_stop(stub->loop);
}

/* ---- start and end ---- */

/* What fails here is released by stub_fini(), as is the rest. */
static int stub_init(struct stub *stub, const struct stub_settings *settings,
                     const struct stub_options *options, struct err *err)
{
    *stub = (struct stub){.clk = &clk_monotonic};
    if (stub_check(settings, err) ||
        dist_parse(settings->service, &stub->service, err))
        return -1;
    stub->rng = rng_stream(settings->seed, RNG_SERVICE);
    stub->delay_ns = settings->delay_ns;
    answers_init(&stub->answers, settings->body_bytes);
    if (!(stub->loop = loop_new(err)) ||
        !(stub->due = timer_new(stub->loop, on_due, stub, err)) ||
        !(stub->tick = timer_new(stub->loop, on_tick, stub, err)))
        return -1;
    timer_sharpen(stub->due);
    stub->front =
        front_new(stub->loop, stub->clk, &stub->answers, &hooks, stub);
    stub->listener = listener_new(stub->loop, settings->bind, settings->port,
                                  on_client, stub, err);
    if (!stub->listener)
        return -1;
    if (options->truth_path &&
        !(stub->truth = truth_log_new(options->truth_path, err)))
        return -1;
    timeline_init(&stub->timeline, clk_now(stub->clk), settings->stall_ns,
                  settings->stall_every_ns);
    timer_repeat(stub->tick, TICK_NS);
    return 0;
}

/* `rc` is how it went so far; the first failure is the one to report. */
static int stub_fini(struct stub *stub, int rc, struct err *err)
{
    struct err late = {0};

    listener_free(stub->listener);
    while (stub->pending.len > 0)
        front_abandon(pending_pop(&stub->pending));
    front_free(stub->front);
    if (truth_log_free(stub->truth, &late) && rc == 0) {
        *err = late;
        rc = -1;
    }
    timer_free(stub->tick);
    timer_free(stub->due);
    loop_free(stub->loop);
    pending_fini(&stub->pending);
    answers_fini(&stub->answers);
    return rc;
}

int stub_run(const struct stub_settings *settings,
             const struct stub_options *options, struct err *err)
{
    struct stub stub;
    int rc;

    files_raise_limit();
    rc = stub_init(&stub, settings, options, err);
    if (rc == 0) {
        if (options->listening)
            options->listening(options->arg, listener_url(stub.listener));
        rc = loop_run(stub.loop, err);
    }
    return stub_fini(&stub, rc, err);
}
