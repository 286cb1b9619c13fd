/* Two sides against each other: the ratio of every quantity with its interval
 * on one log axis, percentiles of both, and their differences.  Also the
 * capacities of searches, a history, and a baseline. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/html/chart/chart_xy.h"
#include "analyzer/html/html_text.h"
#include "analyzer/html/page.h"
#include "analyzer/html/study_page.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/spec/slo.h"

#define ROW      42
#define MAX_ROWS 80
#define NAMES    96

/* ---- names ---- */

/* The value of what was varied, or the name that the report gives the side. */
void study_side_name(const struct json_t *json, unsigned side, char *out,
                     size_t size)
{
    const json_t *vary = json_object_get(json, "vary");
    const json_t *of = json_array_get(json_object_get(json, "sides"), side);
    const char *value = json_string_value(
        json_array_get(json_object_get(vary, "values"), side));
    const char *label = study_text(of, "label");

    if (!json_is_true(json_object_get(vary, "differs")) || !value || !value[0])
        value = label[0] ? label : study_text(of, "dir");
    snprintf(out, size, "%.60s",
             value[0]    ? value
             : side == 0 ? "the first"
                         : "the second");
}

/* "Time to first token, p95" */
const char *study_quantity_title(const char *quantity, char *out, size_t size)
{
    static const struct {
        const char *name;
        const char *title;
    } plain[] = {
        {"completed", "Completed"},
        {"throughput", "Requests finished in the window"},
        {"goodput", "Goodput"},
        {"tokens", "Output tokens"},
        {"attainment", "Attainment"},
        {"quality", "Quality"},
        {"errors", "Errors"},
        {"cost", "Cost"},
        {"time_s", "Speed"},
        {"throughput_rps", "Requests finished in the window"},
        {"peak_memory_bytes", "Peak memory"},
    };
    char text[NAMES + 8];
    struct slo_term term;

    snprintf(out, size, "%s", quantity);
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
        if (strcmp(plain[i].name, quantity) == 0)
            snprintf(out, size, "%s", plain[i].title);
    }
    snprintf(text, sizeof(text), "%.*s < 1s", NAMES, quantity);
    if (strstr(quantity, " p") &&
        slo_parse_term(text, &term, &(struct err){0}) == 0 &&
        term.kind == SLO_QUANTILE)
        snprintf(out, size, "%s, p%.6g", measure_title(term.measure),
                 100 * term.quantile);
    return out;
}

/* ---- the forest of ratios ---- */

struct forest_row {
    char name[NAMES];
    double ratio;
    double low;
    double high;
    const char *verdict;
    char change[SHOW_TEXT]; /* "37% lower" */
    char values[3 * NAMES];
};

struct forest {
    struct forest_row rows[MAX_ROWS];
    size_t n;
    struct axis x;
    char label[3 * NAMES]; /* of the axis */
};

/* false: no row has a ratio. */
static bool fit(struct forest *f)
{
    double reach = log(1.1);
    bool is_known = false;

    for (size_t i = 0; i < f->n; i++) {
        const struct forest_row *r = &f->rows[i];
        const double ends[] = {r->ratio, r->low, r->high};

        is_known |= isfinite(r->ratio);
        for (int k = 0; k < 3; k++) {
            if (isfinite(ends[k]) && ends[k] > 0)
                reach = fmax(reach, fmin(fabs(log(ends[k])), log(20)));
        }
    }
    f->x = (struct axis){.low = exp(-1.1 * reach),
                         .high = exp(1.1 * reach),
                         .is_log = true,
                         .kind = TICK_FACTOR};
    return is_known;
}

static const char *colour_of(const struct forest_row *r)
{
    return strcmp(r->verdict, "better") == 0  ? "good"
           : strcmp(r->verdict, "worse") == 0 ? "late"
                                              : "unsent";
}

