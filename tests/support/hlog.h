/* hlog.h - logs of histograms, read by HdrHistogram_c's own reader. */
#ifndef TESTS_SUPPORT_HLOG_H
#define TESTS_SUPPORT_HLOG_H

#include <stdint.h>

struct hdr_histogram;

/* What the intervals of one tag come to. */
struct hlog {
    int intervals;
    int64_t count;
    int64_t first_s; /* start of the first of them, and of the last */
    int64_t last_s;
    struct hdr_histogram *sum; /* owned; NULL: there is none */
};

/* Fails the test if the reader does not like it. */
struct hlog hlog_read(const char *text, const char *tag);
void hlog_fini(struct hlog *h);

/* Nanoseconds; nearest rank, the upper end of its bucket. */
int64_t hlog_quantile_ns(const struct hlog *h, double q);

#endif
