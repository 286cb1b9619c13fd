#include "loadgen/prepare/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "common/text/redact.h"
#include "loadgen/api/api.h"
#include "loadgen/engine/request.h"
#include "loadgen/prepare/secret.h"
#include "loadgen/transport/curl_connect.h"
#include "loadgen/transport/socket.h"

int target_read_body(const char *body, struct buf *out, struct err *err)
{
    if (!body)
        return 0;
    if (body[0] != '@')
        return buf_adds(out, body);
    return file_read(body + 1, out, err) ? err_context(err, "target.body") : 0;
}

void target_aim(struct target_settings *t, const struct target_settings *s,
                char **url)
{
    bool is_target = false;

    for (size_t i = 0; i < s->urls.len; i++)
        is_target |= url_same_origin(*url, s->urls.items[i]);
    *t = *s;
    t->urls = (struct strlist){.items = url, .len = 1};
    if (is_target)
        return;
    t->headers = (struct strmap){0};
    t->auth_env = NULL;
    t->auth_file = NULL;
    t->cert = NULL;
    t->key = NULL;
    t->unix_socket = NULL;
    t->connect_to = NULL;
    t->http2 = false;
    t->transport = TRANSPORT_AUTO;
}

/* A token as in RFC 9110. */
static bool is_token(const char *s)
{
    size_t len = strspn(s, "!#$%&'*+-.^_`|~0123456789"
                           "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                           "abcdefghijklmnopqrstuvwxyz");

    return len > 0 && s[len] == '\0';
}

static bool has_header(const struct strmap *headers, const char *name)
{
    for (size_t i = 0; i < headers->keys.len; i++) {
        if (strcasecmp(headers->keys.items[i], name) == 0)
            return true;
    }
    return false;
}

static void add_line(struct strlist *lines, const char *name, const char *value)
{
    char *line = xasprintf("%s:%s%s", name, value[0] ? " " : "", value);

    strlist_add(lines, line);
    free(line);
}

static bool makes_bodies(const struct api *api)
{
    return api && api->makes_bodies;
}

/* The lines of every HTTP request. */
static void add_own(struct targets *ts, const struct target_settings *s,
                    const struct api *api)
{
    struct strlist *lines = &ts->headers;
    char number[24];

    if (!has_header(&s->headers, "user-agent"))
        add_line(lines, "User-Agent", "tailgate");
    if ((s->body || makes_bodies(api)) &&
        !has_header(&s->headers, "content-type"))
        add_line(lines, "Content-Type", "application/json");
    if (ts->has_length) {
        snprintf(number, sizeof(number), "%zu", ts->body.len);
        add_line(lines, "Content-Length", number);
    }
    if (s->no_keepalive && !has_header(&s->headers, "connection"))
        add_line(lines, "Connection", "close");
}

/* All but Host, which follows from the URL. */
static int make_headers(struct targets *ts, const struct target_settings *s,
                        const struct api *api, struct err *err)
{
    struct strlist *lines = &ts->headers;
    char number[24];

    if (s->urls.len == 0 || !url_is_grpc(s->urls.items[0]))
        add_own(ts, s, api);
    if (api && api->ops->add_headers)
        api->ops->add_headers(api, lines);
    if ((s->auth_env || s->auth_file) &&
        has_header(&s->headers, "authorization"))
        return err_set(err, ERR_CONFIG,
                       "target.%s cannot be combined with a header "
                       "Authorization",
                       s->auth_env ? "auth_env" : "auth_file");
    for (size_t i = 0; i < s->headers.keys.len; i++) {
        const char *name = s->headers.keys.items[i];
        const char *value = s->headers.values.items[i];

        if (!is_token(name))
            return err_set(err, ERR_CONFIG,
                           "target.headers: '%s' is not a valid header name",
                           name);
        if (strpbrk(value, "\r\n"))
            return err_set(
                err, ERR_CONFIG,
                "target.headers: the value of '%s' contains a line break",
                name);
        if (strcasecmp(name, "host") == 0 && !value[0])
            return err_set(err, ERR_CONFIG,
                           "target.headers: Host must not be empty");
        if (strcasecmp(name, "content-length") == 0 ||
            strcasecmp(name, "transfer-encoding") == 0)
            return err_set(
                err, ERR_CONFIG,
                "target.headers: '%s' cannot be set; it follows from the body",
                name);
        add_line(lines, name, value);
    }
    if (secret_add_header(s, lines, err))
        return -1;
    if (s->request_id) {
        snprintf(number, sizeof(number), "%0*d", TARGET_ID_DIGITS, 0);
        add_line(lines, TARGET_ID_HEADER, number);
    }
    return 0;
}

/* Parse t->text and write the request. */
static int target_init(struct target *t, const struct targets *ts,
                       const struct target_settings *s, const struct api *api,
                       struct err *err)
{
    static const char id[] = TARGET_ID_HEADER ": ";
    bool is_ipv6;

    buf_init(&t->request, TARGET_MAX_REQUEST);
    if (url_parse(t->text, &t->url, err))
        return err_context(err, "target.url");
    t->is_null = strcmp(t->url.scheme, "null") == 0;
    is_ipv6 = strchr(t->url.host, ':') != NULL;
    buf_addf(&t->request, "%s %s HTTP/1.1\r\n", s->method, t->url.path);
    if (!has_header(&s->headers, "host"))
        buf_addf(&t->request, "Host: %s%s%s:%s\r\n", is_ipv6 ? "[" : "",
                 t->url.host, is_ipv6 ? "]" : "", t->url.port);
    for (size_t i = 0; i < ts->headers.len; i++) {
        const char *line = ts->headers.items[i];

        if (s->request_id && i + 1 == ts->headers.len)
            t->id_at = t->request.len + sizeof(id) - 1;
        buf_addf(&t->request, "%s\r\n", line);
    }
    if (makes_bodies(api))
        return 0;
    buf_adds(&t->request, "\r\n");
    if (buf_add(&t->request, buf_text(&ts->body), ts->body.len))
        return err_set(err, ERR_CONFIG, "target.body is larger than %zu bytes",
                       TARGET_MAX_REQUEST);
    return 0;
}

int target_make_request(const struct target *t, const struct api *api,
                        struct request *r, struct buf *body, struct buf *out)
{
    buf_reset(body);
    buf_reset(out);
    api_make_body(api, &r->facts, &r->row, r->session, body);
    buf_add(out, t->request.data, t->request.len);
    buf_addf(out, "Content-Length: %zu\r\n\r\n", body->len);
    buf_add(out, buf_text(body), body->len);
    return body->overflowed || out->overflowed ? -1 : 0;
}

void target_put_id(char *digits, int64_t seq)
{
    for (size_t i = TARGET_ID_DIGITS; i > 0; i--) {
        digits[i - 1] = (char)('0' + seq % 10);
        seq /= 10;
    }
}

static void add_endpoint(struct targets *ts, struct target *t,
                         const struct addrinfo *address)
{
    ts->endpoints =
        xrealloc(ts->endpoints, ts->n_endpoints + 1, sizeof(*ts->endpoints));
    ts->endpoints[ts->n_endpoints] = (struct endpoint){
        .target = t, .address = address, .place = ts->n_endpoints};
    ts->n_endpoints++;
    t->n_endpoints++;
}

/* Everything that needs no network. */
static int make(struct targets *ts, const struct target_settings *s,
                const struct api *api, struct err *err)
{
    /* Some servers refuse these methods without a Content-Length. */
    bool expects_body = strcmp(s->method, "POST") == 0 ||
                        strcmp(s->method, "PUT") == 0 ||
                        strcmp(s->method, "PATCH") == 0;

    *ts = (struct targets){.n_lanes = 1};
    buf_init(&ts->body, TARGET_MAX_REQUEST);
    if (target_read_body(s->body, &ts->body, err))
        return -1;
    if (!is_token(s->method))
        return err_set(err, ERR_CONFIG,
                       "target.method: '%s' is not a valid method", s->method);
    ts->has_length = !makes_bodies(api) && (s->body || expects_body);
    if (make_headers(ts, s, api, err))
        return -1;
    ts->items = xcalloc(s->urls.len, sizeof(*ts->items));
    ts->len = s->urls.len;
    ts->is_head = strcmp(s->method, "HEAD") == 0;
    for (size_t i = 0; i < ts->len; i++) {
        struct target *t = &ts->items[i];

        t->text = s->urls.items[i];
        if (target_init(t, ts, s, api, err))
            return -1;
        if (strcmp(t->url.scheme, ts->items[0].url.scheme) != 0)
            return err_set(err, ERR_CONFIG,
                           "target.url: %s and %s cannot be combined",
                           ts->items[0].url.scheme, t->url.scheme);
    }
    return 0;
}

int targets_init(struct targets *ts, const struct target_settings *s,
                 const struct api *api, struct err *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}; /* each once */

    if (make(ts, s, api, err))
        return -1;
    for (size_t i = 0; i < ts->len; i++) {
        struct target *t = &ts->items[i];
        struct url place = t->url;
        int rc = 0;

        if (!s->proxy && !s->unix_socket && !t->is_null) {
            if (s->connect_to && url_parse_place(s->connect_to, &place, err))
                return err_context(err, "target.connect_to");
            rc = getaddrinfo(place.host, place.port, &hints, &t->resolved);
        }
        if (rc)
            return err_set(err, ERR_IO, "%s: %s", place.host, gai_strerror(rc));
        t->first_endpoint = ts->n_endpoints;
        for (const struct addrinfo *a = t->resolved; a; a = a->ai_next)
            add_endpoint(ts, t, a);
        if (!t->resolved && !t->is_null)
            add_endpoint(ts, t, NULL);
    }
    return 0;
}

