#include "server-stub/answer.h"

#include <assert.h>
#include <string.h>

#define HEAD_ROOM 512

static void start_head(struct answer *answer, const char *status,
                       size_t body_len, bool keeps_alive)
{
    buf_init(&answer->text, HEAD_ROOM + body_len);
    buf_addf(&answer->text,
             "HTTP/1.1 %s\r\nContent-Type: application/json\r\n"
             "Content-Length: %zu\r\nConnection: %s\r\n\r\n",
             status, body_len, keeps_alive ? "keep-alive" : "close");
    answer->head_len = answer->text.len;
}

/* {"pad":"xxxx"}, or {} and spaces where that does not fit. */
static void add_padded_body(struct buf *text, size_t len)
{
    static const char *const large[] = {"{\"pad\":\"", "\"}"};
    static const char *const small[] = {"{}", ""};
    bool is_large = len >= strlen(large[0]) + strlen(large[1]);
    const char *const *around = is_large ? large : small;
    size_t pad = len - strlen(around[0]) - strlen(around[1]);

    buf_adds(text, around[0]);
    memset(buf_reserve(text, pad), is_large ? 'x' : ' ', pad);
    text->len += pad;
    buf_adds(text, around[1]);
    assert(!text->overflowed);
}

static void make_refusal(struct answer *answer, enum http1_error error)
{
    struct buf body;

    buf_init(&body, HEAD_ROOM);
    buf_addf(&body, "{\"error\":\"%s\"}", http1_error_text(error));
    start_head(answer, "400 Bad Request", body.len, false);
    buf_add(&answer->text, body.data, body.len);
    buf_fini(&body);
}

void answers_init(struct answers *answers, int64_t body_bytes)
{
    *answers = (struct answers){0};
    for (int keeps_alive = 0; keeps_alive < 2; keeps_alive++) {
        struct answer *ok = &answers->ok[keeps_alive];

        start_head(ok, "200 OK", (size_t)body_bytes, keeps_alive);
        add_padded_body(&ok->text, (size_t)body_bytes);
    }
    for (int error = 0; error < HTTP1_ERROR_COUNT; error++)
        make_refusal(&answers->refusal[error], (enum http1_error)error);
}

void answers_fini(struct answers *answers)
{
    for (int keeps_alive = 0; keeps_alive < 2; keeps_alive++)
        buf_fini(&answers->ok[keeps_alive].text);
    for (int error = 0; error < HTTP1_ERROR_COUNT; error++)
        buf_fini(&answers->refusal[error].text);
}
