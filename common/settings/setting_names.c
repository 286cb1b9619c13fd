/* How a message names a setting: as the user gave it.  Messages are made with
 * keys ("load.rate requires load.scenario: closed"); here those that came from
 * the command line become flags ("--rate requires --scenario closed"). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "common/settings/settings_table.h"

#define KEY_CHARS "abcdefghijklmnopqrstuvwxyz0123456789_."

static bool follows(const char *msg, const char *at, const char *before)
{
    size_t len = strlen(before);

    return (size_t)(at - msg) >= len && memcmp(at - len, before, len) == 0;
}

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Length of the key of an option with a flag that begins here; 0: none does.
 * The key of a class or variant ("classes: chat: data.file") is not such a one,
 * and "slo" or "name" may be a plain word. */
static size_t key_at(const char *msg, const char *at)
{
    size_t len = strspn(at, KEY_CHARS);
    enum settings_block block;
    const struct opt *opt;

    if (at > msg && (!strchr(" (", at[-1]) || follows(msg, at, ": ")))
        return 0;
    while (len > 0 && at[len - 1] == '.')
        len--;
    if (!memchr(at, '.', len) && !(at == msg && at[len] == ':') &&
        !follows(msg, at, "requires ") && !follows(msg, at, "combined with "))
        return 0;
    opt = len > 0 ? settings_find(at, len, &block) : NULL;
    return opt && opt->flag ? len : 0;
}

/* Is this ": gamma", a value that belongs to the name? */
static bool is_value(const struct opt *opt, const char *at)
{
    size_t len = starts(at, ": ") ? strcspn(at + 2, " ,;)") : 0;
    const char *end = at + 2 + len;

    if (len == 0)
        return false;
    for (size_t i = 0; opt->type == &opt_choice && opt->names[i]; i++) {
        if (strlen(opt->names[i]) == len &&
            memcmp(opt->names[i], at + 2, len) == 0)
            return true;
    }
    return starts(end, " requires ") || starts(end, " cannot ");
}

/* Length of " (--data)", by which a message explains a key. */
static size_t hint_len(const char *at)
{
    return starts(at, " (--") ? strcspn(at, ")") + 1 : 0;
}

/* " (chat.yaml:3)", once. */
static void put_place(const struct settings_file *file, size_t *line,
                      struct buf *out)
{
    if (*line > 0)
        buf_addf(out, " (%s:%zu)", file->path, *line);
    *line = 0;
}

bool settings_name_as_given(const struct settings_file *file, char *msg,
                            size_t size)
{
    bool is_flag_meant = !file->path;
    bool is_first = true;
    size_t line_elsewhere = 0;
    struct buf out;

    buf_init(&out, size);
    for (const char *at = msg; *at;) {
        size_t len = key_at(msg, at);
        enum settings_block block;
        const struct opt *opt;
        const char *given;
        char *key;
        size_t line;
        bool is_flag;

        if (len == 0) {
            if (*at == ';')
                put_place(file, &line_elsewhere, &out);
            buf_add(&out, at++, 1);
            continue;
        }
        opt = settings_find(at, len, &block);
        key = xstrndup(at, len);
        given = strmap_get(&file->given, key);
        line = given ? 0 : settings_line_of_key(file, key);
        is_flag = given ? given[0] == '-' : line == 0 && is_flag_meant;
        free(key);
        if (is_first)
            is_flag_meant = is_flag && at == msg;
        is_first = false;
        if (is_flag) {
            buf_addf(&out, "--%s", opt->flag);
            at += len;
            at += hint_len(at);
            if (is_value(opt, at))
                at++; /* "--arrival gamma" */
        } else {
            buf_add(&out, at, len);
            at += len;
            line_elsewhere = is_flag_meant ? line : 0;
        }
    }
    put_place(file, &line_elsewhere, &out);
    snprintf(msg, size, "%s", buf_text(&out));
    buf_fini(&out);
    return is_flag_meant && msg[0] == '-';
}