int targets_check(const struct target_settings *s, struct err *err)
{
    struct targets ts;
    int rc = make(&ts, s, NULL, err);

    targets_fini(&ts);
    return rc;
}

/* The result as a line that the caller frees.  Behind a proxy or a unix socket
 * there is no address to try.  The TLS of gRPC is tried when a run connects. */
static char *probe_endpoint(const struct endpoint *e,
                            const struct target_settings *s, bool *answers)
{
    bool is_plain = strcmp(e->target->url.scheme, "https") != 0;
    int error =
        e->address ? socket_probe(e->address, s->connect_timeout_ns) : 0;
    char address[SOCKET_ADDRESS_TEXT];
    char why[512];

    *answers = !error &&
               ((e->address && is_plain) || curl_probe(e, s, why, sizeof(why)));
    if (error)
        return xasprintf("%s: %s", socket_address_text(e->address, address),
                         socket_error_text(error));
    if (!*answers)
        return xstrdup(why);
    return e->address ? xstrdup(socket_address_text(e->address, address))
                      : redact_url(e->target->text);
}

/* Endpoints of one target that answer move to *kept. */
static int probe_target(struct targets *ts, struct target *t, size_t *kept,
                        const struct target_settings *s, struct strlist *notes,
                        struct err *err)
{
    size_t first = *kept;

