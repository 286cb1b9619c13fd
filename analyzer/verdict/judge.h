/* judge.h - what decides PASS: is every term of the SLO met?  Exact counts in,
 * a verdict out.  Pure.
 *
 * Each term is observed: is the share of misses at most what the term allows?
 * And it is tested: would chance alone explain that?  The test counts requests
 * as what they are worth, since requests that find the same queue are not
 * independent.  It is the smaller of the samples divided by the inflation of
 * the miss count, and the requests divided by the inflation of their latencies,
 * which is the window divided by twice the relaxation time.
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
#include "common/stats/stats.h"

enum verdict {
    VERDICT_NONE, /* there is no SLO */
    VERDICT_PASS,
    VERDICT_FAIL,
    VERDICT_UNDECIDED,
    VERDICT_INVALID, /* a trust check failed */
};

const char *verdict_name(enum verdict verdict);

/* INVALID if either is, else FAIL, else UNDECIDED; NONE is ignored. */
enum verdict verdict_combine(enum verdict all, enum verdict one);

/* The share of misses that a term allows if `offered_rps` requests were due per
 * second, which matters for goodput alone; NAN: the term is not judged. */
double judge_allowed(const struct slo_term *term, double offered_rps);

/* Observed: are so many misses of n samples at most what the term allows?  Not
 * for a goodput, which is not a share. */
bool judge_is_met(const struct slo_term *term, int64_t n, int64_t misses);

/* Fewest requests of which a term says anything: 299 for p99 and for
 * 'good >= 99%'. */
int64_t judge_min_requests(double allowed);

/* Samples whose outcome is known; of a goodput, which is not a share, only
 * `open` is set. */
struct term_counts {
    int64_t n;
    int64_t misses;
    int64_t open;        /* further samples that kept the limit or missed it */
    int64_t client_late; /* misses of a quantile that a late client may have
                            caused */
    struct batch slices[TALLY_SLICES]; /* in order of time; hits: misses */
};

struct term_judgement {
    const struct slo_term *term;
    struct term_counts counts;
    enum verdict verdict; /* as observed; FAIL also if only the test says so */
    bool is_shown;        /* with 95 % confidence; only PASS and FAIL are */
    double p;             /* significance of PASS or FAIL; 1: not tested */
    double allowed;       /* share of misses; NAN: the term is not judged */
    double missed;        /* share of misses; those of unknown requests too if
                             the verdict is PASS */
    double decide_in_s;   /* how much longer the run must be to show the
                             verdict, if the share of misses stays the same; 0:
                             shown; INFINITY: unknown, or too long to say */
    int64_t measured_ns;  /* quantiles; may be HIST_BEYOND or another HIST_ */
    bool is_few;          /* too few samples to quote that value */
    double measured;      /* other terms: a share, or requests per second */
    bool is_unmeasured;   /* other terms: nothing to measure, see why */
    bool is_unjudgeable;  /* a quantile: too many have no value, see why */
    double n_effective;   /* independent samples worth as much */
    int64_t requests;     /* that the term is about */
    /* Limits of a quantile, to three digits: the highest that the run shows to
     * be missed and the lowest that it shows to be met.  In between lies the
     * true quantile with 90 % confidence.  0: none is missed; HIST_BEYOND: none
     * is met. */
    int64_t low_ns;
    int64_t high_ns;
    struct interval missed_ci90; /* of the share of misses, by the same test */
    struct interval ci90; /* other terms: of the share that `measured` is */
    int64_t more_needed;  /* requests, if undecided because of too few */
    const char *why;      /* if undecided for another reason; else NULL */
};

struct judgement {
    enum verdict verdict;
    bool is_shown; /* PASS: every term is; FAIL: one is, also considering that
                      there are several */
    double decide_in_s; /* as for a term: of the one that takes longest to pass,
                           or shortest to fail */
    struct term_judgement terms[SLO_MAX_TERMS];
    size_t len;
};

/* Is this verdict of several judgements shown, and in how long?  A pass is if
 * every term is.  One of several terms may seem to fail by chance, so a fail is
 * shown if a term would also be shown with its part of the error. */
void judge_together(const struct judgement *const *all, size_t n,
                    enum verdict verdict, bool *is_shown, double *decide_in_s);

void judge(const struct tally *t, double window_s, struct judgement *out);

/* Judge again, knowing that the client was late in an open loop.  That makes
 * latencies from the due time look worse, never better: a pass stands.  A fail
 * stands, and is shown, only as far as it also does without the misses that
 * the client may have caused; else the term is undecided.  Measures between two
 * arrivals, which late reads distort either way, make the verdict INVALID. */
void judge_late_client(const struct tally *t, struct judgement *j);

#endif
