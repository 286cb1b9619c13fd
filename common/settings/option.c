#include "common/settings/option.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "common/text/units.h"

/* The help: columns of its text, the longest list of names that stands for a
 * value, and the longest text. */
#define TEXT_AT     30
#define WIDTH       80
#define MAX_METAVAR 40
#define MAX_HELP    4096

/* ---- how text is parsed and printed ---- */

static int parse_text(void *field, const char *text, struct err *err)
{
    char **s = field;

    (void)err;
    free(*s);
    *s = xstrdup(text);
    return 0;
}

static void print_text(const void *field, struct buf *out)
{
    const char *s = *(char *const *)field;

    buf_adds(out, s ? s : "");
}

static int parse_switch(void *field, const char *text, struct err *err)
{
    if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
        return err_set(err, ERR_CONFIG, "'%s' is neither true nor false", text);
    *(bool *)field = text[0] == 't';
    return 0;
}

static void print_switch(const void *field, struct buf *out)
{
    buf_adds(out, *(const bool *)field ? "true" : "false");
}

static int parse_duration(void *field, const char *text, struct err *err)
{
    return units_parse_duration(text, field, err);
}

static void print_duration(const void *field, struct buf *out)
{
    char text[UNITS_TEXT];

    buf_adds(out, units_print_duration(*(const int64_t *)field, text));
}

static int parse_rate(void *field, const char *text, struct err *err)
{
    return units_parse_rate(text, field, err);
}

static void print_rate(const void *field, struct buf *out)
{
    double rate = *(const double *)field;
    char text[UNITS_TEXT];

    if (rate > 0)
        buf_adds(out, units_print_rate(rate, text));
}

static int parse_count(void *field, const char *text, struct err *err)
{
    return units_parse_count(text, field, err);
}

static int parse_size(void *field, const char *text, struct err *err)
{
    return units_parse_size(text, field, err);
}

static void print_count(const void *field, struct buf *out)
{
    char text[UNITS_TEXT];

    buf_adds(out, units_print_count(*(const int64_t *)field, text));
}

static int parse_number(void *field, const char *text, struct err *err)
{
    return units_parse_number(text, field, err);
}

static int parse_share(void *field, const char *text, struct err *err)
{
    return units_parse_share(text, field, err);
}

static void print_number(const void *field, struct buf *out)
{
    char text[UNITS_TEXT];

    buf_adds(out, units_print_number(*(const double *)field, text));
}

