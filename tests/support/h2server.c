#include "tests/support/h2server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/base/clk.h"
#include "tests/support/tmpdir.h"

#define PREFACE_LEN   24
#define HEAD_LEN      9
#define MAX_FRAME     16384
#define END_STREAM    1
#define ACK           1
#define END_HEADERS   4
#define NOT_PROCESSED 7         /* REFUSED_STREAM */
#define MAX_STREAMS   (3 << 16) /* the setting, before its value */

enum frame { DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, GOAWAY = 7 };

struct conn {
    SSL *ssl;
    int fd;
    enum h2_fault fault;
    int64_t delay_ns;
    atomic_int *requests;
    int n_requests;
};

/* ---- frames ---- */

static bool read_all(SSL *ssl, unsigned char *to, int len)
{
    while (len > 0) {
        int n = SSL_read(ssl, to, len);

        if (n <= 0)
            return false;
        to += n;
        len -= n;
    }
    return true;
}

static void put_number(unsigned char *to, uint32_t n)
{
    for (int i = 0; i < 4; i++)
        to[i] = (unsigned char)(n >> (24 - 8 * i));
}

static uint32_t get_number(const unsigned char *from)
{
    return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 |
           (uint32_t)from[2] << 8 | from[3];
}

static int put_frame(unsigned char *to, enum frame type, int flags,
                     uint32_t stream, const void *data, size_t len)
{
    put_number(to, (uint32_t)len << 8 | (uint32_t)type);
    to[4] = (unsigned char)flags;
    put_number(to + 5, stream);
    memcpy(to + HEAD_LEN, data, len);
    return (int)(HEAD_LEN + len);
}

static void send_frame(const struct conn *c, enum frame type, int flags,
                       uint32_t stream, const void *data, size_t len)
{
    unsigned char bytes[HEAD_LEN + 64];

    SSL_write(c->ssl, bytes, put_frame(bytes, type, flags, stream, data, len));
}

/* ---- requests ---- */

static void answer(const struct conn *c, uint32_t stream)
{
    static const char ok[] = "\x88"; /* :status: 200 */

    send_frame(c, HEADERS, END_HEADERS, stream, ok, 1);
    send_frame(c, DATA, END_STREAM, stream, "hi", 2);
}

static void close_with_reset(int fd)
{
    struct linger reset = {.l_onoff = 1};

    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    close(fd);
}

/* Until no client is left. */
static void flood(const struct conn *c, uint32_t stream)
{
    static const unsigned char goaway[8] = {0x7f, 0xff, 0xff, 0xff};
    static const char hint[] = "\x08\x03"
                               "103";
    const enum h2_fault fault = c->fault;
    unsigned char bytes[MAX_FRAME];
    int len = 0;

    while (len < (int)sizeof(bytes) - 2 * HEAD_LEN) {
        if (fault == H2_GOAWAYS)
            len += put_frame(bytes + len, GOAWAY, 0, 0, goaway, 8);
        else if (fault == H2_EARLY_HINTS)
            len += put_frame(bytes + len, HEADERS, END_HEADERS, stream, hint,
                             strlen(hint));
        else
            len += put_frame(bytes + len, DATA, 0, stream, "", 0);
    }
    while (SSL_write(c->ssl, bytes, len) > 0)
        continue;
}

/* False: the connection is over. */
static bool do_wrong(const struct conn *c, uint32_t stream)
{
    unsigned char numbers[8];

    clk_sleep_ns(c->delay_ns);
    switch (c->fault) {
    case H2_LOWER:
        put_number(numbers, MAX_STREAMS);
        put_number(numbers + 2, 50 / (uint32_t)c->n_requests);
        send_frame(c, SETTINGS, 0, 0, numbers, 6);
        put_number(numbers, NOT_PROCESSED);
        send_frame(c, RST_STREAM, 0, stream, numbers, 4);
        return true;
    case H2_REFUSE:
    case H2_REFUSE_TWICE:
        put_number(numbers, NOT_PROCESSED);
        send_frame(c, RST_STREAM, 0, stream, numbers, 4);
        return true;
    case H2_GOAWAY:
        put_number(numbers, stream - 2);
        put_number(numbers + 4, 0);
        send_frame(c, GOAWAY, 0, 0, numbers, 8);
        break;
    case H2_RESET:
        close_with_reset(c->fd);
        return false;
    case H2_EMPTY_DATA:
        send_frame(c, HEADERS, END_HEADERS, stream, "\x88", 1);
        flood(c, stream);
        return false;
    case H2_EARLY_HINTS:
    case H2_GOAWAYS:
        flood(c, stream);
        return false;
    default:
        break;
    }
    SSL_shutdown(c->ssl);
    close(c->fd);
    return false;
}

static bool take_request(struct conn *c, uint32_t stream)
{
    bool is_twice = c->fault == H2_REFUSE_TWICE || c->fault == H2_LOWER;

    atomic_fetch_add(c->requests, 1);
    c->n_requests++;
    if (c->fault != H2_ONE_STREAM &&
        (c->n_requests == 2 || (c->n_requests == 3 && is_twice)))
        return do_wrong(c, stream);
    answer(c, stream);
    return true;
}

