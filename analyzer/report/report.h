/* report.h - a summary as text for people or as data for programs. */
#ifndef ANALYZER_REPORT_REPORT_H
#define ANALYZER_REPORT_REPORT_H

struct buf;
struct summary;

struct report_ops {
    const char *name; /* as in --format */

    /* Append the whole report.  Required. */
    void (*render)(const struct summary *s, struct buf *out);
};

extern const struct report_ops report_text;
extern const struct report_ops report_json;

/* Names of the formats, NULL-terminated, and the ops of one. */
extern const char *const report_names[];
const struct report_ops *report_find(const char *name);

#endif
