#include "analyzer/html/doc_html.h"

#include <string.h>

#include "analyzer/html/page.h"
#include "analyzer/report/doc.h"

#define MAX_COLUMNS 32
#define MAX_CELL    4096

static void put_value(struct page *p, const struct doc_node *n)
{
    struct buf text;

    buf_init(&text, MAX_CELL);
    doc_show_value(n, &text);
    page_text(p, buf_text(&text));
    buf_fini(&text);
}

/* ---- tables ---- */

struct columns {
    const struct doc_node *of[MAX_COLUMNS];
    size_t n;
    bool has_names; /* rows have a name, in a column before these */
};

static bool is_cell(const struct doc_node *n)
{
    return n->type == DOC_VALUE && n->label && n->kind != DOC_PLOT;
}

/* Two intervals may have the same label. */
static bool is_same_column(const struct doc_node *a, const struct doc_node *b)
{
    return strcmp(a->label, b->label) == 0 && a->is_range == b->is_range &&
           (!a->is_range || !a->key || !b->key || strcmp(a->key, b->key) == 0);
}

static void find_columns(struct columns *c, const struct doc_node *row)
{
    c->has_names |= row->type == DOC_SECTION && row->label && row->label[0];
    for (const struct doc_node *n = row->first; n; n = n->next) {
        size_t i = 0;

        if (n->type == DOC_SECTION && n->label)
            find_columns(c, n);
        if (!is_cell(n))
            continue;
        while (i < c->n && !is_same_column(c->of[i], n))
            i++;
        if (i == c->n && c->n < MAX_COLUMNS)
            c->of[c->n++] = n;
    }
}

static const struct doc_node *cell_of(const struct doc_node *row,
                                      const struct doc_node *column)
{
    for (const struct doc_node *n = row->first; n; n = n->next) {
        const struct doc_node *inside =
            n->type == DOC_SECTION && n->label && !n->label[0]
                ? cell_of(n, column)
                : NULL;

        if (inside)
            return inside;
        if (is_cell(n) && is_same_column(n, column))
            return n;
    }
    return NULL;
}

static bool has_cells(const struct doc_node *row)
{
    for (const struct doc_node *n = row->first; n; n = n->next) {
        if (is_cell(n) || (n->type == DOC_SECTION && n->label && !n->label[0] &&
                           has_cells(n)))
            return true;
    }
    return false;
}

/* Sections with a name inside a row are rows below it. */
static void put_row(struct page *p, const struct columns *c,
                    const struct doc_node *row)
{
    if (!doc_is_visible(row))
        return;
    if (row->type == DOC_LINE) {
        page_putf(p, "<tr><td colspan=\"%zu\">", c->n + c->has_names);
        page_text(p, row->text);
        return;
    }
    if (has_cells(row)) {
        page_row(p);
        if (c->has_names)
            page_cell(p, row->label);
        for (size_t i = 0; i < c->n; i++) {
            const struct doc_node *n = cell_of(row, c->of[i]);

            page_put(p, "<td>");
            if (n)
                put_value(p, n);
        }
    }
    for (const struct doc_node *n = row->first; n; n = n->next) {
        if (n->type == DOC_SECTION && n->label && n->label[0])
            put_row(p, c, n);
    }
}

static void put_table(struct page *p, const struct doc_node *n)
{
    struct columns c = {.n = 0};

    for (const struct doc_node *row = n->first; row; row = row->next)
        find_columns(&c, row);
    page_put(p, "<div class=\"tw\" tabindex=\"0\" role=\"region\" "
                "aria-label=\"");
    page_text(p, n->label[0] ? n->label : "Table");
    page_put(p, "\"><table class=\"t\"><thead><tr>");
    if (c.has_names)
        page_put(p, "<th scope=\"col\">");
    for (size_t i = 0; i < c.n; i++) {
        page_put(p, "<th scope=\"col\">");
        page_text(p, c.of[i]->label);
    }
    page_put(p, "</thead><tbody>");
    for (const struct doc_node *row = n->first; row; row = row->next)
        put_row(p, &c, row);
    page_put(p, "</table></div>\n");
}

/* ---- sections ---- */

static void put_pair(struct page *p, const struct doc_node *n)
{
    page_put(p, "<dt>");
    page_text(p, n->label);
    page_put(p, "</dt><dd>");
    put_value(p, n);
    page_put(p, "</dd>");
}

