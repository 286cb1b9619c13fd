#include "analyzer/read/salvage.h"

#include <stdlib.h>
#include <unistd.h>

#include "analyzer/read/reader.h"
#include "analyzer/tally/tally.h"
#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/units.h"
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

static void put_outcomes(const struct salvage *s, struct buf *out)
{
    int64_t ok = s->outcome[OUTCOME_OK];
    int64_t unsent = s->outcome[OUTCOME_UNSENT];
    const char *before = "           failed: ";

    buf_addf(out,
             "requests   %lld in the table = %lld ok + %lld failed + %lld "
             "unsent\n",
             (long long)s->requests, (long long)ok,
             (long long)(s->requests - ok - unsent), (long long)unsent);
    for (int i = 0; i < OUTCOME_COUNT; i++) {
        if (i == OUTCOME_OK || i == OUTCOME_UNSENT || s->outcome[i] == 0)
            continue;
        buf_addf(out, "%s%lld %s", before, (long long)s->outcome[i],
                 outcome_name((enum outcome)i));
        before = ", ";
    }
    if (before[0] == ',')
        buf_adds(out, "\n");
}

static void put_time(const char *what, int64_t ns, struct buf *out)
{
    char text[UNITS_TEXT];

    if (ns != TIME_ABSENT)
        buf_addf(out, "%s%s", what, units_show_duration((double)ns, text));
}

int64_t salvage_quantile(const struct hist *h, double q)
{
    return q < 1 ? hist_quantile(h, q) : hist_rank_quantile(h, q);
}

static void put_spread(const char *name, const struct hist *h, struct buf *out)
{
    char text[UNITS_TEXT];

    if (h->n == 0)
        return;
    buf_addf(out, "%-10s", name);
    for (size_t i = 0; i < SALVAGE_QUANTILES; i++) {
        int64_t ns = salvage_quantile(h, salvage_quantiles[i].q);

        buf_addf(out, " %s %s", salvage_quantiles[i].name,
                 ns == HIST_TOO_FEW ? "n small"
                 : ns < 0           ? "out of range"
                                    : units_show_duration((double)ns, text));
    }
    buf_addf(out, ", from due, of %lld ok requests\n", (long long)h->n);
}

void salvage_text(const struct salvage *s, struct buf *out)
{
    buf_addf(out,
             "recording  %s\n"
             "manifest   LOST: manifest.json %s\n"
             "verdict    none: settings, window and SLO are unknown\n"
             "           the following includes warm-up and cool-down\n\n",
             s->dir, s->why);
    put_outcomes(s, out);
    if (s->first_due_ns != TIME_ABSENT) {
        put_time("times      due from ", s->first_due_ns, out);
        put_time(" to ", s->last_due_ns, out);
        put_time("; the last one ended at ", s->last_end_ns, out);
        buf_adds(out, "\n");
    }
    put_spread("e2e", &s->e2e, out);
    put_spread("ttft", &s->ttft, out);
    if (s->damage.skipped_bytes + s->damage.cut_off_bytes > 0)
        buf_addf(out, "damage     %llu bytes skipped, %llu cut off\n",
                 (unsigned long long)s->damage.skipped_bytes,
                 (unsigned long long)s->damage.cut_off_bytes);
    if (s->has_summary)
        buf_addf(out,
                 "summary    %s/summary.json exists: the report made after "
                 "the run\n",
                 s->dir);
}
