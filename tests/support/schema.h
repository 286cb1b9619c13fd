/* schema.h - JSON documents against the schemas in docs/schema.
 *
 * A validator for the part of JSON Schema 2020-12 that they use; a keyword that
 * it does not know fails the test, rather than being ignored.
 */
#ifndef TESTS_SUPPORT_SCHEMA_H
#define TESTS_SUPPORT_SCHEMA_H

#include <jansson.h>

/* docs/schema/NAME.json; the caller owns it. */
json_t *schema_load(const char *name);

/* The first thing that is wrong, as "path: what" (see keep.h); NULL: nothing.
 */
const char *schema_fault(const json_t *schema, const json_t *json);

/* The document is as docs/schema/NAME.json says. */
void assert_schema(const char *name, const json_t *json);
void assert_schema_text(const char *name, const char *text);
void assert_schema_file(const char *name, const char *path);

/* Every key that the schema names is described. */
void assert_described(const json_t *schema);

#endif
