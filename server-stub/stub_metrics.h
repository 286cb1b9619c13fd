/* stub_metrics.h - what the stub counts, for Prometheus: under names of its
 * own, and under those of a server that it stands for. */
#ifndef SERVER_STUB_STUB_METRICS_H
#define SERVER_STUB_STUB_METRICS_H

struct buf;
struct page_view;

void metrics_write(const struct page_view *view, struct buf *out);

#endif
