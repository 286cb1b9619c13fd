#include "analyzer/report/doc_grid.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/xalloc.h"

#define MAX_CELL 4096

size_t doc_width(const char *text)
{
    size_t n = 0;

    for (; *text; text++)
        n += ((unsigned char)*text & 0xC0) != 0x80;
    return n;
}

static bool is_wanted(const struct doc_grid *g, const char *label)
{
    size_t i = 0;

    while (g->only && g->only[i] && strcmp(g->only[i], label) != 0)
        i++;
    return !g->only || g->only[i];
}

static size_t column_of(struct doc_grid *g, const struct doc_node *n)
{
    size_t i;

    for (i = 1; i < g->n_columns; i++) {
        const struct doc_node *of = g->columns[i].of;

        if (strcmp(of->label, n->label) == 0 && of->is_range == n->is_range &&
            (!n->is_range || !n->key || strcmp(of->key, n->key) == 0))
            return i;
    }
    if (i == GRID_COLUMNS)
        return i - 1;
    g->columns[i] = (struct grid_column){.of = n,
                                         .width = doc_width(n->label),
                                         .is_left = n->kind == DOC_TEXT ||
                                                    n->kind == DOC_BOOL ||
                                                    n->kind == DOC_PLOT};
    g->n_columns++;
    return i;
}

static void set_cell(struct doc_grid *g, struct grid_row *r, size_t column,
                     const char *text)
{
    struct grid_column *c = &g->columns[column];

    free(r->cells[column]);
    r->cells[column] = xstrdup(text);
    if (doc_width(text) > c->width)
        c->width = doc_width(text);
}

static void add_cells(struct doc_grid *g, struct grid_row *r,
                      const struct doc_node *in)
{
    for (const struct doc_node *c = in->first; c; c = c->next) {
        struct buf text;
        size_t column;

        if (c->type == DOC_SECTION && c->label && !c->label[0])
            add_cells(g, r, c);
        if (c->type != DOC_VALUE || !c->label || !is_wanted(g, c->label))
            continue;
        column = column_of(g, c);
        buf_init(&text, MAX_CELL);
        doc_show_value(c, &text);
        set_cell(g, r, column, buf_text(&text));
        g->columns[column].has_values |= doc_has_words(c) && text.len > 0;
        buf_fini(&text);
    }
}

static bool has_cells(const struct doc_node *n)
{
    for (const struct doc_node *c = n->first; c; c = c->next) {
        if (c->label &&
            (c->type == DOC_VALUE ||
             (c->type == DOC_SECTION && !c->label[0] && has_cells(c))))
            return true;
    }
    return false;
}

/* Sections with a name inside a row are rows below it; a section without values
 * of its own groups rows. */
static void add_row(struct doc_grid *g, const struct doc_node *n)
{
    bool is_group = n->type == DOC_SECTION && !has_cells(n);
    struct grid_row *r;

    if (!doc_is_visible(n))
        return;
    for (const struct doc_node *c = n->first; is_group && c; c = c->next) {
        if (c->type == DOC_SECTION || c->type == DOC_LINE)
            add_row(g, c);
    }
    if (is_group)
        return;
    g->rows = xrealloc(g->rows, g->n_rows + 1, sizeof(*g->rows));
    r = &g->rows[g->n_rows++];
    *r = (struct grid_row){.node = n};
    if (n->type == DOC_LINE)
        return;
    if (n->label[0]) {
        set_cell(g, r, 0, n->label);
        g->columns[0].has_values = true;
    }
    add_cells(g, r, n);
    for (const struct doc_node *c = n->first; c; c = c->next) {
        if (c->type == DOC_SECTION && c->label && c->label[0])
            add_row(g, c);
    }
}

void doc_grid_init(struct doc_grid *g, const struct doc_node *table,
                   const char *const *only)
{
    *g = (struct doc_grid){
        .only = only, .n_columns = 1, .columns[0] = {.is_left = true}};
    g->name = (struct doc_node){.label = table->label};
    g->columns[0].of = &g->name;
    for (const struct doc_node *c = table->first; c; c = c->next)
        add_row(g, c);
    if (g->columns[0].has_values &&
        doc_width(table->label) > g->columns[0].width)
        g->columns[0].width = doc_width(table->label);
}

void doc_grid_fini(struct doc_grid *g)
{
    for (size_t i = 0; i < g->n_rows; i++) {
        for (size_t k = 0; k < GRID_COLUMNS; k++)
            free(g->rows[i].cells[k]);
    }
    free(g->rows);
}

const char *doc_grid_text(const struct doc_grid *g, const struct grid_row *r,
                          size_t column)
{
    if (!r)
        return g->columns[column].of->label;
    return r->cells[column] ? r->cells[column] : "";
}
