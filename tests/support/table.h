/* table.h - a whole table of a recording in memory. */
#ifndef TESTS_SUPPORT_TABLE_H
#define TESTS_SUPPORT_TABLE_H

#include <stddef.h>

struct tgr_schema;

/* All rows of the file, which must be undamaged; *n says how many.  The caller
 * owns them. */
void *table_read(const char *path, const struct tgr_schema *schema, size_t *n);

#endif
