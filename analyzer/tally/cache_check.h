/* cache_check.h - does the server answer a prompt that it has seen sooner than
 * a new one of the same length?
 *
 * In the manner of MLPerf's TEST04: of each two neighbours in the schedule one
 * carries the same prompt again.  Both kinds meet the same server at the same
 * time, so that each batch of the window gives a ratio of medians by itself,
 * and their scatter the interval.  Pure but for its histograms.
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

/* What a ratio says. */
enum cache_sign {
    CACHE_ABSENT, /* nothing: there are too few of both kinds */
    CACHE_SAME,   /* surely above the limit */
    CACHE_OPEN,   /* it may be either */
    CACHE_FASTER, /* surely below it */
};

enum cache_finding {
    CACHE_NO_SIGN,
    CACHE_OF_PROMPTS, /* the first token comes sooner, the others do not */
    CACHE_OF_ANSWERS,
    CACHE_UNDECIDED,
    CACHE_FINDINGS,
};

/* Repeated to new, as the geometric mean over batches. */
struct cache_ratio {
    enum measure measure;
    enum cache_sign sign; /* the rest unless absent */
    int64_t median_ns[CACHE_KINDS];
    double ratio;
    struct interval ci95;
};

struct cache_group {
    int64_t n;      /* due in the window */
    int64_t failed; /* of those; left out of all that follows */
    struct token_sum output;
    struct token_sum cached;
    int64_t cached_of; /* prompt tokens */
};

struct cache_check {
    bool is_there;
    struct cache_group group[CACHE_KINDS];
    struct cache_ratio ratio[CACHE_MEASURES];
    enum cache_measure by; /* the one that says whether answers are cached */
    enum cache_finding finding;
    const char *why; /* in words */
};

/* All zero is an empty one. */
struct cache_work {
    struct cache_group group[CACHE_KINDS];
    struct hist all[CACHE_KINDS][CACHE_MEASURES];
    struct hist batch[CACHE_KINDS][CACHE_MEASURES][TALLY_BATCHES];
};

/* The tally says what belongs to the window. */
void cachecheck_add(struct cache_work *w, const struct tally *t,
                    const struct facts *f);
void cachecheck_make(const struct cache_work *w, struct cache_check *out);
void cachecheck_fini(struct cache_work *w);

/* "no sign", "prompts", "answers", "undecided". */
const char *cache_finding_name(enum cache_finding finding);

/* Of the prompt tokens of a kind, the share from the server's cache; below 0:
 * it does not say. */
double cache_group_share(const struct cache_group *g);

#endif
