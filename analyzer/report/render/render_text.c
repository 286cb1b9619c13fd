/* A document as text.  A section has its name in a column of its own and its
 * values in lines behind it; tables have columns as wide as they need. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/report/doc.h"
#include "analyzer/report/doc_grid.h"
#include "analyzer/report/text_show.h"
#include "common/base/buf.h"
#include "common/base/str.h"

#define HEADING      11 /* columns, with the space behind it */
#define TABLE_INDENT 2  /* of a table inside a section */
#define LINE_WIDTH   96 /* a line of values goes on below after this */
#define MAX_CELL     4096
#define MAX_LINE     ((size_t)64 << 10)
#define MAX_PLOT     64

/* ---- values ---- */

/* A number that is not negative, in its unit. */
static void show_size(const struct doc_node *n, double x, struct buf *out)
{
    const char *unit = n->unit ? n->unit : n->kind == DOC_RATE ? "/s" : "";
    char text[UNITS_TEXT];

    switch (n->kind) {
    case DOC_SHARE:
        buf_addf(out, "%.*g%%", n->digits ? n->digits : 4, 100 * x);
        break;
    case DOC_NS:
        buf_adds(out, units_show_duration(x, text));
        break;
    case DOC_MS:
        buf_adds(out, units_show_duration(x * 1e6, text));
        break;
    case DOC_SECONDS:
        buf_adds(out, units_show_duration(x * 1e9, text));
        break;
    case DOC_BYTES:
        buf_addf(out, "%s%s", units_show_size(x, text), unit);
        break;
    case DOC_USD:
        buf_addf(out, x > 0 && x < 1e-3 ? "%.7f USD" : "%.4g USD", x);
        break;
    default:
        text_show_number(x,
                         n->digits             ? n->digits
                         : n->kind == DOC_RATE ? 5
                                               : 4,
                         text);
        buf_addf(out, "%s%s", text, unit);
    }
}

static void show_number(const struct doc_node *n, double x, struct buf *out)
{
    if (!isfinite(x)) {
        buf_adds(out, n->brief ? n->brief : "unknown");
        return;
    }
    buf_adds(out, x < 0 ? "-" : n->is_signed ? "+" : "");
    show_size(n, fabs(x), out);
}

static int place(const struct doc_plot *p, double x)
{
    double at = p->is_log
                    ? log(fmax(x, p->low) / p->low) / log(p->high / p->low)
                    : (x - p->low) / (p->high - p->low);

    return isfinite(at) ? (int)fmin(p->width, fmax(0, at * p->width)) : 0;
}

static void put_mark(char *line, int width, int at, char mark)
{
    if (mark)
        line[at < width ? at : width - 1] = mark;
}

static void show_plot(const struct doc_plot *p, struct buf *out)
{
    char line[MAX_PLOT + 1];
    int width = p->width < MAX_PLOT ? p->width : MAX_PLOT;
    int a = isnan(p->a) ? 0 : place(p, p->a);
    int b = isnan(p->b) ? a : place(p, p->b);

    memset(line, ' ', sizeof(line));
    line[width] = '\0';
    if (!isnan(p->a)) {
        /* What counts is never invisible. */
        if (a == 0 && p->a > p->low && p->before != ' ')
            a = 1;
        memset(line, p->before, (size_t)a);
        if (b > a)
            memset(line + a, p->between, (size_t)(b - a));
        if (!isnan(p->b))
            put_mark(line, width, b, p->at_b);
        put_mark(line, width, a, p->at_a);
    }
    buf_addf(out, "|%s|", line);
}

void doc_show_value(const struct doc_node *n, struct buf *out)
{
    if (n->is_missing) {
        buf_adds(out, n->brief ? n->brief : "-");
    } else if (n->shown) {
        printable_add(n->shown, out);
    } else if (n->is_range) {
        show_number(n, n->number, out);
        buf_adds(out, " to ");
        show_number(n, n->high, out);
    } else if (n->kind == DOC_TEXT) {
        printable_add(n->text, out);
    } else if (n->kind == DOC_BOOL) {
        buf_adds(out, n->count ? "yes" : "no");
    } else if (n->kind == DOC_COUNT) {
        buf_addf(out, "%lld%s", (long long)n->count, n->unit ? n->unit : "");
    } else if (n->kind == DOC_PLOT) {
        show_plot(&n->plot, out);
    } else {
        show_number(n, n->number, out);
    }
}

bool doc_has_words(const struct doc_node *n)
{
    return !n->is_missing || n->brief;
}

bool doc_is_visible(const struct doc_node *n)
{
    if (!n->label)
        return false;
    if (n->type == DOC_LINE || n->type == DOC_VALUE)
        return n->type == DOC_LINE || doc_has_words(n);
    for (const struct doc_node *c = n->first; c; c = c->next) {
        if (doc_is_visible(c))
            return true;
    }
    return false;
}

/* ---- tables ---- */

static void pad(const char *text, size_t width, bool is_left, struct buf *out)
{
    int room = (int)(width - doc_width(text));

    buf_addf(out, "%*s%s%*s", is_left ? 0 : room, "", text, is_left ? room : 0,
             "");
}

/* The headings, or a row; no spaces at the end of the line. */
static void put_cells(const struct doc_grid *g, const struct grid_row *r,
                      int indent, struct buf *out)
{
    struct buf line;
    size_t len;

    buf_init(&line, MAX_LINE);
    for (size_t i = 0; i < g->n_columns; i++) {
        const struct grid_column *c = &g->columns[i];

        if (!c->has_values)
            continue;
        buf_addf(&line, "%s", line.len ? "  " : "");
        pad(doc_grid_text(g, r, i), c->width, c->is_left, &line);
    }
    len = line.len;
    while (len > 0 && buf_text(&line)[len - 1] == ' ')
        len--;
    buf_addf(out, "%*s%.*s\n", indent, "", (int)len, buf_text(&line));
    buf_fini(&line);
}

