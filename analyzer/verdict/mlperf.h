/* mlperf.h - a run by MLPerf's rules: the result of the scenario, what
 * LoadGen's early stopping proves, and which rules of the closed division it
 * breaks. Pure.
 */
#ifndef ANALYZER_VERDICT_MLPERF_H
#define ANALYZER_VERDICT_MLPERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/measure/measure.h"
#include "common/spec/slo.h"

struct summary;
struct tally;

/* ---- early stopping ----
 *
 * How many queries a claim about a quantile needs, as LoadGen counts.  The
 * claim: at least a share p of all queries is within the limit.  Of n = h + t
 * independent queries h were within it and t over it.  The claim is proved at
 * 99 % confidence if h or more within would have a probability below 1 % for a
 * share just below p. */

/* Do n queries with t over the limit prove the claim? */
bool early_stop_proves(double p, int64_t n, int64_t t);

/* Minimum number within the limit that proves it with t over the limit. */
int64_t early_stop_min_within(double p, int64_t t);

/* Maximum number over the limit that n queries may have; -1: n is too small. */
int64_t early_stop_max_over(double p, int64_t n);

/* Rank, from 1, of the value that n queries prove to bound quantile p from
 * above: the smallest limit that early_stop_max_over() allows.  0: n is too
 * small. */
int64_t early_stop_rank(double p, int64_t n);

/* ---- the result ---- */

/* Each limit of a server may break two rules. */
#define MLPERF_MAX_PROOFS SLO_MAX_TERMS
#define MLPERF_MAX_BREAKS (16 + 2 * MLPERF_MAX_PROOFS)
#define MLPERF_BREAK_TEXT 96

/* A latency percentile: the value that n queries prove to bound it from above,
 * or, with a limit, whether they prove that it is kept. */
struct mlperf_proof {
    enum measure measure;
    double percentile;
    int64_t n;
    int64_t limit_ns;    /* server scenario; 0: no limit */
    int64_t over;        /* queries over the limit, or discarded as too slow */
    int64_t estimate_ns; /* without a limit; may be HIST_TOO_FEW or another */
    bool is_proved;
    bool is_beside;      /* for information: no rule requires it */
    int64_t more_needed; /* further queries within the limit to prove it */
};

/* The accuracy run that belongs to it: mlperf_accuracy.h. */
#define MLPERF_DIR 512
#define MLPERF_WHY 256

struct mlperf_accuracy {
    bool is_found;
    char dir[MLPERF_DIR]; /* from the recording, or as it was given */
    char hash[17];        /* of the settings that must match; "": not looked */
    int64_t answers;
    int64_t checked;      /* answers */
    double share;         /* of these, passed; if any was checked */
    char why[MLPERF_WHY]; /* how one that was found differs; "": none was */
};

struct mlperf {
    bool is_there; /* an MLPerf scenario or MLPerf seeds were used */
    const char *metric;
    bool is_rate;
    double rate_rps; /* if is_rate; else the result is the first proof */
    struct mlperf_proof proofs[MLPERF_MAX_PROOFS];
    size_t n_proofs;
    char breaks[MLPERF_MAX_BREAKS][MLPERF_BREAK_TEXT];
    size_t n_breaks;       /* 0: no broken rule can be seen in the recording */
    size_t accuracy_break; /* index of the last one, on the accuracy run */
    struct mlperf_accuracy accuracy;
};

/* Add a broken rule. */
void mlperf_break(struct mlperf *m, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* After everything else in the summary is set. */
void mlperf_make(struct mlperf *m, const struct summary *s,
                 const struct tally *t);

#endif
