#include "tests/support/rawserver.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/loopback.h"

static void serve_one(int fd, const char *bytes, size_t len,
                      enum raw_ending ending)
{
    struct linger reset = {.l_onoff = 1, .l_linger = 0};
    char request[4096];

    /* Requests of the tests are small enough for one read. */
    if (recv(fd, request, sizeof(request), 0) < 0 ||
        send(fd, bytes, len, MSG_NOSIGNAL) < 0) {
        close(fd);
        return;
    }
    if (ending == RAW_HOLD)
        return; /* closed when the server ends */
    if (ending == RAW_RESET)
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    close(fd);
}

static _Noreturn void serve(int listener, const char *bytes, size_t len,
                            enum raw_ending ending)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        int fd = accept(listener, NULL, NULL);

        if (fd < 0)
            _exit(1);
        serve_one(fd, bytes, len, ending);
    }
}

struct rawserver rawserver_start(const char *bytes, size_t len,
                                 enum raw_ending ending)
{
    struct sockaddr_in address = {0};
    int listener = loopback_listen(&address, 128);
    struct rawserver s;

    snprintf(s.url, sizeof(s.url), "http://127.0.0.1:%d/",
             ntohs(address.sin_port));
    s.pid = fork();
    assert_true(s.pid >= 0);
    if (s.pid == 0)
        serve(listener, bytes, len, ending);
    close(listener);
    return s;
}

void rawserver_stop(struct rawserver *s)
{
    assert_int_equal(kill(s->pid, SIGKILL), 0);
    assert_int_equal(waitpid(s->pid, NULL, 0), s->pid);
}
