/* Charts of studies: searches and sweeps against load, trials one by one,
 * variants next to each other, scaling against workers. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/html/chart_xy.h"
#include "analyzer/html/html_text.h"
#include "analyzer/html/study_page.h"
#include "common/base/err.h"
#include "common/base/units.h"
#include "common/spec/slo.h"

#define NAMES 64

/* Draw it alone or put the figure; frees the chart.  false: nothing to draw. */
static bool finish(struct page *p, struct xy_chart *c, struct svg *alone)
{
    bool is_drawn = xy_fit(c);

    if (is_drawn && alone)
        xy_draw(alone, c);
    else if (is_drawn)
        xy_put(p, c);
    free(c);
    return is_drawn;
}

static double ms_to_ns(double ms)
{
    return ms * 1e6;
}

/* ---- what latency is shown against load ---- */

/* The quantile of the first SLO term, or p99 of what there is. */
struct shown_latency {
    const char *measure;
    char quantile[NAMES]; /* "p99_ms" */
    char title[NAMES];
    double limit_ns; /* NAN: none */
};

static struct shown_latency latency_of(const json_t *json,
                                       const json_t *example)
{
    const json_t *terms = json_object_get(json, "slo");
    struct shown_latency l = {.limit_ns = NAN};

    for (size_t i = 0; i < json_array_size(terms); i++) {
        const char *text = json_string_value(json_array_get(terms, i));
        struct slo_term term;

        if (!text || slo_parse_term(text, &term, &(struct err){0}) ||
            term.kind != SLO_QUANTILE)
            continue;
        l.measure = measure_name(term.measure);
        snprintf(l.quantile, sizeof(l.quantile), "p%.6g_ms",
                 100 * term.quantile);
        snprintf(l.title, sizeof(l.title), "%s p%.6g", l.measure,
                 100 * term.quantile);
        l.limit_ns = (double)term.limit_ns;
        return l;
    }
    l.measure = json_object_get(json_object_get(example, "measures"), "ttft")
                    ? "ttft"
                    : "e2e";
    snprintf(l.quantile, sizeof(l.quantile), "p99_ms");
    snprintf(l.title, sizeof(l.title), "%s p99", l.measure);
    return l;
}

static double latency_at(const json_t *point, const struct shown_latency *l)
{
    const json_t *m =
        json_object_get(json_object_get(point, "measures"), l->measure);
    double ms = study_number(m, l->quantile);

    return ms > 0 ? ms_to_ns(ms) : NAN;
}

static void set_limit(struct xy_chart *c, const struct shown_latency *l)
{
    char text[SHOW_TEXT];

    c->limit = l->limit_ns;
    c->shades_above = true;
    if (!isnan(c->limit))
        snprintf(c->limit_text, sizeof(c->limit_text), "limit %s",
                 show_tick_ns(c->limit, text));
}

/* ---- searches ---- */

static void mark_probe(struct xy_point *q, const json_t *probe)
{
    const char *verdict = study_text(probe, "verdict");
    bool is_missed = strcmp(verdict, "fail") == 0 ||
                     json_is_true(json_object_get(probe, "overloaded"));
    char a[SHOW_TEXT];
    char b[SHOW_TEXT];

    q->colour = is_missed                      ? "late"
                : strcmp(verdict, "pass") == 0 ? "good"
                                               : "unsent";
    q->mark = is_missed ? MARK_DIAMOND : MARK_DOT;
    if (json_is_true(json_object_get(probe, "ended_early")))
        q->mark = is_missed ? MARK_DIAMOND_OPEN : MARK_TARGET;
    if (study_text(probe, "set_aside")[0]) {
        q->mark = MARK_RING;
        q->colour = "unsent";
    }
    snprintf(q->tip, sizeof(q->tip), "%s: %s|offered %s/s, good %s/s%s%s",
             study_text(probe, "dir"), verdict,
             show_number(study_number(probe, "offered_rps"), a),
             show_number(study_number(probe, "goodput_rps"), b),
             study_text(probe, "set_aside")[0] ? "|discarded: " : "",
             study_text(probe, "set_aside"));
}

