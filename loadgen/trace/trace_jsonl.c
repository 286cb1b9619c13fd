/* An object a line. */
#include "loadgen/trace/trace_format.h"

#include <math.h>

#include "common/base/jscan.h"
#include "loadgen/trace/trace_row.h"

static int column_of(const struct parser *p, struct jtext key)
{
    for (int c = 0; c < COLUMN_COUNT; c++) {
        if (p->format.column[c] && jtext_is(key, p->format.column[c]))
            return c;
    }
    return -1;
}

/* A number in the format's unit, or a date. */
static bool read_time(const struct parser *p, struct jscan *s, int64_t *ns)
{
    struct jtext text;
    double number;
    double exact;

    if (jscan_peek(s) == JSCAN_STRING)
        return jscan_string(s, &text) &&
               trace_parse_date(text.at, text.len, ns);
    if (!jscan_number(s, &number))
        return false;
    exact = number * (double)p->format.unit_ns;
    if (!(exact >= 0 && exact < 0x1p62))
        return false;
    *ns = llround(exact);
    return true;
}

/* "374.0" is a whole number too. */
static bool read_length(struct jscan *s, int64_t *n)
{
    double number;

    if (!jscan_number(s, &number) || !(fabs(number) < 0x1p53) ||
        number != floor(number))
        return false;
    *n = (int64_t)number;
    return true;
}

static bool read_blocks(struct jscan *s, struct row *row)
{
    bool is_good = true;
    int64_t id;

    row->n_blocks = 0;
    if (!jscan_array(s))
        return false;
    while (jscan_item(s)) {
        if (jscan_int(s, &id))
            row_add_block(row, id);
        else
            is_good = false;
    }
    return is_good;
}

static const char *read_column(const struct parser *p, int c, struct jscan *s,
                               struct row *row)
{
    switch (c) {
    case COLUMN_TIME:
        return read_time(p, s, &row->time_ns) ? NULL : "not a time";
    case COLUMN_INPUT:
        return read_length(s, &row->input) ? NULL : "not a length";
    case COLUMN_OUTPUT:
        return read_length(s, &row->output) ? NULL : "not a length";
    default:
        return read_blocks(s, row) ? NULL : "not a list of ids";
    }
}

static bool is_missing(const struct parser *p, unsigned seen, struct flaw *flaw)
{
    for (int c = 0; c < COLUMN_BLOCKS; c++) {
        if (seen & 1U << c)
            continue;
        *flaw = (struct flaw){p->format.column[c], "missing"};
        return true;
    }
    return false;
}

/* The first thing that is wrong is told, but that it is JSON at all comes
 * before everything. */
static bool jsonl_read(const struct parser *p, const char *line, size_t len,
                       struct row *row, struct flaw *flaw)
{
    struct jscan s;
    struct jtext key;
    unsigned seen = 0;

    jscan_init(&s, line, len);
    if (!jscan_object(&s)) {
        flaw->what = "not a JSON object";
        return false;
    }
    while (jscan_key(&s, &key)) {
        int c = column_of(p, key);
        const char *what = NULL;

        if (c < 0)
            jscan_skip(&s);
        else
            what = read_column(p, c, &s, row);
        if (c >= 0)
            seen |= 1U << c;
        if (what && !flaw->what)
            *flaw = (struct flaw){p->format.column[c], what};
    }
    if (!jscan_end(&s))
        *flaw = (struct flaw){NULL, "not a JSON object"};
    return !flaw->what && !is_missing(p, seen, flaw);
}

const struct syntax_ops syntax_jsonl = {
    .name = "jsonl",
    .read = jsonl_read,
};
