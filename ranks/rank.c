#include "ranks/rank.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/stop.h"
#include "common/config.h"
#include "ranks/link.h"
#include "study/launch/rank_rows.h"
#include "study/launch/shard_plan.h"

#define POLL_NS NS_PER_MS

static void say(struct rank *r, struct talk *talk)
{
    talk->rank = r->link->rank;
    talk->job = r->job;
    link_send(r->link, 0, talk);
}

void rank_init(struct rank *r, struct link *link)
{
    struct talk here = {.kind = TALK_HERE};

    *r = (struct rank){.link = link, .heard_ns = clk_now(&clk_monotonic)};
    pthread_mutex_init(&r->lock, NULL);
    here.is.here.size = sizeof(struct talk);
    snprintf(here.is.here.version, sizeof(here.is.here.version), "%s",
             TAILGATE_VERSION);
    gethostname(here.is.here.host, sizeof(here.is.here.host) - 1);
    say(r, &here);
}

/* ---- the thread of a job ---- */

static int meet(void *arg, int64_t *start_at_ns, int64_t *clock_offset_ns,
                struct err *err)
{
    struct rank *r = arg;

    atomic_store(&r->stage, RANK_READY);
    while (!atomic_load(&r->has_start)) {
        if (atomic_load(&r->party.order) != RUN_GOES_ON)
            return err_set(err, ERR_STOPPED,
                           "ended while it waited for the others");
        clk_sleep_ns(POLL_NS);
    }
    atomic_store(&r->stage, RANK_GOES);
    *start_at_ns = r->go.start_at_ns;
    *clock_offset_ns = r->go.offset_ns;
    return 0;
}

static void keep_progress(void *arg, const struct run_progress *progress)
{
    struct rank *r = arg;

    pthread_mutex_lock(&r->lock);
    r->progress = *progress;
    r->progress.worst.text = NULL;
    r->has_progress = true;
    pthread_mutex_unlock(&r->lock);
}

/* In the recorder's thread. */
static void keep_rows(void *arg, const struct run_look *look)
{
    struct rank *r = arg;
    size_t done = 0;
    struct talk talk = {.kind = TALK_ROWS};
    struct talk_rows *rows = &talk.is.rows;

    *rows = (struct talk_rows){.worker = (int32_t)look->shard,
                               .start_ns = look->start_ns,
                               .end_ns = look->end_ns,
                               .issued = look->issued,
                               .issued_ns = look->issued_ns,
                               .followed_ns = look->followed_ns};
    pthread_mutex_lock(&r->lock);
    do {
        size_t len = 0;

        done += rank_rows_pack(look->rows + done, look->n - done, rows->bytes,
                               sizeof(rows->bytes), &len);
        rows->len = (int64_t)len;
        rows->is_last = done == look->n;
        rows->has_seen = rows->is_last && look->seen;
        if (rows->has_seen)
            rows->seen = *look->seen;
        queue_add(&r->rows, &talk);
    } while (done < look->n);
    pthread_mutex_unlock(&r->lock);
}

static void *run_job(void *arg)
{
    struct rank *r = arg;
    struct shard_id id = {.index = r->link->rank, .count = r->link->size};
    char path[sizeof(r->what.out) + 16];
    struct shard_plan plan;
    struct err err = {0};
    int rc;

    snprintf(path, sizeof(path), "%s/plan.json", r->what.out);
    rc = shard_plan_read(&plan, path, &err);
    if (rc == 0 && plan.shards != id.count)
        rc = err_set(&err, ERR_CONFIG, "%s: is for %lld ranks, not %lld", path,
                     (long long)plan.shards, (long long)id.count);
    if (rc == 0) {
        const struct run_watch watch = {keep_rows, r};
        const struct run_options how = {.start_at_ns = plan.start_at_ns,
                                        .party = &r->party,
                                        .watch =
                                            r->what.wants_rows ? &watch : NULL,
                                        .progress = keep_progress,
                                        .arg = r};

        rc = shard_run(&plan, id, r->what.out, &how, &err);
    }
    shard_plan_fini(&plan);
    r->done = (struct talk_done){.failed = rc ? (int32_t)err.code : 0};
    snprintf(r->done.why, sizeof(r->done.why), "%s", err.msg);
    atomic_store(&r->stage, RANK_DONE);
    return NULL;
}

