/* What a search says: at the end, while it goes on, or of recorded probes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/search/probe_marks.h"
#include "analyzer/search/search.h"
#include "analyzer/search/search_bracket.h"
#include "analyzer/search/search_evidence.h"
#include "analyzer/search/search_plan.h"
#include "common/base/units.h"

/* Of recorded probes, so many near the boundary make an answer. */
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

static void say_found(const struct search_config *c, struct search_answer *a)
{
    char low[32];
    char high[32];
    char at[32];
    char proof[64] = "not confirmed";

    if (isfinite(a->confirmed))
        snprintf(proof, sizeof(proof), "%s at %s", search_confirmed_how(a),
                 shown(c, a->confirmed, low));
    snprintf(a->why, sizeof(a->why), "%s (%.0f %% interval %s to %s), %s",
             shown(c, a->capacity, at), 100 * SEARCH_CONFIDENCE,
             shown(c, a->ci.low, low), shown(c, a->ci.high, high), proof);
}

static void say_never(const struct search_config *c, struct search_answer *a)
{
    char at[32];

    snprintf(a->why, sizeof(a->why),
             "the SLO is not met at any load: it is missed at %s",
             shown(c, a->at_most, at));
}

static void say_at_least(const struct search_config *c, struct search_answer *a)
{
    char at[32];

    snprintf(a->why, sizeof(a->why), "at least %s%s: %s",
             shown(c, a->at_least, at),
             isfinite(a->confirmed) ? "" : ", not confirmed",
             a->outcome == SEARCH_CLIENT ? "the client is the limit"
                                         : "no higher load was allowed");
}

/* What there is of a bracket. */
static void say_bracket(const struct search_config *c, struct search_answer *a)
{
    char low[32];
    char high[32];
    const char *what = a->outcome == SEARCH_BUDGET ? "the time is over"
                                                   : "what was seen scatters "
                                                     "too much";
    bool has_ci = isfinite(a->ci.low) && isfinite(a->ci.high);

    if (has_ci && a->ci.low >= a->ci.high)
        snprintf(a->why, sizeof(a->why), "%s: about %s", what,
                 shown(c, a->ci.low, low));
    else if (!has_ci && isfinite(a->at_least) && isfinite(a->at_most))
        snprintf(a->why, sizeof(a->why), "%s: met at %s, missed at %s", what,
                 shown(c, a->at_least, low), shown(c, a->at_most, high));
    else if (!has_ci && isfinite(a->at_least))
        snprintf(a->why, sizeof(a->why), "%s: above %s, as far as it was seen",
                 what, shown(c, a->at_least, low));
    else if (!has_ci)
        snprintf(a->why, sizeof(a->why), "%s: no load was met yet", what);
    else
        snprintf(a->why, sizeof(a->why), "%s: between %s and %s", what,
                 shown(c, a->ci.low, low), shown(c, a->ci.high, high));
}

static void say_twisted(const struct search_config *c, const struct evidence *e,
                        struct search_answer *a)
{
    char low[32];
    char high[32];

    snprintf(a->why, sizeof(a->why),
             "probes contradict each other: the objective was missed at %s and "
             "met at %s",
             shown(c, e->twist_low, low), shown(c, e->twist_high, high));
}

