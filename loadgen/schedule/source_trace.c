/* Replay of a trace: every lane reads the whole file and takes its own rows. */
#include "common/base/err.h"
#include "loadgen/schedule/source.h"
#include "loadgen/schedule/window_limits.h"
#include "loadgen/trace/trace_replay.h"

struct trace_source {
    struct window_limits limits; /* of all lanes: each lane walks the whole
                                    schedule */
    struct replay replay;
    struct lane lane;
    int64_t turn; /* of the next row of this lane, see lane_seq() */
    struct replay_row next;
    int64_t next_ns; /* DUE_UNKNOWN: no further row */
    int64_t next_seq;
    int64_t last_ns; /* due time of the last row of any lane */
    bool is_taken;   /* `next` was taken, and its row may still be in use */
    struct err failure;
};

/* The file was read once when the run was planned: an error now means that it
 * has changed. */
static void read_next(struct trace_source *t)
{
    const struct trace_settings *s = t->replay.settings;
    int rc = replay_next(&t->replay, &t->next, &t->failure);

    if (rc > 0) {
        t->next_ns = t->last_ns = t->next.due_ns;
        return;
    }
    t->next_ns = DUE_UNKNOWN;
    if (t->failure.code == ERR_STOPPED)
        return;
    if (rc < 0)
        t->failure.code = ERR_IO;
    else if (t->next_seq < s->rows)
        err_set(&t->failure, ERR_IO,
                "%s: has changed: it ends after %lld of %lld rows", s->file,
                (long long)t->next_seq, (long long)s->rows);
}

static bool is_spent(const struct trace_source *t)
{
    return window_limits_is_spent(&t->limits, t->next_ns);
}

static void step(struct trace_source *t)
{
    window_limits_take(&t->limits, t->next_ns);
    t->next_seq++;
    read_next(t);
}

/* Go to the next row of this lane, unless `next` is one. */
static void advance(struct trace_source *t)
{
    if (t->is_taken) {
        t->turn += lane_step(t->lane);
        step(t);
    }
    t->is_taken = false;
    while (t->next_seq < lane_seq(t->lane, t->turn) && !is_spent(t))
        step(t);
}

static int trace_init(void *self, const struct load_settings *load,
                      struct lane lane, struct err *err)
{
    struct trace_source *t = self;

    t->lane = lane;
    t->turn = lane_first_turn(lane);
    t->limits = window_limits_of(load);
    if (replay_open(&t->replay, load, err))
        return -1;
    read_next(t);
    advance(t);
    if (t->failure.code == ERR_NONE)
        return 0;
    *err = t->failure;
    return -1;
}

static int64_t trace_peek_ns(void *self)
{
    struct trace_source *t = self;

    advance(t);
    return is_spent(t) ? DUE_NEVER : t->next_ns;
}

static struct due trace_take(void *self)
{
    struct trace_source *t = self;

    advance(t);
    t->is_taken = true;
    return (struct due){
        .seq = t->next_seq, .at_ns = t->next_ns, .row = t->next.row};
}

/* As in an open loop: up to the first row not sent.  If the file ended and the
 * window has no end of its own, only up to the last row. */
static int64_t trace_due_end_ns(void *self)
{
    const struct trace_source *t = self;
    int64_t end_ns = t->limits.end_ns;

    if (t->next_ns < end_ns)
        return t->next_ns;
    return end_ns < DUE_UNKNOWN && t->failure.code == ERR_NONE ? end_ns
                                                               : t->last_ns + 1;
}

static const struct err *trace_failure(const void *self)
{
    const struct trace_source *t = self;

    return t->failure.code == ERR_NONE ? NULL : &t->failure;
}

static void trace_source_fini(void *self)
{
    struct trace_source *t = self;

    replay_fini(&t->replay);
}

const struct source_ops source_trace = {
    .state_size = sizeof(struct trace_source),
    .init = trace_init,
    .peek_ns = trace_peek_ns,
    .take = trace_take,
    .due_end_ns = trace_due_end_ns,
    .failure = trace_failure,
    .fini = trace_source_fini,
};
