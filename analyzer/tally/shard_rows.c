#include "analyzer/tally/shard_rows.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/xalloc.h"

/* ---- counting ---- */

void shard_tallies_init(struct shard_tallies *t, const struct shard_list *list)
{
    *t = (struct shard_tallies){0};
    if (!list->is_merged)
        return;
    t->items = xcalloc((size_t)list->of, sizeof(*t->items));
    t->of = list->of;
}

void shard_tallies_fini(struct shard_tallies *t)
{
    for (int64_t i = 0; i < t->of; i++) {
        hist_fini(&t->items[i].lag);
        hist_fini(&t->items[i].e2e);
    }
    free(t->items);
    *t = (struct shard_tallies){0};
}

void shard_tallies_add(struct shard_tallies *t, const struct tally *tally,
                       const struct facts *f)
{
    struct shard_tally *x;

    if (t->of == 0 || f->seq < 0 || !window_holds(&tally->window, f->due))
        return;
    x = &t->items[f->seq % t->of];
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
}

/* ---- results ---- */

static void take_clocks(struct shard_rows *rows, const struct shard_list *list)
{
    int64_t first_ns = INT64_MAX;

    rows->worst_clock = -1;
    rows->is_one_host = true;
    for (size_t i = 0; i < list->len; i++) {
        const struct shard_info *s = &list->items[i];

        if (s->start_ns > 0 && s->start_ns < first_ns)
            first_ns = s->start_ns;
        if (!s->host[0] || strcmp(s->host, list->items[0].host) != 0)
            rows->is_one_host = false;
    }
    for (size_t i = 0; i < list->len; i++) {
        const struct shard_info *s = &list->items[i];
        struct shard_row *row = &rows->items[s->index];
        bool is_worse = s->clock_error_ns > rows->clock_error_ns;

        if (s->start_ns > 0)
            row->offset_ns = s->start_ns - first_ns;
        if (row->offset_ns > rows->skew_ns) {
            rows->skew_ns = row->offset_ns;
            rows->latest = s->index;
        }
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
}

void shard_rows_fini(struct shard_rows *rows)
{
    free(rows->items);
    *rows = (struct shard_rows){0};
}