static const char *noise_in_words(const char *check)
{
    static const struct {
        const char *check;
        const char *words;
    } rows[] = {
        {SEARCH_UNMEASURED,
         "no request is answered so that the objective can be judged"},
        {SEARCH_CAPPED, "the client has too few connections to tell"},
        {SEARCH_EXHAUSTED, "the client has too few ports, files or memory"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strcmp(check, rows[i].check) == 0)
            return rows[i].words;
    return "the machine is too busy to tell";
}

/* What counts is said as far as it goes. */
static void say_noisy(const struct search_config *c, const struct evidence *e,
                      struct search_answer *a)
{
    char low[32];
    char high[32];
    char so_far[96] = "";

    if (isfinite(a->ci.low) && isfinite(a->ci.high))
        snprintf(so_far, sizeof(so_far), "; so far between %s and %s",
                 shown(c, a->ci.low, low), shown(c, a->ci.high, high));
    else if (isfinite(a->at_least))
        snprintf(so_far, sizeof(so_far), "; so far met at %s",
                 shown(c, a->at_least, low));
    snprintf(a->why, sizeof(a->why),
             "%s: %zu of %zu probes were set aside, the last by '%s'%s",
             noise_in_words(e->noise), e->set_aside, a->probes, e->noise,
             so_far);
}

static void say_missing(const struct search_config *c, struct search_answer *a)
{
    char low[32];
    char high[32];
    char aside[48] = "";

    if (a->set_aside > 0)
        snprintf(aside, sizeof(aside), " (%zu of %zu are set aside)",
                 a->set_aside, a->probes);
    if (!isfinite(a->missing.low) && !isfinite(a->missing.high))
        snprintf(a->why, sizeof(a->why),
                 "no recorded probe tells anything of this objective%s", aside);
    else if (!isfinite(a->missing.high))
        snprintf(a->why, sizeof(a->why),
                 "no recorded probe misses the objective: probes above %s are "
                 "missing%s",
                 shown(c, a->missing.low, low), aside);
    else if (!isfinite(a->missing.low))
        snprintf(a->why, sizeof(a->why),
                 "no recorded probe meets the objective: probes below %s are "
                 "missing%s",
                 shown(c, a->missing.high, high), aside);
    else
        snprintf(a->why, sizeof(a->why),
                 "too few probes between %s and %s were recorded%s",
                 shown(c, a->missing.low, low), shown(c, a->missing.high, high),
                 aside);
}

static void say(const struct search_config *c, struct search_answer *a)
{
    switch (a->outcome) {
    case SEARCH_FOUND:
    case SEARCH_ESTIMATED:
        say_found(c, a);
        break;
    case SEARCH_NEVER:
        say_never(c, a);
        break;
    case SEARCH_AT_LEAST:
    case SEARCH_CLIENT:
        say_at_least(c, a);
        break;
    case SEARCH_BUDGET:
    case SEARCH_UNDECIDED:
        say_bracket(c, a);
        break;
    case SEARCH_NOT_PROBED:
        say_missing(c, a);
        break;
    case SEARCH_GOES_ON:
        snprintf(a->why, sizeof(a->why), "the search goes on");
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
        .set_aside = e->set_aside,
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

static void forget_line(struct search_answer *a)
{
    a->capacity = NAN;
    a->ci = (struct interval){NAN, NAN};
    a->slope = NAN;
    a->binding = NULL;
}

/* Where probes contradict each other no line is worth anything; nor where it
 * leads to what the client cannot do, or hardly a probe is near.  What the
 * client did for seconds is no more than what it was seen to hold. */
static void take_outcome(const struct search_config *c,
                         const struct evidence *e, struct search_answer *a)
{
    bool is_undecided = a->outcome == SEARCH_UNDECIDED;

    if (a->outcome == SEARCH_CLIENT || (is_undecided && plan_is_twisted(e)) ||
        (a->outcome == SEARCH_BUDGET && e->near < RECORDED_NEAR))
        forget_line(a);
    if (a->outcome == SEARCH_CLIENT)
        a->at_least = isfinite(a->confirmed) ? fmin(e->met, a->confirmed)
                                             : fmin(e->met, e->reached);
    if (is_undecided && plan_is_twisted(e))
        say_twisted(c, e, a);
    else if (is_undecided && plan_is_noisy(e))
        say_noisy(c, e, a);
    else
        say(c, a);
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

/* ---- of recorded probes ---- */

static enum search_outcome recorded_outcome(const struct search *s,
                                            const struct evidence *e)
{
    if (s->n == 0)
        return SEARCH_NOT_PROBED;
    if (plan_is_twisted(e))
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

static struct interval missing_of(const struct evidence *e)
{
    if (e->met <= 0)
        return (struct interval){NAN, or_nan(e->missed)};
    if (!e->has_fit)
        return (struct interval){e->met, NAN};
    return e->ci;
}

/* What ended early was lost by the objective it was made for.  That it would
 * have gone on to meet another one nobody knows. */
static bool is_cut(const struct slo *slo, const struct search_result *r)
{
    return r->ended_early && search_is_met(slo, r);
}

static void add_cost(struct search_answer *a, const struct search_result *r)
{
    a->probes++;
    a->set_aside += r->set_aside != NULL;
    a->requests += r->requests;
    a->took_ns += r->took_ns;
}

void search_from_probes(const struct search_config *config,
                        const struct search_result *probes, size_t n,
                        struct search_answer *answer)
{
    struct search s;
    struct evidence e;

    search_init(&s, config);
    for (size_t i = 0; i < n; i++)
        if (!is_cut(config->slo, &probes[i]))
            search_feed(&s, &probes[i]);
    evidence_take(&s, &e);
    take_evidence(&s, &e, answer);
    for (size_t i = 0; i < n; i++)
        if (is_cut(config->slo, &probes[i]))
            add_cost(answer, &probes[i]);
    answer->outcome = recorded_outcome(&s, &e);
    if (answer->outcome == SEARCH_NOT_PROBED)
        answer->missing = missing_of(&e);
    take_outcome(config, &e, answer);
    search_fini(&s);
}
