#include "loadgen/prepare/secret.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "common/recording/failures.h"
#include "common/settings/settings.h"
#include "common/text/redact.h"
#include "loadgen/prepare/target.h"

#define MAX_KEY ((size_t)64 << 10)

/* Shorter texts occur everywhere by chance. */
#define MIN_SECRET 4

/* An invalid name of a variable may be the key itself and is not printed. */
static int read_key(const struct target_settings *s, struct buf *out,
                    struct err *err)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_"
                                  "abcdefghijklmnopqrstuvwxyz0123456789";
    const char *value = s->auth_env ? getenv(s->auth_env) : NULL;

    if (s->auth_env &&
        (!s->auth_env[0] || s->auth_env[strspn(s->auth_env, letters)]))
        return err_set(err, ERR_CONFIG,
                       "target.auth_env must be the name of a variable");
    if (s->auth_env && (!value || !value[0]))
        return err_set(err, ERR_CONFIG,
                       "target.auth_env: the variable '%s' is not set",
                       s->auth_env);
    if (value)
        return buf_adds(out, value);
    return file_read(s->auth_file, out, err)
               ? err_context(err, "target.auth_file")
               : 0;
}

int secret_add_header(const struct target_settings *s, struct strlist *lines,
                      struct err *err)
{
    const char *name = s->auth_env ? "target.auth_env" : "target.auth_file";
    struct buf key;
    char *line;
    int rc;

    if (!s->auth_env && !s->auth_file)
        return 0;
    buf_init(&key, MAX_KEY);
    rc = read_key(s, &key, err);
    buf_consume(&key, str_bom_len(key.data, key.len));
    while (key.len > 0 && strchr(" \t\r\n", key.data[key.len - 1]))
        key.data[--key.len] = '\0';
    if (rc == 0 && (key.len == 0 || strlen(key.data) != key.len ||
                    strpbrk(key.data, "\r\n")))
        rc = err_set(err, ERR_CONFIG, "%s must contain one line with a key",
                     name);
    if (rc == 0) {
        line = xasprintf("Authorization: %s%s",
                         strchr(key.data, ' ') ? "" : "Bearer ", key.data);
        strlist_add(lines, line);
        free(line);
    }
    buf_fini(&key);
    return rc;
}

/* ---- collecting secrets ---- */

static void add_part(struct strlist *secrets, const char *text, size_t len)
{
    char *part;

    if (len < MIN_SECRET)
        return;
    part = xstrndup(text, len);
    strlist_add(secrets, part);
    free(part);
}

/* A word such as KEY, KEY==, name=KEY or name="KEY". */
static void add_word(struct strlist *secrets, const char *word, size_t len)
{
    const char *value = memchr(word, '=', len);
    size_t bare = len;

    add_part(secrets, word, len);
    while (bare > 0 && word[bare - 1] == '=')
        bare--;
    if (bare < len)
        add_part(secrets, word, bare);
    if (!value || value >= word + bare)
        return;
    for (value++; *value == '"'; value++)
        continue;
    add_part(secrets, value, strcspn(value, "\" ;,"));
}

/* The value, and each word of it: "Bearer KEY" may be echoed as KEY alone. */
static void add_value(struct strlist *secrets, const char *value)
{
    size_t scheme;

    value += strspn(value, " ");
    scheme = strcspn(value, " ");
    if ((scheme == 6 && strncasecmp(value, "Bearer", scheme) == 0) ||
        (scheme == 5 && strncasecmp(value, "Basic", scheme) == 0))
        value += scheme + strspn(value + scheme, " ");
    add_part(secrets, value, strlen(value));
    while (*value) {
        size_t len = strcspn(value, " ;,");

        add_word(secrets, value, len);
        value += len + strspn(value + len, " ;,");
    }
}

/* "a%20b" may be echoed as "a b". */
static void add_decoded(struct strlist *secrets, const char *text, size_t len)
{
    char *plain = xstrndup(text, len);

    if (redact_decode(plain))
        add_part(secrets, plain, strlen(plain));
    free(plain);
}

/* User and password in base64, as a proxy gets them. */
static void add_basic(struct strlist *secrets, const char *user, size_t len)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz0123456789+/";
    char *plain = xstrndup(user, len);
    struct buf out;

    redact_decode(plain);
    len = strlen(plain);
    buf_init(&out, MAX_KEY);
    for (size_t i = 0; i < len; i += 3) {
        unsigned bits = (unsigned)(unsigned char)plain[i] << 16;
        char four[5] = "====";

        if (i + 1 < len)
            bits |= (unsigned)(unsigned char)plain[i + 1] << 8;
        if (i + 2 < len)
            bits |= (unsigned char)plain[i + 2];
        for (size_t k = 0; k < 4 && k <= len - i; k++)
            four[k] = digits[bits >> (18 - 6 * k) & 63];
        buf_adds(&out, four);
    }
    if (out.len > 0)
        add_word(secrets, out.data, out.len);
    buf_fini(&out);
    free(plain);
}

