/* sweep_report.h - what is said of a sweep, as text for people or as data for
 * programs. */
#ifndef ANALYZER_REPORT_SWEEP_REPORT_H
#define ANALYZER_REPORT_SWEEP_REPORT_H

struct buf;
struct json_t;
struct sweep_summary;

void sweep_text(const struct sweep_summary *s, struct buf *out);
void sweep_json(const struct sweep_summary *s, struct buf *out);

/* The same as a tree; the caller owns it. */
struct json_t *sweep_to_json(const struct sweep_summary *s);

#endif
