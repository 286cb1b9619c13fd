#include "loadgen/secret.h"

#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/file.h"
#include "common/recording/failures.h"
#include "common/settings.h"
#include "common/xalloc.h"

#define MAX_KEY ((size_t)64 << 10)

/* Shorter ones would tear holes into everything. */
#define LEAST_SECRET 4

static int read_key(const struct target_settings *s, struct buf *out,
                    struct err *err)
{
    const char *value = s->auth_env ? getenv(s->auth_env) : NULL;

    if (s->auth_env && s->auth_file)
        return err_set(err, ERR_CONFIG,
                       "target.auth_env: not beside target.auth_file");
    if (s->auth_env && (!value || !value[0]))
        return err_set(err, ERR_CONFIG,
                       "target.auth_env: the variable '%s' is not set",
                       s->auth_env);
    if (value)
        return buf_adds(out, value);
    if (file_read(s->auth_file, out, err)) {
        err->code = ERR_CONFIG;
        return err_context(err, "target.auth_file");
    }
    return 0;
}

/* One line, without what surrounds it. */
static int trim(struct buf *key, const char *name, struct err *err)
{
    while (key->len > 0 && strchr(" \t\r\n", key->data[key->len - 1]))
        key->data[--key->len] = '\0';
    if (key->len == 0 || strlen(key->data) != key->len ||
        strpbrk(key->data, "\r\n"))
        return err_set(err, ERR_CONFIG, "%s: not one line with a key", name);
    return 0;
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
    rc = read_key(s, &key, err) || trim(&key, name, err) ? -1 : 0;
    if (rc == 0) {
        line = xasprintf("Authorization: %s%s",
                         strchr(key.data, ' ') ? "" : "Bearer ", key.data);
        strlist_add(lines, line);
        free(line);
    }
    buf_fini(&key);
    return rc;
}

static void cross_out(char *text, size_t len, const char *secret)
{
    size_t n = strlen(secret);
    char *at = text;

    while (n >= LEAST_SECRET &&
           (at = memmem(at, len - (size_t)(at - text), secret, n)))
        memset(at, '*', n);
}

/* The value, and each word of it: "Bearer KEY" may come back as KEY alone. */
static void cross_out_words(struct failure_kind *k, const char *value)
{
    while (*value) {
        size_t len = strcspn(value, " ;,=");
        char *word = xstrndup(value, len);

        if (strcmp(word, "Bearer") != 0 && strcmp(word, "Basic") != 0) {
            cross_out(k->body, k->body_len, word);
            cross_out(k->text, strlen(k->text), word);
        }
        free(word);
        value += len + strspn(value + len, " ;,=");
    }
}

void secret_redact(const struct strlist *lines, struct failures *failures)
{
    for (size_t i = 0; i < lines->len; i++) {
        const char *colon = strchr(lines->items[i], ':');
        char *name =
            xstrndup(lines->items[i], (size_t)(colon - lines->items[i]));

        for (size_t k = 0; settings_is_secret(name) && k < failures->len; k++)
            cross_out_words(&failures->kinds[k], colon + 1);
        free(name);
    }
}
