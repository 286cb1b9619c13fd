#include "tests/support/frontrig.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/base/err.h"
#include "server-stub/front/stub_loop.h"
#include "tests/support/loopback.h"

void frontrig_answer(struct frontrig *rig, struct exchange *x)
{
    const struct answer *a = &rig->answers[x->keeps_alive];

    front_send(x, a->text.data, x->is_head ? a->head_len : a->text.len);
    front_end(x);
}

void frontrig_on_request(void *arg, struct exchange *x)
{
    struct frontrig *rig = arg;

    rig->requests++;
    rig->asked = *x;
    buf_reset(&rig->body);
    assert_int_equal(buf_add(&rig->body, x->body, x->body_len), 0);
    x->owner = rig;
    if (rig->holds)
        rig->held = x;
    else
        frontrig_answer(rig, x);
}

void frontrig_on_ended(void *arg, struct exchange *x, int64_t sent_ns)
{
    struct frontrig *rig = arg;

    assert_ptr_equal(x->owner, rig);
    rig->ended++;
    rig->sent_ns = sent_ns;
}

static const struct front_hooks hooks = {
    .request = frontrig_on_request,
    .ended = frontrig_on_ended,
};

static void begin_with(struct frontrig *rig, const struct front_hooks *with,
                       int64_t body_bytes, const int *pair)
{
    struct err err = {0};

    *rig = (struct frontrig){.clock = clk_fake_at(1000)};
    rig->loop = loop_new(&err);
    assert_non_null(rig->loop);
    for (int keeps_alive = 0; keeps_alive < 2; keeps_alive++)
        answer_init(&rig->answers[keeps_alive], body_bytes, keeps_alive);
    buf_init(&rig->body, FRONT_MAX_BODY);
    rig->front = front_new(rig->loop, &rig->clock.clk, with, rig);
    rig->client = pair[0];
    front_take(rig->front, pair[1]);
}

void frontrig_begin_hooked(struct frontrig *rig, const struct front_hooks *with,
                           int64_t body_bytes)
{
    int pair[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair),
                     0);
    begin_with(rig, with, body_bytes, pair);
}

void frontrig_begin(struct frontrig *rig, int64_t body_bytes)
{
    frontrig_begin_hooked(rig, &hooks, body_bytes);
}

void frontrig_begin_tcp(struct frontrig *rig)
{
    struct sockaddr_in address = {0};
    int listener = loopback_listen(&address, 1);
    int pair[2];

    pair[0] = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(
        connect(pair[0], (struct sockaddr *)&address, sizeof(address)), 0);
    pair[1] = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
    assert_true(pair[1] >= 0);
    close(listener);
    begin_with(rig, &hooks, 2, pair);
}

void frontrig_end(struct frontrig *rig)
{
    front_free(rig->front);
    for (int keeps_alive = 0; keeps_alive < 2; keeps_alive++)
        buf_fini(&rig->answers[keeps_alive].text);
    buf_fini(&rig->body);
    loop_free(rig->loop);
    if (rig->client >= 0)
        close(rig->client);
    assert_int_equal(rig->ended, rig->requests);
}

void frontrig_pass(struct frontrig *rig)
{
    struct err err = {0};

    for (int i = 0; i < 4; i++)
        assert_int_equal(loop_poll(rig->loop, &err), 0);
}

void frontrig_say(struct frontrig *rig, const char *text, size_t len)
{
    assert_int_equal(send(rig->client, text, len, MSG_NOSIGNAL), len);
    frontrig_pass(rig);
}

bool frontrig_hear(struct frontrig *rig, struct buf *heard)
{
    char some[4096];
    ssize_t n;

    while ((n = recv(rig->client, some, sizeof(some), 0)) > 0)
        assert_int_equal(buf_add(heard, some, (size_t)n), 0);
    if (n < 0)
        assert_int_equal(errno, EAGAIN);
    return n == 0;
}

void frontrig_expect(struct frontrig *rig, const char *want, bool closes)
{
    struct buf heard;

    buf_init(&heard, 1 << 20);
    assert_int_equal(frontrig_hear(rig, &heard), closes);
    assert_string_equal(buf_text(&heard), want);
    buf_fini(&heard);
}
