#include "server-stub/front/front_http2.h"

#include <ctype.h>
#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "common/wire/http_message.h"
#include "server-stub/front/front.h"

#define MAX_STREAMS 1000
#define WINDOW      ((1 << 24) - 1)
#define MAX_UNSENT  ((size_t)256 << 20)
#define OUT_SIZE    ((size_t)64 << 10)
#define MAX_FRAME   ((size_t)(16 << 10) + 9)
#define MAX_FIELDS  16

struct stream {
    struct exchange x; /* first: an exchange's address is its stream's */
    struct front_http2 *h;
    struct stream *previous; /* among those of the session */
    struct stream *next;
    int32_t id;
    bool is_served; /* `request` has it */
    bool is_held;   /* front_end() or front_break() will be called */
    bool is_gone;   /* the client has reset it, or is gone itself */
    bool has_head;  /* of the answer */
    struct buf body;
    struct http1 parser;   /* of the answer */
    struct strlist fields; /* of the answer: names and values, in turns */
    struct buf unsent;     /* of its body */
};

struct front_http2 {
    struct front_http2_env env;
    nghttp2_session *session;
    struct stream *first;
    int64_t arrival_ns; /* of the bytes that are being fed */
    bool is_busy;       /* nghttp2 is at work: it must not be entered again */
    char out[OUT_SIZE];
};

/* ---- streams ---- */

static void stream_free(struct stream *s)
{
    buf_fini(&s->body);
    buf_fini(&s->unsent);
    http1_fini(&s->parser);
    strlist_fini(&s->fields);
    free(s);
}

/* nghttp2 does not know it any more.  Report that it was sent, or that it never
 * will be, and free it, unless it is still to be answered. */
static void leave(struct stream *s, int64_t sent_ns)
{
    struct front_http2 *h = s->h;

    s->is_gone = true;
    if (s->is_held)
        return;
    if (s->previous)
        s->previous->next = s->next;
    else
        h->first = s->next;
    if (s->next)
        s->next->previous = s->previous;
    if (s->is_served)
        h->env.hooks->ended(h->env.arg, &s->x, sent_ns);
    stream_free(s);
}

static void flush(struct front_http2 *h)
{
    size_t len;

    if (h->is_busy || !h->session)
        return;
    do {
        const uint8_t *data;
        ssize_t n = 0;

        len = 0;
        h->is_busy = true;
        while (OUT_SIZE - len >= MAX_FRAME &&
               (n = nghttp2_session_mem_send(h->session, &data)) > 0) {
            memcpy(h->out + len, data, (size_t)n);
            len += (size_t)n;
        }
        h->is_busy = false;
        if (len > 0)
            h->env.write(h->env.conn, h->out, len);
    } while (len > 0);
}

/* ---- answers: from text to frames ---- */

static void on_answer_header(void *arg, const char *name, size_t name_len,
                             const char *value, size_t value_len)
{
    struct stream *s = arg;
    char *lower = xstrndup(name, name_len);
    char *text = xstrndup(value, value_len);

    for (char *c = lower; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    if (strcmp(lower, "connection") != 0 &&
        strcmp(lower, "transfer-encoding") != 0) {
        strlist_add(&s->fields, lower);
        strlist_add(&s->fields, text);
    }
    free(lower);
    free(text);
}

static void on_answer_body(void *arg, const char *data, size_t len)
{
    struct stream *s = arg;

    buf_add(&s->unsent, data, len);
}

static const struct http1_hooks answer_hooks = {.header = on_answer_header,
                                                .body = on_answer_body};

/* NOLINTNEXTLINE(readability-function-size): as nghttp2 calls it */
static ssize_t read_answer(nghttp2_session *session, int32_t id, uint8_t *to,
                           size_t size, uint32_t *flags,
                           nghttp2_data_source *source, void *arg)
{
    struct stream *s = nghttp2_session_get_stream_user_data(session, id);

    (void)source;
    (void)arg;
    if (!s)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    if (s->unsent.len == 0 && s->is_held)
        return NGHTTP2_ERR_DEFERRED;
    if (size > s->unsent.len)
        size = s->unsent.len;
    if (size > 0)
        memcpy(to, s->unsent.data, size);
    buf_consume(&s->unsent, size);
    if (s->unsent.len == 0 && !s->is_held)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)size;
}

