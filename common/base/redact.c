#include "common/base/redact.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/url.h"
#include "common/base/xalloc.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define MOST_STARS 3

/* What no URL holds, and so ends one within a text. */
#define URL_ENDS " \t\r\n\"'<>"

/* ---- names ---- */

/* The one list for headers, URL parameters and settings.  These are matched
 * anywhere in a name, in any case. */
static const char *const secret_parts[] = {
    "auth",       "cookie", "token",      "secret",    "key",     "passw",
    "passphrase", "bearer", "credential", "signature", "session", "jwt",
    "assertion",  "hmac",   "saml",       "private",   "ticket"};

/* These are too short for that ("design" contains sig): whole words only. */
static const char *const secret_words[] = {
    "sig", "pass", "pwd", "pw", "pin", "sid", "sess", "otp", "csrf", "code"};

static bool is_secret_word(const char *word, size_t len)
{
    for (size_t i = 0; i < COUNT(secret_words); i++) {
        if (strlen(secret_words[i]) == len &&
            strncasecmp(secret_words[i], word, len) == 0)
            return true;
    }
    return false;
}

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
        if (is_secret_word(name, len))
            return true;
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

static bool is_port_text(const char *text, size_t len)
{
    return (len <= 5 && strspn(text, "0123456789") >= len) ||
           (len == strlen(URL_PORT) && strncmp(text, URL_PORT, len) == 0);
}

/* Where the user and the password end, if there are any: at the last '@' of
 * the host's part.  A password may hold a '/' that should not be there: then
 * what seems to be a port is none. */
static const char *find_user_end(const char *start)
{
    size_t len = strcspn(start, "/?#" URL_ENDS);
    const char *colon = memchr(start, ':', len);
    const char *end = memrchr(start, '@', len);

    if (end || !colon || start[0] == '[')
        return end;
    colon++;
    if (is_port_text(colon, len - (size_t)(colon - start)))
        return NULL;
    return memrchr(start, '@', strcspn(start, URL_ENDS));
}

/* A text such as a command may hold several URLs; one without "://" is a URL
 * as a whole. */
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

/* The value of the parameter whose name starts at p, if it is secret.  A ';'
 * starts another name, for some servers, and ends no value, for others. */
static size_t secret_value(const char *p, size_t *name_len)
{
    bool is_secret;
    char *name;

    *name_len = strcspn(p, "=&;?#");
    if (p[*name_len] != '=')
        return 0;
    name = xstrndup(p, *name_len);
    redact_decode(name); /* it may be written api%5Fkey */
    is_secret = redact_is_secret(name);
    free(name);
    if (!is_secret)
        return 0;
    return strcspn(p + *name_len + 1, "&#" URL_ENDS);
}

static struct redact_span find_parameter(const char *text, size_t at)
{
    const char *p = strpbrk(text, "?#");

    /* Names stand behind a separator. */
    if (p && (size_t)(p - text) < at)
        p = strpbrk(text + at, "&;?#");
    while (p) {
        size_t name_len;
        size_t len = secret_value(p + 1, &name_len);

        if (len > 0)
            return (struct redact_span){
                .from = (size_t)(p + 1 + name_len + 1 - text), .len = len};
        p = strpbrk(p + 1, "&;?#");
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
        size_t stars = s.len < MOST_STARS ? s.len : MOST_STARS;
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

/* What follows the H of -H, -qH or -Hname, "" included; NULL: no such flag. */
static const char *after_letter(const char *arg)
{
    const char *h = arg[0] == '-' && arg[1] != '-' ? strchr(arg, 'H') : NULL;

    return h ? h + 1 : NULL;
}

/* Where in argv[i] the value of this flag or key stands; or NULL. */
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

/* Where in argv[i] a header stands; or NULL. */
static const char *header_in(const char *const *argv, size_t i)
{
    const char *letter = i > 0 ? after_letter(argv[i - 1]) : NULL;
    const char *value = value_of(argv, i, "--header", "target.headers");

    if (value || (letter && !letter[0]))
        return value ? value : argv[i];
    return after_letter(argv[i]);
}

/* "-H 'authorization: x'" becomes "-H 'authorization: (redacted)'"; NULL if
 * it is not secret. */
static char *redact_header_in(const char *arg, const char *header)
{
    size_t len = strcspn(header, ":");
    char *out = NULL;
    char *name;

    if (header[len] != ':')
        return NULL;
    while (len > 0 && header[len - 1] == ' ')
        len--;
    name = xstrndup(header, len);
    if (redact_is_secret(name))
        out = xasprintf("%.*s: " REDACTED, (int)(header + len - arg), arg);
    free(name);
    return out;
}

char *redact_arg(const char *const *argv, size_t i)
{
    const char *arg = argv[i];
    const char *header = header_in(argv, i);
    const char *proxy = value_of(argv, i, "--proxy", "target.proxy");
    char *out = header ? redact_header_in(arg, header) : NULL;
    char *url;

    if (out)
        return out;
    if (!proxy)
        return redact_text(arg);
    url = redact_url(proxy);
    out = xasprintf("%.*s%s", (int)(proxy - arg), arg, url);
    free(url);
    return out;
}
