/* When a probe that goes on may as well end: it is lost, or will be set aside.
 * Never because it looks well. */
#include <math.h>

#include "analyzer/search/probe_disturbed.h"
#include "analyzer/search/search.h"

/* Lost is a run of which so much has been missed, after a while; or all of a
 * few, after longer. */
#define HOPELESS_SHARE    0.5
#define HOPELESS_REQUESTS 50
#define HOPELESS_NS       INT64_C(2000000000)
#define HOPELESS_FEW      10
#define HOPELESS_FEW_NS   INT64_C(5000000000)

static bool is_lost(const struct search_counts *c, double allowed,
                    int64_t window_ns)
{
    double line = fmax(HOPELESS_SHARE, (1 + allowed) / 2);
    bool are_all = c->n >= HOPELESS_FEW && c->misses == c->n &&
                   window_ns >= HOPELESS_FEW_NS;

    return are_all || (c->n >= HOPELESS_REQUESTS &&
                       (double)c->misses > line * (double)c->n);
}

/* Would it be set aside even if the client spoilt no more? */
static bool is_disturbed(const struct search_result *so_far, size_t term,
                         const struct slo_term *t)
{
    struct search_counts whole = so_far->terms[term];

    whole.n = llround((double)whole.n * (double)so_far->asked_ns /
                      (double)so_far->window_ns);
    return disturbed_by_lag(t, &whole);
}

bool search_is_hopeless(const struct search *s,
                        const struct search_result *so_far)
{
    if (so_far->window_ns < HOPELESS_NS)
        return false;
    for (size_t i = 0; i < so_far->n_terms; i++) {
        const struct slo_term *t = &s->config.slo->terms[i];
        double allowed = search_allowed(t);

        if (allowed >= 0 &&
            (is_lost(&so_far->terms[i], allowed, so_far->window_ns) ||
             is_disturbed(so_far, i, t)))
            return true;
    }
    return false;
}
