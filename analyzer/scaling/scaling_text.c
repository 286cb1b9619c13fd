/* A scaling study that a person reads: the verdict first, then the table, the
 * laws, what bends it, and what is missing or too good. */
#include <math.h>
#include <stdio.h>

#include "analyzer/scaling/scaling.h"
#include "common/base/buf.h"
#include "common/settings/settings.h"
#include "common/stats/stats.h"

#define CELL 64

static const char *plural(int64_t k)
{
    return k == 1 ? "" : "s";
}

/* ---- the verdict ---- */

static void put_refusals(const struct scaling *s, struct buf *out)
{
    buf_addf(out, "verdict    REFUSED: no speedup is printed\n");
    for (size_t i = 0; i < s->refusals.len; i++) {
        buf_adds(out, "           ");
        settings_describe_path(s->refusals.items[i], out);
        buf_adds(out, "\n");
    }
}

static bool has_slo(const struct scaling *s)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->points[i].keeps_slo != SCALE_UNKNOWN)
            return true;
    }
    return false;
}

static void put_recommendation(const struct scaling *s, struct buf *out)
{
    const struct scale_verdict *v = &s->verdict;
    int64_t k = v->recommended_k;

    if (k == 0) {
        buf_adds(out, "verdict    NO K keeps quality, efficiency and SLO\n");
        return;
    }
    buf_addf(out,
             "verdict    recommendation: %lld worker%s, the largest K that "
             "keeps quality, efficiency and SLO",
             (long long)k, plural(k));
    if (v->cheapest_k)
        buf_addf(out, "; cheapest per %s: %lld worker%s", s->unit,
                 (long long)v->cheapest_k, plural(v->cheapest_k));
    if (v->thriftiest_k)
        buf_addf(out, "; least energy per %s: %lld worker%s", s->unit,
                 (long long)v->thriftiest_k, plural(v->thriftiest_k));
    buf_adds(out, "\n");
    if (!has_slo(s))
        buf_adds(out, "           no SLO was judged\n");
    if (!v->is_shown)
        buf_addf(out,
                 "           not shown: the interval of its efficiency %s\n",
                 isnan(scale_point_error(&s->points[0]))
                     ? "is not known without repeats"
                     : "reaches below the threshold");
}

static void put_efficient(const struct scaling *s, struct buf *out)
{
    const struct scale_verdict *v = &s->verdict;

    buf_addf(out, "efficiency at least %.2f up to: ", s->ask.threshold);
    if (v->efficient_k)
        buf_addf(out, "%lld worker%s", (long long)v->efficient_k,
                 plural(v->efficient_k));
    else
        buf_adds(out, "no K");
    if (v->first_below)
        buf_addf(out, "; first K below: %lld\n", (long long)v->first_below);
    else
        buf_adds(out, "; no K is below\n");
}

static void put_exclusion(const struct scaling *s, const struct scale_point *p,
                          struct buf *out)
{
    const struct quality_check *g = &p->quality_check;

    buf_addf(out, "EXCLUDED   K = %lld from every ranking: quality %.3f, %s",
             (long long)p->k, p->quality,
             g->verdict == QUALITY_DRIFTED ? "which drifts"
                                           : "which is not shown to hold");
    buf_addf(out, " (%+.4f", g->drift.value);
    if (g->drift.has_range)
        buf_addf(out, ", interval [%+.4f, %+.4f]", g->drift.range.low,
                 g->drift.range.high);
    buf_addf(out, "; tolerance %.4g)", s->ask.tolerance);
    if (!isnan(g->needed))
        buf_addf(out, "; about %.0f answers at each K could show it",
                 g->needed);
    buf_adds(out, "\n");
}

static void put_quality(const struct scaling *s, struct buf *out)
{
    size_t excluded = 0;

    for (size_t i = 0; i < s->n; i++)
        excluded += !quality_allows(&s->points[i].quality_check);
    if (s->has_quality)
        buf_addf(out, "quality    held: %s, largest drift %.3f\n",
                 excluded ? "no" : "yes", s->largest_drift);
    else
        buf_adds(out, "quality    not measured: a speedup that costs quality "
                      "would not show\n");
    for (size_t i = 0; i < s->n; i++) {
        if (!quality_allows(&s->points[i].quality_check))
            put_exclusion(s, &s->points[i], out);
    }
}

