/* text_parts.h - the parts that the text report is put together from. */
#ifndef ANALYZER_REPORT_TEXT_PARTS_H
#define ANALYZER_REPORT_TEXT_PARTS_H

#include "common/units.h"

struct buf;
struct summary;

/* A duration, or in a word why there is none; `ns` may be HIST_BEYOND and the
 * like. */
const char *text_show_ns(double ns, char out[static UNITS_TEXT]);

/* What the answers were: tokens, quality, warnings.  Nothing where nothing is
 * known of them. */
void text_put_answers(const struct summary *s, struct buf *out);

/* What the server said of itself; nothing where it did not. */
void text_put_server(const struct summary *s, struct buf *out);

/* Whether the server caches; nothing unless that was asked. */
void text_put_cache(const struct summary *s, struct buf *out);

/* What MLPerf's rules make of it; nothing where they have no part. */
void text_put_mlperf(const struct summary *s, struct buf *out);

/* The distribution of its main measure, in rows; nothing where it has none. */
void text_put_bars(const struct summary *s, struct buf *out);

/* What to do about the verdict. */
void text_put_next(const struct summary *s, struct buf *out);

#endif
