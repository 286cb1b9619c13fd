/* run_page.h - the HTML report of one run, and its charts as single pictures.
 */
#ifndef ANALYZER_HTML_RUN_PAGE_H
#define ANALYZER_HTML_RUN_PAGE_H

#include <stdbool.h>

struct buf;
struct err;
struct manifest;
struct page;
struct run_bins;
struct summary;
struct svg;

/* Everything is borrowed. */
struct run_page {
    const struct summary *s;
    const struct run_bins *bins;
    const struct manifest *manifest;
    const char *again; /* what follows "tailgate report " to have this page
                          again, as a shell takes it; NULL: the directory */
};

void run_page_render(const struct run_page *r, struct buf *out);

/* Names of the pictures of a run, NULL-terminated. */
extern const char *const run_picture_names[];

/* Append one of them as SVG.  ERR_USAGE if there is no such picture, ERR_CONFIG
 * if this run has too little to draw. */
int run_picture_render(const struct run_page *r, const char *name,
                       struct buf *out, struct err *err);

/* ---- its parts ---- */

/* The strip of objectives; nothing if there are none. */
void run_slo_put(struct page *p, const struct summary *s);

/* The sections with charts. */
void run_flow_put(struct page *p, const struct summary *s);
void run_charts_put(struct page *p, const struct run_page *r);
void run_health_put(struct page *p, const struct run_page *r);
void run_conditions_put(struct page *p, const struct run_page *r);

#endif
