/* hist_export.h - a distribution in the formats of HdrHistogram's own tools.
 *
 * They hold the values alone: what is beyond is for the caller to say.
 */
#ifndef COMMON_STATS_HIST_EXPORT_H
#define COMMON_STATS_HIST_EXPORT_H

#include <stdint.h>

struct buf;
struct err;
struct hist;

/* The percentile distribution (.hgrm): Value, Percentile, TotalCount and
 * 1/(1-Percentile), five steps to each halving of what is left, and a footer.
 * Values are divided by ns_per_unit, and mean, deviation and maximum are those
 * of the buckets. */
void hist_print_percentiles(const struct hist *h, double ns_per_unit,
                            struct buf *out);

/* Append the base64 of the compressed V2 encoding, for a log of intervals; the
 * values are nanoseconds.  -1 (ERR_CONFIG) where HdrHistogram_c was built
 * without zlib. */
int hist_encode(const struct hist *h, struct buf *out, struct err *err);

#endif
