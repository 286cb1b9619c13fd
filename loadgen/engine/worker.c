#include "loadgen/engine/worker.h"

#include <event2/event.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "loadgen/engine/handoff.h"
#include "loadgen/observe/host.h"
#include "loadgen/record/recorder.h"
#include "loadgen/transport/transport.h"

struct worker {
    struct engine *engine;
    struct shard *shard;
    int64_t start_ns;
    int64_t ready_ns; /* to act; the thread's until it has ended */
    struct event_base *base;
    struct event *tick; /* to observe ... */
    int64_t observe_ns; /* ... with this period */
    struct event *end;
    int end_fd; /* see END_STOP */

    pthread_t thread;
    bool has_thread;
    struct cpu_wait cpu_wait; /* the thread's */
    bool has_failed; /* its event loop; the thread's until it has ended */
    atomic_bool is_done;
};

/* ---- the thread ---- */

/* Inside the handoff, because the engine writes to the shard as well. */
static void observe(struct worker *w)
{
    struct handoff *handoff = engine_handoff(w->engine);
    struct observation seen;

    handoff_enter(handoff);
    seen = engine_observe(w->engine);
    cpu_wait_read(&w->cpu_wait, &seen);
    shard_observe(w->shard, &seen);
    handoff_leave(handoff);
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    observe(arg);
}

/* What is written to end_fd, an eventfd, which adds it up. */
#define END_STOP UINT64_C(1)
#define END_CUT  (UINT64_C(1) << 32)

static void on_end(evutil_socket_t fd, short what, void *arg)
{
    const struct worker *w = arg;
    uint64_t asked;

    (void)what;
    if (read(fd, &asked, sizeof(asked)) != (ssize_t)sizeof(asked))
        return;
    engine_cut(w->engine, asked < END_CUT);
}

static void *worker_main(void *arg)
{
    struct worker *w = arg;
    struct timeval tick = clk_timeval(w->observe_ns);

    prctl(PR_SET_TIMERSLACK, 1UL);
    w->cpu_wait = cpu_wait_of_this_thread();
    event_add(w->end, NULL);
    event_add(w->tick, &tick);
    engine_begin(w->engine, w->shard, w->start_ns);
    w->ready_ns = clk_now(&clk_monotonic);
    w->has_failed = event_base_dispatch(w->base) != 0;
    if (w->has_failed)
        engine_cut(w->engine, false);
    observe(w);
    shard_flush(w->shard);
    cpu_wait_fini(&w->cpu_wait);
    atomic_store(&w->is_done, true);
    return NULL;
}

/* ---- other threads ---- */

int worker_start(struct worker *w, struct shard *shard, int64_t start_ns,
                 int cpu, struct err *err)
{
    pthread_attr_t attr;
    cpu_set_t set;
    int error;

    w->shard = shard;
    w->start_ns = start_ns;
    pthread_attr_init(&attr);
    CPU_ZERO(&set);
    if (cpu != WORKER_ANY_CPU) {
        CPU_SET((size_t)cpu, &set);
        pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
    }
    error = pthread_create(&w->thread, &attr, worker_main, w);
    pthread_attr_destroy(&attr);
    if (error && cpu != WORKER_ANY_CPU)
        return err_set(err, ERR_IO, "client.cpus: cannot run on CPU %d: %s",
                       cpu, strerror(error));
    if (error)
        return err_set(err, ERR_IO, "cannot start a thread: %s",
                       strerror(error));
    w->has_thread = true;
    return 0;
}

static void ask_end(struct worker *w, uint64_t what)
{
    if (write(w->end_fd, &what, sizeof(what)) < 0)
        return; /* the counter is full: a cut is already pending */
}

void worker_cut(struct worker *w)
{
    ask_end(w, END_CUT);
}

void worker_stop(struct worker *w)
{
    ask_end(w, END_STOP);
}

bool worker_is_done(const struct worker *w)
{
    return atomic_load(&w->is_done);
}

int worker_join(struct worker *w, struct err *err)
{
    const struct err *schedule_error;

    if (w->has_thread)
        pthread_join(w->thread, NULL);
    w->has_thread = false;
    if (w->has_failed)
        return err_set(err, ERR_IO, "the event loop failed");
    schedule_error = engine_schedule_error(w->engine);
    if (!schedule_error)
        return 0;
    *err = *schedule_error;
    return -1;
}

int64_t worker_late_ns(const struct worker *w)
{
    return w->ready_ns > w->start_ns ? w->ready_ns - w->start_ns : 0;
}

const struct engine *worker_engine(const struct worker *w)
{
    return w->engine;
}

/* ---- making and freeing ---- */

int worker_new(struct worker **worker, const struct engine_env *env,
               struct err *err)
{
    struct worker *w = xcalloc(1, sizeof(*w));

    w->observe_ns = env->observe_ns > 0 ? env->observe_ns : NS_PER_S;
    w->base = transport_base_new(env->transport);
    w->end_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (!w->base || w->end_fd < 0) {
        err_set(err, ERR_IO, "cannot make an event base");
        goto fail;
    }
    w->tick = event_new(w->base, -1, EV_PERSIST, on_tick, w);
    w->end = event_new(w->base, w->end_fd, EV_READ | EV_PERSIST, on_end, w);
    if (engine_new(&w->engine, env, w->base, err))
        goto fail;
    *worker = w;
    return 0;
fail:
    worker_free(w);
    return -1;
}

void worker_free(struct worker *w)
{
    if (!w)
        return;
    engine_free(w->engine);
    if (w->tick)
        event_free(w->tick);
    if (w->end)
        event_free(w->end);
    if (w->base)
        event_base_free(w->base);
    if (w->end_fd >= 0)
        close(w->end_fd);
    free(w);
}
