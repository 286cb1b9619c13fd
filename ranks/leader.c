#include "ranks/leader.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clk.h"
#include "common/base/xalloc.h"
#include "loadgen/engine/run.h"
#include "ranks/link.h"

/* Exchanges of clocks before a run and after it. */
#define EXCHANGES 20

struct member {
    struct talk_here here;
    struct rank_clock clock;
    int64_t heard_ns;
    int64_t asked_ns; /* last */
    bool is_going;    /* has begun to send */
    bool is_lost;
};

void leader_init(struct leader *l, struct link *link, int in, int out)
{
    int64_t now_ns = clk_now(&clk_monotonic);

    *l = (struct leader){.link = link, .in = in, .out = out};
    l->members = xcalloc((size_t)link->size, sizeof(*l->members));
    for (int i = 0; i < link->size; i++)
        l->members[i].heard_ns = now_ns;
}

void leader_fini(struct leader *l)
{
    queue_fini(&l->held);
    queue_fini(&l->told);
    free(l->members);
    *l = (struct leader){0};
}

/* To the command, when it reads: the ranks must not wait for that. */
static void tell(struct leader *l, const struct talk *talk)
{
    queue_add(&l->told, talk);
}

/* All ranks have begun.  If one could not, all begin again, and what the
 * others had sent by then must not be seen. */
static void release(struct leader *l)
{
    for (; l->held.first; free(queue_take(&l->held)))
        tell(l, &l->held.first->talk);
}

/* A command that has gone away is one that has closed our input. */
static void write_told(struct leader *l)
{
    struct pollfd ready = {.fd = l->out, .events = POLLOUT};

    for (int i = 0; i < LINK_BUSY && l->told.first && poll(&ready, 1, 0) > 0;
         i++) {
        if (talk_write(l->out, &l->told.first->talk))
            l->may_leave = true;
        free(queue_take(&l->told));
    }
}

static void to_all(struct leader *l, const struct talk *talk)
{
    for (int i = 0; i < l->link->size; i++)
        link_send(l->link, i, talk);
}

static void cut_all(struct leader *l, const char *why)
{
    struct talk cut = {
        .kind = TALK_ORDER, .job = l->job, .is.order = {.order = RUN_CUT}};

    snprintf(cut.is.order.why, sizeof(cut.is.order.why), "%s", why);
    to_all(l, &cut);
}

/* ---- clocks ---- */

static void ask(struct leader *l, int i, int64_t now_ns)
{
    struct talk talk = {.kind = TALK_ASK, .rank = i, .job = l->job};

    l->members[i].asked_ns = now_ns;
    talk.is.stamps.asked_ns = clk_realtime_ns();
    link_send(l->link, i, &talk);
}

static void enter(struct leader *l, enum leader_stage stage)
{
    l->stage = stage;
    for (int i = 0; i < l->link->size; i++) {
        rank_clock_begin(&l->members[i].clock,
                         stage == LEADER_GATHERS ? RANK_CLOCK_BEFORE
                         : stage == LEADER_RUNS  ? RANK_CLOCK_DURING
                                                 : RANK_CLOCK_AFTER);
        if (stage != LEADER_RUNS)
            ask(l, i, clk_now(&clk_monotonic));
    }
}

/* Are more exchanges needed before the next stage? */
static bool compares_clocks(const struct leader *l)
{
    bool is_open = false;

    for (int i = 0; i < l->link->size; i++)
        is_open |= l->members[i].clock.exchanges < EXCHANGES;
    return is_open && (l->stage == LEADER_GATHERS || l->stage == LEADER_CLOSES);
}

/* ---- a job ---- */

static void begin(struct leader *l, const struct talk *talk)
{
    int64_t now_ns = clk_now(&clk_monotonic);

    l->job = talk->job;
    l->lead_ns = talk->is.job.lead_ns;
    l->n_ready = l->n_going = l->n_done = 0;
    queue_fini(&l->held);
    l->told.is_lossy = false;
    for (int i = 0; i < l->link->size; i++) {
        l->members[i].heard_ns = now_ns;
        l->members[i].is_going = false;
    }
    to_all(l, talk);
    enter(l, LEADER_GATHERS);
}

static void start(struct leader *l)
{
    struct talk go = {.kind = TALK_GO, .job = l->job};

    go.is.go.start_at_ns = clk_realtime_ns() + l->lead_ns;
    for (int i = 0; i < l->link->size; i++) {
        go.is.go.offset_ns = rank_clock_found(&l->members[i].clock).offset_ns;
        link_send(l->link, i, &go);
    }
    enter(l, LEADER_RUNS);
}

