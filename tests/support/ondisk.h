/* ondisk.h - a recording's tables written by hand, and what the analyzer makes
 * of all of it. */
#ifndef TESTS_SUPPORT_ONDISK_H
#define TESTS_SUPPORT_ONDISK_H

#include <stddef.h>

#include "analyzer/read/reader.h"
#include "analyzer/tally/summary.h"

struct strlist;
struct tgr_schema;

/* dir/name, as one shard's; a number of rows per block. */
void table_write(const char *dir, const char *name,
                 const struct tgr_schema *schema, const void *rows, size_t n,
                 size_t block);

/* A recording and its summary. */
struct read_run {
    struct recording rec;
    struct summary s;
};

/* With the SLO given or, if NULL, its own.  The identity holds always. */
struct read_run *read_run_new(const char *dir, const struct strlist *slo);
void read_run_free(struct read_run *r);

#endif
