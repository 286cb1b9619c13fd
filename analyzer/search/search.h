/* search.h - the largest load within the objective: what to probe next, and
 * what is known so far.  Pure: no clock, no I/O.
 *
 *   search_init(&s, &config);
 *   while (search_next(&s, &ask), ask.step != SEARCH_DONE) {
 *       make a run as `ask` says, count it into `result`;
 *       search_feed(&s, &result);
 *   }
 *   search_answer(&s, &answer);
 *   search_fini(&s);
 *
 * What is asked next depends on the configuration and on the results alone, in
 * their order: a search that was interrupted goes on when what it has recorded
 * is fed again, and search_from_probes() answers for another objective.
 *
 * A term of the objective is a share of misses that is allowed: 1 % of the
 * requests for a p99, 0.1 % for 'errors < 0.1%', 10 % for 'good >= 90%'.  All
 * of a term's counts at all values are pooled in one regression of the share on
 * the value; where that crosses what is allowed is the term's capacity, and the
 * lowest one is the server's.  docs/search.md
 */
#ifndef ANALYZER_SEARCH_SEARCH_H
#define ANALYZER_SEARCH_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/spec/slo.h"
#include "common/stats/stats.h"

struct err;

/* What is varied.  A concurrency is a whole number. */
enum search_by { SEARCH_RATE, SEARCH_CONCURRENCY };

/* In which a window is cut for its scatter; shorter ones have fewer. */
#define SEARCH_BLOCKS 20

#define SEARCH_CONFIDENCE   0.90 /* of the interval */
#define SEARCH_CONFIRM_PART 0.95 /* of the estimate is confirmed */

/* Times of 0 are chosen by the search, from the rate and the objective. */
struct search_config {
    enum search_by by;
    const struct slo *slo; /* borrowed */
    double start;          /* a guess; 0: from nothing */
    double least;          /* no lower value is probed; 0: any */
    double most;           /* no higher one; 0: any */
    double tolerance;      /* of the interval, to either side, as a share of the
                              estimate: good enough; 0: 0.04 */
    int64_t probe_ns;      /* window of a probe near the boundary */
    int64_t confirm_ns;
    int64_t budget_ns; /* of everything, as took_ns sums up; 0: no end */
    bool no_confirm;   /* what would be confirmed is the answer */
};

/* ---- what to do ---- */

enum search_step { SEARCH_PROBE, SEARCH_CONFIRM, SEARCH_DONE };

/* Why this value, for those who watch. */
enum search_why {
    SEARCH_FIRST,    /* the guess, or a light load */
    SEARCH_LIGHT,    /* is there any load at which it is met? */
    SEARCH_DOUBLING, /* up, or down */
    SEARCH_NEAR,     /* where a probe tells most */
    SEARCH_PROVING,  /* the confirmation */
    SEARCH_OVER,
};

const char *search_why_name(enum search_why why);

struct search_ask {
    enum search_step step;
    enum search_why why;
    double value;
    int64_t warmup_ns; /* before the window, and beside it */
    int64_t window_ns;
    bool may_end_early; /* by search_is_hopeless(): never to pass */
};

/* ---- what came of it ---- */

/* Of one term.  Blocks are of equal length, in the order of time. */
struct search_counts {
    int64_t n; /* that the term is about, due in the window */
    int64_t misses;
    int64_t spoilt;      /* of the misses: the client may be why */
    int64_t measured_ns; /* at its quantile; may be HIST_BEYOND and the like */
    struct batch blocks[SEARCH_BLOCKS]; /* hits: misses */
    size_t n_blocks;
};

/* Requests were sent, and none of them tells anything of any term: why that is
 * so nobody knows, the server may well be. */
#define SEARCH_UNMEASURED "nothing measured"

/* The client had no time, no connection, or no local port, open file or memory
 * left: that is the load's doing, but for rare chances. */
#define SEARCH_BUSY      "busy"
#define SEARCH_CAPPED    "connection cap"
#define SEARCH_EXHAUSTED "client resources"

