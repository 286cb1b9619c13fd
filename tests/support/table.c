#include "tests/support/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/recording/tgr.h"
#include "tests/support/keep.h"

void *table_read(const char *path, const struct tgr_schema *schema, size_t *n)
{
    struct tgr_reader *reader;
    struct err err = {0};
    const void *block;
    char *rows = NULL;
    size_t len;

    if (tgr_open(&reader, path, schema, &err))
        fail_msg("%s", err.msg);
    *n = 0;
    while (tgr_next(reader, &block, &len, &err) > 0) {
        rows = xrealloc(rows, *n + len, schema->row_size);
        memcpy(rows + *n * schema->row_size, block, len * schema->row_size);
        *n += len;
    }
    assert_int_equal(err.code, ERR_NONE);
    assert_int_equal(tgr_damage(reader).skipped_bytes, 0);
    assert_int_equal(tgr_damage(reader).cut_off_bytes, 0);
    tgr_close(reader);
    return keep(rows);
}
