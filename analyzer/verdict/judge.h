/* judge.h - is the objective met?  Exact counts in, a verdict out.  Pure.
 *
 * Unfinished requests are judged twice, as if they kept their limits and as if
 * they missed: a term whose answer depends on that is undecided.
 */
#ifndef ANALYZER_VERDICT_JUDGE_H
#define ANALYZER_VERDICT_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/tally/tally.h"
#include "common/spec/slo.h"

enum verdict {
    VERDICT_NONE, /* no objective was given */
    VERDICT_PASS,
    VERDICT_FAIL,
    VERDICT_UNDECIDED,
    VERDICT_INVALID, /* the trust checks withdraw the measurement */
};

const char *verdict_name(enum verdict verdict);

/* One missed decides; else one undecided leaves it open. */
enum verdict verdict_combine(enum verdict all, enum verdict one);

/* Of those whose end is known; all zero where a term is no share of any. */
struct term_counts {
    int64_t n; /* that the term is about */
    int64_t misses;
    int64_t spoilt; /* of the misses of a quantile: the client may be why */
    struct batch blocks[TALLY_BATCHES]; /* in time; hits: misses */
};

struct term_judgement {
    const struct slo_term *term;
    struct term_counts counts;
    enum verdict verdict;
    int64_t measured_ns; /* of a quantile; may be HIST_BEYOND and the like */
    double measured;     /* of the others: a share, or requests a second */
    bool is_unmeasured;  /* of these: there was nothing to measure; see why */
    double n_effective;  /* of a quantile */
    int64_t tightest_ns; /* likewise: the lowest limit that it would have met,
                            to three digits; HIST_BEYOND: none */
    int64_t more_needed; /* requests, if undecided for want of samples */
    const char *why;     /* if undecided for another reason; else NULL */
};

struct judgement {
    enum verdict verdict;
    struct term_judgement terms[SLO_MAX_TERMS];
    size_t len;
};

/* What these counts make of a quantile. */
enum verdict judge_counts(const struct term_tally *tt,
                          const struct slo_term *term);

void judge(const struct tally *t, double window_s, struct judgement *out);

#endif
