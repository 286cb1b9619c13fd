#include "analyzer/search/search.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/search/probe_disturbed.h"
#include "analyzer/search/search_evidence.h"
#include "analyzer/search/search_plan.h"
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

bool search_is_discarded_by(const struct search_result *r, const char *check)
{
    return r->discarded && strcmp(r->discarded, check) == 0;
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
                           "slo: a search cannot use '%s', which is a rate and "
                           "not a share of the requests; use 'good >= 90%%'",
                           slo->terms[i].text);
        judged += search_allowed(&slo->terms[i]) >= 0;
    }
    if (judged == 0)
        return err_set(err, ERR_CONFIG,
                       "slo: a search requires an SLO term (--slo) such as "
                       "'e2e p99 < 200ms' or 'errors < 1%%'");
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
                   "search.budget: %s is too short for the first probe, which "
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

/* ---- stopping a probe early ---- */

/* A run is lost if this share of the requests missed, after a while; or all of
 * a few requests, after longer. */
#define HOPELESS_SHARE    0.5
#define HOPELESS_REQUESTS 50
#define HOPELESS_NS       INT64_C(2000000000)
#define HOPELESS_FEW      10
#define HOPELESS_FEW_NS   INT64_C(5000000000)

bool search_is_hopeless(const struct search *s,
                        const struct search_result *so_far)
{
    if (so_far->window_ns < HOPELESS_NS)
        return false;
    for (size_t i = 0; i < so_far->n_terms; i++) {
        const struct slo_term *t = &s->config.slo->terms[i];
        const struct search_counts *c = &so_far->terms[i];
        double allowed = search_allowed(t);
        double max_share = fmax(HOPELESS_SHARE, (1 + allowed) / 2);
        /* Would it be discarded even if the client delayed no further request?
         */
        struct search_counts whole = *c;

        if (allowed < 0)
            continue;
        whole.n = llround((double)c->n * (double)so_far->asked_ns /
                          (double)so_far->window_ns);
        if (disturbed_by_lag(t, &whole) ||
            (c->n >= HOPELESS_FEW && c->misses == c->n &&
             so_far->window_ns >= HOPELESS_FEW_NS) ||
            (c->n >= HOPELESS_REQUESTS &&
             (double)c->misses > max_share * (double)c->n))
            return true;
    }
    return false;
}

/* ---- the next step ---- */

/* Recorded probes needed near the boundary for an answer. */
#define RECORDED_NEAR 3

void search_next(const struct search *s, struct search_ask *ask)
{
    struct evidence e;
    struct step plan;

    evidence_take(s, &e);
    plan_make(s, &e, &plan);
    *ask = plan.ask;
}

/* ---- in words ---- */

/* "407.9/s", or "8 clients". */
static const char *shown(const struct search_config *config, double value,
                         char room[static 32])
{
    char number[UNITS_TEXT];

    if (config->by == SEARCH_CONCURRENCY)
        snprintf(room, 32, "%.0f client%s", value, value > 1 ? "s" : "");
    else
        snprintf(room, 32, "%s/s", units_show_number(value, number));
    return room;
}

const char *search_confirmed_how(const struct search_answer *a)
{
    return a->confirmed_met ? "confirmed" : "not rejected";
}

__attribute__((format(printf, 2, 3))) static void say(struct search_answer *a,
                                                      const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(a->why, sizeof(a->why), fmt, args);
    va_end(args);
}

/* The bracket as far as it is known. */
static void say_bracket(const struct search_config *c, struct search_answer *a)
{
    const char *what = a->outcome == SEARCH_BUDGET
                           ? "the time is over"
                           : "the results scatter too much";
    char low[32];
    char high[32];

    if (isfinite(a->ci.low) && isfinite(a->ci.high)) {
        shown(c, a->ci.low, low);
        shown(c, a->ci.high, high);
        if (a->ci.low >= a->ci.high)
            say(a, "%s: about %s", what, low);
        else
            say(a, "%s: between %s and %s", what, low, high);
    } else if (!isfinite(a->at_least)) {
        say(a, "%s: no probe met the SLO yet", what);
    } else if (isfinite(a->at_most)) {
        say(a, "%s: met at %s, missed at %s", what, shown(c, a->at_least, low),
            shown(c, a->at_most, high));
    } else {
        say(a, "%s: above %s, as far as probed", what,
            shown(c, a->at_least, low));
    }
}

