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

/* What became of sessions; nothing where there were none. */
void text_put_sessions(const struct summary *s, struct buf *out);

/* What the server said of itself; nothing where it did not. */
void text_put_server(const struct summary *s, struct buf *out);

/* What MLPerf's rules make of it; nothing where they have no part. */
void text_put_mlperf(const struct summary *s, struct buf *out);

#endif
