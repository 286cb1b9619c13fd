/* report.h - a summary as text for people or as data for programs, or the
 * requests themselves. */
#ifndef ANALYZER_REPORT_REPORT_H
#define ANALYZER_REPORT_REPORT_H

#include <stddef.h>

struct buf;
struct facts;
struct summary;

struct report_ops {
    const char *name; /* as in --format */

    /* Append the whole report; or, of a format of requests, its header and
     * then some of them at a time.  The one or the others. */
    void (*render)(const struct summary *s, struct buf *out);
    void (*render_header)(struct buf *out);
    void (*render_rows)(const struct facts *rows, size_t n, struct buf *out);
};

extern const struct report_ops report_text;
extern const struct report_ops report_json;
extern const struct report_ops report_csv;

/* Names of the formats, NULL-terminated, and the ops of one. */
extern const char *const report_names[];
const struct report_ops *report_find(const char *name);

#endif
