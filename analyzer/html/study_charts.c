/* Charts of studies: trials one by one, variants next to each other, scaling
 * against workers. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/html/chart/chart_xy.h"
#include "analyzer/html/chart/slo_strip.h"
#include "analyzer/html/html_text.h"
#include "analyzer/html/study_load.h"
#include "analyzer/html/study_page.h"
#include "common/base/err.h"

/* ---- trials ---- */

/* A quantity of trials: a rate at the top, or a term of the SLO. */
struct trial_view {
    const char *name;
    char title[128];
    const char *key;      /* of each trial */
    int term;             /* its index; -1: none */
    const json_t *median; /* over all that count */
    struct axis y;
    double scale;
    double limit; /* NAN: none */
    char limit_text[64];
};

static double trial_value(const json_t *trial, const struct trial_view *v)
{
    const json_t *in =
        v->term < 0
            ? trial
            : json_array_get(json_object_get(trial, "terms"), (size_t)v->term);
    char note[64];

    snprintf(note, sizeof(note), "%.*s_note", (int)strcspn(v->key, "_"),
             v->key);
    if (strstr(study_text(in, note), "failures"))
        return INFINITY;
    return study_number(in, v->key) * v->scale;
}

/* A dot per trial, with the median and its interval. */
static bool put_trial_dots(struct page *p, const json_t *json,
                           const struct trial_view *v, struct svg *alone)
{
    const json_t *each = json_object_get(json, "each");
    struct xy_chart *c =
        xy_new(v->name, v->title,
               "Every trial is a dot. The line is the median of those that "
               "count, the bar at its end the interval of the median.");
    double median = study_number(v->median, "median") * v->scale;
    size_t n = json_array_size(each);
    char text[SHOW_TEXT];

    c->x_title = "trial";
    c->x_is_whole = true;
    c->y = v->y;
    c->y_title = alone ? v->title : NULL;
    c->height = 150;
    c->limit = v->limit;
    c->shades_above = true;
    snprintf(c->limit_text, sizeof(c->limit_text), "%s", v->limit_text);
    for (int counts = 1; counts >= 0; counts--) {
        xy_add_series(c, counts ? "trials" : "discarded",
                      counts ? "trial" : "discarded",
                      counts ? "good" : "unsent", NULL)
            ->mark = counts ? MARK_DOT : MARK_RING;
        for (size_t i = 0; i < n; i++) {
            const json_t *trial = json_array_get(each, i);
            double y = trial_value(trial, v);
            struct xy_point *q;

            if (isnan(y) ||
                json_is_true(json_object_get(trial, "counted")) != counts)
                continue;
            q = xy_add(c, study_number(trial, "trial"), y);
            q->mark = counts ? MARK_DOT : MARK_RING;
            if (y > v->limit && counts) {
                q->mark = MARK_DIAMOND;
                q->colour = "late";
            }
            snprintf(q->tip, sizeof(q->tip), "trial %.0f: %s|%s %s", q->x,
                     xy_show(&c->y, y, text), study_text(trial, "verdict"),
                     study_text(trial, "discarded"));
        }
    }
    if (c->n > 0 && isfinite(median)) {
        struct xy_series *s =
            xy_add_series(c, "median", "median", "ink", "ln thin dash s-ink");
        struct xy_point *q;

        xy_add(c, 0.5, median);
        xy_add(c, (double)n + 0.5, median);
        s->has_marks = false;
        xy_add_series(c, "interval", "interval of the median", "ink", NULL);
        q = xy_add(c, (double)n + 0.5, median);
        q->low = study_end(v->median, "median_ci", 0) * v->scale;
        q->high = study_end(v->median, "median_ci", 1) * v->scale;
    }
    return xy_finish(p, c, alone);
}

/* A chart for each percentile that the SLO is about. */
static bool put_trial_terms(struct page *p, const json_t *json,
                            struct svg *alone)
{
    static const char *const names[] = {"term0", "term1", "term2", "term3",
                                        "term4", "term5", "term6", "term7"};
    const json_t *terms = json_object_get(json, "slo");
    bool is_drawn = false;

