/* doc_html.h - a document as HTML: every section can be unfolded, tables are
 * tables.  The numbers and their words are those of the text report. */
#ifndef ANALYZER_HTML_DOC_HTML_H
#define ANALYZER_HTML_DOC_HTML_H

struct doc;
struct doc_node;
struct page;

/* The section "All numbers" with the whole document. */
void doc_html_put_all(struct page *p, const struct doc *d);

/* What a reader of the headline must know: warnings, remarks about the answers
 * and red flags, wherever they are in the document.  The first few are put, the
 * others are counted. */
void doc_html_put_warnings(struct page *p, const struct doc *d);

/* One node of it, unfolded. */
void doc_html_put(struct page *p, const struct doc_node *n);

#endif
