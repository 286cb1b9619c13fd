/* searched.h - a search of given settings, as a user has it. */
#ifndef TESTS_SUPPORT_SEARCHED_H
#define TESTS_SUPPORT_SEARCHED_H

#include <jansson.h>

#include "tests/support/proc.h"

struct searched {
    char *dir;
    struct proc_result r;
    json_t *json; /* its summary.json */
};

/* Search by these settings in a directory of this name, quietly. */
struct searched searched_run(const char *name, const char *settings);
void searched_fini(struct searched *s);

/* A settings file in the temporary directory. */
char *searched_file(const char *name, const char *settings);

/* DIR/NAME, which must be there. */
json_t *searched_json(const char *dir, const char *name);

const char *searched_text(const json_t *json, const char *key);

/* The exit status that its outcome implies.  How far short probes get depends
 * on the machine; what outcome they deserve is tested in virtual time
 * (unit.search, unit.search_recorded). */
int searched_status(const json_t *json);

#endif
