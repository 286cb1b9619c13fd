/* search.h - the search for the largest load within the SLO: what to probe
 * next, and what is known so far.  Pure: no clock, no I/O.
 *
 *   search_init(&s, &config);
 *   while (search_next(&s, &ask), ask.step != SEARCH_DONE) {
 *       make a run as `ask` says and count it into `result`;
 *       search_feed(&s, &result);
 *   }
 *   search_answer(&s, &answer);
 *   search_fini(&s);
 *
 * The next step depends only on the configuration and on the results in their
 * order.  So an interrupted search continues when its recorded results are fed
 * again, and search_from_probes() answers for another SLO.
 *
 * Each SLO term allows a share of misses: 1 % of the requests for a p99, 0.1 %
 * for 'errors < 0.1%', 10 % for 'good >= 90%'.  The counts of a term at all
 * values are pooled in one regression of the share on the value.  The value at
 * which it crosses the allowed share is the capacity of the term; the lowest of
 * them is that of the server.  docs/search.md
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

/* Slices of a window, to measure scatter; shorter windows have fewer. */
#define SEARCH_SLICES 20

#define SEARCH_CONFIDENCE 0.90 /* of the interval: what reports promise */

/* Times of 0 are chosen by the search, from the rate and the SLO. */
struct search_config {
    enum search_by by;
    const struct slo *slo; /* borrowed */
    double start;          /* a guess; 0: none */
    double min;            /* lowest value to probe; 0: any */
    double max;            /* highest value to probe; 0: any */
    double tolerance;      /* half-width of the interval as a share of the
                              estimate that is good enough; 0: 0.04 */
    int64_t probe_ns;      /* window of a probe near the boundary */
    int64_t confirm_ns;
    int64_t budget_ns; /* for the sum of took_ns; 0: unlimited */
    bool no_confirm;   /* answer without confirmation */
    bool no_look;      /* the settings do not allow a closed loop */
};

/* ---- the next step ---- */

/* A look is a short closed loop: clients that each wait for their answers show
 * about how many requests per second the server can answer. */
enum search_step { SEARCH_PROBE, SEARCH_CONFIRM, SEARCH_LOOK, SEARCH_DONE };

/* Reason for the choice of a value, for progress messages. */
enum search_why {
    SEARCH_LOOKING,  /* how fast is the server? */
    SEARCH_FIRST,    /* the guess, or a light load */
    SEARCH_LIGHT,    /* is the SLO met at any load? */
    SEARCH_DOUBLING, /* up or down */
    SEARCH_NEAR,     /* on either side of the estimate */
    SEARCH_AGAIN,    /* the last one was discarded */
    SEARCH_PROVING,  /* the confirmation */
    SEARCH_OVER,
};

const char *search_why_name(enum search_why why);

struct search_ask {
    enum search_step step;
    enum search_why why;
    double value;      /* of a look: clients */
    int64_t warmup_ns; /* before the window */
    int64_t window_ns;
    int64_t requests;   /* a look ends after this number of requests; else 0 */
    bool may_end_early; /* see search_is_hopeless(); never as passed */
};

/* ---- results ---- */

/* Of one term.  Blocks are of equal length, in order of time. */
struct search_counts {
    int64_t n; /* requests due in the window that the term is about */
    int64_t misses;
    bool is_unjudgeable; /* too many requests have no such value */
    int64_t client_late; /* misses that the client may have caused */
    int64_t
        measured_ns; /* value of its quantile; or HIST_BEYOND and the like */
    int64_t low_ns;  /* of the quantile: the range between limits that are shown
                        to be missed and to be met, as in term_judgement */
    int64_t high_ns;
    struct interval missed_ci90; /* of the share of misses; NAN: unknown */
    struct batch slices[SEARCH_SLICES]; /* hits: misses */
    size_t n_slices;
};

/* Requests were sent, but they do not allow a term to be judged.  The cause is
 * unknown; it may be the server. */
#define SEARCH_UNMEASURED "nothing measured"

/* The client ran out of CPU time, connections, local ports, open files or
 * memory.  With rare exceptions the load is the cause. */
#define SEARCH_BUSY      "busy"
#define SEARCH_CAPPED    "connection cap"
#define SEARCH_EXHAUSTED "client resources"

/* The launcher of a probe failed twice: there is no recording, or a shard is
 * not complete. */
#define SEARCH_LOST "launch"

