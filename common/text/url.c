#include "common/text/url.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/text/redact.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

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

/* No character that could end the request line or a header early. */
static bool is_clean(const char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text <= ' ' || *text == 0x7f)
            return false;
    }
    return true;
}

/* Sets url->port to "0" for URL_PORT and for a number with too many digits. */
static bool take_port(struct url *url, const char *text, size_t len)
{
    bool is_number = len > 0 && strspn(text, "0123456789") >= len;

    if (len == strlen(URL_PORT) && memcmp(text, URL_PORT, len) == 0)
        return copy(url->port, sizeof(url->port), "0", 1);

    if (!copy(url->port, sizeof(url->port), text, len) && is_number)
        url->port[0] = '0';
    return is_port(url->port);
}

/* host[:port]; a host that contains colons is in brackets. */
static bool split_authority(struct url *url, const char *p, size_t len)
{
    const char *end = p + len;
    bool is_bracketed = len > 0 && *p == '[';
    const char *host = p + is_bracketed;
    const char *host_end =
        memchr(host, is_bracketed ? ']' : ':', (size_t)(end - host));

    if (!host_end && is_bracketed)
        return false;
    if (!host_end)
        host_end = end;
    if (host_end == host ||
        !copy(url->host, sizeof(url->host), host, (size_t)(host_end - host)))
        return false;
    host_end += is_bracketed;
    if (host_end == end) {
        snprintf(url->port, sizeof(url->port), "%s",
                 url_is_tls(url->scheme) ? "443" : "80");
        return true;
    }
    return *host_end == ':' &&
           take_port(url, host_end + 1, (size_t)(end - host_end - 1));
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

/* What is wrong with the URL, as far as it was parsed. */
static int refuse(const char *text, const struct url *url, bool is_known,
                  struct err *err)
{
    char *shown = redact_url(text);
    bool has_digits =
        url->port[0] && !url->port[strspn(url->port, "0123456789")];

    if (url->scheme[0] && !is_known)
        err_set(err, ERR_CONFIG,
                "'%s': the scheme '%s' is not supported; write http://, "
                "https://, grpc://, grpcs:// or null://",
                shown, url->scheme);
    else if (has_digits && !is_port(url->port))
        err_set(err, ERR_CONFIG, "'%s': the port must be from 1 to 65535",
                shown);
    else
        err_set(err, ERR_CONFIG,
                "'%s' is not a URL; write http://host:port/path", shown);
    free(shown);
    return -1;
}

int url_parse(const char *text, struct url *url, struct err *err)
{
    const char *colon = strstr(text, "://");
    bool is_known;

    *url = (struct url){0};
    if (!colon || !is_clean(text) ||
        !copy(url->scheme, sizeof(url->scheme), text, (size_t)(colon - text)))
        return refuse(text, url, false, err);
    for (char *s = url->scheme; *s; s++) {
        if (*s >= 'A' && *s <= 'Z')
            *s = (char)(*s - 'A' + 'a');
    }
    if (strcmp(url->scheme, "null") == 0)
        return 0;
    /* The password must not be repeated in a message. */
    if (memchr(colon + 3, '@', strcspn(colon + 3, "/?#")))
        return err_set(err, ERR_CONFIG,
                       "a URL cannot contain a user or password; send it in a "
                       "header (-H)");
    is_known = strcmp(url->scheme, "http") == 0 || url_is_tls(url->scheme) ||
               url_is_grpc(url->scheme);
    return is_known && split_http(url, colon + 3)
               ? 0
               : refuse(text, url, is_known, err);
}

/* The length of host and port at the start of a word without a scheme: a name
 * with a port, an address, a name with a dot, or localhost.  0: neither. */
static size_t place_len(const char *word)
{
    size_t len = strcspn(word, "/?#");
    struct url url = {0};

    if (strstr(word, "://") || word[0] == '.' || len == 0 ||
        !split_authority(&url, word, len))
        return 0;
    return memchr(word, ':', len) || strchr(url.host, '.') ||
                   strcmp(url.host, "localhost") == 0
               ? len
               : 0;
}

char *url_complete(const char *text)
{
    return place_len(text) > 0 ? xasprintf("http://%s", text) : xstrdup(text);
}

static bool ends_with(const char *text, size_t len, const char *end)
{
    size_t end_len = strlen(end);

    return len >= end_len && memcmp(text + len - end_len, end, end_len) == 0;
}

/* A name with a dot alone could be a file, and a settings file could be in a
 * directory with a dot. */
bool url_is_meant(const char *word)
{
    size_t place = place_len(word);
    size_t len = strcspn(word, "?#");
    bool is_file = ends_with(word, len, ".yaml") ||
                   ends_with(word, len, ".yml") ||
                   ends_with(word, len, ".json");

    if (place == 0)
        return false;
    return memchr(word, ':', place) || strncmp(word, "localhost", place) == 0 ||
           (word[place] && !is_file);
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

/* By the rules of libcurl, which would quote the password in its error message.
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
    static const char *const schemes[] = {"http",    "https",  "socks4",
                                          "socks4a", "socks5", "socks5h"};
    const char *colon = strstr(text, "://");
    const char *rest = colon ? colon + 3 : text;
    size_t len = strcspn(rest, "/?#");
    const char *at = memchr(rest, '@', len);
    bool is_known = !colon;
    struct url url = {0};

    for (size_t i = 0; i < COUNT(schemes); i++)
        is_known = is_known || has_scheme(text, schemes[i]);
    if (!is_known)
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
