/* fairness.h - the usual ways in which a comparison misleads, each as a named
 * check with the one change that would mend it.  Pure. */
#ifndef ANALYZER_COMPARE_FAIRNESS_H
#define ANALYZER_COMPARE_FAIRNESS_H

#include <stdbool.h>
#include <stddef.h>

enum fairness_answer { FAIRNESS_PASSED, FAIRNESS_FAILED, FAIRNESS_UNKNOWN };

enum fairness_quality {
    QUALITY_NOT_CHECKED,
    QUALITY_ALIKE, /* no difference shown */
    QUALITY_DIFFERS,
    QUALITY_CANNOT_TELL,
};

/* Of all the sides together. */
struct fairness_facts {
    size_t mismatches; /* conditions that must match */
    bool is_declared;  /* the variable */
    size_t least_trials;
    size_t baseline_trials; /* of the first side */
    size_t most_trials;
    bool is_one_launch;       /* a side's trials are of one process */
    bool baseline_is_trusted; /* may be compared ... */
    bool baseline_breaks_slo; /* ... and misses its SLO in some of its runs */
    bool has_tail;            /* a high percentile is asked for, or shares of
                                 good requests under a limit */
    bool has_slo;             /* on every side */
    bool breaks_slo;          /* on some */
    bool has_warmup;          /* on every side it is left out ... */
    bool is_warmup_too_short; /* ... and in most runs of one not all of it */
    enum fairness_quality quality;
    bool is_mixed_loop; /* open and closed */
    bool is_overloaded; /* one of them */
    bool is_untrusted;  /* likewise */
    size_t warnings;    /* client or host differs */
};

struct fairness_check {
    const char *name;
    enum fairness_answer answer;
    const char *says; /* which of its ways to fail it is */
    const char *mend; /* the one change for that; "" if it passed */
};

#define FAIRNESS_CHECKS 10

struct fairness {
    struct fairness_check checks[FAIRNESS_CHECKS];
    size_t failed;
    size_t unknown;
};

const char *fairness_answer_name(enum fairness_answer answer);

void fairness_make(struct fairness *out, const struct fairness_facts *f);

#endif