static double load_of(const json_t *probe)
{
    double offered = study_number(probe, "offered_rps");

    return offered > 0 ? offered : study_number(probe, "value");
}

static void set_capacity(struct xy_chart *c, const json_t *json)
{
    char text[SHOW_TEXT];

    c->x.kind = TICK_RATE;
    c->x_title = "requests per second offered";
    c->at = study_number(json, "capacity_rps");
    c->band_low = study_end(json, "capacity_ci90", 0);
    c->band_high = study_end(json, "capacity_ci90", 1);
    if (isfinite(c->at))
        snprintf(c->at_text, sizeof(c->at_text), "capacity %s/s",
                 show_number(c->at, text));
}

static bool put_probe_latency(struct page *p, const json_t *json,
                              struct svg *alone)
{
    const json_t *probes = json_object_get(json, "probes");
    struct shown_latency l = latency_of(json, json_array_get(probes, 0));
    char title[NAMES + 32];
    struct xy_chart *c;

    snprintf(title, sizeof(title), "%s of each probe", l.title);
    c = xy_new("latency", title,
               "Each mark is one probe at the rate it really offered. Above "
               "the dashed line the limit is missed. The blue band is the "
               "interval of the capacity.");
    set_capacity(c, json);
    set_limit(c, &l);
    c->y = (struct axis){.is_log = true, .kind = TICK_NS};
    xy_add_series(c, "probes", "probe", "good", NULL);
    for (size_t i = 0; i < json_array_size(probes); i++) {
        const json_t *probe = json_array_get(probes, i);

        mark_probe(xy_add(c, load_of(probe), latency_at(probe, &l)), probe);
    }
    return finish(p, c, alone);
}

static bool put_missed(struct page *p, const json_t *json)
{
    static const char *const colours[] = {"good", "server", "client", "ink3"};
    const json_t *probes = json_object_get(json, "probes");
    const json_t *terms = json_object_get(json, "slo");
    struct xy_chart *c =
        xy_new("missed", "Share that missed",
               "What the estimate rests on: the share of each probe's requests "
               "that missed a term. It rises steeply beyond the capacity.");

    set_capacity(c, json);
    c->y = (struct axis){.is_log = true, .kind = TICK_SHARE};
    for (size_t t = 0; t < json_array_size(terms) && t < 4; t++) {
        static const char *const keys[] = {"t0", "t1", "t2", "t3"};

        xy_add_series(c, keys[t], json_string_value(json_array_get(terms, t)),
                      colours[t], NULL);
        for (size_t i = 0; i < json_array_size(probes); i++) {
            const json_t *probe = json_array_get(probes, i);
            const json_t *term =
                json_array_get(json_object_get(probe, "terms"), t);
            struct xy_point *q =
                xy_add(c, load_of(probe), study_number(term, "miss_share"));

            mark_probe(q, probe);
            if (q->mark != MARK_RING)
                q->colour = colours[t];
        }
    }
    return finish(p, c, NULL);
}

/* Throughput and goodput of probes or of the values of a sweep. */
static bool put_throughput(struct page *p, const json_t *points,
                           const char *x_title, enum tick_kind x_kind,
                           bool by_value, const json_t *search)
{
    static const struct {
        const char *key;
        const char *name;
        const char *colour;
    } of[] = {{"completed_rps", "completed", "ink3"},
              {"goodput_rps", "goodput", "good"}};
    struct xy_chart *c =
        xy_new("throughput", "Completed and good",
               "Up to the capacity nearly everything that is offered is good. "
               "Beyond it more load means fewer good answers.");

    if (search)
        set_capacity(c, search);
    c->x.kind = x_kind;
    c->x_title = x_title;
    c->y = (struct axis){.kind = TICK_RATE};
    for (size_t k = 0; k < 2; k++) {
        char text[SHOW_TEXT];

        xy_add_series(c, of[k].name, of[k].name, of[k].colour, NULL);
        for (size_t i = 0; i < json_array_size(points); i++) {
            const json_t *point = json_array_get(points, i);
            double x = by_value ? study_number(point, "value") : load_of(point);
            double y = study_number(point, of[k].key);
            struct xy_point *q;

            if (k == 0 && isnan(y)) /* searches have the other one */
                y = study_number(point, "throughput_rps");
            q = xy_add(c, x, y);

            if (study_text(point, "set_aside")[0]) {
                q->mark = MARK_RING;
                q->colour = "unsent";
            }
            snprintf(q->tip, sizeof(q->tip), "%s %s/s", of[k].name,
                     show_number(y, text));
        }
    }
    return finish(p, c, NULL);
}

