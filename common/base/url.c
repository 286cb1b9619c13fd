#include "common/base/url.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/err.h"
#include "common/base/redact.h"

static bool has_scheme(const char *text, const char *scheme)
{
    size_t len = strcspn(text, ":");

    return strlen(scheme) == len && strncasecmp(text, scheme, len) == 0;
}

bool url_is_grpc(const char *text)
{
    return has_scheme(text, "grpc") || has_scheme(text, "grpcs");
}

bool url_is_tls(const char *text)
{
    return has_scheme(text, "https") || has_scheme(text, "grpcs");
}

static bool copy(char *out, size_t size, const char *from, size_t len)
{
    if (len >= size)
        return false;
    memcpy(out, from, len);
    out[len] = '\0';
    return true;
}

static bool is_port(const char *text)
{
    size_t len = strlen(text);

    return len >= 1 && len <= 5 && strspn(text, "0123456789") == len &&
           strtol(text, NULL, 10) >= 1 && strtol(text, NULL, 10) <= 65535;
}

/* Nothing that could end the request line or a header early. */
static bool is_clean(const char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text <= ' ' || *text == 0x7f)
            return false;
    }
    return true;
}

/* Too many digits are a number that is no port, too: 0.  So is the port that is
 * to be found yet. */
static bool take_port(struct url *url, const char *text, size_t len)
{
    bool is_number = len > 0 && strspn(text, "0123456789") >= len;

    if (len == strlen(URL_PORT) && memcmp(text, URL_PORT, len) == 0)
        return copy(url->port, sizeof(url->port), "0", 1);

    if (!copy(url->port, sizeof(url->port), text, len) && is_number)
        url->port[0] = '0';
    return is_port(url->port);
}

static bool is_all_digits(const char *text)
{
    return text[0] && text[strspn(text, "0123456789")] == '\0';
}

/* host[:port], the host in brackets if it holds colons. */
static bool split_authority(struct url *url, const char *p, size_t len)
{
    const char *end = p + len;
    const char *host_end;
    bool bracketed = len > 0 && *p == '[';

    if (bracketed) {
        p++;
        host_end = memchr(p, ']', (size_t)(end - p));
        if (!host_end ||
            !copy(url->host, sizeof(url->host), p, (size_t)(host_end - p)))
            return false;
        host_end++;
    } else {
        host_end = memchr(p, ':', len);
        if (!host_end)
            host_end = end;
        if (!copy(url->host, sizeof(url->host), p, (size_t)(host_end - p)))
            return false;
    }
    if (host_end == end) {
        snprintf(url->port, sizeof(url->port), "%s",
                 url_is_tls(url->scheme) ? "443" : "80");
        return url->host[0];
    }
    if (!url->host[0] || *host_end != ':')
        return false;
    return take_port(url, host_end + 1, (size_t)(end - host_end - 1));
}

static bool split_http(struct url *url, const char *rest)
{
    size_t authority = strcspn(rest, "/?#");
    const char *path = rest + authority;
    size_t path_len = strcspn(path, "#");

    if (!split_authority(url, rest, authority))
        return false;
    if (*path == '/')
        return copy(url->path, sizeof(url->path), path, path_len);
    url->path[0] = '/';
    return copy(url->path + 1, sizeof(url->path) - 1, path, path_len);
}

static void lower(char *s)
{
    for (; *s; s++) {
        if (*s >= 'A' && *s <= 'Z')
            *s = (char)(*s - 'A' + 'a');
    }
}

/* Not to be repeated in a message either. */
static bool has_password(const char *rest)
{
    return memchr(rest, '@', strcspn(rest, "/?#")) != NULL;
}

static int refuse(const char *text, struct err *err)
{
    char *shown = redact_url(text);

    err_set(err, ERR_CONFIG, "'%s' is not a URL; write http://host:port/path",
            shown);
    free(shown);
    return -1;
}

static int refuse_port(const char *text, struct err *err)
{
    char *shown = redact_url(text);

    err_set(err, ERR_CONFIG, "'%s': its port is not one of 1 to 65535", shown);
    free(shown);
    return -1;
}

