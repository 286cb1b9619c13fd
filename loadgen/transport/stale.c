#include "loadgen/transport/stale.h"

#include "common/base/clk.h"

/* The shortest usual keep-alive timeout is 5 s; what forgets a connection on
 * the way takes minutes. */
#define LEAST_IDLE_NS (4 * NS_PER_S)

/* For both ends to get round to it. */
#define GRACE_NS NS_PER_MS

/* A FIN acknowledges all that came before it, so that one which does not has
 * left before the request came.  A reset acknowledges nothing; that nobody had
 * the request is only likely, where the answer of a host that has forgotten the
 * connection would come just then. */
bool stale_is(const struct stale_facts *f)
{
    if (f->taken == 0)
        return true;
    if (!f->is_acked_known || f->acked > 0)
        return false;
    if (f->is_closed)
        return true;
    return f->idle_ns >= LEAST_IDLE_NS &&
           f->waited_ns <= 2 * f->rtt_ns + GRACE_NS;
}