static bool put_path(struct page *p, const json_t *json)
{
    const json_t *probes = json_object_get(json, "probes");
    struct xy_chart *c =
        xy_new("path", "How the search went",
               "It doubles the load until a probe misses, closes in on the "
               "boundary, then tests the estimate with a fresh run.");

    c->x_title = "probes, in the order they were made";
    c->x_is_whole = true;
    c->y = (struct axis){.kind = TICK_RATE};
    xy_add_series(c, "probes", "probe", "good", "ln thin s-line2");
    for (size_t i = 0; i < json_array_size(probes); i++) {
        const json_t *probe = json_array_get(probes, i);

        mark_probe(xy_add(c, (double)i + 1, load_of(probe)), probe);
    }
    return finish(p, c, NULL);
}

bool study_put_search(struct page *p, const struct json_t *json,
                      struct svg *alone)
{
    const json_t *probes = json_object_get(json, "probes");
    bool is_drawn = put_probe_latency(p, json, alone);

    if (alone)
        return is_drawn;
    page_put(p, "<p class=\"ramp\">Dots met the objective, diamonds missed it, "
                "open marks ended early, dashed rings are discarded.</p>\n");
    is_drawn |= put_missed(p, json);
    is_drawn |= put_throughput(p, probes, "requests per second offered",
                               TICK_RATE, false, json);
    is_drawn |= put_path(p, json);
    return is_drawn;
}

/* ---- sweeps ---- */

static bool put_sweep_latency(struct page *p, const json_t *json,
                              struct svg *alone)
{
    const json_t *values = json_object_get(json, "values");
    struct shown_latency l = latency_of(json, json_array_get(values, 0));
    struct shown_latency median = l;
    struct xy_chart *c =
        xy_new("latency", "Latency",
               "At each value that was set. Above the dashed line the limit "
               "is missed.");
    char text[SHOW_TEXT];

    snprintf(median.quantile, sizeof(median.quantile), "p50_ms");
    set_limit(c, &l);
    c->x_title = study_text(json, "key");
    c->x.kind = strcmp(c->x_title, "load.rate") == 0 ? TICK_RATE : TICK_COUNT;
    c->y = (struct axis){.is_log = true, .kind = TICK_NS};
    for (int k = 0; k < 2; k++) {
        xy_add_series(c, k ? "p50" : "high", k ? "p50" : l.title,
                      k ? "ink3" : "good", k ? "ln thin s-ink3" : "ln s-good");
        for (size_t i = 0; i < json_array_size(values); i++) {
            const json_t *value = json_array_get(values, i);
            double ns = latency_at(value, k ? &median : &l);
            struct xy_point *q = xy_add(c, study_number(value, "value"), ns);

            if (k == 0 && ns >= l.limit_ns) {
                q->mark = MARK_DIAMOND;
                q->colour = "late";
            }
            snprintf(q->tip, sizeof(q->tip), "%s at %.6g|%s", show_ns(ns, text),
                     q->x, study_text(value, "verdict"));
        }
    }
    return finish(p, c, alone);
}

static bool put_sweep_cost(struct page *p, const json_t *values,
                           const char *x_title)
{
    struct xy_chart *c =
        xy_new("cost", "Cost of a thousand good requests",
               "The machine costs the same whatever it does: cheapest is the "
               "highest load that is still good.");
    double any = 0;

    c->x_title = x_title;
    c->y = (struct axis){.is_log = true, .kind = TICK_USD};
    xy_add_series(c, "cost", "per 1,000 good requests", "good", "ln s-good");
    for (size_t i = 0; i < json_array_size(values); i++) {
        const json_t *value = json_array_get(values, i);
        double usd = study_number(value, "usd_per_1000_good_requests");

        if (usd > 0)
            xy_add(c, study_number(value, "value"), usd);
        any = fmax(any, usd);
    }
    if (!(any > 0)) {
        free(c);
        return false;
    }
    return finish(p, c, NULL);
}

