/* slo.h - the terms of a service level objective, as people write them.
 *
 *   ttft p99 < 200ms     a quantile of a measure
 *   errors < 0.1%        share of requests that failed
 *   good >= 90%          share of requests that keep every limit at once
 *   goodput >= 40/s      such requests a second
 *   quality >= 0.99      share of the checked answers that passed
 *   ttft:200             a limit of good requests in ms, judged by nobody else
 *   check: required      no request is good whose answer is wrong; likewise
 */
#ifndef COMMON_SLO_H
#define COMMON_SLO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/measure.h"
#include "common/str.h"

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

struct slo_term {
    enum slo_kind kind;
    enum measure measure; /* of a quantile or limit */
    double quantile;      /* 0.99; of a limit 1: every request */
    int64_t limit_ns;     /* of both: strictly below */
    double limit;         /* of the others: a share, or requests a second */
    char text[80];        /* as it is shown */
};

#define SLO_MAX_TERMS 16

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

int slo_parse(const struct strlist *texts, struct slo *slo, struct err *err);

#endif