static void start_job(struct rank *r, const struct talk *talk)
{
    r->job = talk->job;
    r->what = talk->is.job;
    r->party = (struct run_party){.meet = meet, .arg = r};
    r->has_progress = r->rows.is_lossy = false;
    r->reported = RANK_PREPARES;
    atomic_store(&stop_signal, 0);
    atomic_store(&r->has_start, false);
    atomic_store(&r->stage, RANK_PREPARES);
    r->has_thread = pthread_create(&r->thread, NULL, run_job, r) == 0;
    if (!r->has_thread) {
        r->done = (struct talk_done){.failed = ERR_IO,
                                     .why = "cannot start a thread"};
        atomic_store(&r->stage, RANK_DONE);
    }
}

/* ---- the thread of the link ---- */

/* The first word counts, unless a later one is stricter.  A rank that prepares
 * may be waiting for a server, and looks at the flag of common/base/stop.h. */
static void order(struct rank *r, const struct talk_order *o)
{
    if (o->order <= atomic_load(&r->party.order))
        return;
    r->party.signal = o->signal;
    snprintf(r->party.why, sizeof(r->party.why), "%s", o->why);
    atomic_store(&r->party.order, o->order);
    if (o->order == RUN_CUT && atomic_load(&r->stage) == RANK_PREPARES)
        atomic_store(&stop_signal, o->signal ? o->signal : SIGTERM);
}

void rank_take(struct rank *r, const struct talk *talk)
{
    struct talk answer = *talk;
    int64_t now_ns = clk_realtime_ns();

    r->heard_ns = clk_now(&clk_monotonic);
    if (talk->kind == TALK_ASK) {
        answer.kind = TALK_TIME;
        answer.is.stamps.got_ns = now_ns;
        answer.is.stamps.told_ns = clk_realtime_ns();
        say(r, &answer);
    } else if (talk->kind == TALK_JOB && r->reported == RANK_IDLE) {
        start_job(r, talk);
    } else if (talk->kind == TALK_LEAVE) {
        r->may_leave = true;
        r->is_orderly = talk->is.leave.is_orderly;
    } else if (talk->job != r->job || r->reported == RANK_IDLE) {
        return; /* about a run that is over */
    } else if (talk->kind == TALK_GO) {
        r->go = talk->is.go;
        atomic_store(&r->has_start, true);
    } else if (talk->kind == TALK_ORDER) {
        order(r, &talk->is.order);
    }
}

static void end_thread(struct rank *r)
{
    if (r->has_thread)
        pthread_join(r->thread, NULL);
    r->has_thread = false;
}

/* False: some are left for later. */
static bool send_rows(struct rank *r)
{
    struct queued *first = NULL;

    while (r->link->n_sending < LINK_BUSY) {
        pthread_mutex_lock(&r->lock);
        first = queue_take(&r->rows);
        pthread_mutex_unlock(&r->lock);
        if (!first)
            return true;
        say(r, &first->talk);
        free(first);
    }
    return false;
}

static void report(struct rank *r)
{
    enum rank_stage stage = (enum rank_stage)atomic_load(&r->stage);
    struct talk talk = {.kind = TALK_READY};

    if (stage != r->reported && stage == RANK_READY)
        say(r, &talk);
    pthread_mutex_lock(&r->lock);
    if (r->has_progress) {
        talk.kind = TALK_STATE;
        talk.is.state = r->progress;
        r->has_progress = false;
    }
    pthread_mutex_unlock(&r->lock);
    if (talk.kind == TALK_STATE)
        say(r, &talk);
    if (!send_rows(r) && stage == RANK_DONE)
        return;
    r->reported = stage;
    if (stage != RANK_DONE)
        return;
    end_thread(r);
    talk.kind = TALK_DONE;
    talk.is.done = r->done;
    say(r, &talk);
    r->reported = RANK_IDLE;
    atomic_store(&r->stage, RANK_IDLE);
}

bool rank_step(struct rank *r, int64_t now_ns)
{
    bool is_alone = now_ns - r->heard_ns > TALK_ALONE_NS;

    if (r->reported != RANK_IDLE)
        report(r);
    return !(r->may_leave || is_alone);
}

bool rank_fini(struct rank *r)
{
    if (r->reported != RANK_IDLE && atomic_load(&r->stage) != RANK_DONE)
        order(r, &(struct talk_order){
                     .order = RUN_CUT,
                     .why = "rank 0, or what has started the ranks, is gone"});
    end_thread(r);
    queue_fini(&r->rows);
    pthread_mutex_destroy(&r->lock);
    return r->may_leave && r->is_orderly;
}