bool study_put_sweep(struct page *p, const struct json_t *json,
                     struct svg *alone)
{
    const json_t *values = json_object_get(json, "values");
    const char *key = study_text(json, "key");
    bool is_drawn = put_sweep_latency(p, json, alone);

    if (alone)
        return is_drawn;
    is_drawn |= put_throughput(
        p, values, key, strcmp(key, "load.rate") == 0 ? TICK_RATE : TICK_COUNT,
        true, NULL);
    is_drawn |= put_sweep_cost(p, values, key);
    return is_drawn;
}

/* ---- trials ---- */

/* A quantity of trials. */
struct trial_view {
    const char *name;
    const char *title;
    const char *key;
    const char *measure; /* of the overall numbers; NULL: at the top */
    const char *quantile;
    enum tick_kind kind;
    double scale;
};

/* A dot per trial, with the median and its interval. */
static bool put_trial_dots(struct page *p, const json_t *json,
                           const struct trial_view *v, struct svg *alone)
{
    const json_t *each = json_object_get(json, "each");
    struct xy_chart *c =
        xy_new(v->name, v->title,
               "Every trial is a dot. The line is the median of those that "
               "count, the bar at its end the interval of the median.");
    const json_t *in =
        v->measure
            ? json_object_get(json_object_get(json, "measures"), v->measure)
            : json;
    const json_t *overall = json_object_get(in, v->quantile);
    double median = study_number(overall, "median") * v->scale;
    size_t n = json_array_size(each);
    bool is_known = false;
    char text[SHOW_TEXT];

    c->x_title = "trial";
    c->x_is_whole = true;
    c->y.kind = v->kind;
    c->height = 150;
    xy_add_series(c, "trials", "trial", "good", NULL);
    for (size_t i = 0; i < n; i++) {
        const json_t *trial = json_array_get(each, i);
        double y = study_number(trial, v->key) * v->scale;
        struct xy_point *q = xy_add(c, study_number(trial, "trial"), y);

        is_known |= !isnan(y);
        if (!json_is_true(json_object_get(trial, "counted"))) {
            q->mark = MARK_RING;
            q->colour = "unsent";
        }
        snprintf(q->tip, sizeof(q->tip), "trial %.0f: %s|%s %s", q->x,
                 xy_show(&c->y, y, text), study_text(trial, "verdict"),
                 study_text(trial, "discarded"));
    }
    if (!is_known) {
        free(c);
        return false;
    }
    if (isfinite(median)) {
        struct xy_series *s =
            xy_add_series(c, "median", "median", "ink", "ln thin dash s-ink");
        struct xy_point *q;

        xy_add(c, 0.5, median);
        xy_add(c, (double)n + 0.5, median);
        s->has_marks = false;
        xy_add_series(c, "interval", "interval of the median", "ink", NULL);
        q = xy_add(c, (double)n + 0.5, median);
        q->low = study_end(overall, "median_ci", 0) * v->scale;
        q->high = study_end(overall, "median_ci", 1) * v->scale;
    }
    return finish(p, c, alone);
}

bool study_put_trials(struct page *p, const struct json_t *json,
                      struct svg *alone)
{
    static const struct trial_view of[] = {
        {"ttft99", "Time to first token, p99", "ttft_p99_ms", "ttft", "p99_ms",
         TICK_NS, 1e6},
        {"tpot99", "Time per token, p99", "tpot_p99_ms", "tpot", "p99_ms",
         TICK_NS, 1e6},
        {"e2e99", "Whole answer, p99", "e2e_p99_ms", "e2e", "p99_ms", TICK_NS,
         1e6},
        {"e2e50", "Whole answer, p50", "e2e_p50_ms", "e2e", "p50_ms", TICK_NS,
         1e6},
        {"goodput", "Goodput", "goodput_rps", NULL, "goodput_rps", TICK_RATE,
         1},
        {"completed", "Completed", "completed_rps", NULL, "completed_rps",
         TICK_RATE, 1},
    };
    bool is_drawn = false;

