/* compared.h - what `compare --json` says. */
#ifndef TESTS_SUPPORT_COMPARED_H
#define TESTS_SUPPORT_COMPARED_H

#include <jansson.h>

/* Of a command that must end with this status (see keep.h). */
json_t *compare_json(const char *const *argv, int status);

const char *text_at(const json_t *json, const char *key);

/* It must be there. */
const json_t *finding_of(const json_t *json, const char *quantity);

#endif
