/* search_report.h - what is said of a search, as text for people or as data for
 * programs. */
#ifndef ANALYZER_REPORT_SEARCH_REPORT_H
#define ANALYZER_REPORT_SEARCH_REPORT_H

struct buf;
struct json_t;
struct search_summary;

void search_text(const struct search_summary *s, struct buf *out);
void search_json(const struct search_summary *s, struct buf *out);

/* The same as a tree; the caller owns it. */
struct json_t *search_to_json(const struct search_summary *s);

#endif
