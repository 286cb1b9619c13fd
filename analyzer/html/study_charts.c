/* Charts of variants next to each other, and of scaling against workers. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/html/chart/chart_xy.h"
#include "analyzer/html/html_text.h"
#include "analyzer/html/study_load.h"
#include "analyzer/html/study_page.h"

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

#define VARIANTS 16

/* Neither orange, which is beyond a limit, nor crimson, which failed.  No two
 * variants have the same colour, mark and dash; marks alone tell eight apart.
 */
static void look_of_variant(size_t v, const char **colour, enum mark *mark,
                            char line[static 40])
{
    static const char *const colours[] = {"good", "ink", "server", "client"};
    static const char *const dashes[] = {"", " dash", " dots", " dashdot"};
    static const enum mark marks[] = {
        MARK_DOT,         MARK_SQUARE,  MARK_UP,   MARK_CIRCLE,
        MARK_SQUARE_OPEN, MARK_UP_OPEN, MARK_DOWN, MARK_DOWN_OPEN};

    *colour = colours[v % 4];
    *mark = marks[v % 8];
    snprintf(line, 40, "ln s-%s%s", *colour, dashes[(v + v / 8) % 4]);
}

static const char *const variant_keys[VARIANTS] = {
    "v0", "v1", "v2",  "v3",  "v4",  "v5",  "v6",  "v7",
    "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15"};

/* All variants have the same loads. */
static size_t count_loads(const json_t *variants)
{
    size_t most = 0;

    for (size_t v = 0; v < json_array_size(variants); v++) {
        size_t n = json_array_size(
            json_object_get(json_array_get(variants, v), "points"));

        most = n > most ? n : most;
    }
    return most;
}

/* Against the load; if there is only one, next to each other. */
static bool put_variant_lines(struct page *p, const json_t *json,
                              const struct variant_view *view,
                              struct svg *alone)
{
    const json_t *variants = json_object_get(json, "variants");
    bool is_one = count_loads(variants) == 1;
    struct xy_chart *c = xy_new(
        view->name, view->title,
        is_one ? "The variants under the same load, with 95% intervals."
               : "Every variant under the same loads, with 95% intervals.");
    char text[SHOW_TEXT];

    c->x_title = is_one ? "variants, in the order of the legend"
                 : strcmp(study_text(json, "varied"), "load.rate") == 0
                     ? "requests per second asked for"
                     : study_text(json, "varied");
    c->x_is_whole = is_one;
    c->x.kind = !is_one && strcmp(study_text(json, "varied"), "load.rate") == 0
                    ? TICK_RATE
                    : TICK_COUNT;
    c->y = (struct axis){.is_log = view->kind == TICK_NS, .kind = view->kind};
    for (size_t v = 0; v < json_array_size(variants) && v < VARIANTS; v++) {
        const json_t *variant = json_array_get(variants, v);
        const json_t *points = json_object_get(variant, "points");
        const char *colour;
        enum mark mark;
        char line[40];

        look_of_variant(v, &colour, &mark, line);
        xy_add_series(c, variant_keys[v], study_text(variant, "name"), colour,
                      is_one ? NULL : line)
            ->mark = mark;
        for (size_t i = 0; i < json_array_size(points); i++) {
            const json_t *point = json_array_get(points, i);
            double y = study_number(point, view->key) * view->scale;
            struct xy_point *q = xy_add(
                c, is_one ? (double)v + 1 : study_number(point, "value"), y);

            q->mark = mark;
            q->low = study_end(point, view->interval, 0) * view->scale;
            q->high = study_end(point, view->interval, 1) * view->scale;
            snprintf(q->tip, sizeof(q->tip), "%.60s at %.6g: %s|%s",
                     study_text(variant, "name"), study_number(point, "value"),
                     xy_show(&c->y, y, text), study_text(point, "verdict"));
        }
    }
    return xy_finish(p, c, alone);
}

