/* The HTTP transport against a server made of bare sockets, in one thread and
 * with a clock that stands: which facts it writes down, and when. */
#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/settings.h"
#include "common/xalloc.h"
#include "loadgen/request.h"
#include "loadgen/target.h"
#include "loadgen/transport/socket.h"
#include "loadgen/transport/transport.h"

#define ANSWER   "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
#define REFUSAL  "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n"
#define LARGE    ((size_t)8 << 20)
#define MAX_SPIN 1000000

struct rig {
    struct event_base *base;
    struct clk_fake clk;
    struct target target;
    struct transport_env env;
    void *self;
    int listener;
    int ended; /* calls */
};

static void on_ended(void *arg, struct request *r)
{
    struct rig *rig = arg;

    (void)r;
    rig->ended++;
}

/* Port 0 takes a free one; returns the socket. */
static int listen_on(struct sockaddr_in *address)
{
    socklen_t len = sizeof(*address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    address->sin_family = AF_INET;
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(fd, (struct sockaddr *)address, len), 0);
    assert_int_equal(listen(fd, 16), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)address, &len), 0);
    return fd;
}

static void make_target(struct target *target, int port, size_t body_len)
{
    char method[] = "POST";
    char *body = xcalloc(body_len + 1, 1);
    char *url = xasprintf("http://127.0.0.1:%d/", port);
    struct target_settings s = {.method = method,
                                .body = memset(body, 'x', body_len)};
    struct err err = {0};

    strlist_add(&s.urls, url);
    assert_int_equal(target_init(target, &s, &err), 0);
    strlist_fini(&s.urls);
    free(url);
    free(body);
}

static struct rig *rig_new(size_t body_len)
{
    struct rig *rig = xcalloc(1, sizeof(*rig));
    struct sockaddr_in address = {0};
    struct err err = {0};

    rig->listener = listen_on(&address);
    make_target(&rig->target, ntohs(address.sin_port), body_len);
    rig->base = event_base_new();
    rig->clk = clk_fake_at(1000);
    rig->env = (struct transport_env){.base = rig->base,
                                      .clk = &rig->clk.clk,
                                      .target = &rig->target,
                                      .max_connections = 8,
                                      .ended = on_ended,
                                      .arg = rig};
    rig->self = xcalloc(1, transport_http1.state_size);
    assert_int_equal(transport_http1.init(rig->self, &rig->env, &err), 0);
    close(accept(rig->listener, NULL, NULL)); /* of the probe */
    return rig;
}

static void rig_free(struct rig *rig)
{
    transport_http1.fini(rig->self);
    free(rig->self);
    event_base_free(rig->base);
    target_fini(&rig->target);
    if (rig->listener >= 0)
        close(rig->listener);
    free(rig);
}

static struct request new_request(const struct rig *rig)
{
    return (struct request){.facts = facts_unknown(rig->ended, 0)};
}

static void step(const struct rig *rig)
{
    event_base_loop(rig->base, EVLOOP_NONBLOCK);
}

static void step_until_ended(const struct rig *rig, int ended)
{
    for (int i = 0; i < MAX_SPIN && rig->ended < ended; i++)
        step(rig);
    assert_int_equal(rig->ended, ended);
}

/* The server's end of a new connection, once the request is on its way. */
static int accept_one(const struct rig *rig, const struct request *r)
{
    for (int i = 0; i < MAX_SPIN && r->facts.sent == TIME_ABSENT; i++)
        step(rig);
    return accept(rig->listener, NULL, NULL);
}

static void answer(int fd, const char *bytes)
{
    assert_int_equal(write(fd, bytes, strlen(bytes)), strlen(bytes));
}

/* A socket that is closed with bytes unread resets its peer. */
static void read_request(const struct rig *rig, int fd)
{
    char bytes[1024];
    size_t len = rig->target.request.len;

    assert_true(len <= sizeof(bytes));
    assert_int_equal(recv(fd, bytes, len, MSG_WAITALL), len);
}

/* A connection that has served one request and is idle. */
static int serve_one(struct rig *rig)
{
    struct request r = new_request(rig);
    int ended = rig->ended;
    int fd;

    transport_http1.start(rig->self, &r);
    fd = accept_one(rig, &r);
    read_request(rig, fd);
    answer(fd, ANSWER);
    step_until_ended(rig, ended + 1);
    assert_int_equal(r.facts.outcome, OUTCOME_OK);
    return fd;
}

/* ---- which address ---- */

static struct addrinfo info_of(struct sockaddr_in *address)
{
    return (struct addrinfo){.ai_family = AF_INET,
                             .ai_socktype = SOCK_STREAM,
                             .ai_addrlen = sizeof(*address),
                             .ai_addr = (struct sockaddr *)address};
}

