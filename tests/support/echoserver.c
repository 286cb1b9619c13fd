#include "tests/support/echoserver.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/base/clk.h"
#include "tests/support/loopback.h"

#define MAX_REQUEST 65536

/* Is there a head, and as much after it as it says? */
static int is_whole(const char *request, size_t len)
{
    const char *end = strstr(request, "\r\n\r\n");
    const char *length = strcasestr(request, "\r\ncontent-length:");
    size_t body = length ? strtoul(length + 17, NULL, 10) : 0;

    return end && (size_t)(end + 4 - request) + body <= len;
}

static size_t read_request(int fd, char request[static MAX_REQUEST])
{
    size_t len = 0;
    ssize_t n = 1;

    request[0] = '\0';
    while (n > 0 && len < MAX_REQUEST - 1 && !is_whole(request, len)) {
        n = recv(fd, request + len, MAX_REQUEST - 1 - len, 0);
        if (n > 0)
            len += (size_t)n;
        request[len] = '\0';
    }
    return len;
}

static void serve_one(int fd, int status, const char *location, int log)
{
    static char request[MAX_REQUEST];
    size_t len = read_request(fd, request);
    char head[200];
    int n = snprintf(head, sizeof(head),
                     "HTTP/1.1 %d Echo\r\nContent-Length: %zu\r\n"
                     "Set-Cookie: from=echo-cookie\r\n%s%s%s"
                     "Connection: close\r\n\r\n",
                     status, len, location ? "Location: " : "",
                     location ? location : "", location ? "\r\n" : "");

    if (len == 0)
        return; /* somebody looked whether we are there */
    if (log >= 0 && write(log, request, len) < 0)
        _exit(1);
    send(fd, head, (size_t)n, MSG_NOSIGNAL);
    send(fd, request, len, MSG_NOSIGNAL);
}

static _Noreturn void serve(int listener, const struct echo_setup *setup)
{
    int log = setup->log ? open(setup->log,
                                O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)
                         : -1;
    int first = setup->n_first;

    clk_sleep_ns(setup->delay_ns);
    if (listen(listener, 128) < 0)
        _exit(1);
    for (;;) {
        int fd = accept(listener, NULL, NULL);

        if (fd < 0)
            _exit(1);
        while (first <= 0 && setup->goes_mute)
            pause();
        serve_one(fd,
                  first-- > 0     ? setup->first_status
                  : setup->status ? setup->status
                                  : 200,
                  setup->location, log);
        close(fd);
    }
}

struct echoserver echoserver_start(const struct echo_setup *setup)
{
    struct sockaddr_in address = {0};
    int listener = loopback_bind(&address);
    struct echoserver s;

    if (setup->delay_ns == 0)
        assert_int_equal(listen(listener, 128), 0);
    snprintf(s.url, sizeof(s.url), "http://127.0.0.1:%d/",
             ntohs(address.sin_port));
    s.pid = fork();
    assert_true(s.pid >= 0);
    if (s.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        serve(listener, setup);
    }
    close(listener);
    return s;
}

void echoserver_stop(struct echoserver *s)
{
    assert_int_equal(kill(s->pid, SIGKILL), 0);
    assert_int_equal(waitpid(s->pid, NULL, 0), s->pid);
}