/* ---- the tables ---- */

/* A column is that of a number, of the range of one, or of what its function
 * says; the format of a number or of both ends of a range. */
struct shown {
    const char *head;
    const char *of_capacity; /* instead, of capacities; NULL: the same */
    int width;
    const char *format;
    size_t number; /* where it is in a point ... */
    size_t range;  /* ... or a struct uncertain; 0: neither */
    bool (*put)(const struct scaling *s, const struct scale_point *p,
                char out[static CELL]);
};

#define OF(field) offsetof(struct scale_point, field)

static bool put_k(const struct scaling *s, const struct scale_point *p,
                  char out[static CELL])
{
    (void)s;
    snprintf(out, CELL, "%lld", (long long)p->k);
    return true;
}

/* Short times with four decimals, long ones with six digits. */
static bool put_time(const struct scaling *s, const struct scale_point *p,
                     char out[static CELL])
{
    if (s->ask.regime == SCALE_CAPACITY)
        snprintf(out, CELL, "%.6g/s", 1 / p->mean_s);
    else if (p->mean_s < 10)
        snprintf(out, CELL, "%.4f", p->mean_s);
    else
        snprintf(out, CELL, "%.6g", p->mean_s);
    return true;
}

static bool put_std(const struct scaling *s, const struct scale_point *p,
                    char out[static CELL])
{
    if (s->ask.regime == SCALE_CAPACITY || isnan(p->std_s))
        return false;
    if (p->mean_s < 10)
        snprintf(out, CELL, "%.4f", p->std_s);
    else
        snprintf(out, CELL, "%.4g", p->std_s);
    return true;
}

static bool put_time_range(const struct scaling *s, const struct scale_point *p,
                           char out[static CELL])
{
    const struct interval *r = &p->time_s.range;

    if (s->ask.regime == SCALE_CAPACITY || !p->time_s.has_range)
        return false;
    if (p->mean_s < 10)
        snprintf(out, CELL, "[%.4f, %.4f]", r->low, r->high);
    else
        snprintf(out, CELL, "[%.6g, %.6g]", r->low, r->high);
    return true;
}

static bool put_below(const struct scaling *s, const struct scale_point *p,
                      char out[static CELL])
{
    (void)s;
    snprintf(out, CELL, "%s", p->is_below ? "below" : "ok");
    return true;
}

static bool put_slo(const struct scaling *s, const struct scale_point *p,
                    char out[static CELL])
{
    (void)s;
    snprintf(out, CELL, "%s", p->keeps_slo == SCALE_YES ? "met" : "missed");
    return p->keeps_slo != SCALE_UNKNOWN;
}

/* In cents, unless there are hardly any. */
static bool put_usd(const struct scaling *s, const struct scale_point *p,
                    char out[static CELL])
{
    (void)s;
    snprintf(out, CELL, p->usd < 0.1 ? "%.3g" : "%.2f", p->usd);
    return !isnan(p->usd);
}

static const struct shown speed_columns[] = {
    {.head = "K", .width = 5, .put = put_k},
    {.head = "T(K)", .of_capacity = "capacity", .width = 10, .put = put_time},
    {.head = "std", .width = 8, .put = put_std},
    {.head = "95% of T", .width = 20, .put = put_time_range},
    {.head = "S(K)", .width = 7, .format = "%.2f", .number = OF(speedup.value)},
    {.head = "95% of S",
     .width = 16,
     .format = "[%.2f, %.2f]",
     .range = OF(speedup)},
    {.head = "E(K)",
     .width = 7,
     .format = "%.3f",
     .number = OF(efficiency.value)},
    {.head = "95% of E",
     .width = 16,
     .format = "[%.3f, %.3f]",
     .range = OF(efficiency)},
    {.head = "verdict", .width = 8, .put = put_below},
    {.head = "S by law",
     .width = 9,
     .format = "%.2f",
     .number = OF(law_speedup)},
    {.head = "S by USL",
     .width = 9,
     .format = "%.2f",
     .number = OF(usl_speedup)},
};

