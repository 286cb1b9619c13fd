/* slo.h - the terms of a service level objective (SLO).
 *
 *   ttft p99 < 200ms     a quantile of a measure
 *   errors < 0.1%        share of requests that failed
 *   good >= 90%          share of requests that keep every limit at once
 *   goodput >= 40/s      such requests per second
 *   quality >= 0.99      share of the checked answers that passed
 *   ttft:200             a limit of good requests in ms; not judged by itself
 *   check: required      a good request has a correct answer; also not judged
 *
 * A word and a colon before a term put it into a tier: 'gold: ttft p99 <
 * 200ms'.  Every tier is a separate objective.  The objective of the run are
 * the terms without a tier; if all judged terms have one, those of the last
 * tier named (the weakest, as tiers are usually listed), followed by the limits
 * without a tier.
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

/* What a yes or no takes: the observation, or that it is shown with 95 %
 * confidence. */
enum slo_require { REQUIRE_OBSERVED, REQUIRE_SHOWN };
extern const char *const slo_require_names[]; /* NULL-terminated */

#define SLO_TIER 24 /* bytes of its name */

struct slo_term {
    enum slo_kind kind;
    enum measure measure; /* of a quantile or limit */
    double quantile;      /* 0.99; 1 for a limit: every request */
    int64_t limit_ns;     /* of both; the value must be below it */
    double limit;         /* of the others: a share, or requests per second */
    char text[112];       /* for display, with its tier */
    char tier[SLO_TIER];  /* "": none */
};

/* In all tiers together. */
#define SLO_MAX_TERMS 16
#define SLO_MAX_TIERS 4

struct slo {
    struct slo_term terms[SLO_MAX_TERMS];
    size_t len;
};

int slo_parse_term(const char *text, struct slo_term *term, struct err *err);

/* A term's measure and quantile without relation and limit: "ttft p99".  0;
 * 1: the text does not have this form; -1: it has, but makes no sense. */
int slo_parse_quantile(const char *text, struct slo_term *term,
                       struct err *err);

/* The share of misses that a term allows; below 0: it is not about a share, or
 * it is not judged. */
double slo_allowed(const struct slo_term *term);

/* For an option table: is this text a term, or a limit of good requests? */
int slo_check_term(const char *text, struct err *err);
int slo_check_limit(const char *text, struct err *err);

/* Does it have the form of a limit, valid or not: name:number? */
bool slo_is_like_limit(const char *text);

/* The objective of the run.  ERR_CONFIG. */
int slo_parse(const struct strlist *texts, struct slo *slo, struct err *err);

/* The terms of all tiers, in their order.  ERR_CONFIG. */
int slo_parse_all(const struct strlist *texts, struct slo *all,
                  struct err *err);

/* The terms of one tier; "": those without a tier. */
void slo_of_tier(const struct slo *all, const char *tier, struct slo *out);

/* The tiers in the order of their first term, borrowed; returns how many. */
size_t slo_tiers(const struct slo *all,
                 const char *names[static SLO_MAX_TIERS]);

/* The length of the class in 'chat/errors < 1%' or 'chat/gold: ttft p99 <
 * 100ms', as report --slo accepts it; 0: there is no class. */
size_t slo_class_len(const char *text);

/* The term after the class. */
const char *slo_after_class(const char *text);

/* For an option table: is this a term, with or without a class? */
int slo_check_asked(const char *text, struct err *err);

#endif
