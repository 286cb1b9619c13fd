/* report_below.h - what stands below a report, as text: a comparison with the
 * truth, or with a baseline.  Made before the report is printed, so that what
 * cannot be had is said first. */
#ifndef CLI_REPORT_BELOW_H
#define CLI_REPORT_BELOW_H

#include <stddef.h>

struct buf;
struct err;
struct recording;

#define REPORT_BELOW_MAX ((size_t)64 << 10)

/* `file`: a truth log from elsewhere; NULL: the recording's own. */
int report_add_truth(struct recording *rec, const char *file, struct buf *out,
                     struct err *err);

/* Of the recording or trial set at `dir`.  0, -1, or the exit status if the
 * baseline was altered, which it has then said. */
int report_add_against(const char *dir, const char *baseline, struct buf *out,
                       struct err *err);

#endif
