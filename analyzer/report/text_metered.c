/* Memory and energy of the server's host, for people. */
#include "analyzer/report/text_parts.h"
#include "analyzer/tally/summary.h"
#include "common/base/buf.h"

static void put_energy(const struct metered *m, struct buf *out)
{
    buf_addf(out, "energy     %.6g J in the window, %.4g W on average",
             m->joules, m->watts);
    if (m->joules_per_good >= 0)
        buf_addf(out, ", %.4g J a good request", m->joules_per_good);
    if (m->joules_per_token >= 0)
        buf_addf(out, ", %.4g J an output token", m->joules_per_token);
    if (m->co2_g >= 0)
        buf_addf(out, ", %.4g g of CO2", m->co2_g);
    buf_adds(out, "\n");
}

void text_put_metered(const struct summary *s, struct buf *out)
{
    const struct metered *m = &s->metered;
    char text[UNITS_TEXT];

    if (m->has_memory)
        buf_addf(out,
                 "memory     server's peak %s; reading it takes CPU: no times "
                 "from this run\n",
                 units_show_size((double)m->peak_bytes, text));
    if (m->has_energy)
        put_energy(m, out);
    else if (m->note[0])
        buf_addf(out, "energy     not known: %s\n", m->note);
}