struct search_result {
    enum search_step step;
    double value;          /* requested value */
    double offered_rps;    /* due in the window / its length */
    double completed_rps;  /* those of them that were answered */
    double throughput_rps; /* finished in the window */
    int64_t warmup_ns;
    int64_t asked_ns;  /* requested window */
    int64_t window_ns; /* actual window; shorter if it ended early */
    int64_t took_ns;   /* in all, with warm-up, drain and settling */
    int64_t requests;  /* in all, with warm-up and drain */
    int64_t answer_ns; /* median time in flight; 0: unknown */
    bool is_overloaded;
    const char *discarded; /* why it does not count: the client or the machine
                              disturbed it.  Name of the failed check, or
                              SEARCH_UNMEASURED; NULL: it counts */
    bool ended_early;
    struct search_counts terms[SLO_MAX_TERMS]; /* in the order of the SLO */
    size_t n_terms;
};

/* ---- what is known ---- */

enum search_outcome {
    SEARCH_GOES_ON,    /* not finished */
    SEARCH_FOUND,      /* an estimate within the tolerance, confirmed */
    SEARCH_ESTIMATED,  /* the same, without confirmation, as requested */
    SEARCH_NEVER,      /* the SLO is not met even at the lightest load */
    SEARCH_AT_LEAST,   /* met at the highest allowed value */
    SEARCH_CLIENT,     /* met up to the limit of the client */
    SEARCH_BUDGET,     /* out of time: the best bracket so far */
    SEARCH_UNDECIDED,  /* the probes contradict each other */
    SEARCH_NOT_PROBED, /* from search_from_probes(): see `missing` */
};

const char *search_outcome_name(enum search_outcome outcome);

#define SEARCH_TEXT 240

/* The capacity if a term were the only one.  NAN: no probe missed the term. */
struct search_capacity {
    double capacity;
    struct interval ci; /* at SEARCH_CONFIDENCE */
    double slope;       /* as that of the answer */
};

/* Unknown values are NAN. */
struct search_answer {
    enum search_outcome outcome;
    double capacity;         /* the estimate */
    struct interval ci;      /* at SEARCH_CONFIDENCE */
    double slope;            /* the share of misses grows like value^slope */
    double confirmed;        /* highest confirmed value */
    bool confirmed_met;      /* it met the SLO there; else it missed it, but not
                                significantly */
    double at_least;         /* highest met value below all missed ones */
    double at_most;          /* lowest significantly missed value */
    double met_to;           /* highest value that a probe met, ... */
    double missed_from;      /* ... and lowest that one missed: by the counts */
    double relax_s;          /* relaxation time of the server there, ... */
    bool is_short;           /* ... and the windows were short against it */
    double client_limit;     /* value from which on the client is the limit */
    const char *binding;     /* text of the limiting SLO term; NULL: none */
    struct interval missing; /* where probes are missing; NAN: open end */
    size_t probes;           /* including confirmations */
    size_t discarded;        /* probes that do not count */
    int64_t requests;
    int64_t took_ns;
    int64_t left_ns;       /* estimated remaining time; 0: unknown */
    char why[SEARCH_TEXT]; /* one line for the user */
    struct search_capacity terms[SLO_MAX_TERMS]; /* in the order of the SLO */
};

/* ---- the search ---- */

struct search {
    struct search_config config;
    struct search_result *results; /* owned; in order of time */
    size_t n;
    size_t cap;
};

/* Can this SLO be searched?  Every judged term must be a share of requests; a
 * goodput is not.  ERR_CONFIG. */
int search_check_slo(const struct slo *slo, struct err *err);

/* Is the budget long enough for the first probe?  ERR_CONFIG. */
int search_check_budget(const struct search_config *config, struct err *err);

/* Was it discarded because of this check? */
bool search_is_discarded_by(const struct search_result *r, const char *check);

/* Is every term met, by the counts?  Not if the server was overloaded: what it
 * met, it would not have met for longer. */
bool search_is_met(const struct slo *slo, const struct search_result *r);

/* The slo must have passed search_check_slo(). */
void search_init(struct search *s, const struct search_config *config);
void search_fini(struct search *s);

void search_next(const struct search *s, struct search_ask *ask);

/* Copied; of a server that was overloaded, every request counts as a miss. */
void search_feed(struct search *s, const struct search_result *result);

/* Is this unfinished run certain to miss the SLO, or so disturbed that it will
 * be discarded?  To be called about once per slice, with the counts of the
 * requests that have ended or have already missed. */
bool search_is_hopeless(const struct search *s,
                        const struct search_result *so_far);

/* What is known so far; may be called at any time. */
void search_answer(const struct search *s, struct search_answer *answer);

/* What single probes met and missed: "met up to 400/s, missed from 410/s on";
 * "" if there is none. */
const char *search_bracket(enum search_by by, const struct search_answer *a,
                           char text[static SEARCH_TEXT]);

/* "confirmed", or "not rejected" if it was missed, but not significantly. */
const char *search_confirmed_how(const struct search_answer *answer);

/* The answer from n recorded probes, whose counts must be for config->slo. */
void search_from_probes(const struct search_config *config,
                        const struct search_result *probes, size_t n,
                        struct search_answer *answer);

#endif
