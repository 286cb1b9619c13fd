#include "tests/support/ondisk.h"
#include "tests/support/keep.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/recording/tgr.h"

void table_write(const char *dir, const char *name,
                 const struct tgr_schema *schema, const void *rows, size_t n,
                 size_t block)
{
    char *path = keepf("%s/%s", dir, name);
    struct tgr_writer *w;
    struct err err = {0};

    assert_int_equal(tgr_create(&w, path, schema, &err), 0);
    for (size_t i = 0; i < n; i += block) {
        size_t part = n - i < block ? n - i : block;

        assert_int_equal(tgr_append(w, 0,
                                    (const char *)rows + i * schema->row_size,
                                    part, &err),
                         0);
    }
    assert_int_equal(tgr_finish(w, &err), 0);
}

struct read_run *read_run_new(const char *dir, const struct strlist *slo)
{
    struct read_run *r = xcalloc(1, sizeof(*r));
    struct err err = {0};

    assert_int_equal(recording_open(&r->rec, dir, &err), 0);
    if (summary_make(&r->s, &r->rec, slo, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(r->s.scheduled, r->s.issued + r->s.unsent);
    assert_int_equal(r->s.issued, r->s.ok + r->s.failed);
    return r;
}

void read_run_free(struct read_run *r)
{
    summary_fini(&r->s);
    recording_close(&r->rec);
    free(r);
}
