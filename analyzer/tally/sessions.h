/* sessions.h - what became of the sessions of a run, and how first turns differ
 * from later ones, which a prefix cache may speed up.
 *
 * begun = finished + broken + cut.  These count the whole run: a session may
 * begin in the warm-up and end in the window.  Latencies are of turns due in
 * the window.
 */
#ifndef ANALYZER_TALLY_SESSIONS_H
#define ANALYZER_TALLY_SESSIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/tally/window.h"
#include "common/measure/measure.h"
#include "common/stats/hist.h"

enum turn_kind { TURN_FIRST, TURN_LATER, TURN_KINDS };

/* Turns of one kind, due in the window. */
struct turn_tally {
    int64_t n;
    struct hist e2e; /* from due; failures are beyond */
    struct hist ttft;
    int64_t prompt_tokens;
    int64_t cached_tokens; /* of those, from the server's cache */
    bool says_cached;      /* the server reports cached tokens */
};

struct sessions {
    struct window window;
    int64_t begun;
    int64_t finished; /* their last turn succeeded */
    int64_t broken;   /* a turn failed, or was not sent */
    int64_t turns;    /* of all sessions */
    struct turn_tally kinds[TURN_KINDS];
};

#define TURN_QUANTILES 2

/* 0.5 and 0.99. */
extern const double turn_quantile[TURN_QUANTILES];
extern const char *const turn_quantile_name[TURN_QUANTILES];

struct turn_summary {
    int64_t n;
    int64_t e2e_ns[TURN_QUANTILES]; /* below 0: HIST_BEYOND or another HIST_
                                       constant */
    int64_t ttft_ns[TURN_QUANTILES];
    double cached_share; /* of prompt tokens; below 0: not reported */
};

struct session_summary {
    bool is_there;
    int64_t begun;
    int64_t finished;
    int64_t broken;
    int64_t cut; /* their next turn was not due or not answered by the end */
    double turns_mean; /* per session; below 0: there was none */
    struct turn_summary kinds[TURN_KINDS];
};

/* Ready for use when zeroed but for its window. */
void sessions_fini(struct sessions *s);
void sessions_add(struct sessions *s, const struct facts *f);
struct session_summary sessions_sum_up(const struct sessions *s);

#endif
