/* search_tuning.h - every constant of the capacity search.  The values, and the
 * evidence for each, are in search_tuning.c.  The referee is bench_search. */
#ifndef ANALYZER_SEARCH_SEARCH_TUNING_H
#define ANALYZER_SEARCH_SEARCH_TUNING_H

#include <stddef.h>
#include <stdint.h>

struct search_tuning {
    /* the first look and the bracket */
    double look_clients;
    double look_s;
    double look_answers; /* per client */
    double look_part;    /* of its rate: the first probe */
    double first_rps;
    double light_first; /* requests in flight */
    double light_max;
    double light_rps;
    size_t light_tries;

    /* lengths of windows: seconds, limits of the SLO, requests, expected
     * misses, relaxation times */
    double short_s;
    double short_limits;
    double short_requests;
    double light_s;
    double probe_s;
    double probe_limits;
    double probe_misses;
    double probe_relax;
    double probe_relax_max;
    double probe_number; /* of probes that are enough for the tolerance */
    double longest_s;
    double warmup_part; /* of the window */
    double warmup_limits;
    double warmup_relax;
    double confirm_probes; /* windows of a probe */
    double confirm_max_s;
    double client_requests;
    double budget_part; /* of the budget: the longest probe */

    /* near the boundary */
    double tolerance;
    double wide; /* ratio of the bracket: probes are short above it */
    double near; /* ratio to the estimate */
    size_t near_min;
    size_t near_max;
    size_t near_few; /* enough to know a very steep or a flat curve */
    size_t probes_max;
    double worst_reach;
    double aside; /* distance of a probe, in reciprocals of the slope */
    double aside_max;

    /* contradictions and confirmations */
    double level;
    double contradiction_ratio;
    double contradiction_lost;
    double contradiction_misses;
    size_t contradictions;
    double check_ratio;
    size_t checks;
    double proof_part;
    size_t rejections;

    /* the client */
    size_t tries;
    double client_share;
    double client_ratio;
    double client_low;
    size_t client_proofs;
    size_t noise_slack;
    size_t noise_max;

    /* hopeless probes */
    double hopeless_share;
    int64_t hopeless_requests;
    double hopeless_s;
    int64_t hopeless_few;
    double hopeless_few_s;

    /* the regression */
    double slope_other;
    double slope_spread;
    double cluster_min;
    double cluster_other;
    double phi_spread;
    double bend;
    double reach;
    double near_share;
    double piece_relax;
    double piece_misses;
    double spread_weight;
    double floor_below;
    double floor_max;
    double ci_min;
};

extern const struct search_tuning search_tuning;

#endif