static void draw_rows(struct plot *p, const struct forest *f)
{
    double same = axis_at(&p->x, 1);

    svg_line(p->svg, same, 0, same, p->height, "s-ink w2");
    svg_text(p->svg, (struct spot){same, 0, -9}, "middle", "lab", "same");
    for (size_t i = 0; i < f->n; i++) {
        const struct forest_row *r = &f->rows[i];
        double y = ((double)i + 0.7) * ROW; /* below its name */
        const char *colour = colour_of(r);
        char classes[32];
        char tip[512];

        snprintf(classes, sizeof(classes), "s-%s iv", colour);
        if (isfinite(r->low) && isfinite(r->high) && r->high > 0)
            svg_line(p->svg, axis_at(&p->x, r->low), y, axis_at(&p->x, r->high),
                     y, classes);
        snprintf(tip, sizeof(tip), "%s: %s%s%s|%s", r->name, r->change,
                 r->verdict[0] ? ", " : "", r->verdict, r->values);
        if (isfinite(r->ratio) && r->ratio > 0)
            svg_mark(p->svg,
                     strcmp(colour, "late") == 0   ? MARK_DIAMOND
                     : strcmp(colour, "good") == 0 ? MARK_DOT
                                                   : MARK_CIRCLE,
                     axis_at(&p->x, r->ratio), y, colour, tip);
        svg_text(p->svg, (struct spot){0, 4, y - 14}, "start", "lab2 halo",
                 "%s", r->name);
        svg_text(p->svg, (struct spot){1, -4, y - 14}, "end", "lab2 halo", "%s",
                 r->change);
    }
}

static void draw_forest(struct svg *s, const struct forest *f)
{
    struct plot p = {
        .svg = s,
        .name = "forest",
        .label = f->label,
        .x = f->x,
        .y = {.high = 1},
        .top = 28,
        .bottom = 46,
        .height = (int)f->n * ROW,
        .x_title = f->label,
        .has_own_y = true,
    };

    plot_begin(&p);
    draw_rows(&p, f);
    plot_end(&p);
}

static bool put_forest(struct page *p, struct forest *f, const char *title,
                       const char *caption, struct svg *alone)
{
    char text[SHOW_TEXT];

    if (!fit(f))
        return false;
    if (alone) {
        draw_forest(alone, f);
        return true;
    }
    page_figure_begin(p, "", "forest", title, caption);
    page_put(p, "<p class=\"ramp\">Blue dot: better. Orange diamond: worse. "
                "Grey circle: no difference shown.</p>");
    page_figure_plot(p);
    draw_forest(&p->svg, f);
    page_table_begin(p, "quantity|change|ratio|interval from|to|verdict|"
                        "values");
    for (size_t i = 0; i < f->n; i++) {
        const struct forest_row *r = &f->rows[i];

        page_row(p);
        page_cell(p, r->name);
        page_cell(p, r->change);
        page_cell(p, show_number(r->ratio, text));
        page_cell(p, show_number(r->low, text));
        page_cell(p, show_number(r->high, text));
        page_cell(p, r->verdict);
        page_cell(p, r->values);
    }
    page_table_end(p);
    page_figure_end(p);
    return true;
}

static const char *show_in(double value, const char *unit, char *out)
{
    char text[SHOW_TEXT];

    if (strcmp(unit, "ms") == 0)
        return show_ns(1e6 * value, out);
    if (strcmp(unit, "share") == 0)
        return show_share(value, out);
    snprintf(out, SHOW_TEXT, "%s%s", show_number(value, text),
             strcmp(unit, "rps") == 0 ? "/s" : "");
    if (strcmp(unit, "tokens/s") == 0)
        snprintf(out, SHOW_TEXT, "%s tokens/s", show_number(value, text));
    return out;
}

/* "small-batch 12.5 ms, large-batch 13.1 ms" */
static void show_sides(char *out, size_t size, const json_t *json,
                       const json_t *row)
{
    const char *unit = study_text(row, "unit");
    double a = study_number(row, "a");
    double b = study_number(row, "b");
    char x[SHOW_TEXT];
    char y[SHOW_TEXT];
    char first[NAMES];
    char second[NAMES];

    study_side_name(json, 0, first, sizeof(first));
    study_side_name(json, 1, second, sizeof(second));
    snprintf(out, size, "%s %s, %s %s", first,
             isnan(a) ? "–" : show_in(a, unit, x), second,
             isnan(b) ? "–" : show_in(b, unit, y));
}

/* ---- percentiles of both sides ---- */

static bool is_of(const json_t *row, const char *measure)
{
    return strcmp(study_text(row, "measure"), measure) == 0;
}

static bool has_measure(const json_t *list, const char *measure)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (is_of(json_array_get(list, i), measure))
            return true;
    }
    return false;
}

/* What intervals and values are over. */
static const char *over_words(const json_t *json)
{
    static const struct {
        const char *basis;
        const char *words;
    } of[] = {
        {"pairs", " Over pairs of trials that took turns."},
        {"trials", " Over the trials of each side."},
        {"blocks", " Each side is one run: the intervals are over blocks of "
                   "its time, and differences between starts of the server do "
                   "not show."},
    };

    for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
        if (strcmp(study_text(json, "over"), of[i].basis) == 0)
            return of[i].words;
    }
    return "";
}