static void say_noisy(const struct search_config *c, const struct evidence *e,
                      struct search_answer *a)
{
    static const char *const causes[][2] = {
        {SEARCH_UNMEASURED, "no answer allows the SLO to be judged"},
        {SEARCH_CAPPED, "the client has too few connections"},
        {SEARCH_EXHAUSTED, "the client has too few ports, files or memory"},
    };
    const char *cause = "the machine is too busy";
    char low[32];
    char high[32];
    char so_far[96] = "";

    for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
        if (strcmp(e->noise, causes[i][0]) == 0)
            cause = causes[i][1];
    }
    if (isfinite(a->ci.low) && isfinite(a->ci.high))
        snprintf(so_far, sizeof(so_far), "; so far between %s and %s",
                 shown(c, a->ci.low, low), shown(c, a->ci.high, high));
    else if (isfinite(a->at_least))
        snprintf(so_far, sizeof(so_far), "; so far met at %s",
                 shown(c, a->at_least, low));
    say(a, "%s: %zu of %zu probes were discarded, the last by '%s'%s", cause,
        e->discarded, a->probes, e->noise, so_far);
}

static void say_missing(const struct search_config *c, struct search_answer *a)
{
    bool has_low = isfinite(a->missing.low);
    bool has_high = isfinite(a->missing.high);
    char low[32] = "";
    char high[32] = "";
    char discarded[48] = "";

    if (a->discarded > 0)
        snprintf(discarded, sizeof(discarded), " (%zu of %zu are discarded)",
                 a->discarded, a->probes);
    if (has_low)
        shown(c, a->missing.low, low);
    if (has_high)
        shown(c, a->missing.high, high);
    if (!has_low && !has_high)
        say(a, "no recorded probe counts for this SLO%s", discarded);
    else if (!has_high)
        say(a,
            "no recorded probe misses the SLO: probes above %s are missing%s",
            low, discarded);
    else if (!has_low)
        say(a, "no recorded probe meets the SLO: probes below %s are missing%s",
            high, discarded);
    else
        say(a, "too few probes between %s and %s were recorded%s", low, high,
            discarded);
}

static void say_outcome(const struct search_config *c, struct search_answer *a)
{
    bool is_confirmed = isfinite(a->confirmed);
    char at[32], low[32], high[32], confirmed[32];

    switch (a->outcome) {
    case SEARCH_FOUND:
    case SEARCH_ESTIMATED:
        say(a, "%s (%.0f %% interval %s to %s), %s%s%s",
            shown(c, a->capacity, at), 100 * SEARCH_CONFIDENCE,
            shown(c, a->ci.low, low), shown(c, a->ci.high, high),
            is_confirmed ? search_confirmed_how(a) : "not confirmed",
            is_confirmed ? " at " : "",
            is_confirmed ? shown(c, a->confirmed, confirmed) : "");
        break;
    case SEARCH_NEVER:
        say(a, "the SLO is not met at any load: it is missed even at %s",
            shown(c, a->at_most, at));
        break;
    case SEARCH_AT_LEAST:
    case SEARCH_CLIENT:
        say(a, "at least %s%s: %s", shown(c, a->at_least, at),
            is_confirmed ? "" : ", not confirmed",
            a->outcome == SEARCH_CLIENT ? "the client is the limit"
                                        : "no higher load was allowed");
        break;
    case SEARCH_BUDGET:
    case SEARCH_UNDECIDED:
        say_bracket(c, a);
        break;
    case SEARCH_NOT_PROBED:
        say_missing(c, a);
        break;
    case SEARCH_GOES_ON:
        say(a, "the search is not finished");
        break;
    }
}

/* ---- the answer ---- */

static double or_nan(double value)
{
    return value > 0 && isfinite(value) ? value : NAN;
}

static double whole(const struct search_config *c, double value)
{
    return c->by == SEARCH_CONCURRENCY ? fmax(1, floor(value)) : value;
}

static void take_evidence(const struct search *s, const struct evidence *e,
                          struct search_answer *a)
{
    const struct search_config *c = &s->config;

