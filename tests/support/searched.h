/* searched.h - a search of given settings, as a user has it. */
#ifndef TESTS_SUPPORT_SEARCHED_H
#define TESTS_SUPPORT_SEARCHED_H

#include <jansson.h>
#include <stdbool.h>

#include "tests/support/proc.h"

struct searched {
    char *dir;
    struct proc_result r;
    json_t *json; /* its summary.json */
};

/* Search by these settings in a directory of this name, quietly. */
struct searched searched_run(const char *name, const char *settings);
void searched_fini(struct searched *s);

/* A settings file in the temporary directory; to be freed. */
char *searched_file(const char *name, const char *settings);

/* DIR/NAME, which must be there. */
json_t *searched_json(const char *dir, const char *name);

const char *searched_text(const json_t *json, const char *key);

/* On a busy machine too much may be set aside, the client get no further, or
 * the time be over, and saying so is right: then there is nothing more to see.
 */
bool searched_is_given_up(const struct proc_result *r, const json_t *json);

#endif