    for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
        is_drawn |= put_trial_dots(p, json, &of[i], alone);
        if (is_drawn && alone)
            return true;
    }
    return is_drawn;
}

/* ---- variants ---- */

/* A quantity of variants. */
struct variant_view {
    const char *name;
    const char *title;
    const char *key;
    const char *interval;
    enum tick_kind kind;
    double scale;
};

static bool put_variant_lines(struct page *p, const json_t *json,
                              const struct variant_view *view,
                              struct svg *alone)
{
    static const char *const colours[] = {"good", "late", "server", "client",
                                          "fail", "ink",  "unsent", "pass"};
    static const char *const lines[] = {
        "ln s-good", "ln s-late", "ln s-server", "ln s-client",
        "ln s-fail", "ln s-ink",  "ln s-unsent", "ln s-good dash"};
    static const char *const keys[] = {"v0", "v1", "v2", "v3",
                                       "v4", "v5", "v6", "v7"};
    const json_t *variants = json_object_get(json, "variants");
    struct xy_chart *c =
        xy_new(view->name, view->title,
               "Every variant under the same loads, with 95% intervals.");
    char text[SHOW_TEXT];

    c->x_title = study_text(json, "varied");
    c->x.kind = strcmp(c->x_title, "load.rate") == 0 ? TICK_RATE : TICK_COUNT;
    c->y = (struct axis){.is_log = view->kind == TICK_NS, .kind = view->kind};
    for (size_t v = 0; v < json_array_size(variants) && v < 8; v++) {
        const json_t *variant = json_array_get(variants, v);
        const json_t *points = json_object_get(variant, "points");

        xy_add_series(c, keys[v], study_text(variant, "name"), colours[v],
                      lines[v]);
        for (size_t i = 0; i < json_array_size(points); i++) {
            const json_t *point = json_array_get(points, i);
            double y = study_number(point, view->key) * view->scale;
            struct xy_point *q = xy_add(c, study_number(point, "value"), y);

            q->low = study_end(point, view->interval, 0) * view->scale;
            q->high = study_end(point, view->interval, 1) * view->scale;
            snprintf(q->tip, sizeof(q->tip), "%s at %.6g: %s|%s",
                     study_text(variant, "name"), q->x, xy_show(&c->y, y, text),
                     study_text(point, "verdict"));
        }
    }
    return finish(p, c, alone);
}

bool study_put_variants(struct page *p, const struct json_t *json,
                        struct svg *alone)
{
    static const struct variant_view of[] = {
        {"goodput", "Goodput", "goodput_rps", "goodput_ci95", TICK_RATE, 1},
        {"p50", "Median latency", "p50_ms", "p50_ci95_ms", TICK_NS, 1e6},
        {"p99", "p99 of latency", "p99_ms", "p99_ci95_ms", TICK_NS, 1e6},
    };
    bool is_drawn = false;

    for (size_t i = 0; i < (alone ? 1 : 3); i++)
        is_drawn |= put_variant_lines(p, json, &of[i], alone);
    return is_drawn;
}

/* ---- scaling ---- */

static void add_law(struct xy_chart *c, const json_t *points, const char *key,
                    const char *name, const char *line, const char *colour)
{
    xy_add_series(c, name, name, colour, line)->has_marks = false;
    for (size_t i = 0; i < json_array_size(points); i++) {
        const json_t *point = json_array_get(points, i);
        double k = study_number(point, "k");

        xy_add(c, k, key ? study_number(point, key) : k);
    }
}

