#include "study/launch/ranks.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/stop.h"
#include "common/base/xalloc.h"
#include "common/config.h"
#include "common/text/units.h"
#include "loadgen/engine/run.h"
#include "study/launch/rank_rows.h"
#include "study/launch/rank_talk.h"
#include "study/supervise.h"

#define POLL_MS 20

/* From a signal to the end of a run: requests in flight are waited for. */
#define GRACE_NS (20 * NS_PER_S)

/* Ranks that leave by themselves, and then from SIGTERM to SIGKILL: mpirun
 * gives its own processes a second, and then removes its files. */
#define LEAVE_NS (5 * NS_PER_S)
#define END_NS   (2 * NS_PER_S)

/* Rows take a byte for each of their values at least. */
#define MAX_ROWS                                                               \
    (sizeof(((struct talk_rows *)0)->bytes) /                                  \
     (sizeof(struct facts) / sizeof(int64_t)))

struct of_rank {
    struct run_progress state;
    struct rank_offset clock;
    struct run_look look; /* what it knew last, without rows */
    bool has_state;
    bool is_done;
    bool is_lost;
};

struct ranks {
    struct supervised process;
    bool is_running;
    int in_fd; /* theirs, for us to write; -1: none */
    int out_fd;
    struct talk_reader reader;
    int n;
    struct of_rank *all; /* owned; of the current job */
    struct facts *rows;  /* owned; of one message */
    int64_t job;         /* its number */
    int64_t began_ns;
    int64_t heard_ns; /* from rank 0; 0: not yet */
    int64_t started_ns;
    int n_done;
    int n_clocks;
    int n_failed;
    int n_lost;
    int64_t lost_ns; /* the first of them, or the run is given up; 0: none */
    bool is_late;    /* given up for its length */
};

struct ranks *ranks_new(void)
{
    struct ranks *r = xcalloc(1, sizeof(*r));

    r->in_fd = r->out_fd = -1;
    r->rows = xcalloc(MAX_ROWS, sizeof(*r->rows));
    return r;
}

/* ---- start and end of the processes ---- */