static const struct shown cost_columns[] = {
    {.head = "K", .width = 5, .put = put_k},
    {.head = "quality", .width = 8, .format = "%.3f", .number = OF(quality)},
    {.head = "drift",
     .width = 8,
     .format = "%+.4f",
     .number = OF(quality_check.drift.value)},
    {.head = "95% of drift",
     .width = 20,
     .format = "[%+.4f, %+.4f]",
     .range = OF(quality_check.drift)},
    {.head = "units/s",
     .width = 10,
     .format = "%.4g",
     .number = OF(units_per_s)},
    {.head = "p50 ms", .width = 9, .format = "%.4g", .number = OF(p50_ms)},
    {.head = "p99 ms", .width = 9, .format = "%.4g", .number = OF(p99_ms)},
    {.head = "SLO", .width = 7, .put = put_slo},
    {.head = "$/run", .width = 9, .put = put_usd},
    {.head = "$/unit",
     .width = 11,
     .format = "%.3e",
     .number = OF(usd_per_unit)},
    {.head = "units/$",
     .width = 10,
     .format = "%.0f",
     .number = OF(units_per_usd)},
    {.head = "J/unit",
     .width = 9,
     .format = "%.4g",
     .number = OF(joules_per_unit)},
    {.head = "MFU", .width = 7, .format = "%.3f", .number = OF(mfu)},
};

/* false: the point has no such thing. */
static bool show(const struct scaling *s, const struct scale_point *p,
                 const struct shown *c, char out[static CELL])
{
    const struct uncertain *u = (const void *)((const char *)p + c->range);
    double x;

    if (c->put)
        return c->put(s, p, out);
    if (c->range) {
        snprintf(out, CELL, c->format, u->range.low, u->range.high);
        return u->has_range;
    }
    x = scale_point_number(p, c->number);
    snprintf(out, CELL, c->format, x);
    return !isnan(x);
}

static bool is_empty(const struct scaling *s, const struct shown *c)
{
    char cell[CELL];

    for (size_t i = 0; i < s->n; i++) {
        if (show(s, &s->points[i], c, cell))
            return false;
    }
    return true;
}

static const char *head_of(const struct scaling *s, const struct shown *c)
{
    return c->of_capacity && s->ask.regime == SCALE_CAPACITY ? c->of_capacity
                                                             : c->head;
}

