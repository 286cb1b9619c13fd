/* variant_settings.h - the variants of a study, which are compared under one
 * load.
 *
 * A variant overrides the server in the settings of the study, but not the
 * load, the data or the SLO: those are the same for all.  Each is a stub, a
 * URL, or a command that starts a server.
 */
#ifndef COMMON_SETTINGS_VARIANT_SETTINGS_H
#define COMMON_SETTINGS_VARIANT_SETTINGS_H

#include <stddef.h>

struct classes;
struct settings;
struct spot;

#define VARIANTS "variants" /* the key of the list */

/* The condition that holds the name of the variant. */
#define VARIANTS_CONDITION "variant"

/* The list of a settings file; it replaces the present one.  ERR_CONFIG
 * "file:line: ...". */
int variants_load(struct classes *variants, const struct spot *at);

/* Turn the settings of the study, which are not resolved yet, into those of the
 * i-th variant: its values override the file and the flags.  The list is empty
 * then, and s->varied has the variant's keys. */
void variants_take(struct settings *s, size_t i);

#endif
