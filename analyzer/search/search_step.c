#include "analyzer/search/search_step.h"

#include <math.h>

#define SECOND 1e9 /* times are computed as doubles and rounded last */

/* ---- lengths of windows ---- */

/* Windows of a bracketing probe, of a probe near the boundary and of a
 * confirmation: minimum seconds, multiples of the longest limit of the SLO (so
 * that a queue has the time to grow that long), and requests, or expected
 * misses at the boundary. */
#define SHORT_S         5.0
#define SHORT_LIMITS    4.0
#define SHORT_REQUESTS  20.0
#define SHORT_PART      0.9 /* shorter than this part of one near the boundary */
#define LIGHT_S         120.0
#define PROBE_S         20.0
#define PROBE_LIMITS    20.0
#define PROBE_MISSES    10.0
#define CONFIRM_PROBES  4.5   /* in windows of a probe */
#define CLIENT_REQUESTS 300.0 /* without a miss they show a p99 at 95 % */
#define LONGEST_S       600.0
#define CONFIRM_MAX_S   1200.0

/* The warm-up, as a part of the window, and in limits. */
#define WARMUP_PART   0.1
#define WARMUP_LIMITS 3.0

static double longest_limit_s(const struct slo *slo)
{
    double longest = 0;

    for (size_t i = 0; i < slo->len; i++)
        if (slo->terms[i].kind == SLO_QUANTILE ||
            slo->terms[i].kind == SLO_LIMIT)
            longest = fmax(longest, (double)slo->terms[i].limit_ns / SECOND);
    return longest;
}

double windows_rate(const struct search *s, double value)
{
    const struct search_result *last;

    if (s->config.by == SEARCH_RATE)
        return value;
    if (s->n == 0)
        return 0;
    last = &s->results[s->n - 1];
    return last->offered_rps;
}

static double window_for(const struct search *s, double value, double seconds,
                         double limits, double requests)
{
    double rate = windows_rate(s, value);
    double window = fmax(seconds, limits * longest_limit_s(s->config.slo));

    if (rate > 0)
        window = fmax(window, requests / rate);
    return fmin(window, fmax(LONGEST_S, seconds));
}

/* The window near the boundary by the settings. */
static double asked_s(const struct search *s)
{
    return s->config.probe_ns > 0 ? (double)s->config.probe_ns / SECOND
                                  : PROBE_S;
}

double windows_short(const struct search *s, double value)
{
    return window_for(s, value, fmin(SHORT_S, asked_s(s)), SHORT_LIMITS,
                      SHORT_REQUESTS);
}

double windows_light(const struct search *s, double value)
{
    return fmin(windows_short(s, value), LIGHT_S);
}

double windows_probe(const struct search *s, const struct evidence *e,
                     double value)
{
    double misses = e->has_fit ? PROBE_MISSES / e->fit.allowed : 0;

    if (s->config.probe_ns > 0)
        return asked_s(s);
    return window_for(s, value, PROBE_S, PROBE_LIMITS, misses);
}

bool windows_is_short(const struct search *s, const struct evidence *e,
                      const struct search_result *r)
{
    return (double)r->window_ns <
           SHORT_PART * windows_probe(s, e, r->value) * SECOND;
}

static double window_confirm(const struct search *s, const struct evidence *e,
                             double value)
{
    if (s->config.confirm_ns > 0)
        return (double)s->config.confirm_ns / SECOND;
    return fmin(CONFIRM_PROBES * windows_probe(s, e, value),
                fmax(CONFIRM_MAX_S, windows_probe(s, e, value)));
}

/* For a confirmation at the limit of the client; shorter, since no estimate is
 * tested. */
static double window_client(const struct search *s, const struct evidence *e,
                            double value)
{
    double window =
        window_for(s, value, PROBE_S, PROBE_LIMITS, CLIENT_REQUESTS);

    if (s->config.confirm_ns > 0)
        return window_confirm(s, e, value);
    return fmin(fmax(window, windows_probe(s, e, value)),
                window_confirm(s, e, value));
}

static double warmup_s(const struct search *s, double window_s)
{
    return fmax(WARMUP_PART * window_s,
                WARMUP_LIMITS * longest_limit_s(s->config.slo));
}

/* ---- steps ---- */

/* Number of pieces of a disturbed confirmation. */
#define PIECES 3

/* A confirmation shortened to the remaining time still counts as whole, down to
 * this part. */
#define WHOLE_PART 0.5

double step_rounded(const struct search *s, double value)
{
    double most = s->config.max > 0 ? s->config.max : INFINITY;

    if (s->config.by == SEARCH_CONCURRENCY) {
        value = round(value);
        most = fmax(1, floor(most));
    }
    value = fmax(fmin(value, most), s->config.min);
    return s->config.by == SEARCH_CONCURRENCY ? fmax(1, ceil(value)) : value;
}

double step_whole(const struct search *s, double value)
{
    return s->config.by == SEARCH_CONCURRENCY ? floor(value) : value;
}

void step_ask(const struct search *s, struct step *out, enum search_why why,
              double value, double window_s)
{
    out->ask = (struct search_ask){
        .step = why == SEARCH_PROVING ? SEARCH_CONFIRM : SEARCH_PROBE,
        .why = why,
        .value = step_rounded(s, value),
        .warmup_ns = llround(warmup_s(s, window_s) * SECOND),
        .window_ns = llround(window_s * SECOND),
        .may_end_early = true};
}

/* At least as long as a probe. */
static double piece_s(const struct search *s, const struct evidence *e,
                      double value, double whole, double seen)
{
    double part = whole / PIECES;

    return fmin(fmax(part, windows_probe(s, e, value)),
                fmax(part, whole - seen));
}

/* Short pieces are disturbed less often, and the undisturbed ones add up to a
 * whole confirmation, which is tried first at each value. */
void step_confirm(const struct search *s, const struct evidence *e,
                  struct step *out, double value, enum search_outcome proves)
{
    struct search_result seen;
    double asked;
    double window;

    value = step_rounded(s, step_whole(s, value));
    window = proves == SEARCH_CLIENT ? window_client(s, e, value)
                                     : window_confirm(s, e, value);
    evidence_pool_confirms(s, value, &seen);
    asked = (double)seen.asked_ns / SECOND;
    out->proves = proves;
    out->is_piece = asked >= WHOLE_PART * window;
    if (out->is_piece)
        window = piece_s(s, e, value, fmax(window, asked),
                         (double)seen.window_ns / SECOND);
    step_ask(s, out, SEARCH_PROVING, value, window);
}

void step_end(struct step *out, enum search_outcome outcome)
{
    out->ask = (struct search_ask){.step = SEARCH_DONE, .why = SEARCH_OVER};
    out->outcome = outcome;
}
