/* stub_truth.h - compares what the client measured with what the stub knows,
 * request by request. */
#ifndef ANALYZER_VERDICT_STUB_TRUTH_H
#define ANALYZER_VERDICT_STUB_TRUTH_H

#include <stdint.h>

#include "common/stats/hist.h"

struct buf;
struct err;
struct recording;

/* Differences for matched, successful requests: due -> arrival -> finish ->
 * sent -> last.  From finish to sent the stub itself is late. */
enum truth_part {
    TRUTH_EXCESS, /* e2e minus the time at the server: all but the service */
    TRUTH_THERE,  /* from due to the arrival at the server */
    TRUTH_LATE,   /* from when the answer was due to when it was sent */
    TRUTH_BACK,   /* from then to its last byte at the client */
    TRUTH_STUB,   /* from sent to arrival, plus TRUTH_LATE, without faults: what
                     the stub's host adds to the model */
    TRUTH_PARTS,
};

struct truth_report {
    int64_t matched;
    int64_t unmatched; /* recorded, but not in the truth log */
    int64_t negative;  /* measured less than the truth: must be 0 */
    int64_t min_excess_ns;
    struct hist part[TRUTH_PARTS];
};

/* Join the recording with the log at `path`.  Call truth_report_fini() in any
 * case.  ERR_IO, ERR_FORMAT. */
int truth_compare(struct truth_report *report, struct recording *rec,
                  const char *path, struct err *err);
void truth_report_fini(struct truth_report *report);

/* As a table. */
void truth_print(const struct truth_report *report, struct buf *out);

#endif
