#include "analyzer/search/search_bracket.h"

#include <math.h>

#include "analyzer/search/probe_marks.h"
#include "analyzer/search/probe_windows.h"
#include "analyzer/search/search_client.h"

#define SECOND 1e9 /* times are computed as doubles */

/* Light is a load with so many requests in flight at once: first tried, and
 * still called so. */
#define LIGHT_FIRST 0.1
#define LIGHT_MOST  0.4
#define LIGHT_STEP  1024.0 /* at most so much lower at once */
#define LIGHT_LEAST 4.0    /* ... and at least */
#define LIGHT_RPS   4.0    /* none lower for the client's sake: it takes long */
#define LIGHT_TRIES 4

/* The client's limit is known when it is this near to what was met, and chance
 * is out of the question.  What was set aside is tried again at once. */
#define CLIENT_RATIO  1.1
#define CLIENT_EASY   0.8
#define CLIENT_ROW    6
#define CLIENT_CHANCE 0.001
#define ASIDE_TRIES   2

/* What a client can do for a moment it need not hold for long: when it had
 * nothing left in a confirmation of that, or so many were disturbed, a lower
 * one is made; and after so many it is the machine that does not let it. */
#define CLIENT_TRIES  2
#define CLIENT_LOW    0.75
#define CLIENT_PROOFS 8

/* How often one with about this value was set aside. */
static size_t count_aside(const struct search *s, double value)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++)
        n += s->results[i].set_aside && s->results[i].value >= value &&
             s->results[i].value <= CLIENT_RATIO * value;
    return n;
}

/* Requests in flight at once; below 0: not known. */
static double in_flight(const struct search *s, const struct search_result *r)
{
    if (s->config.by == SEARCH_CONCURRENCY)
        return r->value;
    return r->answer_ns > 0 ? r->value * (double)r->answer_ns / SECOND : -1;
}

/* ---- what the client cannot do ---- */

bool bracket_is_client_limit(const struct evidence *e)
{
    return isfinite(e->client) && e->client_chance <= CLIENT_CHANCE;
}

bool bracket_ends_at_client(const struct evidence *e)
{
    return bracket_is_client_limit(e) && e->met > 0 &&
           (!e->has_fit || e->value >= e->client);
}

/* What has been tried for longer need not be known as well. */
static bool is_near_client(const struct evidence *e)
{
    double ratio = e->confirms_aside > 0 ? 1 / CLIENT_LOW : CLIENT_RATIO;

    return e->client <= ratio * e->reached;
}

double bracket_below_client(const struct evidence *e)
{
    return is_near_client(e) ? e->reached : sqrt(e->reached * e->client);
}

/* How many confirmations were set aside here. */
static size_t count_confirms_aside(const struct search *s, double value)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++)
        n += s->results[i].set_aside &&
             probe_marks_is_confirm_at(&s->results[i], value);
    return n;
}

double bracket_client_value(const struct search *s, const struct evidence *e)
{
    double value = fmin(e->met, e->reached);

    for (size_t i = 0; i < s->n; i++) {
        const struct search_result *r = &s->results[i];

        if (r->step == SEARCH_CONFIRM &&
            (client_is_spent(r) ||
             count_confirms_aside(s, r->value) >= CLIENT_TRIES))
            value = fmin(value, CLIENT_LOW * r->value);
    }
    return step_rounded(s, step_whole(s, value));
}

static void prove_at_least(const struct search *s, const struct evidence *e,
                           struct step *out, double value,
                           enum search_outcome outcome)
{
    if (e->confirmed >= (1 - EVIDENCE_SAME) * value ||
        (outcome == SEARCH_CLIENT && e->confirms_aside >= CLIENT_PROOFS))
        step_end(out, outcome);
    else
        step_confirm(s, e, out, value, outcome);
}

/* After something that was set aside, a load that is easier for the client; the
 * easier, the more there were in a row. */
static double easier(const struct search *s, const struct evidence *e)
{
    double row = 0;

    for (size_t i = s->n; i-- > 0 && s->results[i].set_aside;)
        row++;
    row = fmin(row, CLIENT_ROW);
    return step_rounded(s, fmin(e->reached, e->client * pow(CLIENT_EASY, row)));
}

/* What the client could not do is tried a second time, since it may have been
 * disturbed; then the gap to what it could is halved; and then the two ends
 * take turns until it is clear that the load makes the difference. */
void bracket_to_client(const struct search *s, const struct evidence *e,
                       struct step *out)
{
    double value = step_rounded(s, sqrt(e->reached * e->client));
    bool is_near = is_near_client(e) || value <= e->reached;

