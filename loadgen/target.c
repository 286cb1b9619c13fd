#include "loadgen/target.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/err.h"
#include "common/file.h"
#include "common/settings.h"

#define MAX_REQUEST ((size_t)64 << 20)

static int read_body(const char *body, struct buf *out, struct err *err)
{
    if (!body)
        return 0;
    if (body[0] != '@')
        return buf_adds(out, body);
    if (file_read(body + 1, out, err)) {
        err->code = ERR_CONFIG;
        return err_context(err, "target.body");
    }
    return 0;
}

/* What RFC 9110 calls a token. */
static bool is_token(const char *s)
{
    size_t len = strspn(s, "!#$%&'*+-.^_`|~0123456789"
                           "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                           "abcdefghijklmnopqrstuvwxyz");

    return len > 0 && s[len] == '\0';
}

static bool has_line_break(const char *s)
{
    return s[strcspn(s, "\r\n")] != '\0';
}

static bool has_header(const struct strmap *headers, const char *name)
{
    for (size_t i = 0; i < headers->keys.len; i++) {
        if (strcasecmp(headers->keys.items[i], name) == 0)
            return true;
    }
    return false;
}

static int add_headers(struct buf *out, const struct strmap *headers,
                       struct err *err)
{
    for (size_t i = 0; i < headers->keys.len; i++) {
        const char *name = headers->keys.items[i];
        const char *value = headers->values.items[i];

        if (!is_token(name) || has_line_break(value))
            return err_set(err, ERR_CONFIG,
                           "target.headers: '%s' cannot be a header", name);
        if (strcasecmp(name, "content-length") == 0 ||
            strcasecmp(name, "transfer-encoding") == 0)
            return err_set(err, ERR_CONFIG,
                           "target.headers: '%s' is set from the body", name);
        buf_addf(out, "%s: %s\r\n", name, value);
    }
    return 0;
}

static void add_id(struct target *t)
{
    buf_adds(&t->request, "x-tailgate-id: ");
    t->id_at = t->request.len;
    buf_addf(&t->request, "%0*d\r\n", TARGET_ID_DIGITS, 0);
}

static void add_host(struct target *t)
{
    bool is_ipv6 = strchr(t->url.host, ':') != NULL;

    buf_addf(&t->request, "Host: %s%s%s:%s\r\n", is_ipv6 ? "[" : "",
             t->url.host, is_ipv6 ? "]" : "", t->url.port);
}

/* Methods whose lack of a body must be said, or some servers refuse them. */
static bool expects_body(const char *method)
{
    return strcmp(method, "POST") == 0 || strcmp(method, "PUT") == 0 ||
           strcmp(method, "PATCH") == 0;
}

static int write_request(struct target *t, const struct target_settings *s,
                         const struct buf *body, struct err *err)
{
    if (!is_token(s->method))
        return err_set(err, ERR_CONFIG, "target.method: '%s' is no method",
                       s->method);
    t->is_head = strcmp(s->method, "HEAD") == 0;
    buf_addf(&t->request, "%s %s HTTP/1.1\r\n", s->method, t->url.path);
    if (!has_header(&s->headers, "host"))
        add_host(t);
    if (!has_header(&s->headers, "user-agent"))
        buf_adds(&t->request, "User-Agent: tailgate\r\n");
    if (s->body && !has_header(&s->headers, "content-type"))
        buf_adds(&t->request, "Content-Type: application/json\r\n");
    if (s->body || expects_body(s->method))
        buf_addf(&t->request, "Content-Length: %zu\r\n", body->len);
    if (add_headers(&t->request, &s->headers, err))
        return -1;
    if (s->request_id)
        add_id(t);
    buf_adds(&t->request, "\r\n");
    if (buf_add(&t->request, buf_text(body), body->len))
        return err_set(err, ERR_CONFIG, "target.body: larger than %zu bytes",
                       MAX_REQUEST);
    return 0;
}

static int resolve(struct target *t, struct err *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    int rc = getaddrinfo(t->url.host, t->url.port, &hints, &t->addresses);

    if (rc)
        return err_set(err, ERR_IO, "%s: %s", t->url.host, gai_strerror(rc));
    return 0;
}

int target_init(struct target *t, const struct target_settings *s,
                struct err *err)
{
    struct buf body;
    int rc;

    *t = (struct target){0};
    buf_init(&t->request, MAX_REQUEST);
    if (url_parse(s->urls.items[0], &t->url, err))
        return err_context(err, "target.url");
    buf_init(&body, MAX_REQUEST);
    rc = read_body(s->body, &body, err);
    if (rc == 0)
        rc = write_request(t, s, &body, err);
    buf_fini(&body);
    if (rc == 0 && strcmp(t->url.scheme, "http") == 0)
        rc = resolve(t, err);
    return rc;
}

void target_fini(struct target *t)
{
    if (t->addresses)
        freeaddrinfo(t->addresses);
    t->addresses = NULL;
    buf_fini(&t->request);
}
