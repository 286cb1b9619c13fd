/* report.h - a summary as text for people or as data for programs, or the
 * requests themselves. */
#ifndef ANALYZER_REPORT_REPORT_H
#define ANALYZER_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/report/doc.h"

struct buf;
struct err;
struct facts;
struct kept_hist;
struct profile;
struct second;
struct summary;

/* A format gives the whole run (render), one distribution of it (render_hist),
 * its requests (render_rows) or its seconds (render_second); the last two have
 * a header as well.  render_profile() comes alone. */
struct report_ops {
    const char *name; /* as in --format */

    enum doc_format format; /* of its document, if it has render() */

    /* Append the whole report. */
    void (*render)(const struct summary *s, struct buf *out);
    void (*render_hist)(const struct summary *s, const struct kept_hist *kept,
                        struct buf *out);

    /* Append the header; `start_ns` is when the run began, since 1970. */
    void (*render_header)(const struct summary *s, int64_t start_ns,
                          struct buf *out);
    void (*render_rows)(const struct facts *rows, size_t n, struct buf *out);
    int (*render_second)(const struct second *s, struct buf *out,
                         struct err *err);

    /* Print the whole report, in the words of this other tool; detailed: with
     * the values of each request. */
    const char *profile; /* NULL: in ours */
    int (*render_profile)(const struct profile *p, bool detailed,
                          int (*put)(const char *text, struct err *err),
                          struct err *err);
    uint32_t second_measures; /* that it looks at, bit 1 << enum measure */
    bool is_of_window;        /* it has no seconds of the warm-up */
};

extern const struct report_ops report_text;
extern const struct report_ops report_json;
extern const struct report_ops report_full;
extern const struct report_ops report_csv;
extern const struct report_ops report_hgrm;
extern const struct report_ops report_hlog;
extern const struct report_ops report_seconds;
extern const struct report_ops report_vllm;

/* Names of the formats, NULL-terminated, and the ops of one.  Those of a
 * document are the first of them. */
extern const char *const report_names[];
extern const char *const report_doc_names[];
const struct report_ops *report_find(const char *name);

#endif
