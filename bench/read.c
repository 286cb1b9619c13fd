/* Read recordings and do nothing with the rows: what merging them is compared
 * with.  Usage: bench_read DIR... */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/recording/schema.h"
#include "common/recording/tgr.h"

static int read_table(const char *dir, const char *name,
                      const struct tgr_schema *schema, int64_t *rows,
                      struct err *err)
{
    char *path = xasprintf("%s/%s", dir, name);
    struct tgr_reader *reader = NULL;
    const void *block;
    size_t n = 0;
    int rc = access(path, F_OK) == 0 ? tgr_open(&reader, path, schema, err) : 0;

    while (rc == 0 && reader && (rc = tgr_next(reader, &block, &n, err)) > 0) {
        *rows += (int64_t)n;
        rc = 0;
    }
    tgr_close(reader);
    free(path);
    return rc;
}

int main(int argc, char **argv)
{
    struct err err = {0};
    int64_t rows = 0;

    for (int i = 1; i < argc; i++) {
        if (read_table(argv[i], "requests.tgr", &schema_requests, &rows,
                       &err) ||
            read_table(argv[i], "events.tgr", &schema_events, &rows, &err) ||
            read_table(argv[i], "client.tgr", &schema_client, &rows, &err)) {
            fprintf(stderr, "bench_read: %s\n", err.msg);
            return 1;
        }
    }
    printf("%lld rows\n", (long long)rows);
    return 0;
}
