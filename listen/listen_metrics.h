/* listen_metrics.h - the state of a run as text for machines: metrics for
 * Prometheus, and a summary in JSON.  docs/live.md lists the metrics. */
#ifndef LISTEN_LISTEN_METRICS_H
#define LISTEN_LISTEN_METRICS_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct listen_view;

/* The most that either can take. */
#define LISTEN_MAX_TEXT ((size_t)16 << 20)

#define LISTEN_TEXT_TYPE "text/plain; version=0.0.4; charset=utf-8"
#define LISTEN_OPEN_TYPE                                                       \
    "application/openmetrics-text; version=1.0.0; charset=utf-8"

/* Does this Accept header prefer OpenMetrics to the classic text? */
bool listen_wants_open(const char *accept);

/* Append all metrics, in the text of Prometheus or as OpenMetrics. */
void listen_metrics(const struct listen_view *view, bool is_open,
                    struct buf *out);

/* Append what summary.json would say so far, with its keys. */
void listen_summary(const struct listen_view *view, struct buf *out);

#endif