    for (size_t i = 0; i < json_array_size(terms) && i < 8; i++) {
        const json_t *term = json_array_get(terms, i);
        const char *class = study_text(term, "class");
        struct slo_term t;
        struct trial_view v = {.name = names[i],
                               .key = "measured_ms",
                               .term = (int)i,
                               .median = json_object_get(term, "measured_ms"),
                               .y = {.kind = TICK_NS},
                               .scale = 1e6};
        char text[SHOW_TEXT];

        if (slo_parse_term(study_text(term, "term"), &t, &(struct err){0}) ||
            t.kind != SLO_QUANTILE)
            continue;
        snprintf(v.title, sizeof(v.title), "%.40s%s%s, p%.6g", class,
                 class[0] ? ": " : "", measure_title(t.measure),
                 100 * t.quantile);
        v.limit = (double)t.limit_ns;
        snprintf(v.limit_text, sizeof(v.limit_text), "limit %s",
                 show_tick_ns(v.limit, text));
        is_drawn |= put_trial_dots(p, json, &v, alone);
        if (is_drawn && alone)
            break;
    }
    return is_drawn;
}

bool study_put_trials(struct page *p, const struct json_t *json,
                      struct svg *alone)
{
    static const struct {
        const char *name;
        const char *title;
        const char *key;
        const char *measure; /* of the overall numbers; NULL: at the top */
        const char *quantile;
        enum tick_kind kind;
        double scale;
    } of[] = {
        {"ttft99", "Time to first token, p99", "ttft_p99_ms", "ttft", "p99_ms",
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
    const json_t *measures = json_object_get(json, "measures");
    bool is_drawn = put_trial_terms(p, json, alone);

    for (size_t i = 0; !(is_drawn && alone) && i < sizeof(of) / sizeof(of[0]);
         i++) {
        const json_t *in =
            of[i].measure ? json_object_get(measures, of[i].measure) : json;
        struct trial_view v = {.name = of[i].name,
                               .key = of[i].key,
                               .term = -1,
                               .median = json_object_get(in, of[i].quantile),
                               .y = {.kind = of[i].kind},
                               .scale = of[i].scale,
                               .limit = NAN};

        snprintf(v.title, sizeof(v.title), "%s", of[i].title);
        is_drawn |= put_trial_dots(p, json, &v, alone);
    }
    return is_drawn;
}

#define MAX_DOTS 256

static enum tone tone_of(const char *verdict)
{
    return strcmp(verdict, "pass") == 0        ? TONE_PASS
           : strcmp(verdict, "fail") == 0      ? TONE_FAIL
           : strcmp(verdict, "undecided") == 0 ? TONE_UNDECIDED
                                               : TONE_NONE;
}

/* The values of a term in all trials that count. */
static size_t take_dots(const json_t *json, size_t term, double scale,
                        double dots[static MAX_DOTS])
{
    const json_t *each = json_object_get(json, "each");
    size_t n = 0;

    for (size_t i = 0; i < json_array_size(each) && n < MAX_DOTS; i++) {
        const json_t *trial = json_array_get(each, i);
        const json_t *t = json_array_get(json_object_get(trial, "terms"), term);

        if (json_is_true(json_object_get(trial, "counted")))
            dots[n++] =
                scale * study_number(t, scale > 1 ? "measured_ms" : "measured");
    }
    return n;
}

/* "18 of 1,235 missed, at most 3.9% with 95% confidence; 10% may" */
static void say_evidence(const json_t *json, const json_t *term, char *out,
                         size_t size)
{
    double missed = study_number(term, "share_missed");
    double bound = study_number(term, "bound");
    char a[SHOW_TEXT];
    char b[SHOW_TEXT];
    char c[SHOW_TEXT];
    int len =
        snprintf(out, size, "median; kept by %.0f of %.0f trials",
                 study_number(term, "kept"),
                 study_number(json_object_get(json, "trials"), "counted"));

    if (isfinite(missed) && isfinite(bound))
        snprintf(out + len, size - (size_t)len,
                 "; %s missed, %s %s at 95%%, %s may", show_share(missed, a),
                 strcmp(study_text(term, "verdict"), "fail") == 0 ? "at least"
                                                                  : "at most",
                 show_share(bound, b),
                 show_share(study_number(term, "share_allowed"), c));
}

static void put_trial_term(struct page *p, const json_t *json, size_t i)
{
    const json_t *term = json_array_get(json_object_get(json, "slo"), i);
    const char *verdict = study_text(term, "verdict");
    bool is_shown = json_is_true(json_object_get(term, "shown"));
    struct slo_term t;
    double dots[MAX_DOTS];
    char evidence[320];
    char words[64];
    const json_t *over;
    double scale;

    if (slo_parse_term(study_text(term, "term"), &t, &(struct err){0}) ||
        strcmp(verdict, "none") == 0)
        return;
    scale = t.kind == SLO_QUANTILE ? 1e6 : 1;
    over = json_object_get(term, scale > 1 ? "measured_ms" : "measured");
    say_evidence(json, term, evidence, sizeof(evidence));
    snprintf(words, sizeof(words), "%s%s", verdict,
             tone_of(verdict) > TONE_FAIL ? ""
             : is_shown                   ? ", shown"
                                          : " as observed");
    slo_strip_row(p, &(struct slo_row){
                         .class = study_text(term, "class")[0]
                                      ? study_text(term, "class")
                                      : NULL,
                         .term = &t,
                         .tone = tone_of(verdict),
                         .verdict = words,
                         .measured = scale * study_number(over, "median"),
                         .low = scale * study_end(over, "median_ci", 0),
                         .high = scale * study_end(over, "median_ci", 1),
                         .dots = dots,
                         .n_dots = take_dots(json, i, scale, dots),
                         .interval = evidence,
                     });
}

/* A key figure over trials: the median and its interval. */
static void put_median(struct page *p, const json_t *json, const char *name,
                       const char *key, bool is_share)
{
    const json_t *over = json_object_get(json, key);
    double median = study_number(over, "median");
    struct key_figure f = {
        .name = name, .unit = "/s", .share = NAN, .low = NAN};
    char a[SHOW_TEXT];
    char b[SHOW_TEXT];

    if (isnan(median))
        return;
    if (is_share) {
        show_share(median, f.value);
        f.value[strcspn(f.value, "%")] = '\0';
        f.unit = "%";
        snprintf(f.words, sizeof(f.words), "median; %s to %s over the trials",
                 show_share(study_number(over, "min"), a),
                 show_share(study_number(over, "max"), b));
    } else {
        show_number(median, f.value);
        snprintf(f.words, sizeof(f.words), "median; %s to %s over the trials",
                 show_number(study_number(over, "min"), a),
                 show_number(study_number(over, "max"), b));
    }
    page_fig(p, &f);
}

void study_trials_top(struct page *p, const struct json_t *json)
{
    const json_t *n = json_object_get(json, "trials");
    struct key_figure f = {
        .name = "Trials", .unit = "", .share = NAN, .low = NAN};

    if (json_array_size(json_object_get(json, "slo")) > 0) {
        slo_strip_begin(p);
        for (size_t i = 0; i < json_array_size(json_object_get(json, "slo"));
             i++)
            put_trial_term(p, json, i);
        slo_strip_end(p);
    }
    page_figs_begin(p);
    put_median(p, json, "Offered", "offered_rps", false);
    put_median(p, json, "Completed", "completed_rps", false);
    put_median(p, json, "Goodput", "goodput_rps", false);
    put_median(p, json, "Attainment", "attainment", true);
    show_count((int64_t)study_number(n, "counted"), f.value);
    snprintf(f.words, sizeof(f.words), "count, of %.0f recorded",
             study_number(n, "recorded"));
    page_fig(p, &f);
    page_figs_end(p);
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

static const char *const variant_colours[] = {
    "good", "late", "server", "client", "fail", "ink", "unsent", "pass"};

#define VARIANTS 16

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
        const char *colour = variant_colours[v % 8];
        char line[32];

        snprintf(line, sizeof(line), "ln s-%s%s", colour, v < 8 ? "" : " dash");
        xy_add_series(c, variant_keys[v], study_text(variant, "name"), colour,
                      is_one ? NULL : line);
        for (size_t i = 0; i < json_array_size(points); i++) {
            const json_t *point = json_array_get(points, i);
            double y = study_number(point, view->key) * view->scale;
            struct xy_point *q = xy_add(
                c, is_one ? (double)v + 1 : study_number(point, "value"), y);

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
        struct xy_point *q;

        c->y.kind = is_rate ? TICK_RATE : TICK_COUNT;
        xy_add_series(c, variant_keys[v], study_text(variant, "name"),
                      variant_colours[v % 8], NULL)
            ->mark = is_bracket ? MARK_RING : MARK_DOT;
        q = xy_add(
            c, (double)v + 1,
            study_number(capacity, is_rate ? "capacity_rps" : "capacity"));
        q->mark = is_bracket ? MARK_RING : MARK_DOT;
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

bool study_put_scaling(struct page *p, const struct json_t *json,
                       struct svg *alone)
{
    bool is_drawn = put_speedup(p, json, alone);

    if (alone)
        return is_drawn;
    is_drawn |= put_efficiency(p, json);
    is_drawn |= put_cost(p, json_object_get(json, "points"));
    is_drawn |= put_quality(p, json);
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
