#include "common/settings/option.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"

/* Of the help's left column: names of a choice, and all of it. */
#define MAX_METAVAR 40
#define MAX_LEFT    256

static size_t field_size(const struct opt_type *type)
{
    if (type->kind == OPT_LIST)
        return sizeof(struct strlist);
    if (type->kind == OPT_MAP)
        return sizeof(struct strmap);
    if (type->kind == OPT_SWITCH)
        return sizeof(bool);
    if (type == &opt_port || type == &opt_choice)
        return sizeof(int);
    return sizeof(int64_t); /* text, durations and numbers */
}

void opt_init(const struct opt_set *set)
{
    for (size_t i = 0; i < set->block->len; i++) {
        const struct opt *opt = &set->block->opts[i];
        struct err err = {0};

        memset(opt_field(set, opt), 0, field_size(opt->type));
        if (opt->initial && opt_assign(set, opt, opt->initial, &err))
            abort(); /* a default that does not parse is a bug of the table */
    }
}

void opt_clear(const struct opt_set *set, const struct opt *opt)
{
    if (opt->type->kind == OPT_LIST)
        strlist_fini(opt_field(set, opt));
    else if (opt->type->kind == OPT_MAP)
        strmap_fini(opt_field(set, opt));
}

void opt_fini(const struct opt_set *set)
{
    for (size_t i = 0; i < set->block->len; i++) {
        const struct opt *opt = &set->block->opts[i];

        opt_clear(set, opt);
        if (opt->type == &opt_text)
            free(*(char **)opt_field(set, opt));
        memset(opt_field(set, opt), 0, field_size(opt->type));
    }
}

static void copy_list(struct strlist *to, const struct strlist *from)
{
    for (size_t i = 0; i < from->len; i++)
        strlist_add(to, from->items[i]);
}

static void copy_map(struct strmap *to, const struct strmap *from)
{
    for (size_t i = 0; i < from->keys.len; i++)
        strmap_put(to, from->keys.items[i], from->values.items[i]);
}

void opt_copy(const struct opt_set *set, const void *from,
              const struct opt *opt)
{
    const void *source = (const char *)from + opt->offset;
    void *field = opt_field(set, opt);

    opt_clear(set, opt);
    if (opt->type->kind == OPT_LIST) {
        copy_list(field, source);
    } else if (opt->type->kind == OPT_MAP) {
        copy_map(field, source);
    } else if (opt->type == &opt_text) {
        const char *text = *(char *const *)source;

        free(*(char **)field);
        *(char **)field = text ? xstrdup(text) : NULL;
    } else {
        memcpy(field, source, field_size(opt->type));
    }
}

/* Of a header the name alone: the rest may be a secret. */
static int refuse_entry(const struct opt *opt, const char *text,
                        struct err *err)
{
    size_t len = strlen(text);
    size_t shown = opt->separator == ':' ? strcspn(text, " =:") : len;

    return err_set(err, ERR_CONFIG, "'%.*s%s' is not of the form key%cvalue",
                   (int)shown, text, shown < len ? "..." : "", opt->separator);
}

static int assign_entry(struct strmap *map, const struct opt *opt,
                        const char *text, struct err *err)
{
    const char *at;
    const char *value;
    char *key;

    text += strspn(text, " ");
    at = strchr(text, opt->separator);
    if (!at || at == text)
        return refuse_entry(opt, text, err);
    value = at + 1;
    value += strspn(value, " ");
    while (at > text && at[-1] == ' ')
        at--;
    key = xstrndup(text, (size_t)(at - text));
    strmap_put(map, key, value);
    free(key);
    return 0;
}

/* What is not given prints as nothing, and must read back so. */
static bool is_unset(const struct opt *opt, const char *text)
{
    return opt->type == &opt_text && opt->check && !opt->initial && !*text;
}

