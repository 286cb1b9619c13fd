/* A baseline, and what is later against it, for people. */
#include <stdio.h>
#include <string.h>

#include "analyzer/studies/baseline.h"
#include "common/base/buf.h"
#include "common/base/units.h"

static const char *show(enum baseline_quantity q, double value,
                        char out[static UNITS_TEXT])
{
    switch (q) {
    case BASELINE_TIME:
        return units_show_duration(value * 1e9, out);
    case BASELINE_MEMORY:
        return units_show_size(value, out);
    case BASELINE_QUALITY:
        snprintf(out, UNITS_TEXT, "%.4g%%", 100 * value);
        return out;
    default:
        snprintf(out, UNITS_TEXT, "%.5g/s", value);
        return out;
    }
}

static const char *const labels[BASELINE_QUANTITIES] = {
    "time", "peak memory", "throughput", "quality"};

static void put_amount(const struct baseline *b, enum baseline_quantity q,
                       struct buf *out)
{
    const struct baseline_amount *a = &b->amounts[q];
    char median[UNITS_TEXT];
    char least[UNITS_TEXT];
    char greatest[UNITS_TEXT];

    buf_addf(out, "  %-12s ", labels[q]);
    if (a->is_present)
        buf_addf(out, "%s (%s to %s, %lld trial%s)\n",
                 show(q, a->median, median), show(q, a->least, least),
                 show(q, a->greatest, greatest), (long long)a->n,
                 a->n == 1 ? "" : "s");
    else
        buf_addf(out, "none: %s\n", a->note);
}

/* Those that people ask for first; the file has all of them. */
static void put_condition(const char *key, const char *value, struct buf *out)
{
    static const char *const shown[] = {
        "slo",           "target.model", "target.api",   "load.scenario",
        "load.requests", "load.rate",    "load.clients", "data.file"};
    bool is_shown = strncmp(key, "conditions.", strlen("conditions.")) == 0;

    for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
        is_shown = is_shown || strcmp(key, shown[i]) == 0;
    if (is_shown && value[0])
        buf_addf(out, "  %s: %s\n", key, value);
}

void baseline_text(const struct baseline *b, struct buf *out)
{
    buf_addf(out, "baseline   %s, frozen %s by tailgate %s\n", b->name,
             b->frozen, b->version);
    buf_addf(out, "seal       %s\n", b->seal);
    buf_addf(out, "taken      %s\n", b->chosen);
    for (int i = 0; i < BASELINE_QUANTITIES; i++)
        put_amount(b, (enum baseline_quantity)i, out);
    buf_addf(out,
             "sealed     %zu files, %zu answers, %zu conditions; of those:\n",
             b->n_files, b->n_answers, b->conditions.keys.len);
    for (size_t i = 0; i < b->conditions.keys.len; i++)
        put_condition(b->conditions.keys.items[i],
                      b->conditions.values.items[i], out);
}

static void put_ratio(const struct against *a, enum baseline_quantity q,
                      struct buf *out)
{
    char then[UNITS_TEXT];
    char now[UNITS_TEXT];

    if (!a->has[q])
        return;
    buf_addf(out, "  %-12s %s, baseline %s: %.4g times%s\n", labels[q],
             show(q, a->value[q], now),
             show(q, a->baseline->amounts[q].median, then), a->ratio[q],
             q == BASELINE_TIME ? " as fast" : "");
}

void against_text(const struct against *a, struct buf *out)
{
    buf_addf(out, "baseline   %s (frozen %s, seal %.12s)\n", a->baseline->name,
             a->baseline->frozen, a->baseline->seal);
    if (a->trials + a->warmup > 1)
        buf_addf(out, "  %-12s %zu%s\n", "trials", a->trials,
                 a->warmup > 0 ? ", beside the first, which warms up" : "");
    for (int i = 0; i < BASELINE_QUANTITIES; i++)
        put_ratio(a, (enum baseline_quantity)i, out);
    if (a->answers > 0)
        buf_addf(out, "  %-12s %zu of %zu are those of the baseline\n",
                 "answers", a->agree, a->answers);
    else if (a->baseline->n_answers > 0)
        buf_adds(out, "  answers      none kept here: --accuracy\n");
    if (a->differences.len == 0)
        buf_adds(out, "  conditions   the same\n");
    for (size_t i = 0; i < a->differences.len; i++)
        buf_addf(out, "  %-12s %s\n", i ? "" : "differs in",
                 a->differences.items[i]);
}