static void put_table(const struct doc_node *n, const char *const *only,
                      int indent, struct buf *out)
{
    struct doc_grid g;

    doc_grid_init(&g, n, only);
    if (!g.columns[0].has_values && n->label[0])
        buf_addf(out, "%*s%s\n", indent, "", n->label);
    put_cells(&g, NULL, indent, out);
    for (size_t i = 0; i < g.n_rows; i++) {
        if (g.rows[i].node->type == DOC_LINE) {
            buf_addf(out, "%*s", indent, "");
            printable_add(g.rows[i].node->text, out);
            buf_adds(out, "\n");
        } else
            put_cells(&g, &g.rows[i], indent, out);
    }
    doc_grid_fini(&g);
}

void doc_show_table(const struct doc_node *n, const char *const *only,
                    struct buf *out)
{
    put_table(n, only, 0, out);
}

/* ---- lines of values ---- */

struct pen {
    struct buf *out;
    int indent;
    size_t used;      /* columns of the line that is begun; 0: none is */
    bool is_fresh;    /* only its heading is there */
    bool is_full;     /* what comes next begins a line */
    bool wants_break; /* an empty line before what comes next */
};

static void end_line(struct pen *p)
{
    if (p->used > 0)
        buf_adds(p->out, "\n");
    p->used = 0;
    p->is_full = false;
}

static void begin_line(struct pen *p)
{
    end_line(p);
    if (p->wants_break && p->out->len > 0)
        buf_adds(p->out, "\n");
    p->wants_break = false;
    buf_addf(p->out, "%*s", p->indent, "");
    p->used = (size_t)p->indent + 1;
    p->is_fresh = true;
}

static void put_words(struct pen *p, const char *text)
{
    buf_adds(p->out, text);
    p->used += doc_width(text);
    p->is_fresh = false;
}

/* The comma stays on the line that it ends. */
static void put_item(struct pen *p, const struct doc_node *n)
{
    const char *sep = n->sep ? n->sep : n->is_range ? " " : ", ";
    struct buf text;

    buf_init(&text, MAX_CELL);
    buf_addf(&text, "%s%s%s", n->is_range ? "(" : "", n->label,
             n->label[0] ? " " : "");
    doc_show_value(n, &text);
    buf_adds(&text, n->is_range ? ")" : "");
    if (p->used == 0 || p->is_full) {
        begin_line(p);
    } else if (!p->is_fresh &&
               p->used + strlen(sep) + doc_width(buf_text(&text)) >
                   LINE_WIDTH) {
        size_t mark = strcspn(sep, " ");

        /* Only a space at the end of the separator can become a new line. */
        if (sep[mark] == '\0' || sep[mark + 1] != '\0') {
            put_words(p, sep);
        } else {
            buf_addf(p->out, "%.*s", (int)mark, sep);
            begin_line(p);
        }
    } else if (!p->is_fresh) {
        put_words(p, sep);
    }
    put_words(p, buf_text(&text));
    buf_fini(&text);
}

static void put_children(struct pen *p, const struct doc_node *n, int depth);

static void put_sentence(struct pen *p, const struct doc_node *n)
{
    if (p->used == 0 || p->is_full || !p->is_fresh)
        begin_line(p);
    if (n->severity == DOC_WARNING)
        put_words(p, "WARNING ");
    printable_add(n->text, p->out);
    p->is_fresh = false;
    p->is_full = true;
}

static void put_heading(struct pen *p, const struct doc_node *n, int depth)
{
    char text[64];

    p->indent = depth == 0 ? 0 : HEADING + 2 * (depth - 1);
    begin_line(p);
    snprintf(text, sizeof(text),
             depth == 0 ? "%-10.60s " : "%.60s: ", n->label);
    put_words(p, text);
    p->is_fresh = true;
    p->indent = depth == 0 ? HEADING : HEADING + 2 * depth;
}

static void put_node(struct pen *p, const struct doc_node *n, int depth)
{
    int indent = p->indent;

    if (!doc_is_visible(n))
        return;
    switch (n->type) {
    case DOC_VALUE:
        put_item(p, n);
        return;
    case DOC_LINE:
        put_sentence(p, n);
        return;
    case DOC_TABLE:
    case DOC_ROWS:
        end_line(p);
        if ((p->wants_break || depth == 0) && p->out->len > 0)
            buf_adds(p->out, "\n");
        put_table(n, NULL, depth == 0 ? 0 : TABLE_INDENT, p->out);
        p->wants_break = depth == 0;
        return;
    default:
        break;
    }
    if (!n->label[0]) {
        put_children(p, n, depth);
        return;
    }
    put_heading(p, n, depth);
    put_children(p, n, depth + 1);
    p->is_full = true;
    p->indent = indent;
    if (depth == 0)
        end_line(p);
}

/* Each element of a list begins a line. */
static void put_children(struct pen *p, const struct doc_node *n, int depth)
{
    p->is_full |= n->type == DOC_LIST && p->used > 0 && !p->is_fresh;
    for (const struct doc_node *c = n->first; c; c = c->next) {
        put_node(p, c, depth);
        if (n->type == DOC_LIST && p->used > 0 && !p->is_fresh)
            p->is_full = true;
    }
}

void doc_render_text(const struct doc *d, struct buf *out)
{
    struct pen p = {.out = out};

    for (const struct doc_node *c = doc_root(d)->first; c; c = c->next) {
        p.indent = 0;
        if (c->type == DOC_LINE && !c->text[0]) {
            end_line(&p);
            p.wants_break = true;
        } else {
            put_node(&p, c, 0);
            end_line(&p);
        }
    }
}
