#include "common/text/redact.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/xalloc.h"
#include "common/text/url.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define MAX_STARS 3

/* Characters that end a URL within a text. */
#define URL_ENDS " \t\r\n\"'<>"

/* ---- names ---- */

/* One list for headers, URL parameters and settings.  These match anywhere in a
 * name, ignoring case. */
static const char *const secret_parts[] = {
    "auth",       "cookie", "token",      "secret",    "key",     "passw",
    "passphrase", "bearer", "credential", "signature", "session", "jwt",
    "assertion",  "hmac",   "saml",       "private",   "ticket"};

/* These match whole words only: "design" contains sig. */
static const char *const secret_words[] = {
    "sig", "pass", "pwd", "pw", "pin", "sid", "sess", "otp", "csrf", "code"};

bool redact_is_secret(const char *name)
{
    for (size_t i = 0; i < COUNT(secret_parts); i++) {
        if (strcasestr(name, secret_parts[i]))
            return true;
    }
    while (*name) {
        size_t len = 0;

        while (isalnum((unsigned char)name[len]))
            len++;
        for (size_t i = 0; i < COUNT(secret_words); i++) {
            if (strlen(secret_words[i]) == len &&
                strncasecmp(secret_words[i], name, len) == 0)
                return true;
        }
        name += len > 0 ? len : 1;
    }
    return false;
}

/* ---- URLs ---- */

static int hex(char c)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *at = c ? strchr(digits, c) : NULL;

    return at ? (int)(at - digits) % 16 : -1;
}

bool redact_decode(char *text)
{
    char *out = text;
    bool has_any = false;

    for (; *text; text++) {
        int high = text[0] == '%' ? hex(text[1]) : -1;
        int low = high >= 0 ? hex(text[2]) : -1;

        if (low < 0 || high + low == 0) {
            *out++ = *text;
            continue;
        }
        *out++ = (char)(high * 16 + low);
        text += 2;
        has_any = true;
    }
    *out = '\0';
    return has_any;
}

/* The end of the user and password, at the last '@' before the path; NULL if
 * there are none.  A password may contain an unescaped '/': then what follows
 * the colon is not a port, and the '@' is searched for in the whole URL. */
static const char *find_user_end(const char *start)
{
    size_t len = strcspn(start, "/?#" URL_ENDS);
    const char *colon = memchr(start, ':', len);
    const char *end = memrchr(start, '@', len);
    size_t port_len;

    if (end || !colon || start[0] == '[')
        return end;
    port_len = len - (size_t)(++colon - start);
    if ((port_len <= 5 && strspn(colon, "0123456789") >= port_len) ||
        (port_len == strlen(URL_PORT) &&
         strncmp(colon, URL_PORT, port_len) == 0))
        return NULL;
    return memrchr(start, '@', strcspn(start, URL_ENDS));
}

/* A text such as a command may contain several URLs; a text without "://" is
 * one URL. */
static struct redact_span find_user(const char *text, size_t at)
{
    const char *mark = strstr(text + at, "://");
    const char *start = mark ? mark + strlen("://") : at == 0 ? text : NULL;

    while (start) {
        const char *end = find_user_end(start);

        if (end && end > start)
            return (struct redact_span){.from = (size_t)(start - text),
                                        .len = (size_t)(end - start)};
        mark = strstr(start, "://");
        start = mark ? mark + strlen("://") : NULL;
    }
    return (struct redact_span){0};
}

/* Some servers take ';' as a separator of parameters and others as a part of
 * the value, so it starts a name and does not end a value. */
static struct redact_span find_parameter(const char *text, size_t at)
{
    const char *p = strpbrk(text, "?#");

    if (p && (size_t)(p - text) < at)
        p = strpbrk(text + at, "&;?#");
    for (; p; p = strpbrk(p + 1, "&;?#")) {
        size_t name_len = strcspn(p + 1, "=&;?#");
        const char *value = p + 1 + name_len + 1;
        bool is_secret;
        char *name;

        if (value[-1] != '=')
            continue;
        name = xstrndup(p + 1, name_len);
        redact_decode(name); /* it may be written api%5Fkey */
        is_secret = redact_is_secret(name);
        free(name);
        if (is_secret && strcspn(value, "&#" URL_ENDS) > 0)
            return (struct redact_span){.from = (size_t)(value - text),
                                        .len = strcspn(value, "&#" URL_ENDS)};
    }
    return (struct redact_span){0};
}

