/* The cache check, in summary.json. */
#include "analyzer/report/json_parts.h"

#include <jansson.h>

#include "analyzer/tally/summary.h"

static json_t *number(double value)
{
    return value < 0 ? json_null() : json_real(value);
}

static json_t *group(const struct cache_group *g)
{
    return json_pack("{sI, sI, so, so}", "n", (json_int_t)g->n, "failed",
                     (json_int_t)g->failed, "output_mean",
                     number(token_mean(&g->output)), "cached_share",
                     number(cache_group_share(g)));
}

static json_t *ratio(const struct cache_ratio *r)
{
    json_t *o = json_object();

    if (r->sign == CACHE_ABSENT) {
        json_put_nothing(o, "ratio", "too few answers to compare");
        return o;
    }
    json_put_ns(o, "new_p50", (double)r->median_ns[CACHE_NEW]);
    json_put_ns(o, "repeated_p50", (double)r->median_ns[CACHE_REPEATED]);
    json_object_set_new(o, "ratio", json_real(r->ratio));
    json_object_set_new(o, "ratio_ci95",
                        json_pack("[f, f]", r->ci95.low, r->ci95.high));
    if (r->sign == CACHE_OPEN)
        json_object_set_new(o, "faster", json_null());
    else
        json_object_set_new(o, "faster", json_boolean(r->sign == CACHE_FASTER));
    return o;
}

void json_put_cache(json_t *o, const struct summary *s)
{
    const struct cache_check *c = &s->cache;
    json_t *ratios;

    if (!c->is_there)
        return;
    ratios = json_object();
    for (int m = 0; m < CACHE_MEASURES; m++)
        json_object_set_new(ratios, measure_name(c->ratio[m].measure),
                            ratio(&c->ratio[m]));
    json_object_set_new(
        o, "cache_check",
        json_pack("{ss, ss, ss, sf, so, so, so}", "finding",
                  cache_finding_name(c->finding), "why", c->why, "judged_by",
                  measure_name(c->ratio[c->by].measure), "limit", CACHE_LIMIT,
                  "new", group(&c->group[CACHE_NEW]), "repeated",
                  group(&c->group[CACHE_REPEATED]), "measures", ratios));
}