    for (size_t i = 0; i < t->n_endpoints; i++) {
        struct endpoint e = ts->endpoints[t->first_endpoint + i];
        bool answers;
        char *line = probe_endpoint(&e, s, &answers);

        strlist_add(notes, line);
        free(line);
        if (answers) {
            e.place = *kept;
            ts->endpoints[(*kept)++] = e;
        }
    }
    t->first_endpoint = first;
    t->n_endpoints = *kept - first;
    if (t->n_endpoints == 0)
        return err_set(err, ERR_IO, "%s", notes->items[notes->len - 1]);
    return 0;
}

int targets_probe(struct targets *ts, const struct target_settings *s,
                  struct strlist *notes, struct err *err)
{
    size_t kept = 0;

    for (size_t i = 0; i < ts->len && !ts->items[i].is_null; i++) {
        if (probe_target(ts, &ts->items[i], &kept, s, notes, err))
            return -1;
    }
    ts->n_endpoints = kept;
    return 0;
}

void targets_fini(struct targets *ts)
{
    for (size_t i = 0; i < ts->len; i++) {
        if (ts->items[i].resolved)
            freeaddrinfo(ts->items[i].resolved);
        buf_fini(&ts->items[i].request);
    }
    strlist_fini(&ts->headers);
    buf_fini(&ts->body);
    free(ts->items);
    free(ts->endpoints);
    *ts = (struct targets){0};
}
