/* settings_spot.h - one place in a settings file, and what to do with it: for
 * those who read one. */
#ifndef COMMON_SETTINGS_SETTINGS_SPOT_H
#define COMMON_SETTINGS_SETTINGS_SPOT_H

#include <stddef.h>

#include "common/settings/option.h"

struct err;
struct yaml_node;

struct spot {
    const char *path;
    const struct yaml_node *node;
    struct err *err;
    const char *list; /* it is an item of this list ... */
    size_t place;     /* ... at this place, from 1; 0: it is none */
};

/* Put file, line and key before the error that is set.  Returns -1. */
int spot_refuse(const struct spot *at);

/* "must be a list". */
int spot_refuse_kind(const struct spot *at, const char *wanted);

/* Set an option to what stands there. */
int spot_assign(const struct opt_set *set, const struct opt *opt,
                const struct spot *at);

/* There is no such key in the block. */
int spot_refuse_key(const struct opt_block *block, const struct spot *at);

#endif
