#include "tests/support/loopback.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include <cmocka.h>

struct sockaddr_in loopback_address(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port)};

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

int loopback_bind(struct sockaddr_in *address)
{
    socklen_t len = sizeof(*address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    *address = loopback_address(ntohs(address->sin_port));
    assert_int_equal(bind(fd, (struct sockaddr *)address, len), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)address, &len), 0);
    return fd;
}

int loopback_listen(struct sockaddr_in *address, int backlog)
{
    int fd = loopback_bind(address);

    assert_int_equal(listen(fd, backlog), 0);
    return fd;
}
