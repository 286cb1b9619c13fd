#include "analyzer/search/search.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/units.h"
#include "common/base/xalloc.h"

static const char *const whys[] = {
    [SEARCH_FIRST] = "first",      [SEARCH_LIGHT] = "light load",
    [SEARCH_DOUBLING] = "bracket", [SEARCH_NEAR] = "near the boundary",
    [SEARCH_PROVING] = "confirm",  [SEARCH_OVER] = "over",
};

static const char *const outcomes[] = {
    [SEARCH_GOES_ON] = "goes on",       [SEARCH_FOUND] = "found",
    [SEARCH_ESTIMATED] = "estimated",   [SEARCH_NEVER] = "never",
    [SEARCH_AT_LEAST] = "at least",     [SEARCH_CLIENT] = "client limit",
    [SEARCH_BUDGET] = "budget",         [SEARCH_UNDECIDED] = "undecided",
    [SEARCH_NOT_PROBED] = "not probed",
};

const char *search_why_name(enum search_why why)
{
    return whys[why];
}

const char *search_outcome_name(enum search_outcome outcome)
{
    return outcomes[outcome];
}

bool search_is_aside(const struct search_result *r, const char *check)
{
    return r->set_aside && strcmp(r->set_aside, check) == 0;
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

int search_check_budget(const struct search_config *config, struct err *err)
{
    char budget[UNITS_TEXT], takes[UNITS_TEXT];
    struct search_ask first;
    struct search s;
    int64_t needs_ns;

    search_init(&s, config);
    search_next(&s, &first);
    needs_ns = first.warmup_ns + first.window_ns;
    if (config->budget_ns <= 0 || config->budget_ns >= needs_ns)
        return 0;
    return err_set(err, ERR_CONFIG,
                   "search.budget: %s does not hold the first probe, which "
                   "takes %s (less with --start near the capacity)",
                   units_show_duration((double)config->budget_ns, budget),
                   units_show_duration((double)needs_ns, takes));
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