static bool parse_whole(const char *text, unsigned long long *value)
{
    char *end;

    if (text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0';
}

static int parse_seed(void *field, const char *text, struct err *err)
{
    unsigned long long value;

    if (!parse_whole(text, &value))
        return err_set(err, ERR_CONFIG,
                       "'%s' is not a seed; write a whole number, 0 or more",
                       text);
    *(uint64_t *)field = value;
    return 0;
}

static void print_seed(const void *field, struct buf *out)
{
    buf_addf(out, "%llu", (unsigned long long)*(const uint64_t *)field);
}

static int parse_port(void *field, const char *text, struct err *err)
{
    unsigned long long value;

    if (!parse_whole(text, &value) || value > UINT16_MAX)
        return err_set(err, ERR_CONFIG, "'%s' is not a port (0 to 65535)",
                       text);
    *(int *)field = (int)value;
    return 0;
}

static void print_port(const void *field, struct buf *out)
{
    buf_addf(out, "%d", *(const int *)field);
}

/* clang-format off */
const struct opt_type opt_text = {"TEXT", OPT_SCALAR, sizeof(char *), parse_text, print_text};
const struct opt_type opt_switch = {"", OPT_SWITCH, sizeof(bool), parse_switch, print_switch};
const struct opt_type opt_duration = {"DURATION", OPT_SCALAR, sizeof(int64_t), parse_duration, print_duration};
const struct opt_type opt_rate = {"RATE", OPT_SCALAR, sizeof(double), parse_rate, print_rate};
const struct opt_type opt_count = {"N", OPT_SCALAR, sizeof(int64_t), parse_count, print_count};
const struct opt_type opt_size = {"SIZE", OPT_SCALAR, sizeof(int64_t), parse_size, print_count};
const struct opt_type opt_number = {"NUMBER", OPT_SCALAR, sizeof(double), parse_number, print_number};
const struct opt_type opt_share = {"SHARE", OPT_SCALAR, sizeof(double), parse_share, print_number};
const struct opt_type opt_seed = {"SEED", OPT_SCALAR, sizeof(uint64_t), parse_seed, print_seed};
const struct opt_type opt_port = {"PORT", OPT_SCALAR, sizeof(int), parse_port, print_port};
const struct opt_type opt_choice = {"NAME", OPT_SCALAR, sizeof(int), NULL, NULL};
const struct opt_type opt_list = {"TEXT", OPT_LIST, sizeof(struct strlist), NULL, NULL};
const struct opt_type opt_map = {"KEY=VALUE", OPT_MAP, sizeof(struct strmap), NULL, NULL};
/* clang-format on */

static void put_names(const struct opt *opt, const char *between,
                      struct buf *out)
{
    for (size_t i = 0; opt->names[i]; i++)
        buf_addf(out, "%s%s", i ? between : "", opt->names[i]);
}

static int parse_choice(int *field, const struct opt *opt, const char *text,
                        struct err *err)
{
    struct suggest s = {.word = text};
    char hint[64];
    struct buf known;

    for (int i = 0; opt->names[i]; i++) {
        if (strcmp(opt->names[i], text) == 0) {
            *field = i;
            return 0;
        }
        suggest_consider(&s, opt->names[i]);
    }
    buf_init(&known, sizeof(err->msg));
    put_names(opt, ", ", &known);
    err_set(err, ERR_CONFIG, "'%.80s' is not one of: %s%s", text,
            buf_text(&known), suggest_text(&s, "", hint, sizeof(hint)));
    buf_fini(&known);
    return -1;
}

/* ---- fields ---- */

/* Is it a number for which 0 means not given, and is it 0? */
static bool is_unset_number(const struct opt *opt, const void *field)
{
    bool is_double = opt->type == &opt_number || opt->type == &opt_share;

    return opt->is_positive && (is_double ? *(const double *)field == 0
                                          : *(const int64_t *)field == 0);
}

void opt_init(const struct opt_set *set)
{
    for (size_t i = 0; i < set->block->len; i++) {
        const struct opt *opt = &set->block->opts[i];
        struct err err = {0};

        memset(opt_field(set, opt), 0, opt->type->size);
        if (opt->initial && opt_assign(set, opt, opt->initial, &err))
            abort(); /* a default that does not parse is a bug in the table */
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
        memset(opt_field(set, opt), 0, opt->type->size);
    }
}

void opt_copy(const struct opt_set *set, const void *from,
              const struct opt *opt)
{
    const void *source = (const char *)from + opt->offset;
    void *field = opt_field(set, opt);

    opt_clear(set, opt);
    if (opt->type->kind == OPT_LIST) {
        const struct strlist *list = source;

        for (size_t i = 0; i < list->len; i++)
            strlist_add(field, list->items[i]);
    } else if (opt->type->kind == OPT_MAP) {
        const struct strmap *map = source;

        for (size_t i = 0; i < map->keys.len; i++)
            strmap_put(field, map->keys.items[i], map->values.items[i]);
    } else if (opt->type == &opt_text) {
        const char *text = *(char *const *)source;

        free(*(char **)field);
        *(char **)field = text ? xstrdup(text) : NULL;
    } else {
        memcpy(field, source, opt->type->size);
    }
}

static int assign_entry(struct strmap *map, const struct opt *opt,
                        const char *text, struct err *err)
{
    const char *at;
    const char *value;
    char *key;

    text += strspn(text, " ");
    at = strchr(text, opt->separator);
    if (!at || at == text) {
        /* Only the name of a header is shown: the rest can be a secret. */
        size_t len = strlen(text);
        size_t shown = opt->separator == ':' ? strcspn(text, " =:") : len;

        return err_set(err, ERR_CONFIG,
                       "'%.*s%s' must have the form key%cvalue", (int)shown,
                       text, shown < len ? "..." : "", opt->separator);
    }
    value = at + 1;
    value += strspn(value, " ");
    while (at > text && at[-1] == ' ')
        at--;
    key = xstrndup(text, (size_t)(at - text));
    strmap_put(map, key, value);
    free(key);
    return 0;
}

static int assign(const struct opt_set *set, const struct opt *opt,
                  const char *text, struct err *err)
{
    void *field = opt_field(set, opt);
    char max[UNITS_TEXT];

    if (opt->takes_auto && strcmp(text, "auto") == 0) {
        *(int64_t *)field = OPT_AUTO;
        return 0;
    }
    /* A text that is not given prints as nothing and must be accepted so. */
    if (opt->type == &opt_text && opt->check && !opt->initial && !*text) {
        free(*(char **)field);
        *(char **)field = NULL;
        return 0;
    }
    if (opt->check && opt->check(text, err))
        return -1;
    if (opt->type->kind == OPT_LIST) {
        strlist_add(field, text);
        return 0;
    }
    if (opt->type->kind == OPT_MAP)
        return assign_entry(field, opt, text, err);
    if (opt->type == &opt_choice)
        return parse_choice(field, opt, text, err);
    if (opt->type->parse(field, text, err))
        return -1;
    if (is_unset_number(opt, field))
        return err_set(err, ERR_CONFIG, "must be above 0");
    if (opt->max > 0 && *(const int64_t *)field > opt->max)
        return err_set(err, ERR_CONFIG, "'%s' is above the maximum of %s", text,
                       units_print_count(opt->max, max));
    return 0;
}

int opt_assign(const struct opt_set *set, const struct opt *opt,
               const char *text, struct err *err)
{
    char *whole = opt->complete ? opt->complete(text) : NULL;
    int rc = assign(set, opt, whole ? whole : text, err);

    free(whole);
    return rc;
}

void opt_print(const struct opt_set *set, const struct opt *opt,
               struct buf *out)
{
    const void *field = opt_field(set, opt);

    if (opt->takes_auto && *(const int64_t *)field == OPT_AUTO)
        buf_adds(out, "auto");
    else if (opt->type == &opt_choice)
        buf_adds(out, opt->names[*(const int *)field]);
    else if (!is_unset_number(opt, field))
        opt->type->print(field, out);
}

bool opt_is_given(const struct opt_set *set, const struct opt *opt)
{
    const void *field = opt_field(set, opt);
    struct opt scalar = *opt;
    int64_t initial = 0; /* as large as any scalar */

    if (opt->type->kind == OPT_LIST)
        return ((const struct strlist *)field)->len > 0;
    if (opt->type->kind == OPT_MAP)
        return ((const struct strmap *)field)->keys.len > 0;
    if (opt->type == &opt_text) {
        const char *text = *(char *const *)field;

        return strcmp(text ? text : "", opt->initial ? opt->initial : "") != 0;
    }
    scalar.offset = 0;
    if (opt->initial)
        opt_assign(&(struct opt_set){set->block, &initial}, &scalar,
                   opt->initial, &(struct err){0});
    return memcmp(field, &initial, opt->type->size) != 0;
}

const struct opt *opt_by_key(const struct opt_block *block, const char *key)
{
    for (size_t i = 0; i < block->len; i++) {
        const struct opt *opt = &block->opts[i];

        if (opt->key && (strcmp(opt->key, key) == 0 ||
                         (opt->old_key && strcmp(opt->old_key, key) == 0)))
            return opt;
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

/* ---- the help ---- */

/* Are there too many names to show them as the value? */
static bool has_many_names(const struct opt *opt)
{
    size_t len = 0;

    for (size_t i = 0; opt->type == &opt_choice && opt->names[i]; i++)
        len += strlen(opt->names[i]) + 1;
    return len > MAX_METAVAR;
}

/* Does the help text explain each name but the first, the default? */
static bool explains_names(const struct opt *opt, const char *help)
{
    for (size_t i = 1; opt->names[i]; i++) {
        if (!strstr(help, opt->names[i]))
            return false;
    }
    return true;
}

/* Words of `text` in lines from column TEXT_AT to WIDTH, after `left`. */
static void put_wrapped(const char *left, const char *text, struct buf *out)
{
    size_t at = strlen(left) + 2;

    buf_addf(out, "  %s", left);
    if (at + 2 > TEXT_AT)
        at = WIDTH; /* the text begins on the next line */
    else
        buf_addf(out, "%*s", (int)(TEXT_AT - at), "");
    at = at == WIDTH ? WIDTH : TEXT_AT;
    while (*text) {
        size_t len = strcspn(text, " ");

        if (at > TEXT_AT && at + len + 1 > WIDTH) {
            buf_addf(out, "\n%*s", TEXT_AT, "");
            at = TEXT_AT;
        }
        buf_addf(out, "%s%.*s", at > TEXT_AT ? " " : "", (int)len, text);
        at += len + (at > TEXT_AT);
        text += len + strspn(text + len, " ");
    }
    buf_adds(out, "\n");
}

/* " (also --rps, --qps)" */
static void put_aliases(const char *names, struct buf *out)
{
    char *copy = xstrdup(names);
    char *rest = copy;
    const char *name;

    for (int n = 0; (name = str_next_word(&rest)); n++)
        buf_addf(out, "%s--%s", n ? ", " : " (also ", name);
    buf_adds(out, ")");
    free(copy);
}

/* The lines of an option; `left` is without the value's name. */
static void put_option(const struct opt *opt, bool is_brief, struct buf *left,
                       const char *flag, struct buf *out)
{
    struct buf text;
    const size_t len = is_brief ? strcspn(opt->help, ";") : strlen(opt->help);

    if (opt->type->kind != OPT_SWITCH)
        buf_adds(left, " ");
    if (opt->type->kind == OPT_MAP && opt->separator == ':')
        buf_adds(left, "'KEY: VALUE'");
    else if (opt->type == &opt_choice && !has_many_names(opt))
        put_names(opt, "|", left);
    else
        buf_adds(left, opt->type->metavar);
    buf_init(&text, MAX_HELP);
    buf_add(&text, opt->help, len);
    if (has_many_names(opt) && !explains_names(opt, buf_text(&text))) {
        buf_adds(&text, ": ");
        put_names(opt, ", ", &text);
    }
    if (opt->initial)
        buf_addf(&text, " (default %s)", opt->initial);
    if (flag)
        buf_addf(&text, " [--%s]", flag);
    else if (opt->aliases)
        put_aliases(opt->aliases, &text);
    put_wrapped(buf_text(left), buf_text(&text), out);
    buf_fini(&text);
}

void opt_print_flag(const struct opt *opt, bool is_brief, struct buf *out)
{
    struct buf left;

    if (!opt->flag)
        return;
    buf_init(&left, MAX_HELP);
    if (opt->letter)
        buf_addf(&left, "-%c, ", opt->letter);
    buf_addf(&left, "%s--%s", opt->letter ? "" : "    ", opt->flag);
    put_option(opt, is_brief, &left, NULL, out);
    buf_fini(&left);
}

void opt_print_keys(const struct opt_block *block, struct buf *out)
{
    struct buf left;

    buf_init(&left, MAX_HELP);
    for (size_t i = 0; i < block->len; i++) {
        const struct opt *opt = &block->opts[i];

        if (!opt->key)
            continue;
        buf_reset(&left);
        buf_addf(&left, "%s:%s", opt->key,
                 opt->type->kind == OPT_SWITCH ? " true" : "");
        put_option(opt, false, &left, opt->flag, out);
    }
    buf_fini(&left);
}
