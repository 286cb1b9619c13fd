/* Memory and energy of the server's host, for programs. */
#include <jansson.h>

#include "analyzer/report/json_parts.h"
#include "analyzer/tally/summary.h"

static void put(json_t *o, const char *name, double value, const char *why)
{
    if (value >= 0)
        json_object_set_new(o, name, json_real(value));
    else
        json_put_nothing(o, name, why);
}

static json_t *energy(const struct metered *m)
{
    json_t *o = json_object();

    json_object_set_new(o, "joules", json_real(m->joules));
    json_object_set_new(o, "watts", json_real(m->watts));
    put(o, "joules_per_good_request", m->joules_per_good, "nothing is good");
    put(o, "joules_per_output_token", m->joules_per_token,
        "nobody counts them");
    put(o, "co2_g", m->co2_g, "no factor was given");
    return o;
}

void json_put_metered(json_t *o, const struct summary *s)
{
    const struct metered *m = &s->metered;

    if (!m->is_asked)
        return;
    if (m->has_memory)
        json_object_set_new(o, "peak_memory_bytes",
                            json_integer(m->peak_bytes));
    if (m->has_energy)
        json_object_set_new(o, "energy", energy(m));
    else if (m->note[0])
        json_put_nothing(o, "energy", m->note);
}
