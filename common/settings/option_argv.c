/* Reading a command line by option tables. */
#include "common/settings/option.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "common/settings/foreign_flags.h"

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

/* A word after a blank that the flag would also take is a separate item. */
static int assign_item(struct place *p, char *item, struct err *err)
{
    char *at = item;

    while (p->opt->takes_word && (at = strchr(at, ' '))) {
        char *next = at + strspn(at, " ");
        char *word = xstrndup(next, strcspn(next, " "));

        if (*next && (p->opt->takes_word(next) || p->opt->takes_word(word))) {
            *at = '\0';
            if (opt_assign(p->set, p->opt, item, err)) {
                free(word);
                return -1;
            }
            item = next;
        }
        free(word);
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

static int assign_flag(struct args *a, struct place *p, const char *text)
{
    bool is_seen = false; /* this flag, or another one of the same field */
    int rc;

    for (size_t i = 0; i < a->len; i++) {
        const struct place *other = &a->places[i];

        is_seen |= other->is_seen && opt_field(other->set, other->opt) ==
                                         opt_field(p->set, p->opt);
    }
    if (p->opt->type->kind == OPT_LIST && !is_seen)
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

/* Is the word one of a list that is separated by blanks? */
static bool is_listed(const char *list, const char *word)
{
    size_t len = strlen(word);

    for (const char *at = len > 0 ? list : NULL; at && (at = strstr(at, word));
         at += len) {
        if ((at == list || at[-1] == ' ') && (at[len] == ' ' || !at[len]))
            return true;
    }
    return false;
}

static bool has_flag(const struct args *a, const char *flag)
{
    for (size_t i = 0; i < a->len; i++) {
        const char *own = a->places[i].opt->flag;

        if (own && strcmp(own, flag) == 0)
            return true;
    }
    return false;
}

/* What a flag of another tool is called here.  False: it is not known, or this
 * command does not have the flag to use instead. */
static bool refuse_foreign(const struct args *a, const char *dashes,
                           const char *name)
{
    const struct foreign_flag *f = foreign_flag_find(name);

    if (!f || (f->use && !has_flag(a, f->use)))
        return false;
    err_set(a->err, ERR_USAGE, "unknown flag '%s%s' (%s)%s%s%s%s", dashes, name,
            f->tools, f->use ? "; use --" : "", f->use ? f->use : "",
            f->note ? f->use ? ": " : "; " : "", f->note ? f->note : "");
    return true;
}

static int take_short(struct args *a, const char *arg)
{
    const char letter[] = {arg[0], '\0'};
    struct place *p = NULL;

    for (size_t i = 0; i < a->len && !p; i++) {
        if (a->places[i].opt->letter == arg[0])
            p = &a->places[i];
    }
    if (!p)
        return refuse_foreign(a, "-", letter)
                   ? -1
                   : err_set(a->err, ERR_USAGE, "unknown flag '-%s'", letter);
    if (p->opt->type->kind == OPT_SWITCH && arg[1]) {
        if (take_flag(a, p, NULL))
            return -1;
        return take_short(a, arg + 1);
    }
    return take_flag(a, p, arg[1] ? arg + 1 : NULL);
}

static int take_long(struct args *a, const char *arg)
{
    size_t len = strcspn(arg, "=");
    char *name = xstrndup(arg, len);
    struct suggest s = {.word = name};
    struct place *p = NULL;
    char hint[64];

    for (size_t i = 0; i < a->len && !p; i++) {
        const struct opt *opt = a->places[i].opt;

        if ((opt->flag && strcmp(opt->flag, name) == 0) ||
            (opt->old_flag && strcmp(opt->old_flag, name) == 0) ||
            is_listed(opt->aliases, name))
            p = &a->places[i];
        else if (opt->flag)
            suggest_consider(&s, opt->flag);
    }
    if (!p && !refuse_foreign(a, "--", name))
        err_set(a->err, ERR_USAGE, "unknown flag '--%s'%s", name,
                suggest_text(&s, "--", hint, sizeof(hint)));
    free(name);
    return p ? take_flag(a, p, arg[len] ? arg + len + 1 : NULL) : -1;
}

static int take_word(struct args *a)
{
    const char *arg = *a->argv++;

    if (strcmp(arg, "--") == 0 && !a->has_ended) {
        a->has_ended = true;
        return 0;
    }
    if (!a->has_ended && strncmp(arg, "--", 2) == 0)
        return take_long(a, arg + 2);
    if (!a->has_ended && arg[0] == '-' && arg[1])
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

/* ---- flags as they were given ---- */

#define MAX_VALUE ((size_t)64 << 10)

/* Some fields have two flags: the first is as good as the other. */
static bool is_put(const struct opt_block *block, size_t i,
                   const char *const *but)
{
    if (!block->opts[i].flag)
        return false;
    for (size_t k = 0; k < i; k++) {
        if (block->opts[k].offset == block->opts[i].offset)
            return false;
    }
    for (; *but; but++) {
        if (strcmp(*but, block->opts[i].flag) == 0)
            return false;
    }
    return true;
}

void opt_put_given(const struct opt_set *set, const char *const *but,
                   struct buf *out)
{
    struct buf value;

    buf_init(&value, MAX_VALUE);
    for (size_t i = 0; i < set->block->len; i++) {
        const struct opt *opt = &set->block->opts[i];
        const struct strlist *list = opt_field(set, opt);

        if (!is_put(set->block, i, but) || !opt_is_given(set, opt))
            continue;
        if (opt->type->kind == OPT_SWITCH) {
            buf_addf(out, " --%s", opt->flag);
            continue;
        }
        for (size_t k = 0; opt->type->kind == OPT_LIST && k < list->len; k++) {
            buf_addf(out, " --%s ", opt->flag);
            str_add_quoted(out, list->items[k]);
        }
        if (opt->type->kind != OPT_SCALAR)
            continue;
        buf_reset(&value);
        opt_print(set, opt, &value);
        buf_addf(out, " --%s ", opt->flag);
        str_add_quoted(out, buf_text(&value));
    }
    buf_fini(&value);
}