struct redact_span redact_find(const char *text, size_t at)
{
    struct redact_span user = find_user(text, at);
    struct redact_span parameter = find_parameter(text, at);

    return user.len > 0 && (parameter.len == 0 || user.from < parameter.from)
               ? user
               : parameter;
}

char *redact_url(const char *text)
{
    char *out = xstrdup(text);
    struct redact_span s;
    size_t at = 0;

    while (s = redact_find(out, at), s.len > 0) {
        size_t stars = s.len < MAX_STARS ? s.len : MAX_STARS;
        char *rest = out + s.from + s.len;

        memset(out + s.from, '*', stars);
        memmove(out + s.from + stars, rest, strlen(rest) + 1);
        at = s.from + stars;
    }
    return out;
}

char *redact_text(const char *text)
{
    return strstr(text, "://") ? redact_url(text) : xstrdup(text);
}

bool redact_was(const char *text)
{
    struct redact_span s;
    size_t at = 0;

    if (strstr(text, REDACTED))
        return true;
    while (s = redact_find(text, at), s.len > 0) {
        if (strspn(text + s.from, "*") >= s.len)
            return true;
        at = s.from + s.len;
    }
    return false;
}

/* ---- headers, and the command line ---- */

char *redact_header(const char *name, const char *value)
{
    if (redact_is_secret(name))
        return xstrdup(REDACTED);
    return redact_text(value);
}

static const char *after(const char *text, const char *prefix)
{
    size_t len = strlen(prefix);

    return strncmp(text, prefix, len) == 0 ? text + len : NULL;
}

/* The text after the H of -H, -qH or -Hname, maybe ""; NULL if there is no such
 * flag. */
static const char *after_letter(const char *arg)
{
    const char *h = arg[0] == '-' && arg[1] != '-' ? strchr(arg, 'H') : NULL;

    return h ? h + 1 : NULL;
}

/* The value of this flag or key within argv[i], or NULL. */
static const char *value_of(const char *const *argv, size_t i, const char *flag,
                            const char *key)
{
    const char *before = i > 0 ? argv[i - 1] : "";
    const char *set =
        strcmp(before, "--set") == 0 ? argv[i] : after(argv[i], "--set=");
    const char *value = set ? after(set, key) : NULL;
    const char *attached = after(argv[i], flag);

    if (value && *value == '=')
        return value + 1;
    if (strcmp(before, flag) == 0)
        return argv[i];
    return attached && *attached == '=' ? attached + 1 : NULL;
}

/* "-H 'authorization: x'" becomes "-H 'authorization: (redacted)'"; NULL if
 * argv[i] has no secret header. */
static char *redact_header_in(const char *const *argv, size_t i)
{
    const char *letter = i > 0 ? after_letter(argv[i - 1]) : NULL;
    const char *header = value_of(argv, i, "--header", "target.headers");
    char *out = NULL;
    size_t len;
    char *name;

    if (!header)
        header = letter && !letter[0] ? argv[i] : after_letter(argv[i]);
    len = header ? strcspn(header, ":") : 0;
    if (!header || header[len] != ':')
        return NULL;
    while (len > 0 && header[len - 1] == ' ')
        len--;
    name = xstrndup(header, len);
    if (redact_is_secret(name))
        out = xasprintf("%.*s: " REDACTED, (int)(header + len - argv[i]),
                        argv[i]);
    free(name);
    return out;
}

/* The URL that argv[i] is, or has after a '='; http:// may be missing.  NULL:
 * there is none. */
static const char *url_in(const char *const *argv, size_t i)
{
    const char *proxy = value_of(argv, i, "--proxy", "target.proxy");
    const char *rest = argv[i];

    while (!proxy && rest && !url_is_meant(rest)) {
        rest = strchr(rest, '=');
        rest = rest ? rest + 1 : NULL;
    }
    return proxy ? proxy : rest;
}

char *redact_arg(const char *const *argv, size_t i)
{
    char *out = redact_header_in(argv, i);
    const char *start;
    char *url;

    if (out)
        return out;
    start = url_in(argv, i);
    if (!start)
        return redact_text(argv[i]);
    url = redact_url(start);
    out = xasprintf("%.*s%s", (int)(start - argv[i]), argv[i], url);
    free(url);
    return out;
}
