/* option.h - one table of options feeds the settings file, the command line and
 * the help.
 *
 * An option names a field of a struct by its offset, and says how its text is
 * read.  A key is what stands in the file, a flag what stands on the command
 * line; an option may have either or both.
 */
#ifndef COMMON_SETTINGS_OPTION_H
#define COMMON_SETTINGS_OPTION_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/buf.h"
#include "common/base/str.h"

struct err;
struct opt;

enum opt_kind {
    OPT_SCALAR,
    OPT_SWITCH, /* a bool; its flag takes no argument */
    OPT_LIST,   /* a struct strlist; its flag repeats */
    OPT_MAP,    /* a struct strmap; its flag repeats: k=v or k: v */
};

struct opt_type {
    const char *metavar; /* for the help: DURATION */
    enum opt_kind kind;

    /* Read text into the field.  Scalars and switches only. */
    int (*parse)(void *field, const struct opt *opt, const char *text,
                 struct err *err);

    /* Write the field as text that parse reads back.  Likewise. */
    void (*print)(const void *field, const struct opt *opt, struct buf *out);
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

/* Not said: what fits the rest is chosen when the run starts. */
#define OPT_AUTO (-1)

/* What of a text is a path. */
enum opt_path {
    OPT_NO_PATH,
    OPT_PATH,    /* all of it */
    OPT_PATH_AT, /* what is behind an @ that it begins with, or 'empirical @' */
};

struct opt {
    const char *key;  /* within its block; NULL: command line only */
    const char *flag; /* without dashes; NULL: settings file only */
    char letter;      /* short flag, or 0 */
    const struct opt_type *type;
    size_t offset;
    const char *initial;      /* text of the default; NULL: zero */
    const char *const *names; /* of an opt_choice, NULL-terminated */
    char separator;           /* of an opt_map on the command line */
    bool splits_commas;       /* of an opt_list on the command line */
    bool takes_auto;          /* of an int64_t: 'auto' becomes OPT_AUTO */
    bool is_positive;         /* of an int64_t: 0 is what was not given */
    bool is_command;          /* of a text: it is given to a shell */
    bool is_key_source;       /* of a text: it names where a key is read */
    enum opt_path path;
    /* Optional: may this text (list item, map entry, scalar) stand here? */
    int (*check)(const char *text, struct err *err);
    /* Optional: is this word, after that of a flag or behind a blank in it,
     * meant for it too? */
    bool (*takes_word)(const char *word);
    const char *help; /* one line */
};

/* Options that lie in one struct, and in the file under one name. */
struct opt_block {
    const char *name; /* NULL: at the top of the file */
    const struct opt *opts;
    size_t len;
};

/* A block and the struct that its offsets are of. */
struct opt_set {
    const struct opt_block *block;
    void *base;
};

/* Give every field its default, without reading what it holds. */
void opt_init(const struct opt_set *set);

/* Release owned fields and zero them. */
void opt_fini(const struct opt_set *set);

/* Set one option from text.  A list grows, a map takes "key<separator>value".
 */
int opt_assign(const struct opt_set *set, const struct opt *opt,
               const char *text, struct err *err);

/* Write a scalar or a switch as text that opt_assign() reads back. */
void opt_print(const struct opt_set *set, const struct opt *opt,
               struct buf *out);

/* Give a field the value that it has in `from`, a struct of the same kind. */
void opt_copy(const struct opt_set *set, const void *from,
              const struct opt *opt);

/* Empty a list or a map. */
void opt_clear(const struct opt_set *set, const struct opt *opt);

static inline void *opt_field(const struct opt_set *set, const struct opt *opt)
{
    return (char *)set->base + opt->offset;
}

/* The names of an opt_choice, one after the other. */
void opt_put_names(const struct opt *opt, const char *between, struct buf *out);

/* NULL if the block has no such key. */
const struct opt *opt_by_key(const struct opt_block *block, const char *key);

/* Read flags into the sets and the other words into `words`.  A flag replaces
 * what a file said, lists included; maps are merged.  Flags of the same list
 * add to one another.  Errors: ERR_USAGE. */
int opt_parse_argv(const struct opt_set *sets, size_t n_sets,
                   const char *const *argv, struct strlist *words,
                   struct err *err);

/* "  -R, --rate RATE   help (default 50)" for each option with a flag. */
void opt_print_help(const struct opt_block *block, struct buf *out);

/* "  rate: RATE   help (default 50) [--rate]" for each option with a key. */
void opt_print_keys(const struct opt_block *block, struct buf *out);

/* The one that has this flag, with _ for -; NULL if none has. */
const struct opt *opt_by_flag_as_key(const struct opt_block *block,
                                     const char *key);

#endif
