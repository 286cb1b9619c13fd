#include "cli/consent.h"

#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/log.h"
#include "common/settings.h"
#include "common/settings_path.h"
#include "common/xalloc.h"

#define MAX_NAMES 360 /* of a message */

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

/* What a class says itself; the rest it will have from the run. */
static void take_class(struct consent *c, const struct class_settings *of,
                       const char *list, struct settings *run,
                       enum settings_block block)
{
    struct opt_set set = settings_set(of->settings, block);
    struct opt_set of_run = settings_set(run, block);

    for (size_t i = 0; i < set.block->len; i++) {
        const struct opt *opt = &set.block->opts[i];
        const char *text = reaches_out(&set, opt);
        const char *same = text ? reaches_out(&of_run, opt) : NULL;
        struct consent_item *item;

        if (!text || (same && strcmp(same, text) == 0))
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
        take_class(c, &s->warmup.items[i], "", s, BLOCK_DATA);
    for (int b = 0; b < BLOCK_COUNT; b++)
        take_run(c, s, (enum settings_block)b);
}

static bool is_given_again(const struct consent_item *item)
{
    return item->field && *item->field;
}

static int refuse(const struct consent *c, struct err *err)
{
    struct buf names;
    size_t n = 0;

    buf_init(&names, MAX_NAMES); /* names that do not fit are left out */
    for (size_t i = 0; i < c->len; i++) {
        if (is_given_again(&c->items[i]))
            continue;
        n++;
        buf_addf(&names, "%s%s", names.len > 0 ? ", " : "", c->items[i].where);
    }
    if (n > 0)
        err_set(err, ERR_CONFIG,
                "the recording names commands, keys or files of this machine: "
                "%s (--" CONSENT_FLAG " shows and uses them)",
                names.len > 0 ? buf_text(&names) : "long names");
    buf_fini(&names);
    return n > 0 ? -1 : 0;
}

int consent_settle(struct consent *c, bool is_allowed, struct err *err)
{
    static bool was_shown; /* a study reads its settings for each run */

    if (!is_allowed && refuse(c, err))
        return -1;
    for (size_t i = 0; i < c->len; i++) {
        struct consent_item *item = &c->items[i];

        if (is_given_again(item))
            continue;
        if (!was_shown)
            log_error("from the recording: %s: %s", item->where, item->text);
        if (item->field) {
            *item->field = item->text;
            item->text = NULL;
        }
    }
    was_shown = true;
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
