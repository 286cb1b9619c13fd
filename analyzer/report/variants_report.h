/* variants_report.h - what is said of a study with variants, as text for people
 * or as data for programs. */
#ifndef ANALYZER_REPORT_VARIANTS_REPORT_H
#define ANALYZER_REPORT_VARIANTS_REPORT_H

struct buf;
struct variants_summary;

void variants_text(const struct variants_summary *s, struct buf *out);
void variants_json(const struct variants_summary *s, struct buf *out);

#endif
