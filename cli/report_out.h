/* report_out.h - a summary to where it is wanted. */
#ifndef CLI_REPORT_OUT_H
#define CLI_REPORT_OUT_H

#include <stdbool.h>

struct err;
struct kept_hist;
struct recording;
struct report_ops;
struct summary;

/* To standard output, in a format of the whole run. */
int report_print(const struct summary *s, const struct report_ops *ops,
                 struct err *err);

/* The same in any format: `kept` is for those of one distribution, and of
 * requests or seconds the recording is read again from its beginning.
 * Detailed: a format of another tool lists its requests. */
int report_print_any(const struct summary *s, const struct kept_hist *kept,
                     struct recording *rec, const struct report_ops *ops,
                     bool detailed, struct err *err);

/* In the words of another tool, as text or JSON. */
int report_print_profile(const struct summary *s, const char *name,
                         const struct report_ops *ops, struct err *err);

#endif
