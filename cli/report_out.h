/* report_out.h - a summary to where it is wanted. */
#ifndef CLI_REPORT_OUT_H
#define CLI_REPORT_OUT_H

struct err;
struct recording;
struct report_ops;
struct summary;

/* To standard output. */
int report_print(const struct summary *s, const struct report_ops *ops,
                 struct err *err);

/* Every request, in a format of requests; the recording is read from its
 * beginning. */
int report_print_rows(struct recording *rec, const struct report_ops *ops,
                      struct err *err);

/* To DIR/summary.json. */
int report_save(const struct summary *s, const char *dir, struct err *err);

#endif
