/* A table of timings is read or refused in one line; what is read comes to a
 * study that can be printed, and never recommends a row whose quality is not
 * held. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/doc.h"
#include "analyzer/scaling/scaling.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct scaling *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct scale_point *p = &s->points[i];

        if (!quality_allows(&p->quality_check) &&
            (s->verdict.recommended_k == p->k || s->verdict.cheapest_k == p->k))
            abort();
    }
}

static void render(const struct scaling *s)
{
    struct buf out;

    buf_init(&out, (size_t)16 << 20);
    doc_put(scaling_doc(s), DOC_AS_TEXT, &out);
    doc_put(scaling_doc(s), DOC_AS_JSON, &out);
    buf_fini(&out);
}

static void try_regime(enum scale_regime regime, char *text)
{
    struct scaling s = {
        .ask = {.regime = regime, .threshold = 0.7, .tolerance = 0.005},
        .unit = xstrdup("item")};
    struct err err = {0};

    if (scale_table_parse(&s, "t.csv", text, &err)) {
        if (err.msg[0] == '\0' || strchr(err.msg, '\n'))
            abort();
    } else {
        scaling_work_out(&s);
        if (s.refusals.len == 0)
            check(&s);
        render(&s);
    }
    scaling_fini(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (int regime = SCALE_STRONG; regime <= SCALE_CAPACITY; regime++) {
        char *text = xstrndup((const char *)data, size);

        try_regime((enum scale_regime)regime, text);
        free(text);
    }
    return 0;
}
