/* option.h - one table of options feeds the settings file, the command line,
 * the checks and the help.
 *
 * An option names a field of a struct by its offset and says how its text is
 * parsed.  The key is its name in a settings file, the flag its name on the
 * command line; an option has one of them or both.
 */
#ifndef COMMON_SETTINGS_OPTION_H
#define COMMON_SETTINGS_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/base/str.h"

struct err;

enum opt_kind {
    OPT_SCALAR,
    OPT_SWITCH, /* a bool; its flag takes no argument */
    OPT_LIST,   /* a struct strlist; its flag can be repeated */
    OPT_MAP,    /* a struct strmap; its flag can be repeated: k=v or k: v */
};

struct opt_type {
    const char *metavar; /* for the help: DURATION */
    enum opt_kind kind;
    size_t size; /* of the field */

    /* Parse text into the field.  NULL for lists, maps and opt_choice. */
    int (*parse)(void *field, const char *text, struct err *err);

    /* Write the field as text that parse accepts.  NULL for the same types. */
    void (*print)(const void *field, struct buf *out);
};

extern const struct opt_type opt_text;     /* char *, owned */
extern const struct opt_type opt_switch;   /* bool */
extern const struct opt_type opt_duration; /* int64_t ns */
extern const struct opt_type opt_rate;     /* double, per second */
extern const struct opt_type opt_count;    /* int64_t, not negative */
extern const struct opt_type opt_size;     /* int64_t bytes */
extern const struct opt_type opt_number;   /* double, not negative */
extern const struct opt_type opt_share;    /* double, 0 to 1 */
extern const struct opt_type opt_seed;     /* uint64_t */
extern const struct opt_type opt_port;     /* int, 0 to 65535 */
extern const struct opt_type opt_choice;   /* int, an index into names */
extern const struct opt_type opt_list;
extern const struct opt_type opt_map;

/* The value 'auto': it is chosen when the run starts. */
#define OPT_AUTO (-1)

/* Which part of a text is a path. */
enum opt_path {
    OPT_NO_PATH,
    OPT_PATH,    /* all of it */
    OPT_PATH_AT, /* what follows a leading '@' or 'empirical @' */
};

/* What is removed from a value before it is recorded or shown. */
enum opt_secret {
    OPT_SECRET_IN_URLS, /* the secrets of URLs in the text; the default */
    OPT_SECRET_URL,     /* the text is a URL, with or without a scheme */
    OPT_SECRET_HEADER,  /* a map of headers: values of secret headers */
    OPT_NOT_SECRET,     /* nothing: the text is recorded as it is */
};

/* The heading under which 'tailgate help COMMAND' lists an option. */
enum opt_group {
    GROUP_REST, /* only with --all */
    GROUP_TARGET,
    GROUP_LOAD,
    GROUP_DATA,
    GROUP_GOAL,
    GROUP_SERVER, /* the simulated one */
    GROUP_OUTPUT,
    GROUP_COUNT,
};

struct opt {
    const char *key;      /* within its block; NULL: command line only */
    const char *flag;     /* without dashes; NULL: settings file only */
    const char *old_key;  /* earlier names, which are still accepted and are */
    const char *old_flag; /* not listed; a manifest has old_key.  Or NULL */
    const char *aliases;  /* names of the flag in other tools, which the help
                             lists: "rps qps"; or NULL */
    char letter;          /* short flag, or 0 */
    const struct opt_type *type;
    size_t offset;
    const char *initial;      /* text of the default; NULL: zero */
    const char *const *names; /* of an opt_choice, NULL-terminated */
    char separator;           /* of an opt_map on the command line */
    bool splits_commas;       /* of an opt_list on the command line */
    bool takes_auto;          /* of an int64_t: 'auto' becomes OPT_AUTO */
    bool is_positive;         /* of a number: 0 means not given */
    int64_t max;              /* of an int64_t: the largest value; 0: none */
    bool is_command;          /* of a text: it is given to a shell */
    bool is_key_source;       /* of a text: it names where a key is read */
    bool is_per_class;        /* of target: a class can have its own value */
    enum opt_path path;
    enum opt_secret secret;
    enum opt_group group;

