/* Reading a command line by option tables. */
#include "common/settings/option.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"

/* An option, the set it belongs to, and whether a flag has set it. */
struct place {
    const struct opt_set *set;
    const struct opt *opt;
    bool is_seen;
};

struct args {
    struct place *places;
    size_t len;
    const char *const *argv; /* the rest of it */
    struct strlist *words;
    bool has_ended; /* after "--" everything is a word */
    struct err *err;
};

static bool is_flag(const char *flag, const char *name, size_t len)
{
    return flag && strlen(flag) == len && memcmp(flag, name, len) == 0;
}

static struct place *place_by_flag(struct args *a, const char *name, size_t len)
{
    for (size_t i = 0; i < a->len; i++) {
        const struct opt *opt = a->places[i].opt;

        if (is_flag(opt->flag, name, len) || is_flag(opt->old_flag, name, len))
            return &a->places[i];
    }
    return NULL;
}

static int refuse_flag(struct args *a, const char *arg, size_t len)
{
    char *name = xstrndup(arg, len);
    struct suggest s = {.word = name};
    char hint[64];

    for (size_t i = 0; i < a->len; i++) {
        if (a->places[i].opt->flag)
            suggest_consider(&s, a->places[i].opt->flag);
    }
    err_set(a->err, ERR_USAGE, "unknown flag '--%s'%s", name,
            suggest_text(&s, "--", hint, sizeof(hint)));
    free(name);
    return -1;
}

/* Does the option take this text, or its first word? */
static bool takes_here(const struct opt *opt, const char *text)
{
    char *word;
    bool takes;

    if (opt->takes_word(text))
        return true;
    word = xstrndup(text, strcspn(text, " "));
    takes = opt->takes_word(word);
    free(word);
    return takes;
}

/* A word after a blank that the flag would also take is a separate item. */
static int assign_item(struct place *p, char *item, struct err *err)
{
    char *at = item;

    while (p->opt->takes_word && (at = strchr(at, ' '))) {
        char *next = at + strspn(at, " ");

        if (*next && takes_here(p->opt, next)) {
            *at = '\0';
            if (opt_assign(p->set, p->opt, item, err))
                return -1;
            item = next;
        }
        at = next;
    }
    return opt_assign(p->set, p->opt, item, err);
}

static int assign_split(struct place *p, const char *text, struct err *err)
{
    char *copy = xstrdup(text);
    char *rest = copy;
    int rc = 0;

    while (rc == 0 && rest) {
        char *item = strsep(&rest, p->opt->splits_commas ? "," : "");

        rc = assign_item(p, item + strspn(item, " "), err);
    }
    free(copy);
    return rc;
}

/* Was this flag given before, or another one of the same field? */
static bool is_field_seen(const struct args *a, const struct place *p)
{
    for (size_t i = 0; i < a->len; i++) {
        const struct place *other = &a->places[i];

        if (other->is_seen &&
            opt_field(other->set, other->opt) == opt_field(p->set, p->opt))
            return true;
    }
    return false;
}

static int assign_flag(struct args *a, struct place *p, const char *text)
{
    int rc;

    if (p->opt->type->kind == OPT_LIST && !is_field_seen(a, p))
        opt_clear(p->set, p->opt);
    p->is_seen = true;
    if (p->opt->splits_commas || p->opt->takes_word)
        rc = assign_split(p, text, a->err);
    else
        rc = opt_assign(p->set, p->opt, text, a->err);
    if (rc == 0)
        return 0;
    a->err->code = ERR_USAGE;
    return err_context(a->err, "--%s", p->opt->flag);
}

/* `attached` is the value in the same word, as in --rate=5, or NULL. */
static int take_flag(struct args *a, struct place *p, const char *attached)
{
    if (p->opt->type->kind == OPT_SWITCH)
        return assign_flag(a, p, attached ? attached : "true");
    if (!attached) {
        attached = *a->argv;
        if (!attached)
            return err_set(a->err, ERR_USAGE, "--%s requires a value (%s)",
                           p->opt->flag, p->opt->type->metavar);
        a->argv++;
    }
    if (assign_flag(a, p, attached))
        return -1;
    while (p->opt->takes_word && *a->argv && p->opt->takes_word(*a->argv)) {
        if (assign_flag(a, p, *a->argv++))
            return -1;
    }
    return 0;
}

static int take_short(struct args *a, const char *arg)
{
    struct place *p = NULL;

    for (size_t i = 0; i < a->len && !p; i++) {
        if (a->places[i].opt->letter == arg[0])
            p = &a->places[i];
    }
    if (!p)
        return err_set(a->err, ERR_USAGE, "unknown flag '-%c'", arg[0]);
    if (p->opt->type->kind == OPT_SWITCH && arg[1]) {
        if (take_flag(a, p, NULL))
            return -1;
        return take_short(a, arg + 1);
    }
    return take_flag(a, p, arg[1] ? arg + 1 : NULL);
}

static int take_word(struct args *a)
{
    const char *arg = *a->argv++;

    if (strcmp(arg, "--") == 0 && !a->has_ended) {
        a->has_ended = true;
        return 0;
    }
    if (a->has_ended) {
        strlist_add(a->words, arg);
        return 0;
    }
    if (strncmp(arg, "--", 2) == 0) {
        size_t len = strcspn(arg + 2, "=");
        const char *value = arg[2 + len] ? arg + 2 + len + 1 : NULL;
        struct place *p = place_by_flag(a, arg + 2, len);

        return p ? take_flag(a, p, value) : refuse_flag(a, arg + 2, len);
    }
    if (arg[0] == '-' && arg[1])
        return take_short(a, arg + 1);
    strlist_add(a->words, arg);
    return 0;
}

int opt_parse_argv(const struct opt_set *sets, size_t n_sets,
                   const char *const *argv, struct strlist *words,
                   struct err *err)
{
    struct args a = {.argv = argv, .words = words, .err = err};
    int rc = 0;

    for (size_t i = 0; i < n_sets; i++) {
        for (size_t j = 0; j < sets[i].block->len; j++) {
            a.places = xrealloc(a.places, a.len + 1, sizeof(*a.places));
            a.places[a.len++] =
                (struct place){.set = &sets[i], .opt = &sets[i].block->opts[j]};
        }
    }
    while (rc == 0 && *a.argv)
        rc = take_word(&a);
    free(a.places);
    return rc;
}
