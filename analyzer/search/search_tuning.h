/* search_tuning.h - the constants of the capacity search.  Their meanings, and
 * the evidence for each, are in search_tuning.c.  What reports promise
 * (SEARCH_CONFIDENCE) and the slices of a window are in search.h. */
#ifndef ANALYZER_SEARCH_SEARCH_TUNING_H
#define ANALYZER_SEARCH_SEARCH_TUNING_H

#include <stddef.h>
#include <stdint.h>

/* Points of the grid of capacity_fit.c, which are sizes of arrays. */
#define FIT_CROSSINGS 41
#define FIT_SLOPES    21

struct search_tuning {
    /* the look, and the bracket */
    double look_clients, look_answers, look_s, look_part;
    double first_rps, light_first, light_max, light_rps;
    size_t light_tries, never_tries;

    /* lengths of windows */
    double short_s, short_limits, short_requests;
    double near_s, near_limits, near_misses;
    double near_relax, near_relax_max, near_worth, longest_s;
    double warmup_part, warmup_limits, warmup_relax;
    double confirm_windows, confirm_max_s, confirm_part, client_requests;
    double budget_part, budget_confirm;

    /* near the boundary */
    double tolerance, worst_reach, wide, near_ratio, aside, aside_max;
    size_t near_min, near_max, flat_min, whole_min, probes_max;

    /* contradictions, confirmations and the client */
    double level, contradiction_ratio, contradiction_lost, contradiction_misses;
    size_t contradictions, checks, rejections;
    double check_ratio, check_low;
    size_t tries, noise_slack;
    double client_ratio;

    double delayed_part, delayed_few;

    /* hopeless probes */
    double hopeless_share, hopeless_s, hopeless_few_s;
    int64_t hopeless_requests, hopeless_few;

    /* the regression */
    double slope_other, slope_low, slope_spread, slope_spread_up, bend;
    double slope_flight, cluster_other, steep;
    double reach, near_share, piece_relax, piece_misses;
    double pieces_weight, probes_weight, floor_below, floor_max, ci_min;
    double allowed_min, allowed_max, cluster_power, grown;
    double margin, slope_min, slope_max, all_but, share_min, exponent_max;
    int grown_parts, passes;
};

extern const struct search_tuning search_tuning;

#endif
