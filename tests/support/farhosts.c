#include "tests/support/farhosts.h"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "tests/support/keep.h"
#include "tests/support/test.h"

#define FRAMES 1024 /* on their way, in each direction */

struct frame {
    int64_t due_ns;
    size_t len;
    char bytes[2048];
};

struct way {
    int from;
    int to;
    struct frame *frames; /* a ring */
    size_t first;
    size_t n;
};

static bool do_for_both(const char *text)
{
    return system(keepf("for i in 1 2; do h=tg%d-far$i; %s || exit 1; done "
                        "2>/dev/null",
                        (int)getpid(), text)) == 0;
}

/* The end of the cable in a namespace; -1. */
static int plug_in(const char *namespace)
{
    struct ifreq request = {.ifr_name = "e0", .ifr_flags = IFF_TAP | IFF_NO_PI};
    int in = open(keepf("/var/run/netns/%s", namespace), O_RDONLY | O_CLOEXEC);
    int fd;

    if (in < 0 || setns(in, CLONE_NEWNET) < 0)
        return -1;
    close(in);
    fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    return fd >= 0 && ioctl(fd, TUNSETIFF, &request) == 0 ? fd : -1;
}

/* Take what has come, and pass on what has waited long enough.  Returns how
 * long the next one still waits. */
static int64_t carry(struct way *w, int64_t delay_ns)
{
    int64_t now_ns = clk_now(&clk_monotonic);

    while (w->n < FRAMES) {
        struct frame *f = &w->frames[(w->first + w->n) % FRAMES];
        ssize_t len = read(w->from, f->bytes, sizeof(f->bytes));

        if (len <= 0)
            break;
        f->len = (size_t)len;
        f->due_ns = now_ns + delay_ns;
        w->n++;
    }
    for (; w->n > 0; w->n--) {
        const struct frame *f = &w->frames[w->first];

        if (f->due_ns > now_ns)
            return f->due_ns - now_ns;
        (void)!write(w->to, f->bytes, f->len);
        w->first = (w->first + 1) % FRAMES;
    }
    return NS_PER_S;
}

static _Noreturn void be_relay(const struct farhosts *h, int64_t delay_ns,
                               int ready)
{
    static struct frame frames[2][FRAMES];
    int a = plug_in(h->name[0]);
    int b = plug_in(h->name[1]);
    struct way ways[] = {{a, b, frames[0], 0, 0}, {b, a, frames[1], 0, 0}};
    struct pollfd fds[] = {{a, POLLIN, 0}, {b, POLLIN, 0}};

    if (a < 0 || b < 0 || write(ready, "y", 1) != 1)
        _exit(1);
    for (;;) {
        int64_t there_ns = carry(&ways[0], delay_ns);
        int64_t back_ns = carry(&ways[1], delay_ns);
        int64_t wait_ns = there_ns < back_ns ? there_ns : back_ns;
        const struct timespec wait = {.tv_sec = wait_ns / NS_PER_S,
                                      .tv_nsec = wait_ns % NS_PER_S};

        (void)ppoll(fds, 2, &wait, NULL);
    }
}

bool farhosts_start(struct farhosts *h, int64_t delay_ns)
{
    int ready[2];
    char byte;
    bool is_ready;

    *h = (struct farhosts){0};
    for (int i = 0; i < 2; i++)
        snprintf(h->name[i], sizeof(h->name[i]), "tg%d-far%d", (int)getpid(),
                 i + 1);
    is_ready = getuid() == 0 && do_for_both("ip netns add $h") &&
               pipe2(ready, O_CLOEXEC) == 0;
    if (is_ready) {
        h->relay = fork();
        if (h->relay == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            be_relay(h, delay_ns, ready[1]);
        }
        close(ready[1]);
        is_ready = read(ready[0], &byte, 1) == 1;
        close(ready[0]);
    }
    is_ready =
        is_ready && do_for_both("ip -n $h link set lo up && ip -n $h addr "
                                "add 10.97.0.$i/24 dev e0 && ip -n $h "
                                "link set e0 up");
    if (!is_ready) {
        farhosts_stop(h);
        print_message("skipped: network namespaces need root and iproute2\n");
    }
    return is_ready;
}

void farhosts_stop(struct farhosts *h)
{
    if (h->relay > 0) {
        kill(h->relay, SIGKILL);
        waitpid(h->relay, NULL, 0);
    }
    do_for_both("ip netns del $h");
    h->relay = 0;
}