static void add_url(struct strlist *secrets, const char *url)
{
    struct redact_span s;

    for (size_t at = 0; s = redact_find(url, at), s.len > 0;
         at = s.from + s.len) {
        const char *text = url + s.from;
        const char *colon = memchr(text, ':', s.len);

        add_part(secrets, text, s.len);
        add_decoded(secrets, text, s.len);
        if (!colon)
            continue;
        add_basic(secrets, text, s.len);
        /* The password alone. */
        s.len -= (size_t)(colon + 1 - text);
        s.from += (size_t)(colon + 1 - text);
        add_part(secrets, colon + 1, s.len);
        add_decoded(secrets, colon + 1, s.len);
    }
}

static int longer_first(const void *a, const void *b)
{
    size_t x = strlen(*(char *const *)a);
    size_t y = strlen(*(char *const *)b);

    return (x < y) - (x > y);
}

void secrets_find(const struct targets *ts, const struct target_settings *s,
                  struct strlist *secrets)
{
    for (size_t i = 0; i < ts->headers.len; i++) {
        const char *line = ts->headers.items[i];
        size_t len = strcspn(line, ":");
        char *name = xstrndup(line, len);

        if (line[len] == ':' && redact_is_secret(name))
            add_value(secrets, line + len + 1);
        else if (strstr(line + len, "://"))
            add_url(secrets, line + len);
        free(name);
    }
    for (size_t i = 0; i < ts->len; i++)
        add_url(secrets, ts->items[i].text);
    if (s->proxy)
        add_url(secrets, s->proxy);
    if (s->metrics)
        add_url(secrets, s->metrics);
    if (secrets->len > 0)
        qsort(secrets->items, secrets->len, sizeof(char *), longer_first);
}

/* ---- removing secrets ---- */

void secrets_cross_out(const struct strlist *secrets, char *text, size_t len)
{
    for (size_t i = 0; i < secrets->len; i++) {
        const char *secret = secrets->items[i];
        size_t n = strlen(secret);
        char *at = text;

        while ((at = memmem(at, len - (size_t)(at - text), secret, n))) {
            memset(at, '*', n);
            at += n; /* the secret may consist of stars */
        }
        for (n = n < len ? n : len; n >= MIN_SECRET; n--) { /* cut off */
            if (memcmp(text + len - n, secret, n) != 0)
                continue;
            memset(text + len - n, '*', n);
            break;
        }
    }
}

void secrets_redact_failures(const struct strlist *secrets,
                             struct failures *failures)
{
    for (size_t i = 0; i < failures->len; i++) {
        struct failure_kind *k = &failures->kinds[i];

        secrets_cross_out(secrets, k->body, k->body_len);
        secrets_cross_out(secrets, k->text, strlen(k->text));
    }
}

/* ---- HTTP ---- */

/* A folded line continues the header before it, which *is_hidden is about. */
static void add_header_line(bool *is_hidden, const char *line, size_t len,
                            struct buf *out)
{
    size_t name_len = strcspn(line, ":");
    bool is_folded = line[0] == ' ' || line[0] == '\t';
    char *name = xstrndup(line, name_len);

    if (!is_folded)
        *is_hidden = line[name_len] == ':' && redact_is_secret(name);
    if (!*is_hidden)
        buf_add(out, line, len);
    else if (!is_folded)
        buf_addf(out, "%s: " REDACTED "\r\n", name);
    free(name);
}

/* A head up to and including the empty line that ends it; returns what follows.
 */
static const char *add_head(const char *p, const char *end, bool *is_connect,
                            struct buf *out)
{
    bool is_first = true;
    bool is_hidden = false;

    while (p < end) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        size_t len = (size_t)((newline ? newline + 1 : end) - p);
        char *line = xstrndup(p, len);
        bool is_last = strspn(line, "\r\n") == len;

        if (is_first) {
            char *shown = redact_url(line);

            *is_connect = strncmp(line, "CONNECT ", 8) == 0;
            if (strlen(line) == len)
                buf_adds(out, shown);
            else
                buf_add(out, line, len); /* not HTTP */
            free(shown);
        } else {
            add_header_line(&is_hidden, line, len, out);
        }
        free(line);
        is_first = false;
        p += len;
        if (is_last)
            break;
    }
    return p;
}

/* Before the final response there may be others: 1xx, or a proxy's. */
void secrets_redact_http(const struct strlist *secrets, const struct buf *bytes,
                         struct buf *out)
{
    char *copy = xstrndup(buf_text(bytes), bytes->len);
    const char *end = copy + bytes->len;
    const char *p = copy;
    bool has_more = true;

    secrets_cross_out(secrets, copy, bytes->len);
    while (p < end && has_more) {
        p = add_head(p, end, &has_more, out);
        has_more |= end - p > 5 && memcmp(p, "HTTP/", 5) == 0;
    }
    buf_add(out, p, (size_t)(end - p));
    free(copy);
}
