#include "loadgen/pacer.h"

#include "loadgen/source.h"

enum pace pacer_decide(int64_t now_ns, int64_t due_ns, int64_t timeout_ns,
                       bool has_room)
{
    if (due_ns == DUE_UNKNOWN)
        return PACE_IDLE;
    if (due_ns > now_ns)
        return PACE_WAIT;
    if (now_ns - due_ns >= timeout_ns)
        return PACE_UNSENT;
    return has_room ? PACE_ISSUE : PACE_FULL;
}
