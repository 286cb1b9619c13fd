/* variantset.h - the directory of a study with variants: one directory for
 * each, of its name, which is a study of its own: trials, a sweep or a search.
 */
#ifndef COMMON_RECORDING_VARIANTSET_H
#define COMMON_RECORDING_VARIANTSET_H

#include <stdint.h>

#include "common/recording/studydir.h"
#include "common/settings/classes.h"

struct err;

struct variant_entry {
    char *name;              /* owned */
    char failed[STUDY_TEXT]; /* why it got no further; "": it has not failed */
};

struct variant_set {
    enum study_kind of;         /* what each of them is */
    struct variant_entry *list; /* owned */
    size_t n;
    int64_t stopped_by; /* signal; 0: none */
};

void variant_set_add(struct variant_set *set, const char *name);

/* DIR/NAME, owned by the caller. */
char *variant_set_path(const char *dir, const struct variant_entry *variant);

int variant_set_save(const struct variant_set *set, const char *dir,
                     struct err *err);

/* ERR_CONFIG if there is another kind of study, ERR_IO, ERR_FORMAT.
 * variant_set_fini() in any case. */
int variant_set_load(struct variant_set *set, const char *dir, struct err *err);
void variant_set_fini(struct variant_set *set);

#endif