    if (is_near && bracket_is_client_limit(e)) {
        prove_at_least(s, e, out, bracket_client_value(s, e), SEARCH_CLIENT);
        return;
    }
    if (!bracket_is_client_limit(e) && count_aside(s, e->client) < ASIDE_TRIES)
        value = e->client;
    else if (is_near)
        value = s->results[s->n - 1].set_aside ? easier(s, e) : e->client;
    step_ask(s, out, SEARCH_DOUBLING, value, windows_short(s, value));
}

/* ---- no value was missed yet ---- */

/* A server that is all but idle takes much more. */
static double next_factor(const struct search *s, double met)
{
    double flight = -1;

    for (size_t i = 0; i < s->n; i++)
        if (!s->results[i].set_aside && s->results[i].value >= met)
            flight = in_flight(s, &s->results[i]);
    if (s->config.by == SEARCH_CONCURRENCY || flight < 0 || flight > 0.5)
        return 2;
    return flight > 0.1 ? 4 : 8;
}

void bracket_up(const struct search *s, const struct evidence *e,
                struct step *out)
{
    double value = step_rounded(s, e->met * next_factor(s, e->met));

    if (isfinite(e->client))
        bracket_to_client(s, e, out);
    else if (value <= e->met)
        prove_at_least(s, e, out, e->met, SEARCH_AT_LEAST);
    else
        step_ask(s, out, SEARCH_DOUBLING, value, windows_short(s, value));
}

/* ---- no value was met yet ---- */

/* Of equal ones the last that counts. */
static const struct search_result *lowest(const struct search *s)
{
    const struct search_result *low = &s->results[0];

    for (size_t i = 1; i < s->n; i++) {
        const struct search_result *r = &s->results[i];

        if (r->value < low->value || (r->value <= low->value && !r->set_aside))
            low = r;
    }
    return low;
}

/* What was not answered may be too much, or hang at any load. */
static bool is_light(const struct search *s, const struct search_result *r)
{
    double flight = in_flight(s, r);
    bool is = flight < 0 ? r->value <= BRACKET_FIRST_RPS : flight <= LIGHT_MOST;

    return is || r->value <= step_rounded(s, 0);
}

/* Would a term be missed by a server that is idle?  With a queue a share p of
 * it is p^(1 - rho) at a load rho; twice that load is allowed for, where there
 * is a lower one. */
static bool is_missed_idle(const struct search *s,
                           const struct search_result *low)
{
    bool is_least = low->value <= step_rounded(s, 0);
    double load = is_least ? 0 : fmax(0, in_flight(s, low));

    for (size_t i = 0; i < low->n_terms; i++) {
        double allowed = search_allowed(&s->config.slo->terms[i]);

        if (allowed >= 0 &&
            probe_marks_is_failed(&low->terms[i], pow(allowed, 1 - 2 * load)))
            return true;
    }
    return false;
}

bool bracket_is_never(const struct search *s, const struct evidence *e)
{
    const struct search_result *low = lowest(s);

    return !low->set_aside && is_light(s, low) && e->failed <= low->value &&
           is_missed_idle(s, low);
}

/* A load that is lower by as much as makes it light; or, what may be too much
 * for the client alone, by a step. */
static double lower_than(const struct search *s,
                         const struct search_result *low)
{
    double flight = in_flight(s, low);
    double part = flight > 0 ? LIGHT_FIRST / flight : 0;
    double value;

    part = fmin(fmax(part, 1 / LIGHT_STEP), 1 / LIGHT_LEAST);
    value = low->value * part;
    if (flight < 0)
        value = fmin(fmax(value, BRACKET_FIRST_RPS), low->value / LIGHT_LEAST);
    return step_rounded(s, value);
}

/* What was set aside at a light load is tried again, and then a lower one, but
 * none that takes minutes. */
static bool is_tried_again(const struct search *s,
                           const struct search_result *low)
{
    return low->set_aside &&
           (count_aside(s, low->value) < ASIDE_TRIES ||
            (is_light(s, low) &&
             (low->value < LIGHT_RPS || lower_than(s, low) >= low->value)));
}

void bracket_down(const struct search *s, const struct evidence *e,
                  struct step *out)
{
    const struct search_result *low = lowest(s);
    double value = lower_than(s, low);

    if (is_tried_again(s, low))
        value = low->value;
    else if (bracket_is_never(s, e)) {
        step_end(out, SEARCH_NEVER);
        return;
    } else if (is_light(s, low) && e->kept > LIGHT_TRIES) {
        step_end(out, SEARCH_UNDECIDED);
        return;
    }
    step_ask(s, out, SEARCH_LIGHT, value, windows_light(s, value));
}
