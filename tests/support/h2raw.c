#include "tests/support/h2raw.h"

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

#define PREFACE_LEN 24
#define HEAD_LEN    9
#define SETTINGS    4
#define MAX_PAYLOAD 16384

static bool receive(int fd, void *data, size_t len)
{
    return len == 0 || recv(fd, data, len, MSG_WAITALL) == (ssize_t)len;
}

static bool put_frame(int fd, const struct h2raw_frame *f, const uint8_t *id)
{
    uint8_t head[HEAD_LEN] = {(uint8_t)(f->len >> 16), (uint8_t)(f->len >> 8),
                              (uint8_t)f->len, f->type, f->flags};

    if (f->is_of_stream)
        memcpy(head + 5, id, 4);
    return send(fd, head, sizeof(head), MSG_NOSIGNAL) ==
               (ssize_t)sizeof(head) &&
           (f->len == 0 ||
            send(fd, f->payload, f->len, MSG_NOSIGNAL) == (ssize_t)f->len);
}

/* Until a request has ended; its number in `id`.  False: nobody is there any
 * more. */
static bool take_request(int fd, uint8_t id[static 4])
{
    uint8_t payload[MAX_PAYLOAD];
    uint8_t head[HEAD_LEN];

    do {
        size_t len;

        if (!receive(fd, head, sizeof(head)))
            return false;
        len = (size_t)head[0] << 16 | (size_t)head[1] << 8 | head[2];
        if (len > sizeof(payload) || !receive(fd, payload, len))
            return false;
    } while (head[3] != H2RAW_DATA || !(head[4] & H2RAW_END_STREAM));
    memcpy(id, head + 5, 4);
    return true;
}

static void serve_one(int fd, const struct h2raw_frame *frames, bool closes)
{
    const struct h2raw_frame settings = {.type = SETTINGS, .payload = ""};
    uint8_t preface[PREFACE_LEN];
    uint8_t id[4];

    if (!put_frame(fd, &settings, NULL) ||
        !receive(fd, preface, sizeof(preface)))
        return;
    while (take_request(fd, id)) {
        for (const struct h2raw_frame *f = frames; f->payload; f++) {
            if (!put_frame(fd, f, id))
                return;
        }
        if (closes)
            return;
    }
}

static _Noreturn void serve(int listener, const struct h2raw_frame *frames,
                            bool closes)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        int fd = accept(listener, NULL, NULL);

        if (fd < 0)
            _exit(1);
        serve_one(fd, frames, closes);
        close(fd);
    }
}

struct h2raw h2raw_start(const struct h2raw_frame *frames, bool closes)
{
    struct sockaddr_in address = {0};
    int listener = loopback_listen(&address, 128);
    struct h2raw s;

    snprintf(s.url, sizeof(s.url), "grpc://127.0.0.1:%d",
             ntohs(address.sin_port));
    s.pid = fork();
    assert_true(s.pid >= 0);
    if (s.pid == 0)
        serve(listener, frames, closes);
    close(listener);
    return s;
}

void h2raw_stop(struct h2raw *s)
{
    assert_int_equal(kill(s->pid, SIGKILL), 0);
    assert_int_equal(waitpid(s->pid, NULL, 0), s->pid);
}
