/* cache_check.h - does the server answer a prompt that it has seen faster than
 * a new one of the same length?
 *
 * As in MLPerf's TEST04: of each two neighbours in the schedule one repeats the
 * same prompt.  Both kinds meet the same server at the same time, so each slice
 * of the window gives a ratio of medians, and their scatter gives the interval.
 * No I/O.
 */
#ifndef ANALYZER_TALLY_CACHE_CHECK_H
#define ANALYZER_TALLY_CACHE_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/tally/tally.h"
#include "analyzer/tally/tokens.h"
#include "common/measure/measure.h"
#include "common/stats/hist.h"
#include "common/stats/stats.h"

/* TEST04 allows the repeated sample to be a tenth faster. */
#define CACHE_LIMIT (1 / 1.1)

enum cache_kind { CACHE_NEW, CACHE_REPEATED, CACHE_KINDS };

enum cache_measure {
    CACHE_E2E,
    CACHE_TTFT,
    CACHE_TPOT,
    CACHE_MEASURES,
};

/* The interval of a ratio compared with the limit. */
enum cache_sign {
    CACHE_ABSENT, /* too few answers of both kinds */
    CACHE_SAME,   /* above the limit */
    CACHE_OPEN,   /* contains the limit */
    CACHE_FASTER, /* below the limit */
};

enum cache_finding {
    CACHE_NO_SIGN,
    CACHE_OF_PROMPTS, /* only the first token is faster */
    CACHE_OF_ANSWERS,
    CACHE_UNDECIDED,
    CACHE_FINDINGS,
};

/* Repeated / new, as the geometric mean over slices. */
struct cache_ratio {
    enum measure measure;
    enum cache_sign sign; /* CACHE_ABSENT: the rest is not set */
    int64_t median_ns[CACHE_KINDS];
    double ratio;
    struct interval ci95;
};

struct cache_group {
    int64_t n;      /* due in the window */
    int64_t failed; /* of those; not part of the following */
    struct token_sum output;
    struct token_sum cached;
    int64_t cached_of; /* prompt tokens */
};

struct cache_check {
    bool is_there;
    struct cache_group group[CACHE_KINDS];
    struct cache_ratio ratio[CACHE_MEASURES];
    enum cache_measure by; /* the ratio that decides about cached answers */
    enum cache_finding finding;
    const char *why; /* in words */
};

/* All zero is empty. */
struct cache_work {
    struct cache_group group[CACHE_KINDS];
    struct hist all[CACHE_KINDS][CACHE_MEASURES];
    struct hist slice[CACHE_KINDS][CACHE_MEASURES][TALLY_SLICES];
};

/* The tally has the window. */
void cachecheck_add(struct cache_work *w, const struct tally *t,
                    const struct facts *f);
void cachecheck_make(const struct cache_work *w, struct cache_check *out);
void cachecheck_fini(struct cache_work *w);

/* "no sign", "prompts", "answers", "undecided". */
const char *cache_finding_name(enum cache_finding finding);

/* Share of prompt tokens that came from the server's cache; below 0: not
 * reported. */
double cache_group_share(const struct cache_group *g);

#endif
