/* fairness.h - the usual ways in which a comparison misleads, each as a named
 * check with the one change that would fix it.  Pure. */
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

/* About all sides together; the baseline is the first side. */
struct fairness_facts {
    size_t mismatches;   /* conditions that must match and do not */
    bool lacks_hardware; /* no side has a label for it */
    bool lacks_precision;
    bool lacks_model;
    bool is_declared; /* the varied condition was named */
    size_t min_trials;
    size_t max_trials;
    size_t baseline_trials;
    bool is_one_launch;       /* the trials of a side ran on one process */
    bool baseline_is_trusted; /* it may be compared */
    bool baseline_breaks_slo; /* in some of its runs */
    bool has_tail;            /* a high percentile was requested, or a share of
                                 good requests under a limit */
    bool has_slo;             /* on every side */
    bool breaks_slo;          /* on some side */
    bool has_warmup;          /* on every side, excluded from the window */
    bool is_warmup_too_short; /* in most runs of some side */
    enum fairness_quality quality;
    bool is_mixed_loop; /* open and closed loops */
    bool is_overloaded; /* some side */
    bool is_untrusted;  /* some recording */
    size_t warnings;    /* differences of client or host */
};

#define FAIRNESS_SAYS 160

struct fairness_check {
    const char *name;
    enum fairness_answer answer;
    char says[FAIRNESS_SAYS]; /* what was found */
    const char *mend; /* the change that would fix it; "" if it passed */
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