static void finish(struct leader *l)
{
    for (int i = 0; i < l->link->size; i++) {
        struct talk clock = {.kind = TALK_CLOCK,
                             .rank = i,
                             .job = l->job,
                             .is.clock =
                                 rank_clock_found(&l->members[i].clock)};

        tell(l, &clock);
    }
    l->stage = LEADER_IDLE;
}

void leader_take(struct leader *l, const struct talk *talk)
{
    struct member *m = &l->members[talk->rank];

    m->heard_ns = clk_now(&clk_monotonic);
    if (talk->kind == TALK_HERE) {
        m->here = talk->is.here;
        tell(l, talk);
    }
    if (talk->job != l->job || l->stage == LEADER_IDLE)
        return;
    if (talk->kind == TALK_TIME) {
        struct rank_stamps stamps = talk->is.stamps;

        stamps.back_ns = clk_realtime_ns();
        rank_clock_add(&m->clock, &stamps);
        if (l->stage != LEADER_RUNS && m->clock.exchanges < EXCHANGES)
            ask(l, talk->rank, m->heard_ns);
    } else if (talk->kind == TALK_READY) {
        /* The first may have been ready for minutes: compare clocks again. */
        if (++l->n_ready == l->link->size)
            enter(l, LEADER_GATHERS);
    } else if (talk->kind == TALK_DONE) {
        l->n_done++;
        if (talk->is.done.failed)
            cut_all(l, talk->is.done.why); /* not complete without it */
    }
    if (!m->is_going && (talk->kind == TALK_STATE ||
                         (talk->kind == TALK_DONE && !talk->is.done.failed))) {
        m->is_going = true;
        if (++l->n_going == l->link->size)
            release(l);
    }
    if (talk->kind == TALK_ROWS && l->n_going < l->link->size)
        queue_add(&l->held, talk);
    else if (talk->kind == TALK_DONE || talk->kind == TALK_STATE ||
             talk->kind == TALK_ROWS)
        tell(l, talk);
}

/* ---- now and then ---- */

static void read_command(struct leader *l)
{
    struct talk talk;
    int rc;

    while ((rc = talk_read(&l->reader, l->in, &talk)) > 0) {
        if (talk.kind == TALK_JOB)
            begin(l, &talk);
        else if (talk.kind == TALK_ORDER)
            to_all(l, &talk);
    }
    if (rc < 0)
        l->may_leave = true;
}

static void watch(struct leader *l, int i, int64_t now_ns)
{
    struct member *m = &l->members[i];
    struct talk lost = {.kind = TALK_LOST, .rank = i, .job = l->job};
    char why[ABORT_TEXT];

    if (now_ns - m->asked_ns > TALK_BEAT_NS)
        ask(l, i, now_ns);
    if (l->stage == LEADER_IDLE || m->is_lost ||
        now_ns - m->heard_ns < TALK_LOST_NS)
        return;
    m->is_lost = true;
    lost.is.here = m->here;
    tell(l, &lost);
    talk_describe_lost(i, &m->here, why);
    cut_all(l, why);
}

static void end_all(struct leader *l, int64_t now_ns)
{
    struct talk leave = {.kind = TALK_LEAVE,
                         .is.leave.is_orderly = l->stage == LEADER_IDLE};

    for (int i = 0; i < l->link->size; i++)
        leave.is.leave.is_orderly &=
            now_ns - l->members[i].heard_ns < TALK_LOST_NS;
    to_all(l, &leave);
    l->has_left = true;
}

/* If this process was stopped itself, no rank is at fault: count their silence
 * from now. */
static void forgive_silence(struct leader *l, int64_t now_ns)
{
    if (l->stepped_ns > 0 && now_ns - l->stepped_ns > TALK_LOST_NS / 2) {
        for (int i = 0; i < l->link->size; i++)
            l->members[i].heard_ns = now_ns;
    }
    l->stepped_ns = now_ns;
}

void leader_step(struct leader *l, int64_t now_ns)
{
    const struct talk alive = {.kind = TALK_ALIVE};

    if (l->has_left)
        return;
    forgive_silence(l, now_ns);
    read_command(l);
    if (l->may_leave)
        end_all(l, now_ns);
    for (int i = 0; i < l->link->size; i++)
        watch(l, i, now_ns);
    if (l->stage != LEADER_IDLE && now_ns - l->told_ns > TALK_BEAT_NS) {
        l->told_ns = now_ns;
        tell(l, &alive);
    }
    if (l->stage == LEADER_GATHERS && !compares_clocks(l) &&
        l->n_ready == l->link->size)
        start(l);
    if ((l->stage == LEADER_GATHERS || l->stage == LEADER_RUNS) &&
        l->n_done == l->link->size)
        enter(l, LEADER_CLOSES);
    if (l->stage == LEADER_CLOSES && !compares_clocks(l))
        finish(l);
    write_told(l);
}
