/* The bare client on libevent, with plain events: what the library that
 * Tailgate stands on adds to epoll. */
#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdbool.h>
#include <stdlib.h>

#include "bench/floor.h"
#include "common/base/clk.h"
#include "common/base/xalloc.h"

struct loop {
    struct event_base *base;
    struct event *events; /* one a connection */
    bool has_failed;
};

/* The one of this program, which a callback stops when it fails. */
static struct loop loop;

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    if (floor_read(arg) == 0)
        return;
    loop.has_failed = true;
    event_base_loopbreak(loop.base);
}

static int watch_all(struct floor_client *c)
{
    for (int i = 0; i < c->n_conns; i++) {
        struct event *event = &loop.events[i];

        if (event_assign(event, loop.base, c->conns[i].fd, EV_READ | EV_PERSIST,
                         on_readable, &c->conns[i]) ||
            event_add(event, NULL))
            return -1;
    }
    return 0;
}

static int run(const struct floor_client *c)
{
    struct timeval tv = clk_timeval(c->end_ns - clk_now(&clk_monotonic));

    if (event_base_loopexit(loop.base, &tv) ||
        event_base_dispatch(loop.base) < 0)
        return -1;
    return loop.has_failed ? -1 : 0;
}

int main(int argc, char **argv)
{
    struct floor_client client;
    int rc = floor_begin(&client, argc, argv);

    loop.base = event_base_new();
    if (client.n_conns > 0)
        loop.events = xcalloc((size_t)client.n_conns, sizeof(*loop.events));
    if (!loop.base || (rc == 0 && watch_all(&client)))
        rc = -1;
    if (rc == 0)
        rc = run(&client);
    if (rc == 0)
        floor_print(&client);
    if (loop.base)
        event_base_free(loop.base);
    free(loop.events);
    floor_end(&client);
    return rc ? 1 : 0;
}
