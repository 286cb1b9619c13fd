/* doc_grid.h - a table of a document as rows and columns of texts, for
 * renderers for people. */
#ifndef ANALYZER_REPORT_DOC_GRID_H
#define ANALYZER_REPORT_DOC_GRID_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/report/doc.h"

#define GRID_COLUMNS 32

struct grid_column {
    const struct doc_node *of; /* the first value in it, or the table's name */
    size_t width;              /* characters of its widest text */
    bool has_values;           /* others are not shown */
    bool is_left;
};

/* A row, or a sentence across the table (node->type is DOC_LINE). */
struct grid_row {
    const struct doc_node *node;
    char *cells[GRID_COLUMNS]; /* NULL: none */
};

struct doc_grid {
    const char *const *only; /* labels of the columns to show; NULL: all */
    struct grid_column columns[GRID_COLUMNS]; /* the first has the rows' names
                                               */
    size_t n_columns;
    struct grid_row *rows;
    size_t n_rows;
    struct doc_node name; /* of the first column */
};

/* Of a table or of rows, which is borrowed.  Only the columns with these
 * labels, if `only` is not NULL; it ends with NULL. */
void doc_grid_init(struct doc_grid *g, const struct doc_node *table,
                   const char *const *only);
void doc_grid_fini(struct doc_grid *g);

/* What is in a column: of this row, or its heading if `r` is NULL. */
const char *doc_grid_text(const struct doc_grid *g, const struct grid_row *r,
                          size_t column);

/* Characters of the text, which are fewer than its bytes. */
size_t doc_width(const char *text);

#endif
