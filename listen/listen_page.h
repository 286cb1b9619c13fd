/* listen_page.h - the HTML page of a run that goes on: that of the report, with
 * what can be known by now. */
#ifndef LISTEN_LISTEN_PAGE_H
#define LISTEN_LISTEN_PAGE_H

struct buf;
struct doc;
struct listen_view;

/* What a study has found so far: a section of charts, drawn once per recording.
 * Nothing is appended if the document has none. */
void listen_study_section(const struct doc *doc, struct buf *out);

/* The whole page.  `study` is such a section, maybe empty. */
void listen_page(const struct listen_view *view, const struct buf *study,
                 struct buf *out);

/* The same as an event for a page that is open. */
void listen_page_event(const struct listen_view *view, const struct buf *study,
                       struct buf *out);

/* The final report for it; without a page, the news that the run is over. */
void listen_end_event(const struct buf *page, struct buf *out);

#endif