/* Of variants that were searched: the load that each takes, with its interval
 * or bracket. */
static bool put_variant_capacity(struct page *p, const json_t *json,
                                 struct svg *alone)
{
    const json_t *variants = json_object_get(json, "variants");
    struct xy_chart *c =
        xy_new("capacities", "Capacity",
               "The highest load that meets the objective, with its 90% "
               "interval. Rings: only a bracket of single probes is known.");
    char text[SHOW_TEXT];

    c->x_title = "variants, in the order of the legend";
    c->x_is_whole = true;
    for (size_t v = 0; v < json_array_size(variants) && v < VARIANTS; v++) {
        const json_t *variant = json_array_get(variants, v);
        const json_t *capacity = json_object_get(variant, "capacity");
        bool is_rate = json_object_get(capacity, "capacity_rps") != NULL;
        bool is_bracket = json_is_true(json_object_get(capacity, "is_bracket"));
        const char *colour;
        enum mark mark;
        char line[40];
        struct xy_point *q;

        look_of_variant(v, &colour, &mark, line);
        mark = is_bracket ? MARK_RING : mark;
        c->y.kind = is_rate ? TICK_RATE : TICK_COUNT;
        xy_add_series(c, variant_keys[v], study_text(variant, "name"), colour,
                      NULL)
            ->mark = mark;
        q = xy_add(
            c, (double)v + 1,
            study_number(capacity, is_rate ? "capacity_rps" : "capacity"));
        q->mark = mark;
        q->low = study_end(capacity, "range", 0);
        q->high = study_end(capacity, "range", 1);
        snprintf(q->tip, sizeof(q->tip), "%.60s: %s|%.60s",
                 study_text(variant, "name"), xy_show(&c->y, q->y, text),
                 study_text(capacity, "outcome"));
    }
    return xy_finish(p, c, alone);
}

bool study_put_variants(struct page *p, const struct json_t *json,
                        struct svg *alone)
{
    static const struct variant_view of[] = {
        {"goodput", "Goodput", "goodput_rps", "goodput_ci95", TICK_RATE, 1},
        {"p50", "Median latency", "p50_ms", "p50_ci95_ms", TICK_NS, 1e6},
        {"p99", "p99 of latency", "p99_ms", "p99_ci95_ms", TICK_NS, 1e6},
    };
    bool is_drawn = put_variant_capacity(p, json, alone);

    for (size_t i = 0; !(is_drawn && alone) && i < (alone ? 1 : 3); i++)
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

/* Where the curve begins to bend, if it does. */
static void set_bend(struct xy_chart *c, const json_t *json)
{
    c->at = study_number(json_object_get(json, "bend"), "k");
    if (isfinite(c->at))
        snprintf(c->at_text, sizeof(c->at_text), "bends from %.6g on", c->at);
}

/* The mark of a number of workers. */
static void look_at_point(struct xy_point *q, const json_t *point)
{
    size_t len = strlen(q->tip);

    if (json_is_true(json_object_get(point, "excluded"))) {
        q->mark = MARK_RING;
        q->colour = "unsent";
        snprintf(q->tip + len, sizeof(q->tip) - len, "|excluded: quality %.32s",
                 study_text(json_object_get(point, "quality_gate"), "verdict"));
    } else if (json_is_true(json_object_get(point, "below_threshold"))) {
        q->mark = MARK_DIAMOND;
        q->colour = "late";
    }
}

static bool put_speedup(struct page *p, const json_t *json, struct svg *alone)
{
    const json_t *points = json_object_get(json, "points");
    bool is_weak = strcmp(study_text(json, "regime"), "weak") == 0;
    struct xy_chart *c =
        xy_new("speedup", "Speedup",
               "How many times as fast as one worker, with 95% intervals. The "
               "dashed line is what perfect scaling would give. Rings: "
               "excluded by the quality gate.");
    char text[SHOW_TEXT];

    set_bend(c, json);
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
        snprintf(q->tip, sizeof(q->tip), "%.6g workers: %s as fast", q->x,
                 xy_show(&c->y, y, text));
        look_at_point(q, point);
    }
    if (!is_weak)
        add_law(c, points, NULL, "ideal", "ln thin dash s-ink3", "ink3");
    add_law(c, points, "law_speedup", "law", "ln thin s-server", "server");
    return xy_finish(p, c, alone);
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

