#include "analyzer/search/search_tuning.h"

/* The evidence is bench_search: the table in docs/search.md, and what it showed
 * with other values.  "By hand": the results hardly depend on it. */
/* clang-format off */
const struct search_tuning search_tuning = {
    /* A closed loop of look_clients sends look_answers requests per client, for
     * at most look_s.  The first probe is at look_part of its rate: most SLOs
     * are missed a little below saturation.  Without an answer, first_rps. */
    .look_clients = 16, .look_answers = 4, .look_s = 10, .look_part = 0.7,
    .first_rps = 1,
    /* A light load has light_max requests in flight; light_first is tried.  An
     * idle server that misses must do so never_tries times: with one, a fifth
     * of the searches of a flapping server ended with "never", with two 5 %.
     * Below light_rps, or after light_tries, nothing lower is tried. */
    .light_first = 0.1, .light_max = 0.4, .light_rps = 4, .light_tries = 4,
    .never_tries = 2,

    /* Windows: the largest of these numbers of seconds, of the SLO's longest
     * limit, of requests or of expected misses.  A probe that brackets: */
    .short_s = 5, .short_limits = 4, .short_requests = 20,
    /* One near the boundary is at least near_relax relaxation times long; with
     * 12 instead of 8 M/M/1 takes a quarter longer and is no better.  It is
     * longer, up to near_s or near_relax_max, until near_worth of them would
     * give the tolerance if the slope were known: with 3.2 instead of 2.4, 85 %
     * of searches at 50 ms are within 3 % instead of 90 %. */
    .near_s = 21, .near_limits = 20, .near_misses = 10, .near_relax = 8,
    .near_relax_max = 150, .near_worth = 2.4, .longest_s = 600,
    /* After two relaxation times an empty queue has 0.88 of its stationary share
     * of misses, by theory; fit_grown() corrects for the rest. */
    .warmup_part = 0.1, .warmup_limits = 3, .warmup_relax = 2,
    /* A confirmation is this many windows long, at this part of the estimate or
     * at the lower end of its interval.  300 requests without a miss show a p99
     * at 95 %. */
    .confirm_windows = 3, .confirm_max_s = 1200, .confirm_part = 0.95,
    .client_requests = 300,
    /* Parts of the budget: longest probe, and what is kept to confirm. */
    .budget_part = 0.1, .budget_confirm = 0.2,

    /* An interval wider than worst_reach is no answer. */
    .tolerance = 0.04, .worst_reach = 0.10,
    /* Short probes halve a bracket wider than this: 1.3 costs a fifth more
     * than 1.15 with steep curves. */
    .wide = 1.15,
    /* Near probes are aside / slope from the estimate, on either side. */
    .near_ratio = 1.15, .aside = 0.8, .aside_max = 0.12,
    /* Numbers of probes near the boundary: enough, most, enough to see that the
     * curve is flat, enough for a whole number; and in all. */
    .near_min = 8, .near_max = 10, .flat_min = 5, .whole_min = 3,
    .probes_max = 32,

    /* A miss is significant at this level.  Two pairs contradict each other if
     * the loads differ by this ratio (if the lower probe was lost, the second),
     * and the higher one could have shown this many misses.  At the end, loads
     * from check_low of the estimate on are tried `checks` times in a row: if
     * earlier probes count as well, 11 % of the searches of a flapping server
     * end with "found" instead of 8 %. */
    .level = 0.01, .contradiction_ratio = 1.1, .contradiction_lost = 1.02,
    .contradiction_misses = 3, .contradictions = 2, .checks = 3,
    .check_ratio = 1.15, .check_low = 1.1, .rejections = 3,
    /* A discarded run is repeated twice; the gap to the client's limit is
     * halved down to client_ratio.  By hand. */
    .tries = 3, .noise_slack = 8, .client_ratio = 1.1,

    /* A client disturbed a probe if it delayed more than this part of the misses,
     * or of the allowed ones.  Below a tenth of the allowed misses, delays did
     * no harm, since they only add misses.  By hand. */
    .delayed_part = 0.5, .delayed_few = 0.1,

    /* A probe is lost with this share of misses after some seconds and
     * requests, or if all of a few missed, after longer.  By hand. */
    .hopeless_share = 0.5, .hopeless_s = 2, .hopeless_few_s = 5,
    .hopeless_requests = 50, .hopeless_few = 10,

    /* The slope before any data, see typical_slope(): its logarithm is off by
     * slope_spread to the lower side (0.7 makes intervals at 200 ms 1.7 times
     * as wide, and a tenth of the searches undecided) and slope_spread_up to
     * the upper (cliffs exist), with heavy tails from `bend` on.  Of M/M/16 at
     * load 0.65, slope_flight is 0.35. */
    .slope_other = 20, .slope_low = 0.5, .slope_spread = 0.5,
    .slope_spread_up = 1.4, .bend = 1.5, .slope_flight = 0.35,
    /* Clusters of misses if no queue is the cause.  A curve this much steeper
     * than M/M/1 is no queue: without it, cliffs cost four times as much. */
    .cluster_other = 10, .steep = 4,
    /* Probes this far away, by the log of the load, count half; shares this
     * many times above the allowed one, or below it, do not differ. */
    .reach = 0.3, .near_share = 50,
    /* Scatter is measured in pieces of this many relaxation times and expected
     * misses, and of whole windows; theory counts as this many of them. */
    .piece_relax = 5, .piece_misses = 5, .pieces_weight = 6, .probes_weight = 6,
    /* Misses at any load are measured below this part of the crossing, and are
     * at most this part of the allowed share.  By hand. */
    .floor_below = 0.67, .floor_max = 0.8,
    /* Half-width of the interval: the line is only a model. */
    .ci_min = 0.005,
    /* Allowed shares that the regression can use; its logarithms need limits. */
    .allowed_min = 1e-5, .allowed_max = 0.99,
    /* The variance of a share p in n requests is proportional to
     * p^cluster_power / n: by theory, that of clusters as the excursions of a
     * queue beyond a high level make them.  distance()
     * relies on 2 - 1.75 = 1/4. */
    .cluster_power = 1.75,
    /* The growth from an empty queue is over after `grown` relaxation times (by
     * theory, at 99 % of the stationary share if 1 % may miss), and is computed
     * for grown_parts parts of a window. */
    .grown = 4, .grown_parts = 6,
    /* The grid of FIT_CROSSINGS x FIT_SLOPES: `margin` beyond the probes in the
     * log of the load, between two slopes, then `passes` times where all but
     * this mass at either end is.  With 61 x 31 points a search takes
     * about twice as long, and in 20 searches per case at most one interval more
     * or less has the truth. */
    .margin = 0.7, .slope_min = 0.2, .slope_max = 2000, .all_but = 1e-3,
    .passes = 3,
    /* A miss is never impossible, and exp() must not overflow. */
    .share_min = 1e-12, .exponent_max = 40,
};
/* clang-format on */