static nghttp2_nv field(char *name, char *value)
{
    return (nghttp2_nv){.name = (uint8_t *)name,
                        .value = (uint8_t *)value,
                        .namelen = strlen(name),
                        .valuelen = strlen(value)};
}

static void submit_head(struct stream *s)
{
    nghttp2_data_provider body = {.read_callback = read_answer};
    nghttp2_nv fields[MAX_FIELDS];
    char name[] = ":status";
    char status[8];
    size_t n = 1;

    snprintf(status, sizeof(status), "%d", s->parser.status);
    fields[0] = field(name, status);
    for (size_t i = 0; i + 1 < s->fields.len && n < MAX_FIELDS; i += 2)
        fields[n++] = field(s->fields.items[i], s->fields.items[i + 1]);
    nghttp2_submit_response(s->h->session, s->id, fields, n,
                            s->x.is_head ? NULL : &body);
    s->has_head = true;
}

static void reset_stream(struct stream *s)
{
    nghttp2_submit_rst_stream(s->h->session, NGHTTP2_FLAG_NONE, s->id,
                              NGHTTP2_INTERNAL_ERROR);
}

static void send_answer(struct exchange *x, const char *data, size_t len)
{
    struct stream *s = (struct stream *)x;

    if (s->is_gone)
        return;
    if (http1_feed(&s->parser, data, len) < 0)
        reset_stream(s);
    else if (!s->has_head && http1_has_head(&s->parser))
        submit_head(s);
    else if (s->has_head)
        nghttp2_session_resume_data(s->h->session, s->id);
    flush(s->h);
}

static void end_answer(struct exchange *x)
{
    struct stream *s = (struct stream *)x;
    struct front_http2 *h = s->h;

    s->is_held = false;
    if (s->is_gone)
        leave(s, TIME_ABSENT);
    else if (s->has_head)
        nghttp2_session_resume_data(h->session, s->id);
    else
        reset_stream(s);
    if (h->is_busy)
        return;
    flush(h);
    h->env.settled(h->env.conn);
}

static void break_answer(struct exchange *x, bool with_reset)
{
    struct stream *s = (struct stream *)x;

    (void)with_reset;
    if (!s->is_gone)
        reset_stream(s);
    end_answer(x);
}

static const struct front_ops ops = {
    .send = send_answer, .end = end_answer, .break_off = break_answer};

/* ---- requests: from frames to exchanges ---- */

static int on_begin_headers(nghttp2_session *session,
                            const nghttp2_frame *frame, void *arg)
{
    struct front_http2 *h = arg;
    struct stream *s;

    if (frame->hd.type != NGHTTP2_HEADERS ||
        frame->headers.cat != NGHTTP2_HCAT_REQUEST)
        return 0;
    s = xcalloc(1, sizeof(*s));
    s->h = h;
    s->id = frame->hd.stream_id;
    s->x = (struct exchange){.ops = &ops,
                             .id = TIME_ABSENT,
                             .json_len = TIME_ABSENT,
                             .keeps_alive = true,
                             .takes_chunks = true};
    buf_init(&s->body, FRONT_MAX_BODY);
    buf_init(&s->unsent, MAX_UNSENT);
    http1_init(&s->parser, HTTP1_RESPONSE, &answer_hooks, s);
    http1_begin(&s->parser);
    s->next = h->first;
    if (s->next)
        s->next->previous = s;
    h->first = s;
    nghttp2_session_set_stream_user_data(session, s->id, s);
    return 0;
}

