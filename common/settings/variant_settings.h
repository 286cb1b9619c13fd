/* variant_settings.h - the variants of a study: what is compared under one
 * load.
 *
 * A variant says over the settings of the study which server is asked, and
 * nothing about the load, the data or the objective: those are the same for
 * all.  Each is a stub, a URL, or a command that starts a server.
 */
#ifndef COMMON_SETTINGS_VARIANT_SETTINGS_H
#define COMMON_SETTINGS_VARIANT_SETTINGS_H

#include <stddef.h>

struct classes;
struct err;
struct json_t;
struct settings;
struct spot;

#define VARIANTS "variants" /* the key of the list */

/* The condition that holds the name of the variant. */
#define VARIANTS_CONDITION "variant"

/* The list of a settings file, in place of one that is there.  ERR_CONFIG
 * "file:line: ...". */
int variants_load(struct classes *variants, const struct spot *at);

/* Make them the settings of the i-th variant, which are not resolved yet: what
 * it says goes over what the file and the flags say.  The list is gone then,
 * and s->varied has its keys. */
void variants_take(struct settings *s, size_t i);

/* For a manifest: the name and the keys; the caller owns the reference.  NULL:
 * it is of no variant. */
struct json_t *variants_to_json(const struct settings *s);

/* Read back; ERR_FORMAT. */
int variants_from_json(struct settings *s, const struct json_t *json,
                       struct err *err);

#endif
