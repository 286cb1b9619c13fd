/* report_html.h - pages with charts, and single charts as pictures. */
#ifndef CLI_REPORT_HTML_H
#define CLI_REPORT_HTML_H

#include "analyzer/report/doc.h"

struct err;
struct recording;
struct run_bins;
struct summary;

/* Write the page of a run to a file.  0 or -1. */
int report_html_run(const struct summary *s, const struct run_bins *bins,
                    const struct recording *rec, const char *file,
                    struct err *err);

/* The same for a recording that has not been read yet. */
int report_html_recording(const char *dir, const char *file, struct err *err);

/* How a document that is not of one run is reported. */
struct report_to {
    enum doc_format format;
    const char *html;    /* also write this page; NULL: none */
    const char *svg;     /* a chart instead: NAME, or NAME=FILE; NULL: none */
    const char *command; /* of tailgate */
    const char *words;   /* its arguments: the directory, or several */
};

/* Do so, and free the document.  Returns `status`, or -1. */
int report_doc(struct doc *taken, const struct report_to *to, int status,
               struct err *err);

/* A chart of a run: `asked` is NAME, which prints it, or NAME=FILE, which
 * writes it, as PNG if the file ends so.  The exit status of the run, or -1. */
int report_svg_run(const struct summary *s, const struct run_bins *bins,
                   const struct recording *rec, const char *asked,
                   struct err *err);

#endif