static void the_address_that_answers_is_chosen(void **state)
{
    struct sockaddr_in addresses[2] = {0};
    struct addrinfo list[2];
    const struct addrinfo *answers = NULL;
    struct err err = {0};
    int refused = listen_on(&addresses[0]);
    int fd = listen_on(&addresses[1]);

    (void)state;
    close(refused);
    list[0] = info_of(&addresses[0]);
    list[1] = info_of(&addresses[1]);
    list[0].ai_next = &list[1];
    assert_int_equal(socket_probe(list, &answers, &err), 0);
    assert_ptr_equal(answers, &list[1]);
    close(fd);
    answers = NULL;
    assert_int_equal(socket_probe(list, &answers, &err), -1);
    assert_int_equal(err.code, ERR_IO);
    assert_non_null(strstr(err.msg, "Connection refused"));
    assert_null(answers);
}

/* Every request goes to it, none to the one that refuses. */
static void requests_go_where_the_probe_was_answered(void **state)
{
    struct rig *rig = rig_new(10);
    struct sockaddr_in nobody = {0};
    struct addrinfo first;
    struct addrinfo *real = rig->target.addresses;
    struct err err = {0};
    int fds[3];

    (void)state;
    close(listen_on(&nobody));
    first = info_of(&nobody);
    first.ai_next = real;
    rig->target.addresses = &first;
    transport_http1.fini(rig->self);
    memset(rig->self, 0, transport_http1.state_size);
    assert_int_equal(transport_http1.init(rig->self, &rig->env, &err), 0);
    close(accept(rig->listener, NULL, NULL));
    for (int i = 0; i < 3; i++) {
        fds[i] = serve_one(rig);
        close(fds[i]);
        step(rig); /* it is noticed, so that the next one opens another */
    }
    rig->target.addresses = real;
    rig_free(rig);
}

/* ---- facts ---- */

static void fresh_is_who_got_its_connection(void **state)
{
    struct rig *rig = rig_new(10);
    struct request r = new_request(rig);
    int fd;

    (void)state;
    transport_http1.start(rig->self, &r);
    assert_int_equal(r.facts.is_fresh, 0); /* it only tries yet */
    fd = accept_one(rig, &r);
    assert_int_equal(r.facts.is_fresh, 1);
    assert_int_equal(r.facts.sent, 1000);
    answer(fd, ANSWER);
    step_until_ended(rig, 1);
    r = new_request(rig);
    transport_http1.start(rig->self, &r); /* over the same connection */
    answer(fd, ANSWER);
    step_until_ended(rig, 2);
    assert_int_equal(r.facts.is_fresh, 0);
    close(fd);
    rig_free(rig);
}

static void a_refused_connection_was_not_opened(void **state)
{
    struct rig *rig = rig_new(10);
    struct request r = new_request(rig);

    (void)state;
    close(rig->listener);
    rig->listener = -1;
    transport_http1.start(rig->self, &r);
    step_until_ended(rig, 1);
    assert_int_equal(r.facts.outcome, OUTCOME_CONNECT);
    assert_int_equal(r.facts.is_fresh, 0);
    assert_int_equal(r.facts.sent, TIME_ABSENT);
    assert_int_equal(r.facts.bytes_out, 0);
    rig_free(rig);
}

/* The server closed the idle connection: the bytes of both attempts count. */
static void a_stale_connection_is_replaced_once(void **state)
{
    struct rig *rig = rig_new(10);
    int64_t len = (int64_t)rig->target.request.len;
    int fd = serve_one(rig);
    struct request r = new_request(rig);

    (void)state;
    close(fd); /* nobody looked yet */
    transport_http1.start(rig->self, &r);
    assert_int_equal(r.facts.sent, 1000);
    assert_int_equal(r.facts.bytes_out, len);
    rig->clk.at_ns = 2000;
    for (int i = 0; i < MAX_SPIN && r.facts.bytes_out < 2 * len; i++)
        step(rig);
    fd = accept(rig->listener, NULL, NULL);
    answer(fd, ANSWER);
    step_until_ended(rig, 2);
    assert_int_equal(r.facts.outcome, OUTCOME_OK);
    assert_int_equal(r.facts.retries, 1);
    assert_int_equal(r.facts.is_fresh, 1);
    assert_int_equal(r.facts.sent, 1000); /* the first attempt's */
    assert_int_equal(r.facts.bytes_out, 2 * len);
    close(fd);
    rig_free(rig);
}

/* Reset: the kernel takes no byte of the first attempt, so it was not sent. */
static void what_the_kernel_did_not_take_was_not_sent(void **state)
{
    struct rig *rig = rig_new(10);
    int64_t len = (int64_t)rig->target.request.len;
    struct linger reset = {.l_onoff = 1};
    int fd = serve_one(rig);
    struct request r = new_request(rig);

    (void)state;
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    close(fd);
    transport_http1.start(rig->self, &r);
    assert_int_equal(r.facts.retries, 1);
    assert_int_equal(r.facts.sent, TIME_ABSENT);
    assert_int_equal(r.facts.bytes_out, 0);
    rig->clk.at_ns = 2000;
    fd = accept_one(rig, &r);
    answer(fd, ANSWER);
    step_until_ended(rig, 2);
    assert_int_equal(r.facts.sent, 2000);
    assert_int_equal(r.facts.bytes_out, len);
    close(fd);
    rig_free(rig);
}

