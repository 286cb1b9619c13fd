/* salvage.h - a report from the table of requests alone, if the manifest is
 * lost: times, outcomes and counts of all requests.  Settings, window and SLO
 * are unknown, so there is no verdict. */
#ifndef ANALYZER_READ_SALVAGE_H
#define ANALYZER_READ_SALVAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/measure/measure.h"
#include "common/recording/tgr.h"
#include "common/stats/hist.h"

struct buf;
struct err;

struct salvage {
    const char *dir; /* borrowed */
    const char *why; /* "is missing" or similar, about the manifest; static */
    int64_t requests;
    int64_t outcome[OUTCOME_COUNT];
    int64_t first_due_ns; /* TIME_ABSENT: there is no request */
    int64_t last_due_ns;  /* TIME_ABSENT: there is no request */
    int64_t last_end_ns;  /* TIME_ABSENT: none has ended */
    struct hist e2e;      /* from due, of ok requests */
    struct hist ttft;     /* from due, of ok streams */
    struct tgr_damage damage;
    bool has_summary; /* summary.json exists */
};

/* The quantiles of e2e and ttft that are shown. */
#define SALVAGE_QUANTILES 4
struct salvage_quantile {
    double q;
    const char *name;
};
extern const struct salvage_quantile salvage_quantiles[SALVAGE_QUANTILES];

/* Read DIR/requests.tgr.  `why` says what is wrong with the manifest.  ERR_IO,
 * ERR_FORMAT as recording_open().  Call salvage_fini() in any case. */
int salvage_read(struct salvage *s, const char *dir, const char *why,
                 struct err *err);
void salvage_fini(struct salvage *s);

/* As in a report: HIST_TOO_FEW if n cannot bound it.  q = 1 is the maximum. */
int64_t salvage_quantile(const struct hist *h, double q);

#endif
