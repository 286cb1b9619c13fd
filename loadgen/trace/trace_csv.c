/* Comma-separated values by the names in the first line.  A field may stand
 * between quotes; a line end in one is not understood. */
#include "loadgen/trace/trace_format.h"

#include <string.h>

#include "loadgen/trace/trace_row.h"

struct field {
    const char *at;
    size_t len;
};

static void trim(struct field *f)
{
    while (f->len > 0 && f->at[0] == ' ') {
        f->at++;
        f->len--;
    }
    while (f->len > 0 && f->at[f->len - 1] == ' ')
        f->len--;
}

/* Between quotes, in which a quote stands twice; such a field is told apart,
 * not decoded, since no number and no name that we look for has one. */
static const char *end_of_quoted(const char *p, const char *end)
{
    while (p < end && (*p != '"' || (p + 1 < end && p[1] == '"')))
        p += *p == '"' ? 2 : 1;
    return p < end ? p : NULL;
}

/* Cut the next field off *rest, which becomes NULL behind the last one.  False
 * if its quotes are broken. */
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
    trim(f);
    *rest = stop < end ? stop + 1 : NULL;
    return true;
}

/* ---- the first line ---- */

static void place(struct parser *p, const struct field *f, int at)
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
        place(p, &f, i);
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

/* ---- a row ---- */

/* A whole number; "374.0", as some tools write it, is one. */
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

/* Ids between blanks, with or without brackets: "[1 2 3]". */
static bool read_blocks(struct field f, struct row *row)
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

static bool read_time(const struct parser *p, const struct field *f,
                      int64_t *ns)
{
    return trace_parse_time(f->at, f->len, p->format.unit_ns, ns) ||
           trace_parse_date(f->at, f->len, ns);
}

static const char *read_column(const struct parser *p, int c,
                               const struct field *f, struct row *row)
{
    switch (c) {
    case COLUMN_TIME:
        return read_time(p, f, &row->time_ns) ? NULL : "not a time";
    case COLUMN_INPUT:
        return parse_whole(f, &row->input) ? NULL : "not a length";
    case COLUMN_OUTPUT:
        return parse_whole(f, &row->output) ? NULL : "not a length";
    default:
        return read_blocks(*f, row) ? NULL : "not a list of ids";
    }
}

static bool read_field(const struct parser *p, int i, const struct field *f,
                       struct row *row, struct flaw *flaw)
{
    for (int c = 0; c < COLUMN_COUNT; c++) {
        if (p->at[c] != i)
            continue;
        flaw->column = p->format.column[c];
        flaw->what = read_column(p, c, f, row);
        if (flaw->what)
            return false;
    }
    return true;
}

static bool csv_read(const struct parser *p, const char *line, size_t len,
                     struct row *row, struct flaw *flaw)
{
    const char *rest = line;
    struct field f;

    for (int i = 0; i < p->n_fields; i++) {
        if (!rest) {
            *flaw = (struct flaw){NULL, "fewer fields than the first line"};
            return false;
        }
        if (!next_field(&rest, line + len, &f)) {
            *flaw = (struct flaw){NULL, "a quote that does not end"};
            return false;
        }
        if (!read_field(p, i, &f, row, flaw))
            return false;
    }
    return true;
}

const struct syntax_ops syntax_csv = {
    .name = "csv",
    .read_header = csv_read_header,
    .read = csv_read,
};