static bool put_both(struct page *p, const json_t *json, const char *measure,
                     const char *name, const char *title)
{
    static const char *const keys[] = {"a_ms", "b_ms"};
    static const char *const series[] = {"a", "b"};
    static const char *const colours[] = {"ink3", "good"};
    static const char *const lines[] = {"ln dash s-ink3", "ln s-good"};
    const json_t *list = json_object_get(json, "quantiles");
    char names[2][NAMES];
    struct xy_chart *c;
    char caption[384];

    snprintf(caption, sizeof(caption),
             "Percentiles of both sides: how long the fastest part of the "
             "requests took, up to the slowest on the right. Dashed: the "
             "first, solid: the second.%s",
             over_words(json));
    c = xy_new(name, title, caption);
    c->y = (struct axis){.is_log = true, .kind = TICK_NS};
    c->x_title = "percentile";
    c->x_is_percentile = true;
    for (unsigned k = 0; k < 2; k++) {
        study_side_name(json, k, names[k], sizeof(names[k]));
        xy_add_series(c, series[k], names[k], colours[k], lines[k])->has_marks =
            false;
        for (size_t i = 0; i < json_array_size(list); i++) {
            const json_t *row = json_array_get(list, i);
            double ms = study_number(row, keys[k]);
            struct xy_point *q;

            if (!is_of(row, measure) || !(ms > 0))
                continue;
            q = xy_add(c, xy_percentile(study_number(row, "p")), 1e6 * ms);
            snprintf(q->tip, sizeof(q->tip), "p%.6g", study_number(row, "p"));
        }
    }
    return xy_finish(p, c, NULL);
}

static bool put_differences(struct page *p, const json_t *json,
                            const char *measure, const char *name)
{
    const json_t *list = json_object_get(json, "quantiles");
    char names[2][NAMES];
    char title[3 * NAMES];
    char caption[384];
    struct xy_chart *c;
    char text[SHOW_TEXT];

    study_side_name(json, 0, names[0], sizeof(names[0]));
    study_side_name(json, 1, names[1], sizeof(names[1]));
    snprintf(title, sizeof(title), "%s minus %s", names[1], names[0]);
    snprintf(caption, sizeof(caption),
             "The difference at each percentile, with its 95%% interval. A bar "
             "that does not touch zero is a difference that chance does not "
             "explain.%s",
             over_words(json));
    c = xy_new(name, title, caption);
    c->y = (struct axis){.kind = TICK_NS};
    c->limit = 0;
    snprintf(c->limit_text, sizeof(c->limit_text), "no difference");
    c->x_title = "percentile";
    c->x_is_percentile = true;
    xy_add_series(c, "difference", "difference", "good", "ln thin s-ink3");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *row = json_array_get(list, i);
        double ms = study_number(row, "difference_ms");
        struct xy_point *q;

        if (!is_of(row, measure) || isnan(ms))
            continue;
        q = xy_add(c, xy_percentile(study_number(row, "p")), 1e6 * ms);
        q->low = 1e6 * study_end(row, "difference_interval_ms", 0);
        q->high = 1e6 * study_end(row, "difference_interval_ms", 1);
        if (q->low > 0) {
            q->colour = "late";
            q->mark = MARK_DIAMOND;
        } else if (!(q->high < 0)) {
            q->colour = "unsent";
            q->mark = MARK_CIRCLE;
        }
        snprintf(q->tip, sizeof(q->tip), "p%.6g: %s%s", study_number(row, "p"),
                 ms < 0 ? "" : "+", show_ns(q->y, text));
    }
    return xy_finish(p, c, NULL);
}

static void put_quantiles(struct page *p, const json_t *json)
{
    static const struct {
        const char *measure;
        const char *both;
        const char *difference;
        const char *title;
    } of[] = {{"ttft", "both-ttft", "diff-ttft", "Time to first token"},
              {"tpot", "both-tpot", "diff-tpot", "Time per output token"},
              {"e2e", "both-e2e", "diff-e2e", "Whole answer"}};
    const json_t *list = json_object_get(json, "quantiles");

    if (json_array_size(list) == 0)
        return;
    page_section_end(p);
    page_section_begin(p, "quantiles", "Where in the distribution they differ",
                       NULL, false);
    page_section_body(p);
    for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
        if (!has_measure(list, of[i].measure))
            continue;
        put_both(p, json, of[i].measure, of[i].both, of[i].title);
        put_differences(p, json, of[i].measure, of[i].difference);
    }
}

/* ---- is it fair? ---- */

