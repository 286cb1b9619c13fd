#include "tests/support/netns.h"

#include <net/if.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

__attribute__((format(printf, 2, 3))) static void write_to(const char *path,
                                                           const char *fmt, ...)
{
    FILE *file = fopen(path, "we");
    va_list ap;

    assert_non_null(file);
    va_start(ap, fmt);
    vfprintf(file, fmt, ap);
    va_end(ap);
    assert_int_equal(fclose(file), 0);
}

/* Who is not root has to be in a place where it may do this: there it keeps the
 * ids that it has. */
static bool leave(void)
{
    uid_t uid = getuid();
    gid_t gid = getgid();

    if (unshare(CLONE_NEWNET) == 0)
        return true;
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
        return false;
    write_to("/proc/self/uid_map", "%u %u 1", (unsigned)uid, (unsigned)uid);
    write_to("/proc/self/setgroups", "deny");
    write_to("/proc/self/gid_map", "%u %u 1", (unsigned)gid, (unsigned)gid);
    return true;
}

static void bring_up_loopback(void)
{
    struct ifreq request = {.ifr_name = "lo"};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    assert_int_equal(ioctl(fd, SIOCGIFFLAGS, &request), 0);
    request.ifr_flags = (short)(request.ifr_flags | IFF_UP);
    assert_int_equal(ioctl(fd, SIOCSIFFLAGS, &request), 0);
    close(fd);
}

bool netns_enter(void)
{
    if (!leave())
        return false;
    bring_up_loopback();
    return true;
}

void netns_set_local_ports(int first, int last)
{
    write_to("/proc/sys/net/ipv4/ip_local_port_range", "%d %d", first, last);
}
