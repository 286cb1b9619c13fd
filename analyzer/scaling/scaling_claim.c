/* The sentence to quote from a scaling study, with its conditions. */
#include <math.h>
#include <string.h>

#include "analyzer/scaling/scaling.h"
#include "common/base/buf.h"
#include "common/settings/settings.h"
#include "common/text/units.h"

const struct scale_point *scaling_at(const struct scaling *s, int64_t k)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->points[i].k == k)
            return &s->points[i];
    }
    return NULL;
}

/* ---- what was measured ---- */

/* Conditions of recordings; a table states none. */
static void put_conditions(const struct scaling *s, struct buf *out)
{
    static const char label[] = "conditions.";
    static const struct {
        const char *key;
        const char *name;
    } keys[] = {
        {"target.url", "server"},
        {"target.api", "API"},
        {"target.model", "model"},
        {"data.sha256", "data sha256"},
        {"slo", "SLO"},
        {"checks", "checks"},
        {"load.scenario", "scenario"},
        {"client.connections", "connections"},
        {"environment.host", "client host"},
        {"tailgate", "tailgate"},
    };
    const struct scale_point *base = &s->points[0];
    const struct strmap *map = &base->conditions;

    if (map->keys.len == 0) {
        buf_addf(out, "; from a table (%s)", base->where);
        if (base->machine)
            buf_addf(out, ", machine %s", base->machine);
        buf_adds(out, ", which does not state server, model and data");
        return;
    }
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const char *value = strmap_get(map, keys[i].key);

        if (!value || !value[0])
            continue;
        buf_addf(out, "; %s ", keys[i].name);
        settings_describe_path(value, out);
    }
    for (size_t i = 0; i < map->keys.len; i++) {
        const char *key = map->keys.items[i];

        if (strncmp(key, label, sizeof(label) - 1) != 0 ||
            strcmp(key, "conditions.replicas") == 0)
            continue;
        buf_addf(out, "; %s ", key + sizeof(label) - 1);
        settings_describe_path(map->values.items[i], out);
    }
}

/* "0.804 (95% interval 0.79 to 0.82)". */
static void put_uncertain(const struct uncertain *u, struct buf *out)
{
    buf_addf(out, "%.4g", u->value);
    if (u->has_range)
        buf_addf(out, " (95%% interval %.4g to %.4g)", u->range.low,
                 u->range.high);
}

/* T(K), or the capacity. */
static void put_amount(const struct scaling *s, const struct scale_point *p,
                       struct buf *out)
{
    if (s->ask.regime == SCALE_CAPACITY) {
        buf_addf(out, "%.6g requests/s", 1 / p->mean_s);
        return;
    }
    buf_addf(out, "%.6g s", p->mean_s);
    if (p->runs >= 2)
        buf_addf(out, ", the mean of %.0f runs", p->runs);
}

static void put_gain(const struct scaling *s, const struct scale_point *p,
                     struct buf *out)
{
    buf_addf(out, "%lld worker%s %s ", (long long)p->k, p->k == 1 ? "" : "s",
             s->ask.regime == SCALE_CAPACITY ? "deliver" : "take");
    put_amount(s, p, out);
    buf_adds(out, ", a speedup of ");
    put_uncertain(&p->speedup, out);
    buf_adds(out, " and an efficiency of ");
    put_uncertain(&p->efficiency, out);
    buf_addf(out, " against %s(1) = ",
             s->ask.regime == SCALE_CAPACITY ? "capacity" : "T");
    put_amount(s, &s->points[0], out);
    if (!p->efficiency.has_range)
        buf_adds(out, " (no interval: there are no repeats)");
}

/* What the answer depends on. */
static void put_gates(const struct scaling *s, const struct scale_point *p,
                      struct buf *out)
{
    buf_addf(out, " with an efficiency of at least %.4g", s->ask.threshold);
    if (s->has_quality)
        buf_addf(out, ", a quality within %.4g of that at K = 1",
                 s->ask.tolerance);
    if (p->keeps_slo != SCALE_UNKNOWN)
        buf_adds(out, ", within the SLO");
    if (s->ask.energy_tolerance > 0)
        buf_addf(out, ", at most %.4g times the energy per %s of K = 1",
                 1 + s->ask.energy_tolerance, s->unit);
}

static void put_price(const struct scaling *s, const struct scale_point *p,
                      struct buf *out)
{
    if (!isnan(p->quality))
        buf_addf(out, "; quality %.4g", p->quality);
    else
        buf_adds(out, "; quality not measured");
    if (!isnan(p->usd))
        buf_addf(out, "; %.4g USD per run", p->usd);
    else if (!isnan(p->usd_per_unit))
        buf_addf(out, "; %.4g USD per %s", p->usd_per_unit, s->unit);
    if (!isnan(p->joules_per_unit))
        buf_addf(out, "; %.4g J per %s", p->joules_per_unit, s->unit);
}

static void put_deadline(const struct scaling *s, struct buf *out)
{
    const struct scale_deadline *d = &s->verdict.deadline;
    char text[UNITS_TEXT];

    if (!(s->ask.deadline_s > 0))
        return;
    units_show_duration(s->ask.deadline_s * 1e9, text);
    if (d->k > 0)
        buf_addf(out, "; the cheapest K within a deadline of %s is %lld", text,
                 (long long)d->k);
    else
        buf_addf(out, "; %s within a deadline of %s",
                 d->fits > 0 ? "without prices no K is the cheapest"
                             : "no K is",
                 text);
}

void scaling_claim(const struct scaling *s, struct buf *out)
{
    const struct scale_point *last = &s->points[s->n - 1];
    const struct scale_point *p = scaling_at(s, s->verdict.recommended_k);

    if (s->ask.regime == SCALE_CAPACITY)
        buf_adds(out, "Capacity within the SLO");
    else
        buf_addf(out, "%s scaling",
                 s->ask.regime == SCALE_WEAK ? "Weak" : "Strong");
    if (s->ask.regime != SCALE_CAPACITY && !isnan(s->points[0].work))
        buf_addf(out, " of %.10g %ss%s", s->points[0].work, s->unit,
                 s->ask.regime == SCALE_WEAK ? " per worker" : "");
    buf_addf(out, ", measured at %zu K from 1 to %lld: ", s->n,
             (long long)last->k);
    if (p && p->k > 1) {
        put_gain(s, p, out);
        buf_adds(out, "; this is the largest K");
    } else {
        put_gain(s, &s->points[1], out);
        buf_adds(out, "; there is no K above 1");
        p = &s->points[0];
    }
    put_gates(s, p, out);
    put_price(s, p, out);
    put_deadline(s, out);
    put_conditions(s, out);
    buf_addf(out, "; %s",
             s->items[SCALE_ITEM_WARM].is_present
                 ? "warm-up excluded"
                 : "warm-up not known to be excluded");
    for (size_t i = 0; i < s->n_flags; i++)
        buf_addf(out, "%s%s", i ? ", " : "; RED FLAG: ", s->flags[i].name);
    buf_adds(out, ".");
}
