#include "loadgen/transport/http2_head.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/xalloc.h"

/* Fields of a connection have no place in HTTP/2, and Host is :authority. */
static bool is_left_out(const char *name)
{
    static const char *const names[] = {
        "host", "connection", "keep-alive", "upgrade", "proxy-connection", "te",
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(names[i], name) == 0)
            return true;
    }
    return false;
}

static void add(struct http2_head *h, const char *name, const char *value)
{
    strlist_add(&h->texts, name);
    strlist_add(&h->texts, value);
}

/* "Name: value". */
static void add_line(struct http2_head *h, const char *line)
{
    size_t len = strcspn(line, ":");
    char *name = xstrndup(line, len);
    const char *value = line[len] ? line + len + 1 : "";

    for (char *c = name; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    if (!is_left_out(name))
        add(h, name, value + strspn(value, " \t"));
    free(name);
}

static const char *find_host(const struct targets *ts)
{
    for (size_t i = 0; i < ts->headers.len; i++) {
        const char *line = ts->headers.items[i];

        if (strncasecmp(line, "host:", 5) == 0)
            return line + 5 + strspn(line + 5, " \t");
    }
    return NULL;
}

void http2_head_init(struct http2_head *h, const struct targets *ts,
                     const struct target *t, const char *method,
                     bool makes_bodies, bool has_id)
{
    bool is_ipv6 = strchr(t->url.host, ':') != NULL;
    char *authority = xasprintf("%s%s%s:%s", is_ipv6 ? "[" : "", t->url.host,
                                is_ipv6 ? "]" : "", t->url.port);
    const char *host = find_host(ts);

    add(h, ":method", method);
    add(h, ":scheme", t->url.scheme);
    add(h, ":authority", host ? host : authority);
    add(h, ":path", t->url.path);
    free(authority);
    for (size_t i = 0; i + has_id < ts->headers.len; i++)
        add_line(h, ts->headers.items[i]);
    if (makes_bodies)
        add(h, "content-length", "");
    if (has_id)
        add(h, TARGET_ID_HEADER, "");
    h->has_length = makes_bodies;
    h->has_id = has_id;
    h->n = h->texts.len / 2;
    h->fields = xcalloc(h->n, sizeof(*h->fields));
    for (size_t i = 0; i < h->n; i++) {
        char *name = h->texts.items[2 * i];
        char *value = h->texts.items[2 * i + 1];

        h->fields[i] = (nghttp2_nv){
            .name = (uint8_t *)name,
            .value = (uint8_t *)value,
            .namelen = strlen(name),
            .valuelen = strlen(value),
            .flags =
                NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE,
        };
    }
    if (has_id) /* each is sent once: not worth a place in HPACK's table */
        h->fields[h->n - 1].flags |= NGHTTP2_NV_FLAG_NO_INDEX;
}

void http2_head_fini(struct http2_head *h)
{
    strlist_fini(&h->texts);
    free(h->fields);
}

void http2_head_fill(struct http2_head *h, struct http2_digits *digits,
                     int64_t seq, size_t body_len)
{
    if (h->has_id) {
        nghttp2_nv *id = &h->fields[h->n - 1];

        target_put_id(digits->id, seq);
        id->value = (uint8_t *)digits->id;
        id->valuelen = sizeof(digits->id);
    }
    if (h->has_length) {
        nghttp2_nv *length = &h->fields[h->n - 1 - h->has_id];

        length->value = (uint8_t *)digits->length;
        length->valuelen = (size_t)snprintf(
            digits->length, sizeof(digits->length), "%zu", body_len);
    }
}

void http2_head_print(const struct http2_head *h, struct buf *out)
{
    buf_addf(out, "%s %s HTTP/2\r\n", (const char *)h->fields[0].value,
             (const char *)h->fields[3].value);
    buf_addf(out, "Host: %s\r\n", (const char *)h->fields[2].value);
    for (size_t i = 4; i < h->n; i++)
        buf_addf(out, "%s: %.*s\r\n", (const char *)h->fields[i].name,
                 (int)h->fields[i].valuelen, (const char *)h->fields[i].value);
    buf_adds(out, "\r\n");
}
