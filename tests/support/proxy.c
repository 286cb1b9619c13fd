#include "tests/support/proxy.h"

#include <arpa/inet.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/loopback.h"

/* What is there goes over; false at the end. */
static bool pass(int from, int to)
{
    char bytes[16384];
    ssize_t n = recv(from, bytes, sizeof(bytes), 0);

    return n > 0 && send(to, bytes, (size_t)n, MSG_NOSIGNAL) == n;
}

static void relay(int a, int b)
{
    struct pollfd fds[2] = {{.fd = a, .events = POLLIN},
                            {.fd = b, .events = POLLIN}};

    while (poll(fds, 2, -1) > 0) {
        if (fds[0].revents && !pass(a, b))
            return;
        if (fds[1].revents && !pass(b, a))
            return;
    }
}

/* A request to tunnel is one read: it is small, and nothing may follow it. */
static void serve(int client, int to_port)
{
    static const char yes[] = "HTTP/1.1 200 Connection established\r\n\r\n";
    struct sockaddr_in address = loopback_address(to_port);
    int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char head[4096];
    ssize_t n = recv(client, head, sizeof(head), 0);

    if (n <= 0 ||
        connect(server, (struct sockaddr *)&address, sizeof(address)) < 0)
        return;
    if (n > 8 && memcmp(head, "CONNECT ", 8) == 0)
        send(client, yes, sizeof(yes) - 1, MSG_NOSIGNAL);
    else
        send(server, head, (size_t)n, MSG_NOSIGNAL);
    relay(client, server);
}

/* A process a connection. */
static _Noreturn void serve_all(int listener, int to_port)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigaction(SIGCHLD, &ignore, NULL);
    for (;;) {
        int fd = accept(listener, NULL, NULL);

        if (fd < 0)
            _exit(1);
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            serve(fd, to_port);
            _exit(0);
        }
        close(fd);
    }
}

struct proxy proxy_start(int to_port)
{
    struct sockaddr_in address = {0};
    int listener = loopback_listen(&address, 128);
    struct proxy p;

    p.port = ntohs(address.sin_port);
    p.pid = fork();
    assert_true(p.pid >= 0);
    if (p.pid == 0)
        serve_all(listener, to_port);
    close(listener);
    return p;
}

void proxy_stop(struct proxy *p)
{
    assert_int_equal(kill(p->pid, SIGKILL), 0);
    assert_int_equal(waitpid(p->pid, NULL, 0), p->pid);
}
