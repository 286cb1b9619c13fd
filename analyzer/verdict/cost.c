#include "analyzer/verdict/cost.h"

#include <stdlib.h>

#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "common/spec/prices.h"

int cost_ask_apply(const struct cost_ask *ask, struct settings *s,
                   struct err *err)
{
    if (!ask)
        return 0;
    if (ask->usd_per_hour > 0)
        s->cost.usd_per_hour = ask->usd_per_hour;
    if (ask->replicas > 0)
        s->cost.replicas = ask->replicas;
    if (ask->machine) {
        free(s->cost.machine);
        s->cost.machine = xstrdup(ask->machine);
    }
    return ask->prices ? prices_apply(ask->prices, s, err) : 0;
}

/* Below 0: none. */
static double each(double usd, double count, double unit)
{
    return count > 0 ? usd * unit / count : -1;
}

struct cost cost_of(const struct cost_settings *price,
                    const struct delivered *d)
{
    double usd_per_hour = price->usd_per_hour * (double)price->replicas;
    double usd = usd_per_hour * d->window_s / 3600;

    if (!(usd_per_hour > 0))
        return (struct cost){0};
    return (struct cost){
        .is_there = true,
        .usd = usd,
        .usd_per_hour = usd_per_hour,
        .usd_per_1000_good = each(usd, (double)d->good, 1e3),
        .usd_per_million_good_tokens = each(usd, d->good_tokens, 1e6),
        .usd_per_million_tokens = each(usd, d->tokens, 1e6),
    };
}
