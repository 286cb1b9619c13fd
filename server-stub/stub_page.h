/* stub_page.h - what the stub reports about itself: health, models, and metrics
 * for Prometheus, under its own names and those of the server that it imitates.
 */
#ifndef SERVER_STUB_STUB_PAGE_H
#define SERVER_STUB_STUB_PAGE_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct sim_counts;

/* The contents of a page. */
struct page_view {
    const char *model;
    const struct sim_counts *counts;
    int64_t kv_tokens; /* limit of all replicas together; 0: none */
    int metrics_style; /* enum metrics_style */
};

/* Append the body of the page at this path and set its content type; false if
 * there is no such page. */
bool page_write(const char *path, const struct page_view *view, struct buf *out,
                const char **type);

#endif
