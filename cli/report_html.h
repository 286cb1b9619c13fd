/* report_html.h - pages with charts, and single charts as pictures. */
#ifndef CLI_REPORT_HTML_H
#define CLI_REPORT_HTML_H

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

/* A chart of a run: `asked` is NAME, which prints it, or NAME=FILE.  The exit
 * status of the run, or -1. */
int report_svg_run(const struct summary *s, const struct run_bins *bins,
                   const struct recording *rec, const char *asked,
                   struct err *err);

#endif
