/* mlperf.h - a run as MLPerf's rules look at it: the scenario's result, what
 * LoadGen's early stopping makes of it, and which rules of the closed division
 * it breaks.  Pure.
 */
#ifndef ANALYZER_VERDICT_MLPERF_H
#define ANALYZER_VERDICT_MLPERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/measure/measure.h"

struct summary;
struct tally;

#define MLPERF_MAX_BREAKS 16
#define MLPERF_BREAK_TEXT 96

/* A latency, of so many queries: the value that they prove to bound the
 * percentile from above, or, of a limit, whether they prove that it is kept. */
struct mlperf_proof {
    enum measure measure;
    double percentile;
    int64_t n;
    int64_t limit_ns;    /* of the server scenario; 0: there is none */
    int64_t over;        /* queries over the limit, or left out as too slow */
    int64_t estimate_ns; /* without a limit; HIST_TOO_FEW and the like */
    bool is_proved;
    bool is_beside;      /* said beside the result, and no rule asks for it */
    int64_t more_needed; /* queries within the limit that would prove it */
};

#define MLPERF_MAX_PROOFS 4

struct mlperf {
    bool is_there; /* the scenario is one of theirs, or the seeds are */
    const char *metric;
    bool is_rate;
    double rate_rps; /* of a rate; a latency is that of the first proof */
    struct mlperf_proof proofs[MLPERF_MAX_PROOFS];
    size_t n_proofs;
    char breaks[MLPERF_MAX_BREAKS][MLPERF_BREAK_TEXT];
    size_t n_breaks; /* 0: what can be seen from here would do as closed */
};

/* After everything else of the summary. */
void mlperf_make(struct mlperf *m, const struct summary *s,
                 const struct tally *t);

#endif