static void shut(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* They leave when their input ends. */
static void end(struct ranks *r, bool is_orderly)
{
    int64_t until_ns = clk_now(&clk_monotonic) + (is_orderly ? LEAVE_NS : 0);

    shut(&r->in_fd);
    while (r->is_running && !supervise_has_ended(&r->process) &&
           clk_now(&clk_monotonic) < until_ns)
        clk_sleep_ns(POLL_MS * NS_PER_MS);
    supervise_stop(&r->process);
    shut(&r->out_fd);
    r->is_running = false;
    r->heard_ns = 0;
    r->reader = (struct talk_reader){0};
}

void ranks_free(struct ranks *r)
{
    if (!r)
        return;
    end(r, true);
    free(r->all);
    free(r->rows);
    free(r);
}

static int start(struct ranks *r, const struct ranks_job *job, struct err *err)
{
    struct supervise_how how = {.start = job->script,
                                .environment = job->environment,
                                .grace_ns = END_NS};
    int to[2] = {-1, -1};
    int from[2] = {-1, -1};
    int rc;

    if (pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0) {
        rc = err_set(err, ERR_IO, "cannot make a pipe: %s", strerror(errno));
    } else {
        how.in_fd = to[0];
        how.out_fd = from[1];
        fcntl(to[1], F_SETFL, O_NONBLOCK);
        fcntl(from[0], F_SETFL, O_NONBLOCK);
        rc = supervise_start(&r->process, &how, err);
    }
    shut(&to[0]);
    shut(&from[1]);
    r->in_fd = to[1];
    r->out_fd = from[0];
    r->is_running = rc == 0;
    if (rc)
        end(r, false);
    r->n = job->n;
    r->all = xrealloc(r->all, (size_t)job->n, sizeof(*r->all));
    return rc;
}

static void send_order(struct ranks *r, enum run_order order, int number,
                       const char *why)
{
    struct talk talk = {
        .kind = TALK_ORDER,
        .job = r->job,
        .is.order = {.order = (int32_t)order, .signal = number}};

    snprintf(talk.is.order.why, sizeof(talk.is.order.why), "%s", why);
    (void)talk_write(r->in_fd, &talk); /* if they are gone, that is seen */
}

/* What is watched during a run. */
struct watch {
    const struct run_options *options;
    struct abort_window window; /* without a ring: nothing aborts it */
    struct slo slo;
    struct decide decide; /* load.stop: decided; zeroed: not used */
    bool is_decided;
    bool is_enough; /* the judge has seen enough */
    bool is_lossy;  /* rows are missing */
    int64_t shown_ns;
    int64_t counted_ns; /* for the window */
    bool is_told;       /* to end */
};

static int watch_init(struct watch *w, const struct ranks_job *job,
                      struct err *err)
{
    const struct load_settings *load = &job->settings->load;
    struct abort_rule rule;

    *w = (struct watch){.options = job->options};
    if (load->abort_on) {
        if (abort_parse(load->abort_on, &rule, err))
            return -1;
        abort_window_init(&w->window, &rule);
    }
    if (load->stop == STOP_DECIDED &&
        (slo_parse(&job->settings->slo, &w->slo, err) ||
         decide_init(&w->decide, &w->slo, INT64_MAX, err)))
        return -1;
    return 0;
}

static void watch_fini(struct watch *w)
{
    abort_window_fini(&w->window);
    decide_fini(&w->decide);
}

/* ---- what they say ---- */

static void lose(struct ranks *r, char *why, size_t size, int rank,
                 const struct talk_here *here)
{
    char text[ABORT_TEXT];

    if (r->all[rank].is_lost)
        return;
    r->all[rank].is_lost = true;
    if (r->n_lost++ > 0)
        return;
    r->lost_ns = clk_now(&clk_monotonic);
    talk_describe_lost(rank, here, text);
    snprintf(why, size, "%s", text);
}

/* What all ranks together know. */
static void look_at_all(const struct ranks *r, struct run_look *look)
{
    look->issued = look->issued_ns = look->followed_ns = 0;
    for (int i = 0; i < r->n; i++) {
        const struct run_look *one = &r->all[i].look;

        look->issued += one->issued;
        if (one->issued_ns > look->issued_ns)
            look->issued_ns = one->issued_ns;
        if (i == 0 || one->followed_ns < look->followed_ns)
            look->followed_ns = one->followed_ns;
    }
    if (look->followed_ns == 0)
        look->issued = look->issued_ns = 0;
}

/* Where rows are missing, they would be taken for requests that have not ended.
 */
static void judge(struct ranks *r, struct watch *w, const struct run_look *look)
{
    const struct run_judge *judge = w->options->judge;

    if (w->is_lossy)
        return;
    if (judge && !w->is_enough && judge->is_enough(judge->arg, look)) {
        w->is_enough = true;
        send_order(r, RUN_ENOUGH, 0, "");
    }
    if (!w->decide.slo || w->is_decided)
        return;
    decide_window(&w->decide, look->start_ns, look->end_ns);
    for (size_t i = 0; i < look->n; i++)
        decide_add(&w->decide, &look->rows[i]);
    if (w->decide.decision) {
        w->is_decided = true;
        send_order(r, RUN_END_LOAD, 0, "");
    }
}

/* A watcher sees as many workers as a machine may have. */
static void take_rows(struct ranks *r, const struct talk *talk, struct watch *w)
{
    const struct talk_rows *t = &talk->is.rows;
    const struct run_watch *watch = w->options->watch;
    struct of_rank *of = &r->all[talk->rank];
    struct run_look look = {.start_ns = t->start_ns, .end_ns = t->end_ns};
    int per_rank =
        r->n < RECORDING_MAX_WORKERS ? RECORDING_MAX_WORKERS / r->n : 1;
    int64_t n = -1;

    if (t->len >= 0 && t->len <= (int64_t)sizeof(t->bytes))
        n = rank_rows_unpack(t->bytes, (size_t)t->len, r->rows, MAX_ROWS);
    w->is_lossy |= t->is_lossy || n < 0;
    if (t->is_last)
        of->look = (struct run_look){.issued = t->issued,
                                     .issued_ns = t->issued_ns,
                                     .followed_ns = t->followed_ns};
    look_at_all(r, &look);
    look.rows = r->rows;
    look.n = n > 0 ? (size_t)n : 0;
    look.shard = (unsigned)(talk->rank * per_rank + t->worker);
    look.seen = t->has_seen ? &t->seen : NULL;
    if (watch && t->worker >= 0 && t->worker < per_rank)
        watch->saw(watch->arg, &look);
    judge(r, w, &look);
}

static void take(struct ranks *r, const struct talk *talk, struct watch *w,
                 char *why, size_t size)
{
    struct of_rank *of = &r->all[talk->rank];

    r->heard_ns = clk_now(&clk_monotonic);
    if (talk->kind == TALK_HERE &&
        (strcmp(talk->is.here.version, TAILGATE_VERSION) != 0 ||
         talk->is.here.size != sizeof(*talk))) {
        snprintf(why, size,
                 "rank %d on %s is another build of tailgate (%s); install the "
                 "same on all machines",
                 talk->rank, talk->is.here.host, talk->is.here.version);
        r->lost_ns = r->heard_ns;
    }
    if (talk->job != r->job)
        return;
    if (talk->kind == TALK_LOST)
        lose(r, why, size, talk->rank, &talk->is.here);
    if (talk->kind == TALK_STATE) {
        if (r->started_ns == 0)
            r->started_ns =
                r->heard_ns - (int64_t)(talk->is.state.elapsed_s * 1e9);
        of->state = talk->is.state;
        of->has_state = true;
    }
    if (talk->kind == TALK_ROWS)
        take_rows(r, talk, w);
    if (talk->kind == TALK_CLOCK) {
        of->clock = talk->is.clock;
        r->n_clocks++;
    }
    if (talk->kind == TALK_DONE) {
        of->is_done = true;
        r->n_done++;
        if (talk->is.done.failed && (r->n_failed++ == 0 || !why[0]))
            snprintf(why, size, "%s", talk->is.done.why);
    }
}

/* ---- totals ---- */

static void add_second(struct last_second *to, const struct last_second *from)
{
    if (from->p50_ns > to->p50_ns)
        to->p50_ns = from->p50_ns;
    if (from->p99_ns > to->p99_ns)
        to->p99_ns = from->p99_ns;
    if (from->max_ns > to->max_ns)
        to->max_ns = from->max_ns;
}

/* Counts and rates add up; latencies are those of the slowest rank.  The SLO so
 * far is not known of all together. */
static void add_state(struct run_progress *all, const struct run_progress *one)
{
    all->asked_rps += one->asked_rps;
    all->sent_rps += one->sent_rps;
    all->done_rps += one->done_rps;
    all->planned_requests += one->planned_requests;
    all->issued += one->issued;
    all->in_flight += one->in_flight;
    all->unsent += one->unsent;
    for (int o = 0; o < OUTCOME_COUNT; o++)
        all->outcome[o] += one->outcome[o];
    all->due += one->due;
    all->good += one->good;
    add_second(&all->e2e, &one->e2e);
    add_second(&all->ttft, &one->ttft);
    add_second(&all->lag, &one->lag);
    if (one->n_history < all->n_history)
        all->n_history = one->n_history;
    for (int i = 1; i <= all->n_history; i++) {
        int64_t *to = &all->history_ns[all->n_history - i];
        int64_t from = one->history_ns[one->n_history - i];

        if (from > *to)
            *to = from;
    }
}

/* False: not all have begun. */
static bool sum_up(const struct ranks *r, struct run_progress *all)
{
    for (int i = 0; i < r->n; i++) {
        if (!r->all[i].has_state)
            return false;
        if (i == 0)
            *all = r->all[0].state;
        else
            add_state(all, &r->all[i].state);
    }
    return true;
}

/* ---- a run ---- */

/* What ranks that are not done still record is cut. */
static void give_up(struct ranks *r)
{
    r->lost_ns = clk_now(&clk_monotonic);
    for (int i = 0; i < r->n; i++)
        r->all[i].is_lost |= !r->all[i].is_done;
}

/* Read what there is.  False: the run is over, well or not.  Without rank 0 the
 * others cannot be told to end: a signal tells them. */
static bool follow(struct ranks *r, struct watch *w, char *why, size_t size)
{
    struct pollfd ready = {.fd = r->out_fd, .events = POLLIN};
    struct talk talk;
    char text[64];
    int64_t now_ns;
    int rc;

    (void)poll(&ready, 1, POLL_MS);
    while ((rc = talk_read(&r->reader, r->out_fd, &talk)) > 0) {
        if (talk.rank < 0 || talk.rank >= r->n)
            rc = -1;
        else
            take(r, &talk, w, why, size);
        if (rc < 0)
            break;
    }
    now_ns = clk_now(&clk_monotonic);
    if ((r->n_done == r->n && r->n_clocks == r->n) ||
        (r->n_lost > 0 && r->n_done + r->n_lost >= r->n))
        return false;
    if (rc < 0 || supervise_has_ended(&r->process)) {
        if (!why[0])
            snprintf(why, size, "the ranks have ended: %s",
                     rc < 0 ? "what they said is not understood"
                            : supervise_describe_end(&r->process, text,
                                                     sizeof(text)));
        give_up(r);
        return false;
    }
    if (r->heard_ns > 0 && now_ns - r->heard_ns > TALK_LOST_NS)
        lose(r, why, size, 0, &(struct talk_here){0});
    return r->lost_ns == 0 ||
           (now_ns < r->lost_ns + TALK_CUT_NS && !r->all[0].is_lost);
}

/* All ranks together. */
static void look(struct ranks *r, struct watch *w, int64_t now_ns)
{
    const struct run_options *options = w->options;
    struct run_progress all;
    char why[ABORT_TEXT];

    if (now_ns - w->shown_ns < RUN_PROGRESS_NS || !sum_up(r, &all))
        return;
    w->shown_ns = now_ns;
    if (options->progress)
        options->progress(options->arg, &all);
    if (!w->window.ring || w->is_told || now_ns - w->counted_ns < NS_PER_S)
        return;
    w->counted_ns = now_ns;
    if (progress_aborts(&all, &w->window, why)) {
        send_order(r, RUN_CUT, 0, why);
        w->is_told = true;
    }
}

/* Until all are done, or one is lost and the others had time to end. */
static void attend(struct ranks *r, const struct ranks_job *job,
                   struct watch *w, char *why, size_t size)
{
    int64_t until_ns = r->began_ns + job->limit_ns;
    char text[UNITS_TEXT];

    while (follow(r, w, why, size)) {
        int64_t now_ns = clk_now(&clk_monotonic);

        look(r, w, now_ns);
        if (atomic_load(&stop_signal) && !w->is_told) {
            send_order(r, RUN_CUT, atomic_load(&stop_signal), "");
            w->is_told = true;
            if (until_ns > now_ns + GRACE_NS)
                until_ns = now_ns + GRACE_NS;
        }
        if (now_ns > until_ns) {
            snprintf(why, size, "it did not end within %s",
                     units_show_span(job->limit_ns, text));
            r->is_late = r->lost_ns == 0; /* else it only shows late */
            give_up(r);
            return;
        }
    }
}

int ranks_run(struct ranks *r, const struct ranks_job *job, char *why,
              size_t size, struct err *err)
{
    struct talk talk = {
        .kind = TALK_JOB,
        .is.job = {.lead_ns = job->lead_ns,
                   .wants_rows = job->options->judge || job->options->watch ||
                                 job->settings->load.stop == STOP_DECIDED}};
    struct watch watch;

    if (watch_init(&watch, job, err)) {
        watch_fini(&watch);
        return -1;
    }
    if (r->is_running && (r->n != job->n || supervise_has_ended(&r->process)))
        end(r, false);
    if (!r->is_running && start(r, job, err)) {
        watch_fini(&watch);
        return -1;
    }
    memset(r->all, 0, (size_t)r->n * sizeof(*r->all));
    talk.job = ++r->job;
    snprintf(talk.is.job.out, sizeof(talk.is.job.out), "%s", job->out);
    r->began_ns = clk_now(&clk_monotonic);
    r->heard_ns = r->heard_ns > 0 ? r->began_ns : 0;
    r->n_done = r->n_clocks = r->n_failed = 0;
    r->n_lost = 0;
    r->lost_ns = r->started_ns = 0;
    r->is_late = false;
    why[0] = '\0';
    if (talk_write(r->in_fd, &talk)) {
        snprintf(why, size, "the ranks do not listen");
        r->lost_ns = r->began_ns;
    } else {
        attend(r, job, &watch, why, size);
    }
    watch_fini(&watch);
    if (r->lost_ns > 0)
        end(r, false);
    return 0;
}

bool ranks_were_lost(const struct ranks *r)
{
    return r->lost_ns > 0 && r->started_ns > 0 && !r->is_late;
}

bool ranks_has_lost(const struct ranks *r, int64_t rank)
{
    return rank < r->n && r->all[rank].is_lost;
}

int64_t ranks_starting_ns(const struct ranks *r)
{
    return r->started_ns > 0 ? r->started_ns - r->began_ns : 0;
}

struct rank_offset ranks_clock(const struct ranks *r, int64_t rank)
{
    return r->all && rank < r->n ? r->all[rank].clock : (struct rank_offset){0};
}