static void a_large_request_counts_as_it_goes(void **state)
{
    struct rig *rig = rig_new(LARGE);
    size_t len = rig->target.request.len;
    char *sink = xcalloc(1, LARGE);
    struct request r = new_request(rig);
    size_t got = 0;
    int fd;

    (void)state;
    transport_http1.start(rig->self, &r);
    fd = accept_one(rig, &r);
    assert_in_range(r.facts.bytes_out, 1, len - 1);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    for (int i = 0; i < MAX_SPIN && got < len; i++) {
        ssize_t n = read(fd, sink, LARGE);

        if (n > 0)
            got += (size_t)n;
        rig->clk.at_ns++;
        step(rig);
    }
    assert_int_equal(got, len);
    assert_int_equal(r.facts.bytes_out, len);
    assert_int_equal(r.facts.sent, 1000);
    answer(fd, ANSWER);
    step_until_ended(rig, 1);
    assert_int_equal(r.facts.bytes_out, len);
    close(fd);
    free(sink);
    rig_free(rig);
}

/* An answer before the request is out: nothing more of it may follow. */
static void an_early_answer_ends_the_connection(void **state)
{
    struct rig *rig = rig_new(LARGE);
    struct request r = new_request(rig);
    int fd;

    (void)state;
    transport_http1.start(rig->self, &r);
    fd = accept_one(rig, &r);
    answer(fd, REFUSAL);
    step_until_ended(rig, 1);
    assert_int_equal(r.facts.outcome, OUTCOME_STATUS);
    assert_int_equal(r.facts.detail, 413);
    assert_int_equal(transport_http1.connections(rig->self), 0);
    for (int i = 0; i < 10; i++)
        step(rig);
    close(fd);
    rig_free(rig);
}

/* ---- idle connections ---- */

#define N_IDLE 3

static void make_idle(struct rig *rig, int *fds)
{
    struct request r[N_IDLE];

    for (int i = 0; i < N_IDLE; i++) {
        r[i] = new_request(rig);
        transport_http1.start(rig->self, &r[i]);
        fds[i] = accept_one(rig, &r[i]);
    }
    for (int i = 0; i < N_IDLE; i++)
        answer(fds[i], ANSWER);
    step_until_ended(rig, N_IDLE);
}

static void close_and_wait(const struct rig *rig, int fd)
{
    close(fd);
    for (int i = 0;
         i < MAX_SPIN && transport_http1.connections(rig->self) == N_IDLE; i++)
        step(rig);
    assert_int_equal(transport_http1.connections(rig->self), N_IDLE - 1);
}

/* Two requests over two connections, none of them new. */
static void serve_two(struct rig *rig, int a, int b)
{
    struct request r[2] = {new_request(rig), new_request(rig)};
    int ended = rig->ended;

    for (int i = 0; i < 2; i++)
        transport_http1.start(rig->self, &r[i]);
    answer(a, ANSWER);
    answer(b, ANSWER);
    step_until_ended(rig, ended + 2);
    assert_int_equal(r[0].facts.is_fresh + r[1].facts.is_fresh, 0);
    assert_int_equal(transport_http1.connections(rig->self), 2);
}

/* Three are idle, any one of them is closed: the other two serve on. */
static void any_idle_connection_may_go(void **state)
{
    (void)state;
    for (int gone = 0; gone < N_IDLE; gone++) {
        struct rig *rig = rig_new(10);
        int fds[N_IDLE];
        int a = (gone + 1) % N_IDLE;
        int b = (gone + 2) % N_IDLE;

        make_idle(rig, fds);
        close_and_wait(rig, fds[gone]);
        serve_two(rig, fds[a], fds[b]);
        close(fds[a]);
        close(fds[b]);
        rig_free(rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_address_that_answers_is_chosen),
        cmocka_unit_test(requests_go_where_the_probe_was_answered),
        cmocka_unit_test(fresh_is_who_got_its_connection),
        cmocka_unit_test(a_refused_connection_was_not_opened),
        cmocka_unit_test(a_stale_connection_is_replaced_once),
        cmocka_unit_test(what_the_kernel_did_not_take_was_not_sent),
        cmocka_unit_test(a_large_request_counts_as_it_goes),
        cmocka_unit_test(an_early_answer_ends_the_connection),
        cmocka_unit_test(any_idle_connection_may_go),
    };

    return cmocka_run_group_tests_name("http1_transport", tests, NULL, NULL);
}