static int refuse_scheme(const char *text, const char *scheme, struct err *err)
{
    char *shown = redact_url(text);

    err_set(err, ERR_CONFIG,
            "'%s': the scheme '%s' is not supported; write http://, https://, "
            "grpc://, grpcs:// or null://",
            shown, scheme);
    free(shown);
    return -1;
}

int url_parse(const char *text, struct url *url, struct err *err)
{
    const char *colon = strstr(text, "://");

    *url = (struct url){0};
    if (!colon || !is_clean(text) ||
        !copy(url->scheme, sizeof(url->scheme), text, (size_t)(colon - text)))
        return refuse(text, err);
    lower(url->scheme);
    if (strcmp(url->scheme, "null") == 0)
        return 0;
    if (has_password(colon + 3))
        return err_set(err, ERR_CONFIG,
                       "a user or password in a URL; send it in a header (-H)");
    if (strcmp(url->scheme, "http") != 0 && strcmp(url->scheme, "https") != 0 &&
        !url_is_grpc(url->scheme))
        return refuse_scheme(text, url->scheme, err);
    if (split_http(url, colon + 3))
        return 0;
    if (is_all_digits(url->port) && !is_port(url->port))
        return refuse_port(text, err);
    return refuse(text, err);
}

int url_check(const char *text, struct err *err)
{
    struct url url;

    return url_parse(text, &url, err);
}

int url_parse_place(const char *text, struct url *url, struct err *err)
{
    const char *colon = strrchr(text, ':');

    *url = (struct url){0};
    if (!colon || !is_clean(text) || strpbrk(text, "/?#@") ||
        !split_authority(url, text, strlen(text)) ||
        strcmp(colon + 1, url->port) != 0)
        return err_set(err, ERR_CONFIG, "'%s' is not host:port", text);
    return 0;
}

int url_check_place(const char *text, struct err *err)
{
    struct url url;

    return url_parse_place(text, &url, err);
}

static bool is_proxy_scheme(const char *scheme, size_t len)
{
    static const char *const known[] = {"http",    "https",  "socks4",
                                        "socks4a", "socks5", "socks5h"};

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strlen(known[i]) == len && strncasecmp(scheme, known[i], len) == 0)
            return true;
    }
    return false;
}

/* As libcurl sees it: what it does not like it would quote, password and all.
 */
static bool is_host(const char *host, bool is_bracketed)
{
    char address[sizeof(((struct url *)NULL)->host)];
    struct in6_addr parsed;

    if (is_bracketed) {
        copy(address, sizeof(address), host, strcspn(host, "%"));
        return inet_pton(AF_INET6, address, &parsed) == 1;
    }
    return !host[strcspn(host, "!\"#$&'()*+,;<=>?@[]\\^`{|}")];
}

int url_check_proxy(const char *text, struct err *err)
{
    const char *colon = strstr(text, "://");
    const char *rest = colon ? colon + 3 : text;
    size_t len = strcspn(rest, "/?#");
    const char *at = memchr(rest, '@', len);
    struct url url = {0};

    if (colon && !is_proxy_scheme(text, (size_t)(colon - text)))
        return err_set(err, ERR_CONFIG,
                       "not a proxy: its scheme must be http, https, socks4, "
                       "socks4a, socks5 or socks5h");
    if (at) {
        len -= (size_t)(at + 1 - rest);
        rest = at + 1;
    }
    if (!is_clean(text) || !split_authority(&url, rest, len) ||
        !is_host(url.host, *rest == '['))
        return err_set(err, ERR_CONFIG, "not a proxy; write http://host:port");
    return 0;
}

bool url_same_origin(const char *a, const char *b)
{
    struct err ignored = {0};
    struct url x;
    struct url y;

    return url_parse(a, &x, &ignored) == 0 && url_parse(b, &y, &ignored) == 0 &&
           strcasecmp(x.scheme, y.scheme) == 0 &&
           strcasecmp(x.host, y.host) == 0 && strcmp(x.port, y.port) == 0;
}