struct search_result {
    enum search_step step;
    double value;       /* that was asked for */
    double offered_rps; /* due in the window / its length */
    double throughput_rps;
    int64_t warmup_ns;
    int64_t asked_ns;  /* the window that was asked for ... */
    int64_t window_ns; /* ... and as it was, if it ended early */
    int64_t took_ns;   /* all of it, with warm-up, drain and settling */
    int64_t requests;  /* all of it, as well */
    int64_t answer_ns; /* median time in flight; 0: not known */
    bool is_overloaded;
    const char *set_aside; /* it says nothing of the server, since the client or
                              the machine had a part in it: the check that
                              failed, or SEARCH_UNMEASURED; NULL: it counts */
    bool ended_early;
    struct search_counts terms[SLO_MAX_TERMS]; /* as in the slo */
    size_t n_terms;
};

/* ---- what is known ---- */

enum search_outcome {
    SEARCH_GOES_ON,    /* not yet asked to the end */
    SEARCH_FOUND,      /* an estimate within the tolerance, confirmed */
    SEARCH_ESTIMATED,  /* the same, when no confirmation was wanted */
    SEARCH_NEVER,      /* the objective is not met at the lightest load */
    SEARCH_AT_LEAST,   /* met at the highest value that may be probed */
    SEARCH_CLIENT,     /* met as far as the client gets: at least that */
    SEARCH_BUDGET,     /* the time is over: the best bracket so far */
    SEARCH_UNDECIDED,  /* what was seen does not fit one capacity */
    SEARCH_NOT_PROBED, /* of search_from_probes(): see `missing` */
};

const char *search_outcome_name(enum search_outcome outcome);

#define SEARCH_TEXT 200

/* Values are NAN where they are not known. */
struct search_answer {
    enum search_outcome outcome;
    double capacity;         /* the estimate */
    struct interval ci;      /* at SEARCH_CONFIDENCE */
    double slope;            /* the miss share grows like value^slope there */
    double confirmed;        /* highest value that a fresh run confirmed ... */
    bool confirmed_met;      /* ... by meeting it; else not rejected for sure */
    double at_least;         /* highest one that was met, below all missed */
    double at_most;          /* lowest one that was missed for sure */
    double client_limit;     /* from this on the client mostly could not */
    const char *binding;     /* text of the term that binds; NULL: none */
    struct interval missing; /* where probes would have to be; a NAN end is
                                open */
    size_t probes;           /* confirmations among them ... */
    size_t set_aside;        /* ... and those that do not count */
    int64_t requests;
    int64_t took_ns;
    int64_t left_ns;       /* about as long it will still take; 0: not known */
    char why[SEARCH_TEXT]; /* one line, fit for the user */
};

/* ---- the machine ---- */

struct search {
    struct search_config config;
    struct search_result *results; /* owned; in their order */
    size_t n;
    size_t cap;
};

/* May this objective be searched?  Every term that is judged must be a share;
 * a goodput is none.  ERR_CONFIG. */
int search_check_slo(const struct slo *slo, struct err *err);

/* Does the budget hold the first probe?  ERR_CONFIG. */
int search_check_budget(const struct search_config *config, struct err *err);

/* The share of misses that a term allows; below 0: it judges nothing. */
double search_allowed(const struct slo_term *term);

/* Was it set aside by this check? */
bool search_is_aside(const struct search_result *r, const char *check);

/* By its counts, is no term missed? */
bool search_is_met(const struct slo *slo, const struct search_result *r);

/* The slo must have passed search_check_slo(). */
void search_init(struct search *s, const struct search_config *config);
void search_fini(struct search *s);

void search_next(const struct search *s, struct search_ask *ask);

/* Copied. */
void search_feed(struct search *s, const struct search_result *result);

/* Is this run, as far as it has come, lost for sure, or so disturbed that it
 * will be set aside?  To be asked once a block or so, with the counts of what
 * has ended or has already missed. */
bool search_is_hopeless(const struct search *s,
                        const struct search_result *so_far);

/* At any time; what is known so far. */
void search_answer(const struct search *s, struct search_answer *answer);

/* "confirmed", or "not rejected" if it was missed, but not for sure. */
const char *search_confirmed_how(const struct search_answer *answer);

/* The answer that n recorded probes give under config->slo, by which their
 * counts have been made, without another one. */
void search_from_probes(const struct search_config *config,
                        const struct search_result *probes, size_t n,
                        struct search_answer *answer);

#endif
