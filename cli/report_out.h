/* report_out.h - documents and other reports, printed or left in a file.
 * Functions that return an exit status return -1 on failure. */
#ifndef CLI_REPORT_OUT_H
#define CLI_REPORT_OUT_H

#include <stdbool.h>

#include "analyzer/report/doc.h"

struct buf;
struct cost_ask;
struct err;
struct kept_hist;
struct output_args;
struct recording;
struct report_ops;
struct strlist;
struct summary;

/* The formats of comparisons, for --format; NULL-terminated. */
extern const char *const report_plain_names[];

/* The format of a document that the flags ask for, whose --format takes these
 * names.  ERR_USAGE. */
int report_format(const struct output_args *output, const char *const *names,
                  enum doc_format *format, struct err *err);

/* Write the files that are asked for; `name` is what the document is about.  0
 * or -1. */
int report_write(const struct doc *d, const struct output_args *output,
                 const char *name, struct err *err);

/* Say so if a format for trackers has no numbers. */
void report_note_withheld(const struct doc *d, enum doc_format format);

/* Print the document and free it.  Returns `status`. */
int report_print_doc(struct doc *taken, enum doc_format format, int status,
                     struct err *err);

/* Leave it as DIR/summary.json.  0 or -1. */
int report_save_doc(const struct doc *d, const char *dir, struct err *err);

/* The files of a run.  0 or -1. */
int report_write_run(const struct summary *s, const struct output_args *output,
                     struct err *err);

/* A run in a format that is not of a document: `kept` is for those of one
 * distribution; for requests and seconds the recording is read again from its
 * beginning.  Detailed: a format of another tool lists its requests.  0 or -1.
 */
int report_print_rows(const struct summary *s, const struct kept_hist *kept,
                      struct recording *rec, const struct report_ops *ops,
                      bool detailed, struct err *err);

/* ---- instead of the whole report; these return the exit status ---- */

/* What another tool would have reported. */
int report_profile(const struct summary *s, const char *name,
                   enum doc_format format, struct err *err);

/* What someone else would need to repeat the run. */
int report_checklist(const struct summary *s, const struct recording *rec,
                     enum doc_format format, struct err *err);

/* The one sentence to quote. */
int report_claim(const struct summary *s, const struct recording *rec,
                 struct err *err);

/* The same for the trials at `dir`; `slo` and `cost` replace theirs, and may be
 * NULL. */
int report_claim_set(const char *dir, const struct strlist *slo,
                     const struct cost_ask *cost, struct err *err);

/* ---- below a report, as text.  Made before the report is printed, so that an
 * error comes first ---- */

/* A comparison with the truth log `file`; NULL: the recording's own.  0 or -1.
 */
int report_add_truth(struct recording *rec, const char *file, struct buf *out,
                     struct err *err);

/* The recording or trial set at `dir` against a baseline.  0, -1, or the exit
 * status if the baseline was altered, after an error message. */
int report_add_against(const char *dir, const char *baseline,
                       enum doc_format format, struct buf *out,
                       struct err *err);

#endif
