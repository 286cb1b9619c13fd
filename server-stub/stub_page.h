/* stub_page.h - what the stub says of itself: health, models, metrics. */
#ifndef SERVER_STUB_STUB_PAGE_H
#define SERVER_STUB_STUB_PAGE_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct page_view;
struct sim_counts;

/* What a page is made of. */
struct page_view {
    const char *model;
    const struct sim_counts *counts;
    int64_t kv_tokens; /* of all replicas together; 0: no bound */
    int metrics_style; /* enum metrics_style */
};

/* Body of the page at this path, and its content type; false if there is none
 * there. */
bool page_write(const char *path, const struct page_view *view, struct buf *out,
                const char **type);

/* stub_metrics.h - what the stub counts, for Prometheus: under names of its
 * own, and under those of a server that it stands for. */
void metrics_write(const struct page_view *view, struct buf *out);

#endif
