/* slo.h - the terms of a service level objective, as people write them.
 *
 *   ttft p99 < 200ms     a quantile of a measure
 *   errors < 0.1%        share of requests that failed
 *   good >= 90%          share of requests that keep every limit at once
 *   goodput >= 40/s      such requests a second
 *   quality >= 0.99      share of the checked answers that passed
 *   ttft:200             a limit of good requests in ms, judged by nobody else
 *   check: required      no request is good whose answer is wrong; likewise
 *
 * A word and a colon before a term put it into a tier: 'gold: ttft p99 <
 * 200ms'.  Every tier is an objective by itself.  What is asked of the run are
 * the terms without one, or, where all that are judged have one, those of the
 * last tier named: the weakest, as people list them.  Limits without a tier
 * come behind them.
 */
#ifndef COMMON_SPEC_SLO_H
#define COMMON_SPEC_SLO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/str.h"
#include "common/measure/measure.h"

struct err;

enum slo_kind {
    SLO_QUANTILE,
    SLO_ERRORS,
    SLO_GOOD,
    SLO_GOODPUT,
    SLO_QUALITY,
    SLO_LIMIT,
    SLO_CHECK,
};

#define SLO_TIER 24 /* bytes of its name */

struct slo_term {
    enum slo_kind kind;
    enum measure measure; /* of a quantile or limit */
    double quantile;      /* 0.99; of a limit 1: every request */
    int64_t limit_ns;     /* of both: strictly below */
    double limit;         /* of the others: a share, or requests a second */
    char text[112];       /* as it is shown, with its tier */
    char tier[SLO_TIER];  /* "": of none */
};

/* Of all tiers together. */
#define SLO_MAX_TERMS 16
#define SLO_MAX_TIERS 4

struct slo {
    struct slo_term terms[SLO_MAX_TERMS];
    size_t len;
};

int slo_parse_term(const char *text, struct slo_term *term, struct err *err);

/* For an option table: may this text be a term, or a limit of good requests?
 */
int slo_check_term(const char *text, struct err *err);
int slo_check_limit(const char *text, struct err *err);

/* Has it the form of one, right or wrong: name:number? */
bool slo_is_like_limit(const char *text);

/* What is asked of the run. */
int slo_parse(const struct strlist *texts, struct slo *slo, struct err *err);

/* The terms of all tiers, as they are listed. */
int slo_parse_all(const struct strlist *texts, struct slo *all,
                  struct err *err);

/* Those of one tier; "": those of none. */
void slo_of_tier(const struct slo *all, const char *tier, struct slo *out);

/* The tiers in the order in which they are first named, borrowed; how many. */
size_t slo_tiers(const struct slo *all,
                 const char *names[static SLO_MAX_TIERS]);

/* Does it begin with 'CLASS/', as a term of a report may: 'chat/errors < 1%',
 * 'chat/gold: ttft p99 < 100ms'?  How long the name is; 0: it does not. */
size_t slo_class_len(const char *text);

/* What is behind that: a term. */
const char *slo_behind_class(const char *text);

/* For an option table: may this be a term, with or without a class? */
int slo_check_asked(const char *text, struct err *err);

#endif