int opt_assign(const struct opt_set *set, const struct opt *opt,
               const char *text, struct err *err)
{
    void *field = opt_field(set, opt);

    if (opt->takes_auto && strcmp(text, "auto") == 0) {
        *(int64_t *)field = OPT_AUTO;
        return 0;
    }
    if (is_unset(opt, text)) {
        free(*(char **)field);
        *(char **)field = NULL;
        return 0;
    }
    if (opt->check && opt->check(text, err))
        return -1;
    switch (opt->type->kind) {
    case OPT_LIST:
        strlist_add(field, text);
        return 0;
    case OPT_MAP:
        return assign_entry(field, opt, text, err);
    default:
        if (opt->type->parse(field, opt, text, err))
            return -1;
        if (opt->is_positive && *(const int64_t *)field == 0)
            return err_set(err, ERR_CONFIG, "must be above 0");
        return 0;
    }
}

void opt_print(const struct opt_set *set, const struct opt *opt,
               struct buf *out)
{
    const void *field = opt_field(set, opt);

    if (opt->takes_auto && *(const int64_t *)field == OPT_AUTO)
        buf_adds(out, "auto");
    else if (!opt->is_positive || *(const int64_t *)field != 0)
        opt->type->print(field, opt, out);
}

const struct opt *opt_by_key(const struct opt_block *block, const char *key)
{
    for (size_t i = 0; i < block->len; i++) {
        if (block->opts[i].key && strcmp(block->opts[i].key, key) == 0)
            return &block->opts[i];
    }
    return NULL;
}

static bool is_as_key(const char *flag, const char *key)
{
    while (*flag && (*flag == '-' ? '_' : *flag) == *key) {
        flag++;
        key++;
    }
    return *flag == *key;
}

const struct opt *opt_by_flag_as_key(const struct opt_block *block,
                                     const char *key)
{
    for (size_t i = 0; i < block->len; i++) {
        const struct opt *opt = &block->opts[i];

        if (opt->key && opt->flag && is_as_key(opt->flag, key))
            return opt;
    }
    return NULL;
}

void opt_put_names(const struct opt *opt, const char *between, struct buf *out)
{
    for (size_t i = 0; opt->names[i]; i++)
        buf_addf(out, "%s%s", i ? between : "", opt->names[i]);
}

/* Many names stand behind the help. */
static bool has_many_names(const struct opt *opt)
{
    size_t len = 0;

    for (size_t i = 0; opt->type == &opt_choice && opt->names[i]; i++)
        len += strlen(opt->names[i]) + 1;
    return len > MAX_METAVAR;
}

static void put_metavar(const struct opt *opt, struct buf *out)
{
    if (opt->type->kind == OPT_MAP && opt->separator == ':')
        buf_adds(out, "'KEY: VALUE'");
    else if (opt->type == &opt_choice && !has_many_names(opt))
        opt_put_names(opt, "|", out);
    else
        buf_adds(out, opt->type->metavar);
}

/* What the left column says of an option, and the rest of its line. */
static void put_line(const struct opt *opt, struct buf *left, struct buf *out)
{
    buf_adds(left, " ");
    put_metavar(opt, left);
    buf_addf(out, "  %-34s %s", buf_text(left), opt->help);
    if (has_many_names(opt)) {
        buf_adds(out, ": ");
        opt_put_names(opt, ", ", out);
    }
    if (opt->initial)
        buf_addf(out, " (default %s)", opt->initial);
}

void opt_print_help(const struct opt_block *block, struct buf *out)
{
    struct buf left;

    buf_init(&left, MAX_LEFT);
    for (size_t i = 0; i < block->len; i++) {
        const struct opt *opt = &block->opts[i];

        if (!opt->flag)
            continue;
        buf_reset(&left);
        if (opt->letter)
            buf_addf(&left, "-%c, ", opt->letter);
        buf_addf(&left, "%s--%s", opt->letter ? "" : "    ", opt->flag);
        put_line(opt, &left, out);
        buf_adds(out, "\n");
    }
    buf_fini(&left);
}

void opt_print_keys(const struct opt_block *block, struct buf *out)
{
    struct buf left;

    buf_init(&left, MAX_LEFT);
    for (size_t i = 0; i < block->len; i++) {
        const struct opt *opt = &block->opts[i];

        if (!opt->key)
            continue;
        buf_reset(&left);
        buf_addf(&left, "%s:%s", opt->key,
                 opt->type->kind == OPT_SWITCH ? " true" : "");
        put_line(opt, &left, out);
        if (opt->flag)
            buf_addf(out, " [--%s]", opt->flag);
        buf_adds(out, "\n");
    }
    buf_fini(&left);
}
