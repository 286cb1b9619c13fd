/* text_parts.h - the parts that the text report is put together from. */
#ifndef ANALYZER_REPORT_TEXT_PARTS_H
#define ANALYZER_REPORT_TEXT_PARTS_H

struct buf;
struct summary;

/* What the answers were: tokens, quality, warnings.  Nothing where nothing is
 * known of them. */
void text_put_answers(const struct summary *s, struct buf *out);

/* What the server said of itself; nothing where it did not. */
void text_put_server(const struct summary *s, struct buf *out);

#endif