    /* Constraints, checked when the settings are resolved (settings_rules.c).
     * A condition is "block.key" (it differs from its default) or "block.key:
     * a|b" (it has one of these values); "stub" and "classes" are conditions,
     * too.  Several are separated by commas. */
    const char *requires;  /* each of these; alternatives: "a or b" */
    const char *conflicts; /* none of these */
    unsigned scenarios;    /* 1 << enum scenario, joined; 0: any */
    bool is_lenient;       /* unmet, the option has no effect: not an error */

    /* Optional: the text as it is checked and kept; the caller frees it. */
    char *(*complete)(const char *text);
    /* Optional: is this text (list item, map entry, scalar) valid? */
    int (*check)(const char *text, struct err *err);
    /* Optional: does this word, after the flag's value or after a blank in it,
     * belong to the flag, too? */
    bool (*takes_word)(const char *word);
    const char *help; /* phrases, separated by "; "; the first one stands
                         alone in the short list of flags */
};

/* Options of one struct, which a settings file has under one name. */
struct opt_block {
    const char *name; /* NULL: at the top of the file */
    const struct opt *opts;
    size_t len;
};

/* A block and the struct that its offsets refer to. */
struct opt_set {
    const struct opt_block *block;
    void *base;
};

/* Give every field its default, without reading what it holds. */
void opt_init(const struct opt_set *set);

/* Release owned fields and zero them. */
void opt_fini(const struct opt_set *set);

/* Set one option from text.  A list grows, a map takes "key<separator>value".
 * ERR_CONFIG. */
int opt_assign(const struct opt_set *set, const struct opt *opt,
               const char *text, struct err *err);

/* Write a scalar or a switch as text that opt_assign() accepts. */
void opt_print(const struct opt_set *set, const struct opt *opt,
               struct buf *out);

/* Does the field differ from its default? */
bool opt_is_given(const struct opt_set *set, const struct opt *opt);

/* Append " --flag value" for each flag that differs from its default, as a
 * shell takes it; those in `but`, which ends with NULL, are left out. */
void opt_put_given(const struct opt_set *set, const char *const *but,
                   struct buf *out);

/* Give a field the value that it has in `from`, a struct of the same type. */
void opt_copy(const struct opt_set *set, const void *from,
              const struct opt *opt);

/* Empty a list or a map. */
void opt_clear(const struct opt_set *set, const struct opt *opt);

static inline void *opt_field(const struct opt_set *set, const struct opt *opt)
{
    return (char *)set->base + opt->offset;
}

/* By key or old key; NULL if the block has neither. */
const struct opt *opt_by_key(const struct opt_block *block, const char *key);

/* The option whose flag this is, with _ for -; NULL if there is none. */
const struct opt *opt_by_flag_as_key(const struct opt_block *block,
                                     const char *key);

/* Its name in a manifest: recordings keep the old one. */
static inline const char *opt_json_key(const struct opt *opt)
{
    return opt->old_key ? opt->old_key : opt->key;
}

/* Read flags into the sets and the other words into `words`.  A flag replaces
 * the value from a file, lists included; maps are merged.  Repeated flags of
 * one list add to each other.  Errors: ERR_USAGE. */
int opt_parse_argv(const struct opt_set *sets, size_t n_sets,
                   const char *const *argv, struct strlist *words,
                   struct err *err);

/* "  -R, --rate RATE   help (default 50)", wrapped at 80 columns; nothing if it
 * has no flag.  Brief: only the first phrase of the help. */
void opt_print_flag(const struct opt *opt, bool is_brief, struct buf *out);

/* "  rate: RATE   help (default 50) [--rate]" for each option with a key. */
void opt_print_keys(const struct opt_block *block, struct buf *out);

#endif
