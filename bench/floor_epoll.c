/* The bare client on epoll: the minimum cost of a client with one thread. */
#include <sys/epoll.h>
#include <unistd.h>

#include "bench/floor.h"
#include "common/base/clk.h"

#define MAX_EVENTS 256

/* Sleep at most this long before the time is checked again. */
#define PATIENCE_MS 100

static int watch_all(int epoll_fd, struct floor_client *c)
{
    for (int i = 0; i < c->n_conns; i++) {
        struct epoll_event event = {.events = EPOLLIN,
                                    .data.ptr = &c->conns[i]};

        if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, c->conns[i].fd, &event) < 0)
            return -1;
    }
    return 0;
}

static int run(int epoll_fd, const struct floor_client *c)
{
    struct epoll_event events[MAX_EVENTS];

    while (clk_now(&clk_monotonic) < c->end_ns) {
        int n = epoll_wait(epoll_fd, events, MAX_EVENTS, PATIENCE_MS);

        for (int i = 0; i < n; i++) {
            if (floor_read(events[i].data.ptr))
                return -1;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct floor_client client;
    int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    int rc = -1;

    if (epoll_fd < 0)
        return 1;
    if (floor_begin(&client, argc, argv) == 0 &&
        watch_all(epoll_fd, &client) == 0)
        rc = run(epoll_fd, &client);
    if (rc == 0)
        floor_print(&client);
    floor_end(&client);
    close(epoll_fd);
    return rc ? 1 : 0;
}
