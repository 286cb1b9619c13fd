/* The syntaxes of a trace: CSV with the names of the columns in the first line,
 * and JSONL with one object per line. */
#include "loadgen/trace/trace_format.h"

#include <math.h>
#include <string.h>

#include "common/text/jscan.h"

/* What a value that cannot be read is not. */
static const char *const not_a[COLUMN_COUNT] = {
    [COLUMN_TIME] = "not a time",
    [COLUMN_INPUT] = "not a length",
    [COLUMN_OUTPUT] = "not a length",
    [COLUMN_BLOCKS] = "not a list of ids",
};

/* ---- CSV: a field may be quoted; a quoted line end is not supported ---- */

struct field {
    const char *at;
    size_t len;
};

/* The quote that ends a field; quotes in it are doubled.  The field is not
 * decoded, since no number and no column name contains a quote.  NULL: none. */
static const char *end_of_quoted(const char *p, const char *end)
{
    while (p < end && (*p != '"' || (p + 1 < end && p[1] == '"')))
        p += *p == '"' ? 2 : 1;
    return p < end ? p : NULL;
}

/* Cut the next field off *rest, which becomes NULL after the last one, and trim
 * its blanks.  False if its quotes are broken. */
static bool next_field(const char **rest, const char *end, struct field *f)
{
    const char *p = *rest;
    bool is_quoted = p < end && *p == '"';
    const char *stop;

    if (is_quoted) {
        f->at = p + 1;
        stop = end_of_quoted(p + 1, end);
        if (!stop || (stop + 1 < end && stop[1] != ','))
            return false;
        f->len = (size_t)(stop - f->at);
        stop++;
    } else {
        stop = memchr(p, ',', (size_t)(end - p));
        if (!stop)
            stop = end;
        f->at = p;
        f->len = (size_t)(stop - p);
    }
    for (; f->len > 0 && f->at[0] == ' '; f->at++)
        f->len--;
    while (f->len > 0 && f->at[f->len - 1] == ' ')
        f->len--;
    *rest = stop < end ? stop + 1 : NULL;
    return true;
}

/* Note which column this is the name of. */
static void locate_column(struct parser *p, const struct field *f, int at)
{
    for (int c = 0; c < COLUMN_COUNT; c++) {
        const char *name = p->format.column[c];

        if (!name || strlen(name) != f->len || memcmp(name, f->at, f->len) != 0)
            continue;
        if (p->at[c] >= 0)
            p->twice = name;
        else
            p->at[c] = at;
    }
}

static int csv_read_header(struct parser *p, const char *line, size_t len,
                           const char **missing)
{
    const char *rest = line;
    struct field f;

    for (int c = 0; c < COLUMN_COUNT; c++)
        p->at[c] = -1;
    for (int i = 0; rest && next_field(&rest, line + len, &f); i++)
        locate_column(p, &f, i);
    p->n_fields = 0;
    for (int c = 0; c < COLUMN_COUNT; c++) {
        if (p->at[c] >= p->n_fields)
            p->n_fields = p->at[c] + 1;
        *missing = p->format.column[c];
        if (p->at[c] < 0 && c != COLUMN_BLOCKS)
            return -1;
    }
    return 0;
}

/* A whole number; some tools write it as "374.0". */
static bool parse_whole(const struct field *f, int64_t *n)
{
    bool is_negative = f->len > 0 && f->at[0] == '-';
    size_t i = is_negative;
    size_t start = i;
    int64_t value = 0;

    for (; i < f->len && f->at[i] >= '0' && f->at[i] <= '9'; i++) {
        if (value > INT64_MAX / 10 - 1)
            return false;
        value = value * 10 + (f->at[i] - '0');
    }
    if (i == start)
        return false;
    if (i < f->len && f->at[i] == '.') {
        for (i++; i < f->len && f->at[i] == '0'; i++)
            continue;
    }
    *n = is_negative ? -value : value;
    return i == f->len;
}

