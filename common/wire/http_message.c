/* Written by hand: Debian has no HTTP parser library that is maintained and
 * fast.  bench/http1.c compares it with llhttp. */
#include "common/wire/http_message.h"

#include <string.h>
#include <strings.h>

void http1_init(struct http1 *p, enum http1_kind kind,
                const struct http1_hooks *hooks, void *arg)
{
    *p = (struct http1){.kind = kind, .hooks = hooks, .arg = arg};
    buf_init(&p->line, HTTP1_MAX_HEAD);
    http1_begin(p);
}

void http1_fini(struct http1 *p)
{
    buf_fini(&p->line);
}

void http1_begin(struct http1 *p)
{
    p->state = HTTP1_START;
    p->error = HTTP1_FINE;
    p->is_head_request = false;
    p->status = 0;
    p->minor_version = 1;
    p->keeps_alive = true;
    p->is_chunked = false;
    p->content_length = -1;
    p->has_started = false;
    p->left = 0;
    p->head_len = 0;
    buf_reset(&p->line);
}

static int fail(struct http1 *p, enum http1_error error)
{
    p->error = error;
    return -1;
}

/* ---- the start line ---- */

static bool is_version(const char *s, int *minor)
{
    if (memcmp(s, "HTTP/1.", 7) != 0 || (s[7] != '0' && s[7] != '1'))
        return false;
    *minor = s[7] - '0';
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* HTTP/1.1 200 OK */
static int read_status_line(struct http1 *p, const char *s, size_t len)
{
    if (len < 12 || !is_version(s, &p->minor_version) || s[8] != ' ' ||
        !is_digit(s[9]) || !is_digit(s[10]) || !is_digit(s[11]) ||
        (len > 12 && s[12] != ' '))
        return fail(p, HTTP1_BAD_START);
    p->status = (s[9] - '0') * 100 + (s[10] - '0') * 10 + (s[11] - '0');
    return p->status < 100 || p->status == 101 ? fail(p, HTTP1_BAD_START) : 0;
}

/* POST /path HTTP/1.1 */
static int read_request_line(struct http1 *p, const char *s, size_t len)
{
    const char *path = memchr(s, ' ', len);

    if (len < 14 || !path || path == s || s[len - 9] != ' ' ||
        path == s + len - 9 || !is_version(s + len - 8, &p->minor_version))
        return fail(p, HTTP1_BAD_START);
    p->is_head_request = path == s + 4 && memcmp(s, "HEAD", 4) == 0;
    return 0;
}

static int read_start(struct http1 *p, const char *s, size_t len)
{
    int rc;

    if (len == 0 && p->kind == HTTP1_REQUEST)
        return 0; /* an empty line before a request is ignored */
    if (memchr(s, '\0', len))
        return fail(p, HTTP1_BAD_HEADER);
    if (p->hooks->start)
        p->hooks->start(p->arg, s, len);
    rc = p->kind == HTTP1_RESPONSE ? read_status_line(p, s, len)
                                   : read_request_line(p, s, len);
    p->keeps_alive = p->minor_version == 1;
    p->state = HTTP1_HEADERS;
    return rc;
}

/* ---- headers ---- */

static bool is_name(const char *s, size_t len, const char *name)
{
    return strlen(name) == len && strncasecmp(s, name, len) == 0;
}

/* Does a comma-separated list contain this word? */
static bool has_word(const char *s, size_t len, const char *word)
{
    const char *end = s + len;

    while (s < end) {
        const char *comma = memchr(s, ',', (size_t)(end - s));
        const char *stop = comma ? comma : end;

        while (s < stop && (*s == ' ' || *s == '\t'))
            s++;
        while (stop > s && (stop[-1] == ' ' || stop[-1] == '\t'))
            stop--;
        if (is_name(s, (size_t)(stop - s), word))
            return true;
        s = comma ? comma + 1 : end;
    }
    return false;
}

static int read_length(struct http1 *p, const char *s, size_t len)
{
    int64_t n = 0;

    for (size_t i = 0; i < len; i++) {
        if (!is_digit(s[i]) || len > 18)
            return fail(p, HTTP1_BAD_LENGTH);
        n = n * 10 + (s[i] - '0');
    }
    if (len == 0 || (p->content_length >= 0 && p->content_length != n))
        return fail(p, HTTP1_BAD_LENGTH);
    p->content_length = n;
    return 0;
}

/* The headers that determine the framing. */
static int read_known_header(struct http1 *p, const char *name, size_t name_len,
                             const char *value, size_t len)
{
    if (is_name(name, name_len, "content-length"))
        return read_length(p, value, len);
    if (is_name(name, name_len, "transfer-encoding")) {
        if (!is_name(value, len, "chunked"))
            return fail(p, HTTP1_BAD_ENCODING);
        p->is_chunked = true;
    } else if (is_name(name, name_len, "connection")) {
        if (has_word(value, len, "close"))
            p->keeps_alive = false;
        else if (has_word(value, len, "keep-alive"))
            p->keeps_alive = true;
    }
    return 0;
}

static int read_header(struct http1 *p, const char *s, size_t len)
{
    const char *colon = memchr(s, ':', len);
    const char *end = s + len;
    const char *value;

    if (!colon || memchr(s, '\0', len) || colon == s || *s == ' ' ||
        *s == '\t' || colon[-1] == ' ' || colon[-1] == '\t')
        return fail(p, HTTP1_BAD_HEADER);
    value = colon + 1;
    while (value < end && (*value == ' ' || *value == '\t'))
        value++;
    while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    if (p->hooks->header)
        p->hooks->header(p->arg, s, (size_t)(colon - s), value,
                         (size_t)(end - value));
    if (p->state == HTTP1_TRAILERS)
        return 0;
    return read_known_header(p, s, (size_t)(colon - s), value,
                             (size_t)(end - value));
}

/* The empty line after the headers: how is the body framed? */
static void end_headers(struct http1 *p)
{
    bool has_no_body =
        p->kind == HTTP1_REQUEST
            ? !p->is_chunked && p->content_length < 0
            : p->is_head_request || p->status == 204 || p->status == 304;

    if (p->kind == HTTP1_RESPONSE && p->status < 200) {
        p->state = HTTP1_START; /* 1xx: the real response follows */
        p->content_length = -1;
        p->is_chunked = false;
    } else if (has_no_body) {
        p->state = HTTP1_DONE;
    } else if (p->is_chunked) {
        p->state = HTTP1_CHUNK_SIZE;
    } else if (p->content_length >= 0) {
        p->left = p->content_length;
        p->state = p->left > 0 ? HTTP1_BODY : HTTP1_DONE;
    } else {
        p->keeps_alive = false;
        p->state = HTTP1_UNTIL_EOF;
    }
}

/* ---- chunks ---- */

static int hex_digit(char c)
{
    if (is_digit(c))
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* 1a2b;extension */
static int read_chunk_size(struct http1 *p, const char *s, size_t len)
{
    int64_t n = 0;
    size_t i = 0;

    for (; i < len && hex_digit(s[i]) >= 0; i++) {
        if (i == 15)
            return fail(p, HTTP1_BAD_CHUNK);
        n = n * 16 + hex_digit(s[i]);
    }
    if (i == 0 || (i < len && s[i] != ';' && s[i] != ' ' && s[i] != '\t'))
        return fail(p, HTTP1_BAD_CHUNK);
    p->left = n;
    p->state = n > 0 ? HTTP1_CHUNK_DATA : HTTP1_TRAILERS;
    return 0;
}

/* ---- lines and bodies ---- */

static int read_line(struct http1 *p, const char *s, size_t len)
{
    if (len > 0 && s[len - 1] == '\r')
        len--;
    switch (p->state) {
    case HTTP1_START:
        return read_start(p, s, len);
    case HTTP1_HEADERS:
        if (len > 0)
            return read_header(p, s, len);
        end_headers(p);
        return 0;
    case HTTP1_CHUNK_SIZE:
        return read_chunk_size(p, s, len);
    case HTTP1_CHUNK_END:
        if (len > 0)
            return fail(p, HTTP1_BAD_CHUNK);
        p->state = HTTP1_CHUNK_SIZE;
        return 0;
    default: /* HTTP1_TRAILERS */
        if (len > 0)
            return read_header(p, s, len);
        p->state = HTTP1_DONE;
        return 0;
    }
}

/* Take a line, or the rest of one that came in pieces. */
static ssize_t take_line(struct http1 *p, const char *data, size_t len)
{
    const char *newline = memchr(data, '\n', len);
    size_t n = newline ? (size_t)(newline - data) + 1 : len;

    if (p->state != HTTP1_CHUNK_SIZE && p->state != HTTP1_CHUNK_END) {
        p->head_len += n;
        if (p->head_len > HTTP1_MAX_HEAD)
            return fail(p, HTTP1_LONG_HEAD);
    }
    if (p->line.len + n > HTTP1_MAX_HEAD)
        return fail(p, HTTP1_LONG_HEAD);
    if (!newline || p->line.len > 0) {
        buf_add(&p->line, data, n);
        if (!newline)
            return (ssize_t)n;
        if (read_line(p, p->line.data, p->line.len - 1))
            return -1;
        buf_reset(&p->line);
    } else if (read_line(p, data, n - 1)) {
        return -1;
    }
    return (ssize_t)n;
}

/* Take bytes of the body, or a line. */
static ssize_t take(struct http1 *p, const char *data, size_t len)
{
    if (p->state != HTTP1_BODY && p->state != HTTP1_CHUNK_DATA &&
        p->state != HTTP1_UNTIL_EOF)
        return take_line(p, data, len);
    if (p->state != HTTP1_UNTIL_EOF) {
        if ((int64_t)len > p->left)
            len = (size_t)p->left;
        p->left -= (int64_t)len;
    }
    if (p->hooks->body)
        p->hooks->body(p->arg, data, len);
    if (p->state != HTTP1_UNTIL_EOF && p->left == 0)
        p->state = p->state == HTTP1_CHUNK_DATA ? HTTP1_CHUNK_END : HTTP1_DONE;
    return (ssize_t)len;
}

/* ---- heads that are the same as the last ---- */

/* Returns the length of the head, or 0 if it is another one. */
static size_t recall(struct http1 *p, const char *data, size_t len)
{
    const struct http1_known *k = p->known;

    if (k->len == 0 || k->len > len || memcmp(k->head, data, k->len) != 0)
        return 0;
    p->has_started = true;
    p->head_len = k->len;
    p->status = k->status;
    p->minor_version = k->minor_version;
    p->keeps_alive = k->keeps_alive;
    p->is_chunked = k->is_chunked;
    p->content_length = k->content_length;
    end_headers(p);
    return k->len;
}

/* A head was just read, all of it from these bytes; with those of 1xx, if any
 * came before it. */
static void remember(const struct http1 *p, const char *data)
{
    struct http1_known *k = p->known;

    k->len = 0;
    if (p->head_len > sizeof(k->head))
        return;
    memcpy(k->head, data, p->head_len);
    k->len = p->head_len;
    k->status = p->status;
    k->minor_version = p->minor_version;
    k->keeps_alive = p->keeps_alive;
    k->is_chunked = p->is_chunked;
    k->content_length = p->content_length;
}

ssize_t http1_feed(struct http1 *p, const char *data, size_t len)
{
    bool is_new = p->known && !p->has_started;
    size_t used = is_new ? recall(p, data, len) : 0;

    is_new &= used == 0;
    while (used < len && p->state != HTTP1_DONE) {
        ssize_t n;

        p->has_started = true;
        n = take(p, data + used, len - used);
        if (n < 0)
            return -1;
        used += (size_t)n;
        if (is_new && http1_has_head(p)) {
            remember(p, data);
            is_new = false;
        }
    }
    return (ssize_t)used;
}

bool http1_finish_at_eof(struct http1 *p)
{
    if (p->state != HTTP1_UNTIL_EOF)
        return false;
    p->state = HTTP1_DONE;
    return true;
}

const char *http1_error_text(enum http1_error error)
{
    static const char *const texts[HTTP1_ERROR_COUNT] = {
        [HTTP1_FINE] = "no error",
        [HTTP1_BAD_START] = "not an HTTP/1 start line",
        [HTTP1_BAD_HEADER] = "a header that is not 'name: value'",
        [HTTP1_LONG_HEAD] = "headers too long",
        [HTTP1_BAD_LENGTH] = "Content-Length is not one number",
        [HTTP1_BAD_ENCODING] = "unknown Transfer-Encoding",
        [HTTP1_BAD_CHUNK] = "a damaged chunk",
        [HTTP1_LONG_BODY] = "longer than target.max_response",
        [HTTP1_FLOOD] = "a flood of HTTP/2 frames without content",
        [HTTP1_BAD_FRAME] = "not what HTTP/2 allows",
    };

    return error < HTTP1_ERROR_COUNT ? texts[error] : "unknown error";
}
