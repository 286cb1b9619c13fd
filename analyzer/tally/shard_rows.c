#include "analyzer/tally/shard_rows.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/xalloc.h"

/* ---- counting ---- */

void shard_tallies_init(struct shard_tallies *t, const struct shard_list *list,
                        int64_t probe_every)
{
    *t = (struct shard_tallies){0};
    if (!list->is_merged)
        return;
    t->items = xcalloc((size_t)list->of, sizeof(*t->items));
    t->of = list->of;
    t->layout = (struct shard_layout){list->of, probe_every};
}

void shard_tallies_fini(struct shard_tallies *t)
{
    for (int64_t i = 0; i < t->of; i++) {
        hist_fini(&t->items[i].lag);
        hist_fini(&t->items[i].e2e);
    }
    hist_fini(&t->probe);
    hist_fini(&t->rest);
    free(t->items);
    *t = (struct shard_tallies){0};
}

void shard_tallies_add(struct shard_tallies *t, const struct tally *tally,
                       const struct facts *f)
{
    struct shard_tally *x;
    int64_t shard;

    if (t->of == 0 || f->seq < 0 || !window_holds(&tally->window, f->due))
        return;
    shard = shard_of_seq(t->layout, f->seq);
    x = &t->items[shard];
    x->due += facts_n(f);
    x->ok += f->outcome == OUTCOME_OK;
    if (f->outcome == OUTCOME_UNSENT) {
        x->unsent += facts_n(f);
        return;
    }
    if (t->of <= SHARD_ROWS_HISTS) {
        tally_add_value(&x->lag, MEASURE_LAG, f);
        tally_add_value(&x->e2e, MEASURE_E2E, f);
    }
    if (t->layout.probe_every > 0)
        tally_add_value(shard_is_probe(t->layout, shard) ? &t->probe : &t->rest,
                        MEASURE_E2E, f);
}

/* ---- results ---- */

static void take_clocks(struct shard_rows *rows, const struct shard_list *list)
{
    int64_t first_ns = INT64_MAX;
    int64_t last_ns = 0;

    rows->worst_clock = -1;
    rows->is_one_host = true;
    for (size_t i = 0; i < list->len; i++) {
        const struct shard_info *s = &list->items[i];

        if (s->start_ns > 0 && s->start_ns < first_ns)
            first_ns = s->start_ns;
        if (s->start_ns > last_ns) {
            last_ns = s->start_ns;
            rows->latest = s->index;
        }
        if (!s->host[0] || strcmp(s->host, list->items[0].host) != 0)
            rows->is_one_host = false;
    }
    if (last_ns > first_ns)
        rows->skew_ns = last_ns - first_ns;
    for (size_t i = 0; i < list->len; i++) {
        const struct shard_info *s = &list->items[i];
        struct shard_row *row = &rows->items[s->index];
        bool is_worse = s->clock_error_ns > rows->clock_error_ns;

        if (s->start_ns > 0)
            row->offset_ns =
                s->start_ns -
                (list->start_at_ns > 0 ? list->start_at_ns : first_ns);
        if (!s->is_synchronised) {
            is_worse = rows->unsynchronised == 0;
            rows->unsynchronised++;
        }
        if (is_worse && (!s->is_synchronised || rows->unsynchronised == 0))
            rows->worst_clock = s->index;
        if (s->clock_error_ns > rows->clock_error_ns)
            rows->clock_error_ns = s->clock_error_ns;
    }
}

/* Clocks that differ by less than the error may be equal. */
static void take_offsets(struct shard_rows *rows, const struct shard_list *list)
{
    int64_t low_ns = INT64_MAX;
    int64_t high_ns = INT64_MIN;
    int64_t furthest_ns = -1;

    rows->has_offsets = list->len > 0;
    for (size_t i = 0; i < list->len; i++) {
        const struct shard_info *s = &list->items[i];
        int64_t left_ns = s->is_corrected ? 0 : s->clock_offset_ns;
        int64_t low = left_ns - s->offset_error_ns;
        int64_t high = left_ns + s->offset_error_ns;

        rows->has_offsets &= s->offset_error_ns > 0;
        rows->are_corrected |= s->is_corrected;
        low_ns = low < low_ns ? low : low_ns;
        high_ns = high > high_ns ? high : high_ns;
        if (llabs(s->clock_offset_ns) > furthest_ns) {
            furthest_ns = llabs(s->clock_offset_ns);
            rows->furthest = s->index;
        }
    }
    if (rows->has_offsets)
        rows->apart_ns = high_ns - low_ns;
}

void shard_rows_make(struct shard_rows *rows, const struct shard_tallies *t,
                     const struct shard_list *list)
{
    *rows = (struct shard_rows){0};
    if (t->of == 0)
        return;
    rows->n = (size_t)t->of;
    rows->items = xcalloc(rows->n, sizeof(*rows->items));
    for (size_t i = 0; i < rows->n; i++) {
        const struct shard_tally *x = &t->items[i];

        rows->items[i] = (struct shard_row){
            .info = {.index = (int64_t)i},
            .is_missing = true,
            .due = x->due,
            .ok = x->ok,
            .unsent = x->unsent,
            .lag_p50_ns = hist_quantile(&x->lag, 0.5),
            .lag_p99_ns = hist_quantile(&x->lag, 0.99),
            .e2e_p50_ns = hist_quantile(&x->e2e, 0.5),
            .e2e_p99_ns = hist_quantile(&x->e2e, 0.99),
        };
    }
    for (size_t i = 0; i < list->len; i++) {
        const struct shard_info *s = &list->items[i];

        rows->items[s->index].info = *s;
        rows->items[s->index].is_missing = false;
        rows->killed += s->was_killed;
        rows->damaged += s->damaged > 0;
    }
    for (size_t i = 0; i < rows->n; i++)
        rows->missing += rows->items[i].is_missing;
    take_clocks(rows, list);
    take_offsets(rows, list);
    rows->has_probe = t->layout.probe_every > 0;
    if (rows->has_probe)
        rows->probe = probe_shard_compare(&t->probe, &t->rest);
}

void shard_rows_fini(struct shard_rows *rows)
{
    free(rows->items);
    *rows = (struct shard_rows){0};
}
