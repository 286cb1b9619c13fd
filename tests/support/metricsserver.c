#include "tests/support/metricsserver.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/loopback.h"

#define HUGE_LEN 10000000

static void put(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);

        if (n <= 0)
            return; /* it has seen enough */
        bytes += n;
        len -= (size_t)n;
    }
}

static void answer(int fd, int status, const char *body, size_t len, size_t say)
{
    char head[128];
    int n = snprintf(head, sizeof(head),
                     "HTTP/1.1 %d X\r\nContent-Type: text/plain\r\n"
                     "Content-Length: %zu\r\nConnection: close\r\n\r\n",
                     status, say);

    put(fd, head, (size_t)n);
    put(fd, body, len);
}

static void answer_huge(int fd)
{
    static const char line[] = "a_series{of=\"no interest\"} 123456789\n";
    const size_t n = HUGE_LEN / (sizeof(line) - 1);

    answer(fd, 200, "", 0, n * (sizeof(line) - 1));
    for (size_t i = 0; i < n; i++)
        put(fd, line, sizeof(line) - 1);
}

static void misbehave(int fd, enum metrics_way way, const char *page)
{
    static const char garbage[] = "\x01\x02{{{\n\"\"\"\n\xff\xfe 1 2 3\n\n=\n";
    static const char other[] = "process_open_fds 12\n";

    switch (way) {
    case WAY_GARBAGE:
        answer(fd, 200, garbage, sizeof(garbage), sizeof(garbage));
        break;
    case WAY_HUGE:
        answer_huge(fd);
        break;
    case WAY_ERROR:
        answer(fd, 500, "", 0, 0);
        break;
    case WAY_CUT:
        answer(fd, 200, page, strlen(page) / 2, strlen(page));
        break;
    case WAY_OTHER:
        answer(fd, 200, other, sizeof(other) - 1, sizeof(other) - 1);
        break;
    default:
        answer(fd, 200, page, strlen(page), strlen(page));
    }
}

/* How the nth request is answered, from 0.  True: it was, as far as it is to
 * be.
 */
static bool reply(int fd, int n, enum metrics_way way, const char *page)
{
    if (n > 0 && way == WAY_STALL)
        return false;
    misbehave(fd, n > 0 ? way : WAY_GOOD, page);
    return true;
}

static _Noreturn void serve(int listener, const char *page,
                            enum metrics_way way, int log)
{
    int answers = 0;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        int fd = accept(listener, NULL, NULL);
        char request[4096];
        ssize_t n;

        if (fd < 0)
            _exit(1);
        n = recv(fd, request, sizeof(request), 0);
        if (n > 0 && write(log, request, (size_t)n) < 0)
            _exit(1);
        /* Who sends nothing only wanted to know whether we are here; who is
         * kept waiting is let go when the server ends. */
        if (n <= 0 || reply(fd, answers++, way, page))
            close(fd);
    }
}

struct metricsserver metricsserver_start(const char *page, enum metrics_way way,
                                         const char *log)
{
    struct sockaddr_in address = loopback_address(0);
    int listener = loopback_listen(&address, 128);
    int fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    struct metricsserver s;

    assert_true(fd >= 0);
    snprintf(s.url, sizeof(s.url), "http://127.0.0.1:%d",
             ntohs(address.sin_port));
    s.pid = fork();
    assert_true(s.pid >= 0);
    if (s.pid == 0)
        serve(listener, page, way, fd);
    close(listener);
    close(fd);
    return s;
}

void metricsserver_stop(struct metricsserver *s)
{
    assert_int_equal(kill(s->pid, SIGKILL), 0);
    assert_int_equal(waitpid(s->pid, NULL, 0), s->pid);
}
