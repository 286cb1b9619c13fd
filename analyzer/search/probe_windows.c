#include "analyzer/search/probe_windows.h"

#include <math.h>

#define SECOND 1e9 /* times are computed as doubles, and rounded last */

/* Windows: of a probe that brackets, of one that is pooled, of a confirmation.
 * Each is at least so many of the objective's longest limits, so that a queue
 * has the time to grow that long; and has at least so many requests, or misses
 * to expect at the boundary. */
#define SHORT_S        5.0
#define SHORT_LIMITS   4.0
#define SHORT_REQUESTS 20.0
#define SHORT_PART     0.9 /* of one near the boundary is short */
#define LIGHT_S        120.0
#define PROBE_S        20.0
#define PROBE_LIMITS   20.0
#define PROBE_MISSES   10.0
#define CONFIRM_PROBES 4.5 /* times a probe */
#define CLIENT_REQUESTS                                                        \
    300.0 /* without a miss show a p99, once in 20 wrongly */
#define LONGEST_S      600.0
#define CONFIRM_MOST_S 1200.0

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

/* One near the boundary, as the user has it. */
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

double windows_confirm(const struct search *s, const struct evidence *e,
                       double value)
{
    if (s->config.confirm_ns > 0)
        return (double)s->config.confirm_ns / SECOND;
    return fmin(CONFIRM_PROBES * windows_probe(s, e, value),
                fmax(CONFIRM_MOST_S, windows_probe(s, e, value)));
}

double windows_client(const struct search *s, const struct evidence *e,
                      double value)
{
    double window =
        window_for(s, value, PROBE_S, PROBE_LIMITS, CLIENT_REQUESTS);

    if (s->config.confirm_ns > 0)
        return windows_confirm(s, e, value);
    return fmin(fmax(window, windows_probe(s, e, value)),
                windows_confirm(s, e, value));
}

double windows_warmup(const struct search *s, double window_s)
{
    return fmax(WARMUP_PART * window_s,
                WARMUP_LIMITS * longest_limit_s(s->config.slo));
}
