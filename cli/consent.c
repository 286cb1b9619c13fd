#include "cli/consent.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "common/settings/settings_path.h"

#define MAX_NAMES 360  /* keys in a message */
#define MAX_LINE  240  /* keys and values in a message */
#define MAX_VALUE 1000 /* of a value on a line of its own */

/* The text, if the option makes us run a command, or read a key or a file. */
static char *reaches_out(const struct opt_set *set, const struct opt *opt)
{
    char *text = opt->type == &opt_text ? *(char **)opt_field(set, opt) : NULL;

    if (!text || !text[0])
        return NULL;
    return opt->is_command || opt->is_key_source || settings_path_in(opt, text)
               ? text
               : NULL;
}

static struct consent_item *add(struct consent *c)
{
    c->items = xrealloc(c->items, c->len + 1, sizeof(*c->items));
    c->items[c->len] = (struct consent_item){0};
    return &c->items[c->len++];
}

static bool is_same(struct settings *run, enum settings_block block,
                    const struct opt *opt, const char *text)
{
    struct opt_set set = settings_set(run, block);
    const char *of_run = reaches_out(&set, opt);

    return of_run && strcmp(of_run, text) == 0;
}

/* What a class says itself; the rest it will have from the run.  The warm-up
 * has nothing from the run once it is recorded: `run` is NULL. */
static void take_class(struct consent *c, const struct class_settings *of,
                       const char *list, struct settings *run,
                       enum settings_block block)
{
    struct opt_set set = settings_set(of->settings, block);

    for (size_t i = 0; i < set.block->len; i++) {
        const struct opt *opt = &set.block->opts[i];
        const char *text = reaches_out(&set, opt);
        struct consent_item *item;

        if (!text || (run && is_same(run, block, opt, text)))
            continue;
        item = add(c);
        item->where =
            xasprintf("%s%s: %s.%s", list, of->name, set.block->name, opt->key);
        item->text = xstrdup(text);
    }
}

static void take_run(struct consent *c, struct settings *s,
                     enum settings_block block)
{
    struct opt_set set = settings_set(s, block);

    for (size_t i = 0; i < set.block->len; i++) {
        const struct opt *opt = &set.block->opts[i];
        char *text = opt->key ? reaches_out(&set, opt) : NULL;
        struct consent_item *item;

        if (!text)
            continue;
        item = add(c);
        item->where =
            xasprintf("%s%s%s", set.block->name ? set.block->name : "",
                      set.block->name ? "." : "", opt->key);
        item->field = opt_field(&set, opt);
        item->text = text;
        *item->field = NULL;
    }
}

void consent_take(struct consent *c, struct settings *s)
{
    for (size_t i = 0; i < s->classes.len; i++) {
        take_class(c, &s->classes.items[i], "classes: ", s, BLOCK_TARGET);
        take_class(c, &s->classes.items[i], "classes: ", s, BLOCK_DATA);
    }
    for (size_t i = 0; i < s->warmup.len; i++)
        take_class(c, &s->warmup.items[i], "", NULL, BLOCK_DATA);
    for (int b = 0; b < BLOCK_COUNT; b++)
        take_run(c, s, (enum settings_block)b);
}

void consent_drop(struct consent *c, char *const *field)
{
    for (size_t i = 0; i < c->len; i++) {
        if (c->items[i].field != field)
            continue;
        free(c->items[i].where);
        free(c->items[i].text);
        c->items[i] = c->items[--c->len];
        return;
    }
}

static bool is_given_again(const struct consent_item *item)
{
    return item->field && *item->field;
}

static void log_items(const struct consent *c)
{
    for (size_t i = 0; i < c->len; i++) {
        const struct consent_item *item = &c->items[i];

        if (!is_given_again(item))
            log_error("in the recording: %s: %.*s%s", item->where, MAX_VALUE,
                      item->text, strlen(item->text) > MAX_VALUE ? "..." : "");
    }
}

static int refuse(const struct consent *c, struct err *err)
{
    struct buf names;
    struct buf line;
    size_t n = 0;

    buf_init(&names, MAX_NAMES); /* names that do not fit are left out */
    buf_init(&line, MAX_LINE);
    for (size_t i = 0; i < c->len; i++) {
        const struct consent_item *item = &c->items[i];

        if (is_given_again(item))
            continue;
        n++;
        buf_addf(&names, "%s%s", names.len > 0 ? ", " : "", item->where);
        buf_addf(&line, "%s%s '%s'", line.len > 0 ? ", " : "", item->where,
                 item->text);
    }
    if (line.overflowed)
        log_items(c);
    if (n > 0)
        err_set(err, ERR_CONFIG,
                "the recording names commands, keys or files of this machine: "
                "%s (--" CONSENT_FLAG " shows and uses them)",
                !line.overflowed ? buf_text(&line)
                : names.len > 0  ? buf_text(&names)
                                 : "long names");
    buf_fini(&line);
    buf_fini(&names);
    return n > 0 ? -1 : 0;
}

int consent_settle(struct consent *c, bool is_allowed, struct err *err)
{
    if (!is_allowed && refuse(c, err))
        return -1;
    for (size_t i = 0; i < c->len; i++) {
        struct consent_item *item = &c->items[i];

        if (is_given_again(item))
            continue;
        log_error("from the recording: %s: %s", item->where, item->text);
        if (item->field) {
            *item->field = item->text;
            item->text = NULL;
        }
    }
    return 0;
}

void consent_fini(struct consent *c)
{
    for (size_t i = 0; i < c->len; i++) {
        free(c->items[i].where);
        free(c->items[i].text);
    }
    free(c->items);
    *c = (struct consent){0};
}
