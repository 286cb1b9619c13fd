#include "analyzer/read/salvage.h"

#include <stdlib.h>
#include <unistd.h>

#include "analyzer/read/reader.h"
#include "analyzer/tally/tally.h"
#include "common/base/clk.h"
#include "common/base/xalloc.h"

const struct salvage_quantile salvage_quantiles[SALVAGE_QUANTILES] = {
    {0.5, "p50"}, {0.9, "p90"}, {0.99, "p99"}, {1, "max"}};

static void raise_to(int64_t *max, int64_t ns)
{
    if (ns != TIME_ABSENT && (*max == TIME_ABSENT || ns > *max))
        *max = ns;
}

static void add(struct salvage *s, const struct facts *f)
{
    if (f->outcome < 0 || f->outcome >= OUTCOME_COUNT)
        return; /* written by a later version */
    s->requests += facts_n(f);
    s->outcome[f->outcome] += facts_n(f);
    if (f->due != TIME_ABSENT &&
        (s->first_due_ns == TIME_ABSENT || f->due < s->first_due_ns))
        s->first_due_ns = f->due;
    raise_to(&s->last_due_ns, f->due);
    raise_to(&s->last_end_ns, f->end);
    if (f->outcome != OUTCOME_OK)
        return;
    tally_add_value(&s->e2e, MEASURE_E2E, f);
    if (facts_count(f->events) > 0)
        tally_add_value(&s->ttft, MEASURE_TTFT, f);
}

int salvage_read(struct salvage *s, const char *dir, const char *why,
                 struct err *err)
{
    char *summary = xasprintf("%s/summary.json", dir);
    const struct facts *rows;
    struct recording rec;
    size_t n;
    int rc;

    *s = (struct salvage){.dir = dir,
                          .why = why,
                          .first_due_ns = TIME_ABSENT,
                          .last_due_ns = TIME_ABSENT,
                          .last_end_ns = TIME_ABSENT,
                          .has_summary = access(summary, R_OK) == 0};
    free(summary);
    if (recording_open_bare(&rec, dir, err))
        return -1;
    while ((rc = recording_next(&rec, &rows, &n, err)) > 0) {
        for (size_t i = 0; i < n; i++)
            add(s, &rows[i]);
    }
    s->damage = recording_damage(&rec);
    recording_close(&rec);
    return rc;
}

void salvage_fini(struct salvage *s)
{
    hist_fini(&s->e2e);
    hist_fini(&s->ttft);
}

int64_t salvage_quantile(const struct hist *h, double q)
{
    return q < 1 ? hist_quantile(h, q) : hist_rank_quantile(h, q);
}
