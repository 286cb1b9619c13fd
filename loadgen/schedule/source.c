/* The choice of a source, and the simplest one: offline. */
#include "loadgen/schedule/source.h"

#include "common/settings/settings.h"
#include "loadgen/schedule/window_limits.h"

const struct source_ops *source_for(const struct load_settings *load)
{
    switch (load->scenario) {
    case SCENARIO_OFFLINE:
        return &source_offline;
    case SCENARIO_TRACE:
        return &source_trace;
    case SCENARIO_SESSIONS:
        return &source_session;
    default:
        return scenario_is_open(load->scenario) ? &source_open : &source_closed;
    }
}

/* ---- offline: all requests are due at the start and are sent as fast as
 * connections become free; the run ends with the last answer ---- */

struct offline {
    struct window_limits limits; /* of all lanes: only its times are used */
    int64_t left;
    struct lane lane;
    int64_t next_seq;
    int64_t last_end_ns;
};

static int offline_init(void *self, const struct load_settings *load,
                        struct lane lane, struct err *err)
{
    (void)err;
    *(struct offline *)self =
        (struct offline){.limits = window_limits_of(load),
                         .left = lane_share(load->requests, lane),
                         .lane = lane,
                         .next_seq = lane.worker};
    return 0;
}

static int64_t offline_peek_ns(void *self)
{
    const struct offline *o = self;

    return o->left > 0 ? 0 : DUE_NEVER;
}

static struct due offline_take_rest(void *self, int64_t *n)
{
    struct offline *o = self;
    struct due due = {.seq = o->next_seq};

    *n = o->left;
    o->next_seq += o->left * o->lane.workers;
    o->left = 0;
    return due;
}

static struct due offline_take(void *self)
{
    struct offline *o = self;
    struct due due = {.seq = o->next_seq};

    o->next_seq += o->lane.workers;
    o->left--;
    return due;
}

static void offline_ended(void *self, const struct request *r, int64_t end_ns)
{
    struct offline *o = self;

    (void)r;
    if (end_ns > o->last_end_ns)
        o->last_end_ns = end_ns;
}

static int64_t offline_due_end_ns(void *self)
{
    const struct offline *o = self;

    return o->last_end_ns + 1;
}

const struct source_ops source_offline = {
    .state_size = sizeof(struct offline),
    .init = offline_init,
    .peek_ns = offline_peek_ns,
    .take = offline_take,
    .take_rest = offline_take_rest,
    .ended = offline_ended,
    .due_end_ns = offline_due_end_ns,
};
