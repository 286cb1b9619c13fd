/* settings_file.h - reading a settings file: for the parts of it that are not
 * plain options. */
#ifndef COMMON_SETTINGS_SETTINGS_FILE_H
#define COMMON_SETTINGS_SETTINGS_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/settings/classes.h"
#include "common/settings/option.h"
#include "common/settings/settings.h"

struct err;
struct yaml_node;

/* ---- paths: they are relative to the settings file, so that it can be used
 * from anywhere and moved together with what it names ---- */

/* Where in the text of an option the path begins; NULL: it has none. */
const char *settings_path_in(const struct opt *opt, const char *text);

/* The text of an option in `file`, in which a relative path is changed to one
 * from the working directory; the caller owns it. */
char *settings_path_from(const char *file, const struct opt *opt,
                         const char *text);

/* ---- a manifest ---- */

/* One block of the settings; the caller owns the reference. */
struct json_t *settings_block_json(const struct settings *s,
                                   enum settings_block block,
                                   bool keeps_secrets);

/* ---- one place in the file ---- */

struct spot {
    const char *path;
    const struct yaml_node *node;
    struct err *err;
    const char *list; /* the list that the node is an item of, ... */
    size_t place;     /* ... and its number, from 1; 0: it is not an item */
};

/* The i-th item of the node. */
struct spot spot_inside(const struct spot *at, size_t i);

/* Put file, line and key before the error that is set.  Returns -1. */
int spot_refuse(const struct spot *at);

/* "must be a list". */
int spot_refuse_kind(const struct spot *at, const char *wanted);

/* Set an option to the value of the node. */
int spot_assign(const struct opt_set *set, const struct opt *opt,
                const struct spot *at);

/* Set the options of a block, whose map the node is; those of a class are noted
 * as its own (NULL: it is not of a class). */
int spot_load_block(const struct opt_set *set, struct class_settings *c,
                    const struct spot *at);

/* ---- classes and variants ---- */

/* Add one of weight 1, with default settings. */
struct class_settings *classes_add(struct classes *all);

/* The class sets this itself; it is not taken from the run. */
void class_note_said(struct class_settings *c, const struct opt *opt);
bool class_has_said(const struct class_settings *c, const struct opt *opt);

/* Does it consist of letters, digits and ._-? */
bool class_is_name(const char *text);

#endif