static void put_fairness(struct page *p, const json_t *json)
{
    const json_t *checks =
        json_object_get(json_object_get(json, "fairness"), "checks");

    if (json_array_size(checks) == 0)
        return;
    page_put(p, "<div class=\"chart\"><div class=\"aside\"><h3>Is it fair?</h3>"
                "<p class=\"cap\">The ways in which such comparisons mislead, "
                "and whether this one does. They change no verdict.</p></div>"
                "<ul class=\"list\">");
    for (size_t i = 0; i < json_array_size(checks); i++) {
        const json_t *check = json_array_get(checks, i);
        const char *answer = study_text(check, "answer");
        bool is_passed = strcmp(answer, "passed") == 0;
        bool is_failed = strcmp(answer, "failed") == 0;

        page_putf(p, "<li><span class=\"i-%s\">",
                  is_passed   ? "pass"
                  : is_failed ? "fail"
                              : "note");
        page_icon(p,
                  is_passed   ? ICON_OK
                  : is_failed ? ICON_BAD
                              : ICON_NOTE,
                  "");
        page_put(p, "</span><span>");
        page_text(p, study_text(check, "name"));
        page_put(p, "</span><span class=\"d\">");
        page_text(p, study_text(check, "says"));
        if (!is_passed && study_text(check, "mend")[0]) {
            page_put(p, ". To fix it: ");
            page_text(p, study_text(check, "mend"));
        }
        page_put(p, "</span></li>\n");
    }
    page_put(p, "</ul></div>\n");
}

/* Conditions that differ although nothing says that they should. */
static void put_mismatches(struct page *p, const json_t *json)
{
    const json_t *all = json_object_get(json, "differences");
    bool is_open = false;

    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *d = json_array_get(all, i);

        if (strcmp(study_text(d, "kind"), "must match") != 0 ||
            json_is_true(json_object_get(d, "declared")))
            continue;
        if (!is_open)
            page_put(p, "<div class=\"chart\"><div class=\"aside\"><h3>What "
                        "must match, and does not</h3><p class=\"cap\">A "
                        "comparison needs one difference, the one that is "
                        "declared.</p></div><ul class=\"list\">");
        is_open = true;
        page_put(p, "<li><span class=\"i-fail\">");
        page_icon(p, ICON_BAD, "");
        page_put(p, "</span><span>");
        page_text(p, study_text(d, "key"));
        page_put(p, "</span><span class=\"d\">");
        page_textf(p, "%s against %s: %s", study_text(d, "a"),
                   study_text(d, "b"), study_text(d, "why"));
        page_put(p, "</span></li>\n");
    }
    if (is_open)
        page_put(p, "</ul></div>\n");
}

bool study_put_compare(struct page *p, const struct json_t *json,
                       struct svg *alone)
{
    const json_t *findings = json_object_get(json, "findings");
    struct forest *f = xcalloc(1, sizeof(*f));
    char names[2][NAMES];
    char caption[384];
    bool is_drawn;

    for (size_t i = 0; i < json_array_size(findings) && f->n < MAX_ROWS; i++) {
        const json_t *row = json_array_get(findings, i);
        struct forest_row *r = &f->rows[f->n];

        *r = (struct forest_row){
            .ratio = study_number(row, "ratio"),
            .low = study_end(row, "ratio_interval", 0),
            .high = study_end(row, "ratio_interval", 1),
            .verdict = study_text(row, "verdict"),
        };
        if (isnan(r->ratio) && !json_is_true(json_object_get(row, "asked")))
            continue;
        f->n++;
        study_quantity_title(study_text(row, "quantity"), r->name,
                             sizeof(r->name));
        show_change(r->ratio,
                    &(struct change_words){"lower", "higher", "times as high"},
                    r->change);
        show_sides(r->values, sizeof(r->values), json, row);
    }
    study_side_name(json, 0, names[0], sizeof(names[0]));
    study_side_name(json, 1, names[1], sizeof(names[1]));
    snprintf(f->label, sizeof(f->label), "%s divided by %s", names[1],
             names[0]);
    snprintf(caption, sizeof(caption),
             "The ratio of each quantity with its interval. A bar that does "
             "not touch the line is a difference that chance does not "
             "explain.%s",
             over_words(json));
    is_drawn = put_forest(p, f, f->label, caption, alone);
    free(f);
    if (alone)
        return is_drawn;
    put_mismatches(p, json);
    put_fairness(p, json);
    put_quantiles(p, json);
    return is_drawn || json_array_size(json_object_get(
                           json_object_get(json, "fairness"), "checks")) > 0;
}

/* ---- capacities of searches ---- */