    set_bend(c, json);
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
        snprintf(q->tip, sizeof(q->tip), "%.6g workers: %s%s", q->x,
                 show_share(y, text),
                 q->x == recommended ? "|recommended" : "");
        look_at_point(q, point);
    }
    return xy_finish(p, c, NULL);
}

static struct xy_chart *per_worker(const char *key, const char *title,
                                   const char *caption, enum tick_kind kind)
{
    struct xy_chart *c = xy_new(key, title, caption);

    c->x_title = "workers";
    c->x_is_whole = true;
    c->x.is_log = true;
    c->y.kind = kind;
    c->height = 150;
    xy_add_series(c, key, title, "good", "ln s-good");
    return c;
}

/* Strong scaling may only know what the whole run costs. */
static bool put_cost(struct page *p, const json_t *points)
{
    bool is_per_unit = false;
    struct xy_chart *c;

    for (size_t i = 0; i < json_array_size(points); i++)
        is_per_unit |=
            isfinite(study_number(json_array_get(points, i), "usd_per_unit"));
    c = is_per_unit ? per_worker("usd_per_unit", "Cost per unit",
                                 "What one unit of work costs.", TICK_USD)
                    : per_worker("usd_per_run", "Cost per run",
                                 "What the whole work costs.", TICK_USD);
    for (size_t i = 0; i < json_array_size(points); i++) {
        const json_t *point = json_array_get(points, i);

        xy_add(c, study_number(point, "k"), study_number(point, c->name));
    }
    return xy_finish(p, c, NULL);
}

/* The gate is on the lower end of the interval of the drift. */
static bool put_quality(struct page *p, const json_t *json)
{
    const json_t *points = json_object_get(json, "points");
    double first = study_number(json_array_get(points, 0), "quality");
    struct xy_chart *c = per_worker(
        "quality", "Quality",
        "Share of correct answers, with the 95% interval of its difference to "
        "the first. What may be below the dashed line is excluded: a speedup "
        "that costs quality does not count.",
        TICK_SHARE);
    char text[SHOW_TEXT];

    c->limit = first - study_number(json, "quality_tolerance");
    c->shades_below = true;
    if (isfinite(c->limit))
        snprintf(c->limit_text, sizeof(c->limit_text), "gate %s",
                 show_share(c->limit, text));
    for (size_t i = 0; i < json_array_size(points); i++) {
        const json_t *point = json_array_get(points, i);
        const json_t *gate = json_object_get(point, "quality_gate");
        double y = study_number(point, "quality");
        struct xy_point *q = xy_add(c, study_number(point, "k"), y);

        q->low = first + study_end(gate, "drift_ci95", 0);
        q->high = first + study_end(gate, "drift_ci95", 1);
        snprintf(q->tip, sizeof(q->tip), "%.6g workers: %s", q->x,
                 show_share(y, text));
        look_at_point(q, point);
    }
    return xy_finish(p, c, NULL);
}

static void put_item(struct page *p, const char *tone, enum icon icon,
                     const char *name, const char *says)
{
    page_putf(p, "<li><span class=\"i-%s\">", tone);
    page_icon(p, icon, "");
    page_put(p, "</span><span>");
    page_text(p, name);
    page_put(p, "</span><span class=\"d\">");
    page_text(p, says);
    page_put(p, "</span></li>\n");
}

