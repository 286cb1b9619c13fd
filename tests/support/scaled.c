#include "tests/support/scaled.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/report/doc.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "tests/support/keep.h"
#include "tests/support/tmpdir.h"

const struct scale_ask scaled_usual = {
    .regime = SCALE_STRONG,
    .threshold = 0.7,
    .tolerance = 0.005,
    .unit = "item",
};

struct scaling *scaled_study(const char *csv, struct scale_ask ask)
{
    struct scaling *s = xcalloc(1, sizeof(*s));
    struct strlist sources = {0};
    struct err err = {0};

    strlist_add(&sources, tmpdir_write("t.csv", csv, strlen(csv)));
    ask.sources = &sources;
    if (scaling_make(s, &ask, &err))
        print_message("%s\n", err.msg);
    assert_int_equal(err.code, ERR_NONE);
    strlist_fini(&sources);
    s->ask.sources = NULL;
    return s;
}

void scaled_free(struct scaling *s)
{
    scaling_fini(s);
    free(s);
}

char *scaled_text(const struct scaling *s)
{
    struct buf out;
    char *text;

    buf_init(&out, 1 << 20);
    doc_put(scaling_doc(s), DOC_AS_TEXT, &out);
    text = keepf("%s", buf_text(&out));
    buf_fini(&out);
    return text;
}

void scaled_says(const struct scaling *s, const char *what)
{
    char *text = scaled_text(s);

    if (!strstr(text, what))
        print_message("not there: %s\n%s\n", what, text);
    assert_non_null(strstr(text, what));
}
