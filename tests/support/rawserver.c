#include "tests/support/rawserver.h"

#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/loopback.h"
#include "tests/support/tmpdir.h"

struct plan {
    struct raw_answer first;
    int n; /* POST requests that get it; the others get `then` */
    struct raw_answer then;
    enum raw_ending ending;
    SSL_CTX *tls; /* NULL: none */
};

/* ---- bytes, with TLS or without ---- */

struct peer {
    int fd;
    SSL *ssl; /* NULL: none */
};

static ssize_t read_some(const struct peer *p, char *data, size_t size)
{
    return p->ssl ? SSL_read(p->ssl, data, (int)size)
                  : recv(p->fd, data, size, 0);
}

static bool write_all(const struct peer *p, const struct raw_answer *answer)
{
    if (p->ssl && answer->len > 0)
        return SSL_write(p->ssl, answer->bytes, (int)answer->len) > 0;
    return send(p->fd, answer->bytes, answer->len, MSG_NOSIGNAL) >= 0;
}

static bool shake_hands(struct peer *p, SSL_CTX *tls)
{
    if (!tls)
        return true;
    p->ssl = SSL_new(tls);
    SSL_set_fd(p->ssl, p->fd);
    return SSL_accept(p->ssl) == 1;
}

/* ---- connections ---- */

static void serve_one(int fd, struct plan *plan)
{
    struct linger reset = {.l_onoff = 1, .l_linger = 0};
    const struct raw_answer *answer = &plan->then;
    struct peer peer = {.fd = fd};
    char request[4096] = "";

    /* Requests of the tests are small enough for one read. */
    if (!shake_hands(&peer, plan->tls) ||
        read_some(&peer, request, sizeof(request)) < (plan->tls ? 1 : 0)) {
        close(fd);
        return;
    }
    if (plan->n > 0 && strncmp(request, "POST ", 5) == 0) {
        plan->n--;
        answer = &plan->first;
    }
    if (!write_all(&peer, answer)) {
        close(fd);
        return;
    }
    if (plan->ending == RAW_HOLD)
        return; /* closed when the server ends */
    if (plan->ending == RAW_RESET)
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    else if (peer.ssl)
        SSL_shutdown(peer.ssl);
    close(fd);
}

static _Noreturn void serve(int listener, struct plan plan)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigaction(SIGPIPE, &ignore, NULL);
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

    snprintf(s.url, sizeof(s.url), "http%s://127.0.0.1:%d/",
             plan.tls ? "s" : "", ntohs(address.sin_port));
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

struct rawserver rawserver_start_tls(const char *bytes, size_t len,
                                     enum raw_ending ending)
{
    SSL_CTX *tls = SSL_CTX_new(TLS_server_method());
    struct rawserver s;

    SSL_CTX_use_certificate_chain_file(tls, tmpdir_path("server.pem"));
    SSL_CTX_use_PrivateKey_file(tls, tmpdir_path("server.key"),
                                SSL_FILETYPE_PEM);
    s = start(
        (struct plan){.then = {bytes, len}, .ending = ending, .tls = tls});
    SSL_CTX_free(tls);
    return s;
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
