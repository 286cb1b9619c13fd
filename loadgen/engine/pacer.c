#include "loadgen/engine/pacer.h"

#include "loadgen/schedule/source.h"

struct pacer pacer_make(int64_t timeout_ns, int64_t max_burst)
{
    return (struct pacer){.timeout_ns = timeout_ns,
                          .max_burst = max_burst,
                          .resumed_ns = INT64_MIN};
}

int64_t pacer_wake(struct pacer *p, int64_t now_ns, int64_t wake_ns)
{
    if (wake_ns > now_ns - PACER_SUSPENDED_NS) /* wake_ns may be INT64_MAX */
        return 0;
    p->resumed_ns = now_ns;
    p->burst_left = p->max_burst;
    return now_ns - wake_ns;
}

enum pace pacer_decide(struct pacer *p, int64_t now_ns, int64_t due_ns,
                       bool has_room)
{
    bool is_backlog = due_ns <= p->resumed_ns;

    if (due_ns == DUE_UNKNOWN)
        return PACE_IDLE;
    if (due_ns == DUE_NEVER)
        return PACE_OVER;
    if (due_ns > now_ns)
        return PACE_WAIT;
    if (now_ns - due_ns >= p->timeout_ns || (is_backlog && p->burst_left == 0))
        return PACE_UNSENT;
    if (!has_room)
        return PACE_FULL;
    if (is_backlog)
        p->burst_left--;
    return PACE_ISSUE;
}