/* The guess with its evidence, and what a reader will ask about the study. */
static void put_bend(struct page *p, const json_t *json)
{
    const json_t *bend = json_object_get(json, "bend");
    const json_t *list = json_object_get(json, "checklist");
    bool is_bent = isfinite(study_number(bend, "k"));

    if (!is_bent && json_array_size(list) == 0)
        return;
    page_put(
        p,
        "<div class=\"chart\"><div class=\"aside\"><h3>What bends "
        "it</h3><p class=\"cap\">The likely cause, with its evidence, and what "
        "others will ask before they believe the curve.</p></div>"
        "<ul class=\"list\">");
    if (is_bent && study_text(bend, "guess")[0])
        put_item(p, "note", ICON_LIMIT, study_text(bend, "guess"),
                 study_text(bend, "evidence"));
    else if (!is_bent)
        put_item(p, "pass", ICON_OK, "no bend", "among these numbers");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        bool is_present = json_is_true(json_object_get(item, "present"));

        put_item(p, is_present ? "pass" : "note",
                 is_present ? ICON_OK : ICON_NOTE, study_text(item, "name"),
                 study_text(item, "says"));
    }
    page_put(p, "</ul></div>\n");
}

bool study_put_scaling(struct page *p, const struct json_t *json,
                       struct svg *alone)
{
    bool is_drawn = put_speedup(p, json, alone);

    if (alone)
        return is_drawn;
    is_drawn |= put_efficiency(p, json);
    is_drawn |= put_cost(p, json_object_get(json, "points"));
    is_drawn |= put_quality(p, json);
    put_bend(p, json);
    return is_drawn;
}

static const json_t *point_of(const json_t *json, double k)
{
    const json_t *points = json_object_get(json, "points");

    for (size_t i = 0; i < json_array_size(points); i++) {
        if (study_number(json_array_get(points, i), "k") == k)
            return json_array_get(points, i);
    }
    return NULL;
}

static void put_workers(struct page *p, const char *name, double k,
                        const char *words, const char *without)
{
    struct key_figure f = study_figure(name);

    snprintf(f.value, sizeof(f.value), "–");
    if (isfinite(k)) {
        show_count((int64_t)k, f.value);
        f.unit = k == 1 ? " worker" : " workers";
    }
    snprintf(f.words, sizeof(f.words), "%s", isfinite(k) ? words : without);
    page_fig(p, &f);
}

void study_scaling_top(struct page *p, const struct json_t *json)
{
    const json_t *verdict = json_object_get(json, "verdict");
    double k = study_number(verdict, "recommended_k");
    const json_t *at = point_of(json, k);
    struct key_figure f = study_figure("Speedup there");
    char a[SHOW_TEXT];
    char b[SHOW_TEXT];

    page_figs_begin(p);
    put_workers(p, "Recommended", k,
                "the most that keep quality, efficiency and SLO",
                "no number keeps quality, efficiency and SLO");
    if (isfinite(study_number(at, "speedup"))) {
        snprintf(f.value, sizeof(f.value), "%s×",
                 show_number(study_number(at, "speedup"), a));
        if (isfinite(study_end(at, "speedup_ci95", 0)))
            snprintf(f.words, sizeof(f.words), "95%% interval %s to %s",
                     show_number(study_end(at, "speedup_ci95", 0), a),
                     show_number(study_end(at, "speedup_ci95", 1), b));
        page_fig(p, &f);
        f = study_figure("Efficiency there");
        show_share(study_number(at, "efficiency"), f.value);
        snprintf(f.words, sizeof(f.words), "at least %s is asked for",
                 show_share(study_number(json, "efficiency_threshold"), a));
        page_fig(p, &f);
    }
    put_workers(
        p, "Bends from", study_number(json_object_get(json, "bend"), "k"),
        "from here each worker adds less", "no bend among these numbers");
    put_workers(p, "Cheapest", study_number(verdict, "cheapest_k"),
                "the least cost per unit of work", "no prices are known");
    page_figs_end(p);
}
