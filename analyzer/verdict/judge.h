/* judge.h - what decides PASS: is every term of the SLO met?  Exact counts in,
 * a verdict out.  Pure.
 *
 * Unfinished requests are judged twice, as if they kept their limits and as if
 * they missed them; if the two verdicts differ, the term is undecided.
 */
#ifndef ANALYZER_VERDICT_JUDGE_H
#define ANALYZER_VERDICT_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/tally/tally.h"
#include "common/spec/slo.h"

enum verdict {
    VERDICT_NONE, /* there is no SLO */
    VERDICT_PASS,
    VERDICT_FAIL,
    VERDICT_UNDECIDED,
    VERDICT_INVALID, /* a trust check failed */
};

const char *verdict_name(enum verdict verdict);

/* FAIL if either is FAIL, else UNDECIDED if either is; NONE is ignored. */
enum verdict verdict_combine(enum verdict all, enum verdict one);

/* Samples whose outcome is known; all zero for terms that are not a share. */
struct term_counts {
    int64_t n;
    int64_t misses;
    int64_t client_late; /* misses of a quantile that a late client may have
                            caused */
    struct batch slices[TALLY_SLICES]; /* in order of time; hits: misses */
};

struct term_judgement {
    const struct slo_term *term;
    struct term_counts counts;
    enum verdict verdict;
    int64_t measured_ns; /* quantiles; may be HIST_BEYOND or another HIST_ */
    double measured;     /* other terms: a share, or requests per second */
    bool is_unmeasured;  /* other terms: nothing to measure, see why */
    double n_effective;  /* quantiles */
    int64_t tightest_ns; /* quantiles: the lowest limit that would pass, to
                            three digits; HIST_BEYOND: none */
    int64_t more_needed; /* requests, if undecided because of too few samples */
    const char *why;     /* if undecided for another reason; else NULL */
};

struct judgement {
    enum verdict verdict;
    struct term_judgement terms[SLO_MAX_TERMS];
    size_t len;
};

void judge(const struct tally *t, double window_s, struct judgement *out);

#endif