static bool put_speedup(struct page *p, const json_t *json, struct svg *alone)
{
    const json_t *points = json_object_get(json, "points");
    bool is_weak = strcmp(study_text(json, "regime"), "weak") == 0;
    struct xy_chart *c =
        xy_new("speedup", "Speedup",
               "How many times as fast as one worker, with 95% intervals. The "
               "dashed line is what perfect scaling would give.");
    char text[SHOW_TEXT];

    c->x_title = "workers";
    c->x_is_whole = true;
    c->x.is_log = c->y.is_log = true;
    c->y.kind = TICK_FACTOR;
    c->height = 240;
    xy_add_series(c, "measured", "measured", "good", NULL);
    for (size_t i = 0; i < json_array_size(points); i++) {
        const json_t *point = json_array_get(points, i);
        double y = study_number(point, "speedup");
        struct xy_point *q = xy_add(c, study_number(point, "k"), y);

        q->low = study_end(point, "speedup_ci95", 0);
        q->high = study_end(point, "speedup_ci95", 1);
        if (json_is_true(json_object_get(point, "below_threshold"))) {
            q->colour = "late";
            q->mark = MARK_DIAMOND;
        }
        snprintf(q->tip, sizeof(q->tip), "%.6g workers: %s as fast", q->x,
                 xy_show(&c->y, y, text));
    }
    if (!is_weak)
        add_law(c, points, NULL, "ideal", "ln thin dash s-ink3", "ink3");
    add_law(c, points, "law_speedup", "law", "ln thin s-server", "server");
    return finish(p, c, alone);
}

static bool put_efficiency(struct page *p, const json_t *json)
{
    const json_t *points = json_object_get(json, "points");
    double recommended =
        study_number(json_object_get(json, "verdict"), "recommended_k");
    struct xy_chart *c =
        xy_new("efficiency", "Efficiency",
               "What each worker is worth next to the first. In the shaded "
               "part, adding workers costs more than was agreed.");
    char text[SHOW_TEXT];

    c->x_title = "workers";
    c->x_is_whole = true;
    c->x.is_log = true;
    c->y.kind = TICK_SHARE;
    c->limit = study_number(json, "efficiency_threshold");
    c->shades_below = true;
    if (isfinite(c->limit))
        snprintf(c->limit_text, sizeof(c->limit_text), "threshold %s",
                 show_share(c->limit, text));
    xy_add_series(c, "measured", "efficiency", "good", "ln s-good");
    for (size_t i = 0; i < json_array_size(points); i++) {
        const json_t *point = json_array_get(points, i);
        double y = study_number(point, "efficiency");
        struct xy_point *q = xy_add(c, study_number(point, "k"), y);

        q->low = study_end(point, "efficiency_ci95", 0);
        q->high = study_end(point, "efficiency_ci95", 1);
        if (q->x == recommended)
            q->mark = MARK_TARGET;
        if (y < c->limit) {
            q->colour = "late";
            q->mark = MARK_DIAMOND;
        }
        snprintf(q->tip, sizeof(q->tip), "%.6g workers: %s%s", q->x,
                 show_share(y, text),
                 q->x == recommended ? "|recommended" : "");
    }
    return finish(p, c, NULL);
}

/* Cost per unit, or quality, at each number of workers. */
static bool put_per_worker(struct page *p, const json_t *json, const char *key,
                           const char *title, const char *caption,
                           enum tick_kind kind)
{
    const json_t *points = json_object_get(json, "points");
    struct xy_chart *c = xy_new(key, title, caption);
    bool is_known = false;

    c->x_title = "workers";
    c->x_is_whole = true;
    c->x.is_log = true;
    c->y.kind = kind;
    c->height = 150;
    xy_add_series(c, key, title, "good", "ln s-good");
    for (size_t i = 0; i < json_array_size(points); i++) {
        const json_t *point = json_array_get(points, i);
        double y = study_number(point, key);

        is_known |= isfinite(y);
        xy_add(c, study_number(point, "k"), y);
    }
    if (!is_known) {
        free(c);
        return false;
    }
    return finish(p, c, NULL);
}

bool study_put_scaling(struct page *p, const struct json_t *json,
                       struct svg *alone)
{
    bool is_drawn = put_speedup(p, json, alone);

    if (alone)
        return is_drawn;
    is_drawn |= put_efficiency(p, json);
    is_drawn |= put_per_worker(p, json, "usd_per_unit", "Cost per unit",
                               "What one unit of work costs.", TICK_USD);
    is_drawn |=
        put_per_worker(p, json, "quality", "Quality",
                       "Share of correct answers: a speedup that lowers "
                       "it does not count.",
                       TICK_SHARE);
    return is_drawn;
}
