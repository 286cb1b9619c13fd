/* render_trackers.h - what is kept from trackers of results. */
#ifndef ANALYZER_REPORT_RENDER_TRACKERS_H
#define ANALYZER_REPORT_RENDER_TRACKERS_H

#include "analyzer/report/doc.h"

/* Is this a format whose numbers are kept? */
bool doc_is_for_trackers(enum doc_format format);

/* Why the formats for trackers have no numbers: static; NULL if they have. */
const char *doc_withheld(const struct doc *d);

#endif