bool study_put_capacities(struct page *p, const struct json_t *json,
                          struct svg *alone)
{
    const json_t *sides = json_object_get(json, "sides");
    struct xy_chart *c =
        xy_new("capacities", "Capacity",
               "The largest load that each server takes within its objective, "
               "with its 90% interval.");
    char text[SHOW_TEXT];

    c->x_title = "searches, in the order of the command";
    c->x_is_whole = true;
    c->y = (struct axis){.kind = TICK_RATE};
    xy_add_series(c, "capacity", "capacity", "good", NULL);
    for (size_t i = 0; i < json_array_size(sides); i++) {
        const json_t *side = json_array_get(sides, i);
        struct xy_point *q =
            xy_add(c, (double)i + 1, study_number(side, "capacity"));

        q->low = study_end(side, "capacity_ci90", 0);
        q->high = study_end(side, "capacity_ci90", 1);
        if (json_is_true(json_object_get(side, "is_bracket")))
            q->mark = MARK_RING;
        snprintf(q->tip, sizeof(q->tip), "%.80s: %s|%.60s",
                 study_text(side, "dir"), xy_show(&c->y, q->y, text),
                 study_text(side, "verdict"));
    }
    return xy_finish(p, c, alone);
}

/* ---- a history ---- */

bool study_put_history(struct page *p, const struct json_t *json,
                       struct svg *alone)
{
    const json_t *points = json_object_get(json, "points");
    const json_t *segments = json_object_get(json, "segments");
    const char *unit = study_text(json, "unit");
    double scale = strcmp(unit, "ms") == 0 ? 1e6 : 1;
    char title[NAMES];
    struct xy_chart *c;
    size_t used = 0;
    char text[SHOW_TEXT];

    c = xy_new("history",
               study_quantity_title(study_text(json, "quantity"), title,
                                    sizeof(title)),
               "Every recording in order of time. The line is the median of "
               "each stretch without a change.");
    c->x_title = "recordings, in order of time";
    c->x_is_whole = true;
    c->y = (struct axis){.kind = strcmp(unit, "ms") == 0      ? TICK_NS
                                 : strcmp(unit, "share") == 0 ? TICK_SHARE
                                                              : TICK_RATE};
    xy_add_series(c, "each", "recording", "good", NULL);
    for (size_t i = 0; i < json_array_size(points); i++) {
        const json_t *point = json_array_get(points, i);
        struct xy_point *q;

        if (!json_is_true(json_object_get(point, "used")))
            continue;
        q = xy_add(c, (double)++used, scale * study_number(point, "value"));
        snprintf(q->tip, sizeof(q->tip), "%.100s|%s", study_text(point, "dir"),
                 xy_show(&c->y, q->y, text));
    }
    xy_add_series(c, "median", "median", "ink", "ln thin dash s-ink")
        ->has_marks = false;
    for (size_t i = 0; i < json_array_size(segments); i++) {
        const json_t *s = json_array_get(segments, i);
        double first = study_number(s, "first");
        double median = scale * study_number(s, "median");

        xy_add(c, first + 0.5, median);
        xy_add(c, first + study_number(s, "n") + 0.5, median);
    }
    return xy_finish(p, c, alone);
}

/* ---- a baseline ---- */

bool study_put_against(struct page *p, const struct json_t *json,
                       struct svg *alone)
{
    json_t *ratios = json_object_get(json, "ratios");
    struct forest *f = xcalloc(1, sizeof(*f));
    bool is_drawn;
    const char *key;
    json_t *row;
    char a[SHOW_TEXT];
    char b[SHOW_TEXT];

    json_object_foreach(ratios, key, row)
    {
        struct forest_row *r = &f->rows[f->n];

        if (f->n == MAX_ROWS)
            break;
        *r = (struct forest_row){.ratio = study_number(row, "ratio"),
                                 .low = study_end(row, "ratio_ci95", 0),
                                 .high = study_end(row, "ratio_ci95", 1),
                                 .verdict = ""};
        if (isnan(r->ratio))
            continue;
        f->n++;
        study_quantity_title(key, r->name, sizeof(r->name));
        snprintf(r->change, sizeof(r->change), "%.3g times", r->ratio);
        snprintf(r->values, sizeof(r->values), "now %s, baseline %s",
                 show_number(study_number(row, "now"), a),
                 show_number(study_number(row, "baseline"), b));
    }
    snprintf(f->label, sizeof(f->label), "now divided by the baseline");
    is_drawn = put_forest(p, f, "Now against the baseline",
                          "The ratio of each quantity to that of the baseline; "
                          "for speed, how many times as fast.",
                          alone);
    free(f);
    return is_drawn;
}