    *a = (struct search_answer){
        .capacity = NAN,
        .ci = {NAN, NAN},
        .slope = NAN,
        .confirmed = or_nan(e->confirmed),
        .confirmed_met = e->confirmed_met,
        .at_least = or_nan(e->met),
        .at_most = or_nan(e->failed),
        .client_limit = bracket_is_client_limit(e) ? or_nan(e->client) : NAN,
        .missing = {NAN, NAN},
        .probes = s->n,
        .discarded = e->discarded,
        .requests = e->requests,
        .took_ns = e->took_ns};
    if (!e->has_fit || e->met <= 0)
        return;
    a->capacity = whole(c, e->value);
    a->ci.low = whole(c, e->ci.low);
    a->ci.high = whole(c, e->ci.high);
    a->slope = e->fit.slope;
    a->binding = c->slo->terms[e->binding].text;
}

/* The regression is dropped if probes contradict each other, if it leads beyond
 * the limit of the client, or if hardly any probe is near.  A load that the
 * client managed only for seconds does not count as reached. */
static void take_outcome(const struct search_config *c,
                         const struct evidence *e, struct search_answer *a)
{
    bool is_undecided = a->outcome == SEARCH_UNDECIDED;
    bool is_contradictory = is_undecided && plan_is_contradictory(e);
    char low[32];
    char high[32];

    if (a->outcome == SEARCH_CLIENT || is_contradictory ||
        (a->outcome == SEARCH_BUDGET && e->near < RECORDED_NEAR)) {
        a->capacity = NAN;
        a->ci = (struct interval){NAN, NAN};
        a->slope = NAN;
        a->binding = NULL;
    }
    if (a->outcome == SEARCH_CLIENT)
        a->at_least =
            fmin(e->met, isfinite(a->confirmed) ? a->confirmed : e->reached);
    if (is_contradictory)
        say(a,
            "the probes contradict each other: the SLO was missed at %s and "
            "met at %s",
            shown(c, e->contradiction_low, low),
            shown(c, e->contradiction_high, high));
    else if (is_undecided && plan_is_noisy(e))
        say_noisy(c, e, a);
    else
        say_outcome(c, a);
}

void search_answer(const struct search *s, struct search_answer *answer)
{
    struct evidence e;
    struct step plan;

    evidence_take(s, &e);
    plan_make(s, &e, &plan);
    take_evidence(s, &e, answer);
    answer->outcome = plan.outcome;
    answer->left_ns = plan_left_ns(s, &e, &plan);
    take_outcome(&s->config, &e, answer);
}

/* ---- from recorded probes ---- */

static enum search_outcome recorded_outcome(const struct search *s,
                                            const struct evidence *e)
{
    if (s->n == 0)
        return SEARCH_NOT_PROBED;
    if (plan_is_contradictory(e))
        return SEARCH_UNDECIDED;
    if (e->met <= 0)
        return bracket_is_never(s, e) ? SEARCH_NEVER : SEARCH_NOT_PROBED;
    if (bracket_ends_at_client(e))
        return SEARCH_CLIENT;
    if (!e->has_fit || e->near < RECORDED_NEAR ||
        evidence_reach(e) > PLAN_WORST_REACH)
        return SEARCH_NOT_PROBED;
    return e->confirmed > 0 ? SEARCH_FOUND : SEARCH_ESTIMATED;
}

void search_from_probes(const struct search_config *config,
                        const struct search_result *probes, size_t n,
                        struct search_answer *answer)
{
    struct search_answer cut = {0};
    struct search s;
    struct evidence e;

    search_init(&s, config);
    for (size_t i = 0; i < n; i++) {
        const struct search_result *r = &probes[i];

        /* A run that ended early was lost by its own SLO.  Whether it would
         * have met another one is unknown. */
        if (!r->ended_early || !search_is_met(config->slo, r)) {
            search_feed(&s, r);
            continue;
        }
        cut.probes++;
        cut.discarded += r->discarded != NULL;
        cut.requests += r->requests;
        cut.took_ns += r->took_ns;
    }
    evidence_take(&s, &e);
    take_evidence(&s, &e, answer);
    answer->probes += cut.probes;
    answer->discarded += cut.discarded;
    answer->requests += cut.requests;
    answer->took_ns += cut.took_ns;
    answer->outcome = recorded_outcome(&s, &e);
    if (answer->outcome == SEARCH_NOT_PROBED)
        answer->missing = e.met <= 0 ? (struct interval){NAN, or_nan(e.missed)}
                          : !e.has_fit ? (struct interval){e.met, NAN}
                                       : e.ci;
    take_outcome(config, &e, answer);
    search_fini(&s);
}
