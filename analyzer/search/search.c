#include "analyzer/search/search.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/search/probe_disturbed.h"
#include "analyzer/search/search_evidence.h"
#include "analyzer/search/search_plan.h"
#include "analyzer/search/search_tuning.h"
#include "analyzer/verdict/judge.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/text/units.h"

static const char *const whys[] = {
    [SEARCH_LOOKING] = "look",           [SEARCH_FIRST] = "first",
    [SEARCH_LIGHT] = "light load",       [SEARCH_DOUBLING] = "bracket",
    [SEARCH_NEAR] = "near the boundary", [SEARCH_AGAIN] = "again",
    [SEARCH_PROVING] = "confirm",        [SEARCH_OVER] = "over",
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

int search_check_slo(const struct slo *slo, struct err *err)
{
    size_t judged = 0;

    for (size_t i = 0; i < slo->len; i++) {
        if (slo->terms[i].kind == SLO_GOODPUT)
            return err_set(err, ERR_CONFIG,
                           "slo: a search cannot use '%s', which is a rate and "
                           "not a share of the requests; use 'good >= 90%%'",
                           slo->terms[i].text);
        judged += slo_allowed(&slo->terms[i]) >= 0;
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
                   "search.budget: %s is too short for the first %s, which "
                   "takes %s (less with --start near the capacity)",
                   units_show_duration((double)config->budget_ns, budget),
                   first.step == SEARCH_LOOK ? "look" : "probe",
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

static void miss_all(struct search_result *r)
{
    for (size_t i = 0; i < r->n_terms; i++) {
        struct search_counts *c = &r->terms[i];

        c->misses = c->n;
        for (size_t k = 0; k < c->n_slices; k++)
            c->slices[k].hits = c->slices[k].n;
    }
}

void search_feed(struct search *s, const struct search_result *result)
{
    if (s->n == s->cap) {
        s->cap = s->cap > 0 ? 2 * s->cap : 16;
        s->results = xrealloc(s->results, s->cap, sizeof(*s->results));
    }
    s->results[s->n] = *result;
    if (result->is_overloaded)
        miss_all(&s->results[s->n]);
    s->n++;
}

/* ---- stopping a probe early ---- */

bool search_is_hopeless(const struct search *s,
                        const struct search_result *so_far)
{
    const struct search_tuning *t = &search_tuning;
    double seconds = (double)so_far->window_ns / 1e9;

    if (seconds < t->hopeless_s)
        return false;
    for (size_t i = 0; i < so_far->n_terms; i++) {
        const struct slo_term *term = &s->config.slo->terms[i];
        const struct search_counts *c = &so_far->terms[i];
        double allowed = slo_allowed(term);
        double max_share = fmax(t->hopeless_share, (1 + allowed) / 2);
        /* Would it be discarded even if the client delayed no further request?
         */
        struct search_counts whole = *c;

        if (allowed < 0)
            continue;
        whole.n = llround((double)c->n * (double)so_far->asked_ns /
                          (double)so_far->window_ns);
        if (disturbed_by_lag(term, &whole) ||
            (c->n >= t->hopeless_few && c->misses == c->n &&
             seconds >= t->hopeless_few_s) ||
            (c->n >= t->hopeless_requests &&
             (double)c->misses > max_share * (double)c->n))
            return true;
    }
    return false;
}

/* ---- single results ---- */

/* By exact counts, as the verdict of a run. */
bool search_is_met(const struct slo *slo, const struct search_result *r)
{
    if (r->is_overloaded)
        return false;
    for (size_t i = 0; i < r->n_terms; i++) {
        const struct slo_term *t = &slo->terms[i];
        const struct search_counts *c = &r->terms[i];

        if (slo_allowed(t) >= 0 && c->n > 0 &&
            !judge_is_met(t, c->n, c->misses))
            return false;
    }
    return true;
}

/* ---- the next step ---- */

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
static const char *shown(enum search_by by, double value, char room[static 32])
{
    char number[UNITS_TEXT];

    if (by == SEARCH_CONCURRENCY)
        snprintf(room, 32, "%.0f client%s", value, value > 1 ? "s" : "");
    else
        snprintf(room, 32, "%s/s", units_show_number(value, number));
    return room;
}

const char *search_confirmed_how(const struct search_answer *a)
{
    return a->confirmed_met ? "confirmed" : "not rejected";
}

const char *search_bracket(enum search_by by, const struct search_answer *a,
                           char text[static SEARCH_TEXT])
{
    char met[32] = "";
    char missed[32] = "";

    text[0] = '\0';
    if (isfinite(a->met_to))
        shown(by, a->met_to, met);
    if (isfinite(a->missed_from))
        shown(by, a->missed_from, missed);
    if (!missed[0] && met[0])
        snprintf(text, SEARCH_TEXT, "met up to %s, missed by no probe", met);
    else if (missed[0] && !met[0])
        snprintf(text, SEARCH_TEXT, "missed the SLO from %s on; none met it",
                 missed);
    else if (missed[0] && strcmp(met, missed) == 0)
        snprintf(text, SEARCH_TEXT, "both met and missed at %s", met);
    else if (missed[0])
        snprintf(text, SEARCH_TEXT, "met up to %s, missed %sfrom %s on", met,
                 a->met_to < a->missed_from ? "" : "now and then ", missed);
    return text;
}

__attribute__((format(printf, 2, 3))) static void say(struct search_answer *a,
                                                      const char *fmt, ...)
{
    char *end = strchr(a->why, '\0');
    va_list args;

    va_start(args, fmt);
    vsnprintf(end, (size_t)(a->why + sizeof(a->why) - end), fmt, args);
    va_end(args);
}

/* The estimate; "wide" if windows were short against the server's memory. */
static void say_estimate(const struct search_config *c, struct search_answer *a)
{
    char at[32], low[32], high[32], relax[UNITS_TEXT];

    say(a, "%s (%.0f%% interval %s to %s%s%s)", shown(c->by, a->capacity, at),
        100 * SEARCH_CONFIDENCE, shown(c->by, a->ci.low, low),
        shown(c->by, a->ci.high, high),
        a->is_short ? ", wide since windows are short against a relaxation "
                      "time of about "
                    : "",
        a->is_short ? units_show_span(llround(a->relax_s * 1e9), relax) : "");
}

/* The best estimate, or the bracket as far as it is known. */
static void say_so_far(const struct search_config *c, struct search_answer *a)
{
    char text[SEARCH_TEXT];

    if (isfinite(a->capacity)) {
        say(a, "about ");
        say_estimate(c, a);
    } else if (search_bracket(c->by, a, text)[0]) {
        say(a, "%s", text);
    } else {
        say(a, "nothing is known yet");
    }
}

static void say_noisy(const struct search_config *c, const struct evidence *e,
                      struct search_answer *a)
{
    static const char *const causes[][2] = {
        {SEARCH_UNMEASURED, "no answer allows the SLO to be judged"},
        {SEARCH_LOST, "the launcher failed"},
        {SEARCH_CAPPED, "the client has too few connections"},
        {SEARCH_EXHAUSTED, "the client has too few ports, files or memory"},
    };
    const char *cause = "the machine is too busy";

    for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
        if (strcmp(e->noise, causes[i][0]) == 0)
            cause = causes[i][1];
    }
    say(a, "%s: %zu of %zu probes were discarded, the last by '%s'", cause,
        e->discarded, a->probes, e->noise);
    if (isfinite(a->met_to) || isfinite(a->missed_from)) {
        say(a, "; so far ");
        say_so_far(c, a);
    }
}

static void say_missing(const struct search_config *c, struct search_answer *a)
{
    bool has_low = isfinite(a->missing.low);
    bool has_high = isfinite(a->missing.high);
    char low[32], high[32];

    if (!has_low && !has_high)
        say(a, "no recorded probe counts for this SLO");
    else if (!has_high)
        say(a, "no recorded probe misses the SLO: probes above %s are missing",
            shown(c->by, a->missing.low, low));
    else if (!has_low)
        say(a, "no recorded probe meets the SLO%s: probes below %s are missing",
            isfinite(a->met_to) ? " below all that miss it" : "",
            shown(c->by, a->missing.high, high));
    else
        say(a, "too few probes between %s and %s were recorded",
            shown(c->by, a->missing.low, low),
            shown(c->by, a->missing.high, high));
    if (a->discarded > 0)
        say(a, " (%zu of %zu are discarded)", a->discarded, a->probes);
}

static void say_undecided(const struct search_config *c,
                          const struct evidence *e, struct search_answer *a)
{
    char low[32], high[32];

    if (plan_is_contradictory(e)) {
        say(a,
            "the probes contradict each other: the SLO was missed at %s and "
            "met at %s",
            shown(c->by, e->contradiction_low, low),
            shown(c->by, e->contradiction_high, high));
    } else if (e->noise) {
        say_noisy(c, e, a);
    } else {
        say(a, "the results scatter too much: ");
        say_so_far(c, a);
    }
}

static void say_outcome(const struct search_config *c, const struct evidence *e,
                        struct search_answer *a)
{
    bool is_confirmed = isfinite(a->confirmed);
    char at[32];

    switch (a->outcome) {
    case SEARCH_FOUND:
    case SEARCH_ESTIMATED:
        say_estimate(c, a);
        say(a, ", %s%s%s",
            is_confirmed ? search_confirmed_how(a) : "not confirmed",
            is_confirmed ? " at " : "",
            is_confirmed ? shown(c->by, a->confirmed, at) : "");
        break;
    case SEARCH_NEVER:
        say(a, "the SLO is not met at any load: it is missed even at %s",
            shown(c->by, a->at_most, at));
        break;
    case SEARCH_AT_LEAST:
    case SEARCH_CLIENT:
        say(a, "at least %s%s: %s", shown(c->by, a->at_least, at),
            is_confirmed ? "" : ", not confirmed",
            a->outcome == SEARCH_CLIENT ? "the client is the limit"
                                        : "no higher load was allowed");
        break;
    case SEARCH_BUDGET:
        say(a, "the time is over: ");
        say_so_far(c, a);
        break;
    case SEARCH_UNDECIDED:
        say_undecided(c, e, a);
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

    *a = (struct search_answer){.capacity = NAN,
                                .ci = {NAN, NAN},
                                .slope = NAN,
                                .relax_s = NAN,
                                .confirmed = or_nan(e->confirmed),
                                .confirmed_met = e->confirmed_met,
                                .at_least = or_nan(e->met),
                                .at_most = or_nan(e->failed),
                                .met_to = or_nan(e->met_to),
                                .missed_from = or_nan(e->missed_from),
                                .client_limit = or_nan(e->client),
                                .missing = {NAN, NAN},
                                .probes = e->kept + e->discarded,
                                .discarded = e->discarded,
                                .requests = e->requests,
                                .took_ns = e->took_ns};
    for (size_t i = 0; i < SLO_MAX_TERMS; i++) {
        const struct fit *f = &e->fits[i];
        bool is_known = f->load > 0 && e->met > 0;

        a->terms[i] = (struct search_capacity){
            .capacity = is_known ? whole(c, f->load) : NAN,
            .ci = {is_known ? whole(c, f->ci.low) : NAN,
                   is_known ? whole(c, f->ci.high) : NAN},
            .slope = is_known ? f->slope : NAN};
    }
    if (!e->has_fit || e->met <= 0)
        return;
    a->capacity = whole(c, e->fit.load);
    a->ci.low = whole(c, e->ci.low);
    a->ci.high = whole(c, e->ci.high);
    a->slope = e->fit.slope;
    a->relax_s = or_nan(e->fit.relax_s);
    a->is_short = plan_is_short(s, e);
    a->binding = c->slo->terms[e->binding].text;
}

/* The regression is dropped if probes contradict each other, or if it leads
 * beyond the limit of the client.  A load that the client managed only for
 * seconds does not count as reached. */
static void take_outcome(const struct search_config *c,
                         const struct evidence *e, struct search_answer *a)
{
    if (a->outcome == SEARCH_CLIENT ||
        (a->outcome == SEARCH_UNDECIDED && plan_is_contradictory(e))) {
        a->capacity = NAN;
        a->ci = (struct interval){NAN, NAN};
        a->slope = NAN;
        a->relax_s = NAN;
        a->binding = NULL;
    }
    if (a->outcome == SEARCH_CLIENT)
        a->at_least =
            fmin(e->met, isfinite(a->confirmed) ? a->confirmed : e->reached);
    say_outcome(c, e, a);
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
    if (e->kept + e->discarded == 0)
        return SEARCH_NOT_PROBED;
    if (plan_is_contradictory(e))
        return SEARCH_UNDECIDED;
    if (e->met <= 0)
        return plan_is_never(s, e) ? SEARCH_NEVER : SEARCH_NOT_PROBED;
    if (plan_ends_at_client(e))
        return SEARCH_CLIENT;
    if (!e->has_fit || evidence_reach(e) > search_tuning.worst_reach)
        return SEARCH_NOT_PROBED;
    return e->confirmed > 0 ? SEARCH_FOUND : SEARCH_ESTIMATED;
}

void search_from_probes(const struct search_config *config,
                        const struct search_result *probes, size_t n,
                        struct search_answer *answer)
{
    struct search s;
    struct evidence e;

    search_init(&s, config);
    for (size_t i = 0; i < n; i++) {
        search_feed(&s, &probes[i]);
        /* A run that ended early was lost by its own SLO.  Whether it would
         * have met another one is unknown. */
        if (probes[i].ended_early && search_is_met(config->slo, &probes[i]))
            s.results[i].discarded = SEARCH_UNMEASURED;
    }
    evidence_take(&s, &e);
    take_evidence(&s, &e, answer);
    answer->outcome = recorded_outcome(&s, &e);
    if (answer->outcome == SEARCH_NOT_PROBED)
        answer->missing = e.met <= 0 ? (struct interval){NAN, or_nan(e.missed)}
                          : !e.has_fit ? (struct interval){e.met, NAN}
                                       : e.ci;
    take_outcome(config, &e, answer);
    search_fini(&s);
}