/* Ids separated by blanks, with or without brackets: "[1 2 3]". */
static bool csv_read_blocks(struct field f, struct row *row)
{
    size_t i = 0;

    while (i < f.len) {
        struct field id = {f.at + i, 0};
        int64_t n;

        while (i < f.len && !strchr(" ,;[]", f.at[i]))
            i++;
        id.len = (size_t)(f.at + i - id.at);
        i++;
        if (id.len == 0)
            continue;
        if (!parse_whole(&id, &n))
            return false;
        row_add_block(row, n);
    }
    return true;
}

static bool csv_read_column(const struct parser *p, int c,
                            const struct field *f, struct row *row)
{
    switch (c) {
    case COLUMN_TIME:
        return trace_parse_time(f->at, f->len, p->format.unit_ns,
                                &row->time_ns) ||
               trace_parse_date(f->at, f->len, &row->time_ns);
    case COLUMN_INPUT:
        return parse_whole(f, &row->input);
    case COLUMN_OUTPUT:
        return parse_whole(f, &row->output);
    default:
        return csv_read_blocks(*f, row);
    }
}

static bool csv_read(const struct parser *p, const char *line, size_t len,
                     struct row *row, struct flaw *flaw)
{
    const char *rest = line;
    struct field f;

    for (int i = 0; i < p->n_fields; i++) {
        if (!rest) {
            flaw->what = "fewer fields than the first line";
            return false;
        }
        if (!next_field(&rest, line + len, &f)) {
            flaw->what = "a quote that does not end";
            return false;
        }
        for (int c = 0; c < COLUMN_COUNT; c++) {
            if (p->at[c] != i || csv_read_column(p, c, &f, row))
                continue;
            *flaw = (struct flaw){p->format.column[c], not_a[c]};
            return false;
        }
    }
    return true;
}

const struct syntax_ops syntax_csv = {
    .read_header = csv_read_header,
    .read = csv_read,
};

/* ---- JSONL ---- */

/* A number in the format's unit, or a date. */
static bool jsonl_read_time(const struct parser *p, struct jscan *s,
                            int64_t *ns)
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

/* A whole number, also written as "374.0". */
static bool jsonl_read_length(struct jscan *s, int64_t *n)
{
    double number;

    if (!jscan_number(s, &number) || !(fabs(number) < 0x1p53) ||
        number != floor(number))
        return false;
    *n = (int64_t)number;
    return true;
}

static bool jsonl_read_blocks(struct jscan *s, struct row *row)
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

static bool jsonl_read_column(const struct parser *p, int c, struct jscan *s,
                              struct row *row)
{
    switch (c) {
    case COLUMN_TIME:
        return jsonl_read_time(p, s, &row->time_ns);
    case COLUMN_INPUT:
        return jsonl_read_length(s, &row->input);
    case COLUMN_OUTPUT:
        return jsonl_read_length(s, &row->output);
    default:
        return jsonl_read_blocks(s, row);
    }
}

/* The first error is reported, but invalid JSON takes precedence. */
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
        int c = 0;

        while (c < COLUMN_COUNT &&
               !(p->format.column[c] && jtext_is(key, p->format.column[c])))
            c++;
        if (c == COLUMN_COUNT) {
            jscan_skip(&s);
            continue;
        }
        seen |= 1U << c;
        if (!jsonl_read_column(p, c, &s, row) && !flaw->what)
            *flaw = (struct flaw){p->format.column[c], not_a[c]};
    }
    if (!jscan_end(&s))
        *flaw = (struct flaw){NULL, "not a JSON object"};
    for (int c = 0; c < COLUMN_BLOCKS && !flaw->what; c++) {
        if (!(seen & 1U << c))
            *flaw = (struct flaw){p->format.column[c], "missing"};
    }
    return !flaw->what;
}

const struct syntax_ops syntax_jsonl = {
    .read = jsonl_read,
};