/* NOLINTNEXTLINE(readability-function-size): as nghttp2 calls it */
static int on_header(nghttp2_session *session, const nghttp2_frame *frame,
                     const uint8_t *name, size_t name_len, const uint8_t *value,
                     size_t value_len, uint8_t flags, void *arg)
{
    struct stream *s =
        nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    const char *key = (const char *)name;
    const char *text = (const char *)value;

    (void)flags;
    (void)arg;
    if (!s)
        return 0;
    if (strcmp(key, ":method") == 0) {
        front_copy(s->x.method, sizeof(s->x.method), text, value_len);
        s->x.is_head = strcmp(s->x.method, "HEAD") == 0;
        s->parser.is_head_request = s->x.is_head;
    } else if (strcmp(key, ":path") == 0) {
        front_copy(s->x.path, sizeof(s->x.path), text, strcspn(text, "?"));
    } else {
        front_take_header(&s->x, key, name_len, text, value_len);
    }
    return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id,
                   const uint8_t *data, size_t len, void *arg)
{
    struct stream *s = nghttp2_session_get_stream_user_data(session, id);
    size_t room;

    (void)flags;
    (void)arg;
    if (!s)
        return 0;
    room = FRONT_MAX_BODY - s->body.len;
    buf_add(&s->body, (const char *)data, len < room ? len : room);
    return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame,
                    void *arg)
{
    const struct front_http2 *h = arg;
    struct stream *s;

    if ((frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) ||
        !(frame->hd.flags & NGHTTP2_FLAG_END_STREAM))
        return 0;
    s = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    if (!s || s->is_served)
        return 0;
    s->x.body = buf_text(&s->body);
    s->x.body_len = s->body.len;
    s->x.arrival_ns = h->arrival_ns;
    s->is_served = true;
    s->is_held = true;
    h->env.hooks->request(h->env.arg, &s->x);
    return 0;
}

/* What is left of it is in the socket, or waits for it. */
static int on_close(nghttp2_session *session, int32_t id, uint32_t error,
                    void *arg)
{
    const struct front_http2 *h = arg;
    struct stream *s = nghttp2_session_get_stream_user_data(session, id);

    if (s)
        leave(s, error == NGHTTP2_NO_ERROR ? clk_now(h->env.clk) : TIME_ABSENT);
    return 0;
}

/* ---- sessions ---- */

struct front_http2 *front_http2_new(const struct front_http2_env *env)
{
    static const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, MAX_STREAMS},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, WINDOW},
    };
    struct front_http2 *h = xcalloc(1, sizeof(*h));
    nghttp2_session_callbacks *k;

    h->env = *env;
    if (nghttp2_session_callbacks_new(&k))
        abort(); /* out of memory */
    nghttp2_session_callbacks_set_on_begin_headers_callback(k,
                                                            on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(k, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(k, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(k, on_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(k, on_close);
    if (nghttp2_session_server_new(&h->session, k, h) ||
        nghttp2_submit_settings(h->session, NGHTTP2_FLAG_NONE, settings,
                                sizeof(settings) / sizeof(settings[0])) ||
        nghttp2_session_set_local_window_size(h->session, NGHTTP2_FLAG_NONE, 0,
                                              WINDOW))
        abort(); /* out of memory */
    nghttp2_session_callbacks_del(k);
    flush(h);
    return h;
}

bool front_http2_close(struct front_http2 *h, bool is_final)
{
    struct stream *next;

    nghttp2_session_del(h->session);
    h->session = NULL;
    for (struct stream *s = h->first; s; s = next) {
        next = s->next;
        s->is_held &= !is_final;
        leave(s, TIME_ABSENT);
    }
    if (h->first)
        return false;
    free(h);
    return true;
}

int front_http2_feed(struct front_http2 *h, const char *data, size_t len,
                     int64_t arrival_ns)
{
    ssize_t n;

    h->arrival_ns = arrival_ns;
    h->is_busy = true;
    n = nghttp2_session_mem_recv(h->session, (const uint8_t *)data, len);
    h->is_busy = false;
    if (n < 0)
        return -1;
    flush(h);
    return nghttp2_session_want_read(h->session) ||
                   nghttp2_session_want_write(h->session)
               ? 0
               : -1;
}