static void put_table(const struct scaling *s, const struct shown *columns,
                      size_t n, struct buf *out)
{
    for (size_t c = 0; c < n; c++) {
        if (!is_empty(s, &columns[c]))
            buf_addf(out, " %*s", columns[c].width, head_of(s, &columns[c]));
    }
    for (size_t i = 0; i < s->n; i++) {
        buf_adds(out, "\n");
        for (size_t c = 0; c < n; c++) {
            char cell[CELL];
            bool is_there = show(s, &s->points[i], &columns[c], cell);

            if (!is_empty(s, &columns[c]))
                buf_addf(out, " %*s", columns[c].width, is_there ? cell : "-");
        }
    }
    buf_adds(out, "\n");
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void put_tables(const struct scaling *s, struct buf *out)
{
    bool has_more = false;

    buf_addf(out, "\nideal: %s\n",
             s->ask.regime == SCALE_WEAK
                 ? "T(K) = T(1), E(K) = 1; S(K) is K T(1) / T(K)"
             : s->ask.regime == SCALE_CAPACITY
                 ? "S(K) = capacity(K) / capacity(1) = K; E(K) is the capacity "
                   "efficiency"
                 : "S(K) = K, E(K) = 1");
    put_table(s, speed_columns, COUNT(speed_columns), out);
    for (size_t c = 1; c < COUNT(cost_columns); c++)
        has_more = has_more || !is_empty(s, &cost_columns[c]);
    if (!has_more)
        return;
    buf_addf(out, "\na unit is one %s\n", s->unit);
    put_table(s, cost_columns, COUNT(cost_columns), out);
}

/* ---- laws ---- */

static void put_range(const struct uncertain *u, const char *format,
                      struct buf *out)
{
    char text[CELL];

    if (!u->has_range)
        return;
    snprintf(text, sizeof(text), format, u->range.low, u->range.high);
    buf_addf(out, " %s", text);
}

static void put_law(const struct scaling *s, struct buf *out)
{
    const struct scale_point *last = &s->points[s->n - 1];
    bool is_weak = s->ask.regime == SCALE_WEAK;

    buf_addf(out, "\n%-10s serial fraction %.4f",
             is_weak ? "Gustafson" : "Amdahl", s->law.serial.value);
    put_range(&s->law.serial, "[%.4f, %.4f]", out);
    if (isfinite(s->law.ceiling))
        buf_addf(out,
                 "; ceiling %.1fx; its efficiency falls to 0.5 at K = %.1f",
                 s->law.ceiling, s->law.half_k);
    else if (!is_weak)
        buf_adds(out, "; no ceiling");
    buf_addf(out,
             "\n           at %lld workers: measured %.2fx, model %.2fx; "
             "residual %.1f%%\n",
             (long long)last->k, last->speedup.value, last->law_speedup,
             s->law.residual * 100);
}

static void put_usl(const struct scaling *s, struct buf *out)
{
    const struct usl *u = &s->usl;

    if (!u->is_fitted) {
        buf_addf(out, "USL        not fitted: it takes %d points\n", USL_MIN);
        return;
    }
    buf_addf(out, "USL        contention %.4f", u->alpha.value);
    put_range(&u->alpha, "[%.4f, %.4f]", out);
    buf_addf(out, ", coherency %.6f", u->beta.value);
    put_range(&u->beta, "[%.6f, %.6f]", out);
    if (isfinite(u->peak_k.value))
        buf_addf(out, "; peak at K = %.1f", u->peak_k.value);
    else
        buf_adds(out, "; no peak");
    if (isfinite(u->peak_k.value))
        put_range(&u->peak_k, "[%.1f, %.1f]", out);
    buf_addf(out, "; residual %.1f%%%s\n", u->residual * 100,
             u->is_hint ? "; of fewer than 6 points: a hint" : "");
}

/* ---- the rest ---- */

static void put_bend(const struct scaling *s, struct buf *out)
{
    if (s->bend.k == 0)
        buf_addf(out, "bend       none: %s\n", s->bend.evidence);
    else
        buf_addf(out, "bend       from K = %lld; a guess: %s: %s\n",
                 (long long)s->bend.k, bend_cause_name(s->bend.cause),
                 s->bend.evidence);
}

static void put_flags(const struct scaling *s, struct buf *out)
{
    for (size_t i = 0; i < s->n_flags; i++)
        buf_addf(out, "RED FLAG   %s: %s\n", s->flags[i].name,
                 s->flags[i].says);
}

static void put_items(const struct scaling *s, struct buf *out)
{
    buf_adds(out, "\nchecklist\n");
    for (size_t i = 0; i < SCALE_ITEMS; i++) {
        buf_addf(out, "  %-8s %-21s ",
                 s->items[i].is_present ? "present" : "MISSING",
                 s->items[i].name);
        settings_describe_path(s->items[i].says, out);
        buf_adds(out, "\n");
    }
}

static void put_notes(const struct scaling *s, struct buf *out)
{
    for (size_t i = 0; i < s->notes.len; i++) {
        buf_adds(out, "note       ");
        settings_describe_path(s->notes.items[i], out);
        buf_adds(out, "\n");
    }
}

/* Readers of papers expect 1.96. */
static void put_method(const struct scaling *s, struct buf *out)
{
    double runs = s->points[0].runs;

    if (!isnan(s->points[0].known_error))
        buf_adds(out, "intervals  95%, from those of the searches\n");
    else if (runs >= 2)
        buf_addf(out,
                 "intervals  95%%, Student's t: %.3f standard errors for %.0f "
                 "runs, where the normal value, 1.96, would be too narrow; of "
                 "ratios Welch's, on logarithms\n",
                 student_reach(SCALE_CONFIDENCE, runs - 1), runs);
    else
        buf_adds(out, "intervals  none: no repeats\n");
}

void scaling_render_text(const struct scaling *s, struct buf *out)
{
    if (s->refusals.len > 0) {
        put_refusals(s, out);
        put_notes(s, out);
        return;
    }
    put_recommendation(s, out);
    buf_addf(out, "scaling    %s, %zu points, threshold %.2f\n",
             scale_regime_name(s->ask.regime), s->n, s->ask.threshold);
    put_efficient(s, out);
    put_quality(s, out);
    put_notes(s, out);
    put_flags(s, out);
    put_tables(s, out);
    put_law(s, out);
    put_usl(s, out);
    put_bend(s, out);
    put_method(s, out);
    put_items(s, out);
}
