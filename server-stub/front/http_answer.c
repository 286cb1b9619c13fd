#include "server-stub/front/http_answer.h"

#include <string.h>

#define HEAD_ROOM 512

static void write_head(struct buf *out, int status, const char *type,
                       const char *extra, bool keeps_alive)
{
    static const struct {
        int status;
        const char *text;
    } reasons[] = {{200, "OK"},
                   {400, "Bad Request"},
                   {404, "Not Found"},
                   {413, "Content Too Large"},
                   {429, "Too Many Requests"},
                   {500, "Internal Server Error"},
                   {503, "Service Unavailable"}};
    const char *reason = "Status";

    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        if (reasons[i].status == status)
            reason = reasons[i].text;
    }
    buf_addf(out, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\n%sConnection: %s\r\n",
             status, reason, type, extra, keeps_alive ? "keep-alive" : "close");
}

void answer_write(struct buf *out, int status, const char *type,
                  bool keeps_alive, const char *body, size_t len)
{
    bool is_busy = status == 429 || status == 503;

    write_head(out, status, type, is_busy ? "Retry-After: 1\r\n" : "",
               keeps_alive);
    buf_addf(out, "Content-Length: %zu\r\n\r\n", len);
    buf_add(out, body, len);
}

void answer_write_binary(struct buf *out, bool keeps_alive, const char *body,
                         size_t len, size_t json_len)
{
    write_head(out, 200, "application/octet-stream", "", keeps_alive);
    buf_addf(out,
             "Inference-Header-Content-Length: %zu\r\nContent-Length: "
             "%zu\r\n\r\n",
             json_len, len);
    buf_add(out, body, len);
}

void answer_write_stream(struct buf *out, bool chunked, bool keeps_alive)
{
    write_head(out, 200, "text/event-stream",
               chunked ? "Transfer-Encoding: chunked\r\n" : "",
               chunked && keeps_alive);
    buf_adds(out, "Cache-Control: no-cache\r\n\r\n");
}

void answer_write_piece(struct buf *out, bool chunked, const char *data,
                        size_t len)
{
    if (len == 0)
        return;
    if (chunked)
        buf_addf(out, "%zx\r\n", len);
    buf_add(out, data, len);
    if (chunked)
        buf_adds(out, "\r\n");
}

void answer_write_end(struct buf *out)
{
    buf_adds(out, "0\r\n\r\n");
}

/* The body is {"pad":"xxxx"}, or {} and spaces if it is too short for that. */
void answer_init(struct answer *answer, int64_t body_bytes, bool keeps_alive)
{
    static const char *const large[] = {"{\"pad\":\"", "\"}"};
    static const char *const small[] = {"{}", ""};
    size_t len = (size_t)body_bytes;
    bool is_large = len >= strlen(large[0]) + strlen(large[1]);
    const char *const *around = is_large ? large : small;
    size_t pad = len - strlen(around[0]) - strlen(around[1]);
    struct buf body;

    buf_init(&body, len);
    buf_adds(&body, around[0]);
    memset(buf_reserve(&body, pad), is_large ? 'x' : ' ', pad);
    buf_commit(&body, pad);
    buf_adds(&body, around[1]);
    buf_init(&answer->text, HEAD_ROOM + body.len);
    answer_write(&answer->text, 200, "application/json", keeps_alive, body.data,
                 body.len);
    answer->head_len = answer->text.len - body.len;
    buf_fini(&body);
}
