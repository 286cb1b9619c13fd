/* Alarms ring once, never early, and never before the sockets had their turn.
 */
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "loadgen/engine/timer.h"
#include "tests/support/test.h"

struct room {
    struct event_base *base;
    struct timer timer;
    struct event *socket; /* always readable */
    int fd;
    int rings;
    int looks;     /* at the socket */
    int looks_end; /* leave the loop then */
};

static void on_ring(evutil_socket_t fd, short what, void *arg)
{
    struct room *r = arg;

    (void)fd;
    (void)what;
    r->rings++;
    if (r->looks_end > 0)
        timer_set(&r->timer, 0); /* as one who never stops */
    else
        event_base_loopbreak(r->base);
}

static void on_socket(evutil_socket_t fd, short what, void *arg)
{
    struct room *r = arg;

    (void)fd;
    (void)what;
    if (++r->looks == r->looks_end)
        event_base_loopbreak(r->base);
}

static void on_guard(evutil_socket_t fd, short what, void *arg)
{
    struct room *r = arg;

    (void)fd;
    (void)what;
    event_base_loopbreak(r->base);
}

static int open_room(void **state)
{
    static struct room r;
    struct err err = {0};

    r = (struct room){.base = event_base_new(),
                      .fd = eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC)};
    r.socket = event_new(r.base, r.fd, EV_READ | EV_PERSIST, on_socket, &r);
    *state = &r;
    return timer_init(&r.timer, r.base, on_ring, &r, &err);
}

static int close_room(void **state)
{
    struct room *r = *state;

    timer_fini(&r->timer);
    event_free(r->socket);
    event_base_free(r->base);
    close(r->fd);
    return 0;
}

TEST_WITH(rings_once_and_not_early, open_room, close_room)
{
    static const int64_t waits[] = {1, 999, NS_PER_US, 1500 * NS_PER_US,
                                    20 * NS_PER_MS};
    struct room *r = *state;

    for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
        int64_t from = clk_now(&clk_monotonic);

        r->rings = 0;
        timer_set(&r->timer, waits[i]);
        event_base_dispatch(r->base);
        assert_int_equal(r->rings, 1);
        assert_true(clk_now(&clk_monotonic) - from >= waits[i]);
    }
}

/* Each ring sets the next one: still the socket is looked at. */
TEST_WITH(sockets_have_their_turn, open_room, close_room)
{
    struct room *r = *state;

    r->looks_end = 10;
    event_add(r->socket, NULL);
    timer_set(&r->timer, 0);
    event_base_dispatch(r->base);
    assert_int_equal(r->looks, 10);
    assert_in_range(r->rings, 9, 10);
}

TEST_WITH(later_takes_the_place_of_sooner, open_room, close_room)
{
    static const struct timeval guard = {.tv_usec = 20000};
    struct room *r = *state;

    timer_set(&r->timer, NS_PER_MS);
    timer_set(&r->timer, 3600 * NS_PER_S);
    event_base_once(r->base, -1, EV_TIMEOUT, on_guard, r, &guard);
    event_base_dispatch(r->base);
    assert_int_equal(r->rings, 0);
}

/* One that has rung unread rings again when it is set again. */
TEST_WITH(rings_again, open_room, close_room)
{
    struct room *r = *state;

    for (int i = 1; i <= 3; i++) {
        timer_set(&r->timer, NS_PER_MS);
        event_base_dispatch(r->base);
        assert_int_equal(r->rings, i);
    }
}
