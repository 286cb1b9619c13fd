/* report_html.h - pages with charts, and single charts as pictures. */
#ifndef CLI_REPORT_HTML_H
#define CLI_REPORT_HTML_H

#include <stdbool.h>

#include "analyzer/report/doc.h"
#include "cli/report_out.h"

struct buf;
struct err;
struct opt_set;
struct recording;
struct run_bins;
struct strlist;
struct summary;

/* The name of a page that is offered as a file. */
#define REPORT_HTML_NAME "report.html"

/* Write the page of a run to a file; `again`: see struct report_to.  0 or -1.
 */
int report_html_run(const struct summary *s, const struct run_bins *bins,
                    const struct recording *rec, const char *again,
                    const char *file, struct err *err);

/* How a document that is not of one run is reported. */
struct report_to {
    enum doc_format format;
    const struct output_args *output; /* the rest of it */
    bool is_recorded;                 /* words name a recording or a study */
    struct buf *page;    /* append a page here, too; NULL: nowhere */
    const char *command; /* of tailgate */
    const char *words;   /* its arguments: the directory, or several */
    const char *again;   /* ... and its flags, as a shell takes them; NULL: the
                            words are one directory */
};

/* Append the arguments of a command as a shell takes them: its words, and the
 * flags that the answer depends on. */
void report_again(const struct opt_set *flags, const struct strlist *words,
                  struct buf *out);

/* Do so, and free the document.  Returns `status`, or -1. */
int report_doc(struct doc *taken, const struct report_to *to, int status,
               struct err *err);

/* The same for a command whose --format takes report_plain_names: the rest of
 * *to follows from its flags and words; to->words, too, unless they are set. */
int report_made(struct doc *taken, struct report_to *to,
                const struct opt_set *flags, const struct strlist *words,
                int status, struct err *err);

/* A chart of a run: `asked` is NAME, which prints it, or NAME=FILE, which
 * writes it, as PNG if the file ends so.  The exit status of the run, or -1. */
int report_svg_run(const struct summary *s, const struct run_bins *bins,
                   const struct recording *rec, const char *asked,
                   struct err *err);

#endif
