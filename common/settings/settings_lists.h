/* settings_lists.h - lists in a settings file whose items say some of what the
 * run says: classes, and the variants of a study. */
#ifndef COMMON_SETTINGS_SETTINGS_LISTS_H
#define COMMON_SETTINGS_SETTINGS_LISTS_H

#include "common/settings/classes.h"
#include "common/settings/settings.h"

struct opt;
struct spot;

/* One such list. */
struct class_kind {
    const char *list;        /* its key, "classes" */
    const char *one;         /* what an item is, "class" */
    const char *const *keys; /* of an item, NULL-terminated */
    const char *has;         /* the same for people */

    /* Read one key of an item, which is one of those. */
    int (*load_entry)(struct class_settings *c, const struct spot *at);
};

/* In place of what is there.  ERR_CONFIG "file:line: ...". */
int classes_load_kind(struct classes *c, const struct class_kind *kind,
                      const struct spot *at);

/* One more, of weight 1, with settings as they are at first. */
struct class_settings *classes_add(struct classes *all);

/* It says this itself, so that it is not taken from the run. */
void class_note_said(struct class_settings *c, const struct opt *opt);

/* For load_entry(). */
/* Letters, digits and ._- */
bool class_is_name(const char *text);

int class_load_name(struct class_settings *c, const struct spot *at);
int class_load_block(struct class_settings *c, enum settings_block block,
                     const struct spot *at);
int class_assign(struct class_settings *c, enum settings_block block,
                 const struct opt *opt, const struct spot *at);

#endif
