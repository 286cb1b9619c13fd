#include "analyzer/search/search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/err.h"
#include "common/xalloc.h"

#define SECOND INT64_C(1000000000)

#define TOLERANCE 0.03
#define PROBE     (20 * SECOND)
#define CONFIRM   (90 * SECOND)
#define FIRST     1.0 /* from nothing */

static const char *const whys[] = {
    [SEARCH_FIRST] = "first",       [SEARCH_LIGHT] = "light load",
    [SEARCH_DOUBLING] = "doubling", [SEARCH_NEAR] = "near the boundary",
    [SEARCH_PROVING] = "confirm",   [SEARCH_OVER] = "over",
};

static const char *const outcomes[] = {
    [SEARCH_GOES_ON] = "goes on",     [SEARCH_FOUND] = "found",
    [SEARCH_NEVER] = "never",         [SEARCH_AT_LEAST] = "at least",
    [SEARCH_CLIENT] = "client limit", [SEARCH_BUDGET] = "budget",
    [SEARCH_UNDECIDED] = "undecided", [SEARCH_NOT_PROBED] = "not probed",
};

const char *search_why_name(enum search_why why)
{
    return whys[why];
}

const char *search_outcome_name(enum search_outcome outcome)
{
    return outcomes[outcome];
}

double search_allowed(const struct slo_term *term)
{
    switch (term->kind) {
    case SLO_QUANTILE:
        return 1 - term->quantile;
    case SLO_ERRORS:
        return term->limit;
    case SLO_GOOD:
    case SLO_QUALITY:
        return 1 - term->limit;
    case SLO_GOODPUT:
    case SLO_LIMIT:
    case SLO_CHECK:
        break;
    }
    return -1;
}

int search_check_slo(const struct slo *slo, struct err *err)
{
    size_t judged = 0;

    for (size_t i = 0; i < slo->len; i++) {
        if (slo->terms[i].kind == SLO_GOODPUT)
            return err_set(err, ERR_CONFIG,
                           "slo: '%s' cannot be searched: it is a rate, not a "
                           "share of the requests; use 'good >= 90%%'",
                           slo->terms[i].text);
        judged += search_allowed(&slo->terms[i]) >= 0;
    }
    if (judged == 0)
        return err_set(err, ERR_CONFIG,
                       "slo: a search needs a term that is judged, such as "
                       "'e2e p99 < 200ms'");
    return 0;
}

void search_init(struct search *s, const struct search_config *config)
{
    *s = (struct search){.config = *config};
}

void search_fini(struct search *s)
{
    free(s->results);
    *s = (struct search){0};
}

void search_feed(struct search *s, const struct search_result *result)
{
    if (s->n == s->cap) {
        s->cap = s->cap > 0 ? 2 * s->cap : 16;
        s->results = xrealloc(s->results, s->cap, sizeof(*s->results));
    }
    s->results[s->n++] = *result;
}

static bool is_met(const struct search *s, const struct search_result *r)
{
    for (size_t i = 0; i < r->n_terms; i++) {
        double allowed = search_allowed(&s->config.slo->terms[i]);

        if (allowed >= 0 &&
            (double)r->terms[i].misses > allowed * (double)r->terms[i].n)
            return false;
    }
    return true;
}

/* The highest value that was met below the lowest that was missed. */
static struct interval bracket(const struct search *s)
{
    struct interval b = {0, INFINITY};

    for (size_t i = 0; i < s->n; i++)
        if (!is_met(s, &s->results[i]))
            b.high = fmin(b.high, s->results[i].value);
    for (size_t i = 0; i < s->n; i++)
        if (s->results[i].value < b.high)
            b.low = fmax(b.low, s->results[i].value);
    return b;
}

void search_next(const struct search *s, struct search_ask *ask)
{
    struct interval b = bracket(s);
    double tolerance =
        s->config.tolerance > 0 ? s->config.tolerance : TOLERANCE;

    *ask = (struct search_ask){.step = SEARCH_PROBE,
                               .why = SEARCH_NEAR,
                               .warmup_ns = PROBE / 10,
                               .window_ns = PROBE,
                               .may_end_early = true};
    if (s->n == 0) {
        ask->why = SEARCH_FIRST;
        ask->value = s->config.start > 0 ? s->config.start : FIRST;
    } else if (!isfinite(b.high)) {
        ask->why = SEARCH_DOUBLING;
        ask->value = 2 * b.low;
    } else if (b.low <= 0) {
        ask->why = SEARCH_DOUBLING;
        ask->value = b.high / 2;
    } else if (b.high > (1 + tolerance) * b.low) {
        ask->value = sqrt(b.low * b.high);
    } else if (s->results[s->n - 1].step != SEARCH_CONFIRM) {
        ask->step = SEARCH_CONFIRM;
        ask->why = SEARCH_PROVING;
        ask->window_ns = CONFIRM;
        ask->value = SEARCH_CONFIRM_PART * b.low;
    } else {
        ask->step = SEARCH_DONE;
        ask->why = SEARCH_OVER;
    }
}

bool search_is_hopeless(const struct search *s,
                        const struct search_result *so_far)
{
    for (size_t i = 0; i < so_far->n_terms; i++) {
        const struct search_counts *c = &so_far->terms[i];

        if (search_allowed(&s->config.slo->terms[i]) >= 0 && c->n >= 30 &&
            2 * c->misses > c->n)
            return true;
    }
    return false;
}

void search_answer(const struct search *s, struct search_answer *answer)
{
    struct interval b = bracket(s);

    *answer = (struct search_answer){.outcome = SEARCH_GOES_ON,
                                     .capacity = sqrt(b.low * b.high),
                                     .ci = b,
                                     .slope = NAN,
                                     .confirmed = NAN,
                                     .at_least = b.low,
                                     .at_most = b.high,
                                     .client_limit = NAN,
                                     .missing = {NAN, NAN},
                                     .probes = s->n};
    for (size_t i = 0; i < s->n; i++) {
        answer->requests += s->results[i].requests;
        answer->took_ns += s->results[i].took_ns;
        if (s->results[i].step == SEARCH_CONFIRM) {
            answer->outcome = SEARCH_FOUND;
            answer->confirmed = s->results[i].value;
        }
    }
    snprintf(answer->why, sizeof(answer->why), "%s",
             search_outcome_name(answer->outcome));
}

void search_from_probes(const struct search_config *config,
                        const struct search_result *probes, size_t n,
                        struct search_answer *answer)
{
    struct search s;

    search_init(&s, config);
    for (size_t i = 0; i < n; i++)
        search_feed(&s, &probes[i]);
    search_answer(&s, answer);
    search_fini(&s);
}