static void put_children(struct page *p, const struct doc_node *in)
{
    bool is_list = false;

    for (const struct doc_node *n = in->first; n; n = n->next) {
        bool is_pair = n->type == DOC_VALUE && n->kind != DOC_PLOT;

        if (!doc_is_visible(n))
            continue;
        if (is_pair != is_list)
            page_put(p, is_pair ? "<dl>" : "</dl>");
        is_list = is_pair;
        if (is_pair)
            put_pair(p, n);
        else
            doc_html_put(p, n);
    }
    if (is_list)
        page_put(p, "</dl>");
}

void doc_html_put(struct page *p, const struct doc_node *n)
{
    if (!doc_is_visible(n))
        return;
    switch (n->type) {
    case DOC_TABLE:
    case DOC_ROWS:
        put_table(p, n);
        break;
    case DOC_LINE:
        page_put(p, n->severity == DOC_WARNING ? "<p><b>Warning:</b> " : "<p>");
        page_text(p, n->text);
        page_put(p, "</p>");
        break;
    case DOC_VALUE:
        page_put(p, "<p>");
        put_value(p, n);
        page_put(p, "</p>");
        break;
    default:
        if (n->label[0]) {
            page_put(p, "<h3>");
            page_text(p, n->label);
            page_put(p, "</h3>");
        }
        put_children(p, n);
    }
}

/* ---- warnings ---- */

#define MAX_WARNINGS 4

/* The values of a row, or a sentence. */
static void put_warning(struct page *p, const char *head,
                        const struct doc_node *n)
{
    bool is_fresh = true;

    page_putf(p, "<p class=\"warn\"><b>%s:</b> ", head);
    if (n->text)
        page_text(p, n->text);
    for (const struct doc_node *c = n->first; c; c = c->next) {
        if (!is_cell(c) || !doc_is_visible(c))
            continue;
        if (!is_fresh)
            page_text(p, c->sep ? c->sep : ", ");
        put_value(p, c);
        is_fresh = false;
    }
    page_put(p, "</p>\n");
}

static size_t put_warnings(struct page *p, const struct doc_node *in,
                           const char *head, size_t said)
{
    for (const struct doc_node *n = in->first; n; n = n->next) {
        bool is_remarks =
            n->type == DOC_LIST && n->label && strcmp(n->label, "WARNING") == 0;
        bool is_flags = n->type == DOC_LIST && n->label &&
                        strcmp(n->label, "RED FLAG") == 0;

        if (!doc_is_visible(n))
            continue;
        if (head || (n->type == DOC_LINE && n->severity == DOC_WARNING)) {
            if (said++ < MAX_WARNINGS)
                put_warning(p, head ? head : "Warning", n);
        } else if (is_remarks || is_flags) {
            said = put_warnings(p, n, is_flags ? "Red flag" : "Warning", said);
        } else if (n->type == DOC_SECTION) {
            said = put_warnings(p, n, NULL, said);
        }
    }
    return said;
}

void doc_html_put_warnings(struct page *p, const struct doc *d)
{
    size_t n = put_warnings(p, doc_root(d), NULL, 0);

    if (n > MAX_WARNINGS)
        page_putf(p,
                  "<p class=\"warn\">%zu more warning%s among the numbers "
                  "below.</p>\n",
                  n - MAX_WARNINGS, n == MAX_WARNINGS + 1 ? " is" : "s are");
}

/* ---- all of it ---- */

static bool is_part(const struct doc_node *n)
{
    return n->type != DOC_VALUE && n->type != DOC_LINE && n->label &&
           n->label[0] && doc_is_visible(n);
}

void doc_html_put_all(struct page *p, const struct doc *d)
{
    struct doc_node loose = {.type = DOC_SECTION, .label = ""};

    page_section_begin(p, "all", "All numbers",
                       "Everything that the text report says.", false);
    page_section_body(p);
    page_put(p, "<div class=\"all\">\n");
    for (const struct doc_node *n = doc_root(d)->first; n; n = n->next) {
        if (!is_part(n)) {
            /* What stands between the parts: sentences and single values. */
            if (doc_is_visible(n)) {
                struct doc_node copy = *n;

                copy.next = NULL;
                loose.first = &copy;
                put_children(p, &loose);
            }
            continue;
        }
        page_put(p, "<details><summary>");
        page_text(p, n->label);
        page_put(p, "</summary><div class=\"in\">");
        if (n->type == DOC_SECTION || n->type == DOC_LIST)
            put_children(p, n);
        else
            doc_html_put(p, n);
        page_put(p, "</div></details>\n");
    }
    page_put(p, "</div>\n");
    page_section_end(p);
}
