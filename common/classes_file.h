/* classes_file.h - lists in a settings file whose items say some of what the
 * run says: classes, and the variants of a study. */
#ifndef COMMON_CLASSES_FILE_H
#define COMMON_CLASSES_FILE_H

#include "common/classes.h"
#include "common/settings.h"

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

/* For load_entry(). */
int class_load_name(struct class_settings *c, const struct spot *at);
int class_load_block(struct class_settings *c, enum settings_block block,
                     const struct spot *at);
int class_assign(struct class_settings *c, enum settings_block block,
                 const struct opt *opt, const struct spot *at);

#endif
