/* The cache check, for a person. */
#include "analyzer/report/text_parts.h"

#include "analyzer/tally/summary.h"
#include "common/base/buf.h"

static void put_ratio(const struct cache_ratio *r, struct buf *out)
{
    char fresh[UNITS_TEXT];
    char again[UNITS_TEXT];

    if (r->sign == CACHE_ABSENT)
        return;
    buf_addf(out,
             "           %-4s p50 %s new, %s repeated; ratio %.3g (95%% "
             "interval %.3g to %.3g)%s\n",
             measure_name(r->measure),
             text_show_ns((double)r->median_ns[CACHE_NEW], fresh),
             text_show_ns((double)r->median_ns[CACHE_REPEATED], again),
             r->ratio, r->ci95.low, r->ci95.high,
             r->sign == CACHE_FASTER ? ": faster" : "");
}

static void put_group(const char *name, const struct cache_group *g,
                      struct buf *out)
{
    buf_addf(out, "           %s: %lld requests, %lld failed", name,
             (long long)g->n, (long long)g->failed);
    if (g->output.n > 0)
        buf_addf(out, ", output %.6g tokens", token_mean(&g->output));
    if (cache_group_share(g) >= 0)
        buf_addf(out, ", %.4g%% of prompts cached by the server's count",
                 100 * cache_group_share(g));
    buf_adds(out, "\n");
}

void text_put_cache(const struct summary *s, struct buf *out)
{
    const struct cache_check *c = &s->cache;

    if (!c->is_there)
        return;
    buf_addf(out,
             "cache      %s%s\n"
             "           half of the requests repeat one prompt, the others "
             "are new and as long; judged by %s, limit %.3g\n",
             c->finding == CACHE_UNDECIDED ? "UNDECIDED: " : "", c->why,
             measure_name(c->ratio[c->by].measure), CACHE_LIMIT);
    put_group("new", &c->group[CACHE_NEW], out);
    put_group("repeated", &c->group[CACHE_REPEATED], out);
    for (int m = 0; m < CACHE_MEASURES; m++)
        put_ratio(&c->ratio[m], out);
}
