/* trials_report.h - what is said of a trial set, as text for people or as data
 * for programs. */
#ifndef ANALYZER_REPORT_TRIALS_REPORT_H
#define ANALYZER_REPORT_TRIALS_REPORT_H

struct buf;
struct json_t;
struct trials_summary;

void trials_text(const struct trials_summary *s, struct buf *out);
void trials_json(const struct trials_summary *s, struct buf *out);

/* The text, and everything that the JSON has a line each. */
void trials_full(const struct trials_summary *s, struct buf *out);

/* The same as a tree; the caller owns it. */
struct json_t *trials_to_json(const struct trials_summary *s);

#endif