static void serve(struct conn *c)
{
    static const unsigned char one_stream[6] = {0, 3, 0, 0, 0, 1};
    unsigned char head[HEAD_LEN];
    unsigned char data[MAX_FRAME];
    bool is_open = read_all(c->ssl, data, PREFACE_LEN);

    send_frame(c, SETTINGS, 0, 0, one_stream,
               c->fault == H2_ONE_STREAM ? sizeof(one_stream) : 0);
    while (is_open && read_all(c->ssl, head, HEAD_LEN)) {
        uint32_t len = get_number(head) >> 8;
        uint32_t stream = get_number(head + 5);

        if (len > sizeof(data) || !read_all(c->ssl, data, (int)len))
            return;
        if (head[3] == SETTINGS && !(head[4] & ACK))
            send_frame(c, SETTINGS, ACK, 0, "", 0);
        if (head[3] == HEADERS)
            is_open = take_request(c, stream);
    }
}

/* ---- HTTP/1.1 ---- */

/* The client has the answer and the goodbye at the same time, so that its next
 * request meets a connection that is closed and has something to read. */
static void say_goodbye(struct conn *c)
{
    static const char ok[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    char head[MAX_FRAME] = "";
    int one = 1;

    if (SSL_read(c->ssl, head, sizeof(head) - 1) <= 0)
        return;
    atomic_fetch_add(c->requests, 1);
    setsockopt(c->fd, IPPROTO_TCP, TCP_CORK, &one, sizeof(one));
    SSL_write(c->ssl, ok, (int)strlen(ok));
    SSL_shutdown(c->ssl);
    close(c->fd);
}

/* ---- connections ---- */

static int choose_protocol(SSL *ssl, const unsigned char **out,
                           unsigned char *out_len, const unsigned char *in,
                           unsigned int in_len, void *arg)
{
    static const unsigned char h2[] = "\x02h2";

    (void)ssl;
    (void)arg;
    return SSL_select_next_proto((unsigned char **)out, out_len, h2, 3, in,
                                 in_len) == OPENSSL_NPN_NEGOTIATED
               ? SSL_TLSEXT_ERR_OK
               : SSL_TLSEXT_ERR_NOACK;
}

static SSL_CTX *make_context(enum h2_fault fault)
{
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());

    SSL_CTX_use_certificate_chain_file(context, tmpdir_path("server.pem"));
    SSL_CTX_use_PrivateKey_file(context, tmpdir_path("server.key"),
                                SSL_FILETYPE_PEM);
    SSL_CTX_set_alpn_select_cb(context, choose_protocol, NULL);
    if (fault == H2_NOT_SERVED)
        SSL_CTX_set_verify(
            context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    return context;
}

/* What was refused is read to its end: else the client might see a reset and
 * not why. */
static void drain(int fd)
{
    char bytes[4096];

    shutdown(fd, SHUT_WR);
    while (recv(fd, bytes, sizeof(bytes), 0) > 0)
        continue;
}

static _Noreturn void serve_one(SSL_CTX *context, struct conn *c)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    c->ssl = SSL_new(context);
    SSL_set_fd(c->ssl, c->fd);
    if (c->fault == H1_GOODBYE)
        clk_sleep_ns(c->delay_ns);
    if (SSL_accept(c->ssl) <= 0)
        drain(c->fd);
    else if (c->fault == H1_GOODBYE)
        say_goodbye(c);
    else
        serve(c);
    _exit(0);
}

/* A process a connection. */
static _Noreturn void serve_all(int listener, struct conn c)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    SSL_CTX *context = make_context(c.fault);

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigaction(SIGCHLD, &ignore, NULL);
    sigaction(SIGPIPE, &ignore, NULL);
    for (;;) {
        c.fd = accept(listener, NULL, NULL);
        if (c.fd < 0)
            _exit(1);
        if (fork() == 0)
            serve_one(context, &c);
        close(c.fd);
    }
}

struct h2server h2server_start(enum h2_fault fault, int64_t delay_ns)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct h2server s;

    s.requests = mmap(NULL, sizeof(*s.requests), PROT_READ | PROT_WRITE,
                      /* cppcheck-suppress invalidFunctionArg */
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(s.requests != MAP_FAILED);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(listener, 128), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size),
                     0);
    snprintf(s.url, sizeof(s.url), "https://127.0.0.1:%d/",
             ntohs(address.sin_port));
    s.pid = fork();
    assert_true(s.pid >= 0);
    if (s.pid == 0)
        serve_all(listener, (struct conn){.fault = fault,
                                          .delay_ns = delay_ns,
                                          .requests = s.requests});
    close(listener);
    return s;
}

void h2server_stop(struct h2server *s)
{
    assert_int_equal(kill(s->pid, SIGKILL), 0);
    assert_int_equal(waitpid(s->pid, NULL, 0), s->pid);
    munmap(s->requests, sizeof(*s->requests));
}
