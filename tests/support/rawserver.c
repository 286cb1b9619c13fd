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

struct plan {
    struct raw_answer first;
    int n; /* POST requests that get it; the others get `then` */
    struct raw_answer then;
    enum raw_ending ending;
};

static void serve_one(int fd, struct plan *plan)
{
    struct linger reset = {.l_onoff = 1, .l_linger = 0};
    const struct raw_answer *answer = &plan->then;
    char request[4096] = "";

    /* Requests of the tests are small enough for one read. */
    if (recv(fd, request, sizeof(request), 0) < 0) {
        close(fd);
        return;
    }
    if (plan->n > 0 && strncmp(request, "POST ", 5) == 0) {
        plan->n--;
        answer = &plan->first;
    }
    if (send(fd, answer->bytes, answer->len, MSG_NOSIGNAL) < 0) {
        close(fd);
        return;
    }
    if (plan->ending == RAW_HOLD)
        return; /* closed when the server ends */
    if (plan->ending == RAW_RESET)
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    close(fd);
}

static _Noreturn void serve(int listener, struct plan plan)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        int fd = accept(listener, NULL, NULL);

        if (fd < 0)
            _exit(1);
        serve_one(fd, &plan);
    }
}

static struct rawserver start(struct plan plan)
{
    struct sockaddr_in address = {0};
    int listener = loopback_listen(&address, 128);
    struct rawserver s;

    snprintf(s.url, sizeof(s.url), "http://127.0.0.1:%d/",
             ntohs(address.sin_port));
    s.pid = fork();
    assert_true(s.pid >= 0);
    if (s.pid == 0)
        serve(listener, plan);
    close(listener);
    return s;
}

struct rawserver rawserver_start(const char *bytes, size_t len,
                                 enum raw_ending ending)
{
    return start((struct plan){.then = {bytes, len}, .ending = ending});
}

struct rawserver rawserver_start_then(struct raw_answer first, int n,
                                      struct raw_answer then)
{
    return start((struct plan){
        .first = first, .n = n, .then = then, .ending = RAW_CLOSE});
}

void rawserver_stop(struct rawserver *s)
{
    assert_int_equal(kill(s->pid, SIGKILL), 0);
    assert_int_equal(waitpid(s->pid, NULL, 0), s->pid);
}
