/* One line per request, as recorded, for spreadsheets and for checking numbers.
 * The columns are those of requests.tgr, with the unit after the name.  Codes
 * are given by name, and absent values are empty. */
#include "analyzer/report/report.h"

#include <stddef.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/recording/schema.h"

static const struct tgr_schema *const schema = &schema_requests;

static void put_header(const struct summary *s, int64_t start_ns,
                       struct buf *out)
{
    (void)s;
    (void)start_ns;
    for (size_t c = 0; c < schema->len; c++) {
        const struct tgr_column *column = &schema->columns[c];

        buf_addf(out, "%s%s%s%s", c ? "," : "", column->name,
                 column->unit[0] ? "_" : "", column->unit);
    }
    buf_adds(out, "\n");
}

/* NULL: it is a number. */
static const char *name_of(const struct facts *f, size_t offset)
{
    switch (offset) {
    case offsetof(struct facts, outcome):
        return outcome_name((enum outcome)f->outcome);
    case offsetof(struct facts, token_source):
        return token_source_name((enum token_source)f->token_source);
    case offsetof(struct facts, finish):
        return finish_name((enum finish)f->finish);
    default:
        return NULL;
    }
}

static void put_value(const struct facts *f, const struct tgr_column *column,
                      struct buf *out)
{
    const char *name = name_of(f, column->offset);
    int64_t value;

    memcpy(&value, (const char *)f + column->offset, sizeof(value));
    if (name)
        buf_adds(out, name);
    else if (value != TIME_ABSENT)
        buf_addf(out, "%lld", (long long)value);
}

static void put_rows(const struct facts *rows, size_t n, struct buf *out)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < schema->len; c++) {
            buf_adds(out, c ? "," : "");
            put_value(&rows[i], &schema->columns[c], out);
        }
        buf_adds(out, "\n");
    }
}

const struct report_ops report_csv = {
    .name = "csv",
    .render_header = put_header,
    .render_rows = put_rows,
};
