/* Two sides against each other: the ratio of every quantity with its interval,
 * on one log axis. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/html/html_text.h"
#include "analyzer/html/page.h"
#include "analyzer/html/study_page.h"

#define ROW      42
#define MAX_ROWS 64

struct forest_row {
    const char *name;
    double ratio;
    double low;
    double high;
    const char *verdict;
    char values[96];
};

struct forest {
    struct forest_row rows[MAX_ROWS];
    size_t n;
    struct axis x;
};

static void fit(struct forest *f)
{
    double reach = log(1.1);

    for (size_t i = 0; i < f->n; i++) {
        const struct forest_row *r = &f->rows[i];
        const double ends[] = {r->ratio, r->low, r->high};

        for (int k = 0; k < 3; k++) {
            if (isfinite(ends[k]) && ends[k] > 0)
                reach = fmax(reach, fmin(fabs(log(ends[k])), log(20)));
        }
    }
    f->x =
        (struct axis){exp(-1.1 * reach), exp(1.1 * reach), true, TICK_FACTOR};
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
        char tip[256];

        snprintf(classes, sizeof(classes), "s-%s w2", colour);
        if (isfinite(r->low) && isfinite(r->high) && r->high > 0)
            svg_line(p->svg, axis_at(&p->x, r->low), y, axis_at(&p->x, r->high),
                     y, classes);
        snprintf(tip, sizeof(tip), "%s: %s|%s", r->name, r->verdict, r->values);
        if (isfinite(r->ratio) && r->ratio > 0)
            svg_mark(p->svg,
                     strcmp(colour, "late") == 0 ? MARK_DIAMOND : MARK_DOT,
                     axis_at(&p->x, r->ratio), y, colour, tip);
        svg_text(p->svg, (struct spot){0, 4, y - 14}, "start", "lab2 halo",
                 "%s", r->name);
    }
}

static void draw_forest(struct svg *s, const struct forest *f)
{
    struct plot p = {
        .svg = s,
        .name = "forest",
        .label = "B divided by A for each quantity, with intervals",
        .x = f->x,
        .y = {0, 1, false, TICK_COUNT},
        .top = 28,
        .bottom = 46,
        .height = (int)f->n * ROW,
        .x_title = "B divided by A",
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

    if (f->n == 0)
        return false;
    fit(f);
    if (alone) {
        draw_forest(alone, f);
        return true;
    }
    page_figure_begin(p, "", "forest", title, caption);
    page_put(p, "<p class=\"ramp\">Blue dot: better. Orange diamond: worse. "
                "Grey: no difference shown.</p>");
    page_figure_plot(p);
    draw_forest(&p->svg, f);
    page_table_begin(p, "quantity|B divided by A|interval from|to|verdict|"
                        "values");
    for (size_t i = 0; i < f->n; i++) {
        const struct forest_row *r = &f->rows[i];

        page_row(p);
        page_cell(p, r->name);
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

/* "12.5 to 13.1 ms" */
static void show_sides(char *out, size_t size, const json_t *row)
{
    const char *unit = study_text(row, "unit");
    double a = study_number(row, "a");
    double b = study_number(row, "b");
    char x[SHOW_TEXT];
    char y[SHOW_TEXT];

    if (isnan(a))
        a = study_number(row, "a_ms");
    if (isnan(b))
        b = study_number(row, "b_ms");
    snprintf(out, size, "A %s, B %s %s", show_number(a, x), show_number(b, y),
             unit);
}

bool study_put_compare(struct page *p, const struct json_t *json,
                       struct svg *alone)
{
    const json_t *findings = json_object_get(json, "findings");
    struct forest f = {.n = 0};
    bool is_drawn;

    for (size_t i = 0; i < json_array_size(findings) && f.n < MAX_ROWS; i++) {
        const json_t *row = json_array_get(findings, i);
        struct forest_row *r = &f.rows[f.n++];

        *r = (struct forest_row){
            .name = study_text(row, "quantity"),
            .ratio = study_number(row, "ratio"),
            .low = study_end(row, "ratio_interval", 0),
            .high = study_end(row, "ratio_interval", 1),
            .verdict = study_text(row, "verdict"),
        };
        show_sides(r->values, sizeof(r->values), row);
    }
    is_drawn = put_forest(p, &f, "B against A",
                          "The ratio of each quantity with its interval. A bar "
                          "that does not touch the line is a difference that "
                          "chance does not explain.",
                          alone);
    if (!alone)
        put_fairness(p, json);
    return is_drawn;
}

bool study_put_against(struct page *p, const struct json_t *json,
                       struct svg *alone)
{
    json_t *ratios = json_object_get(json, "ratios");
    struct forest f = {.n = 0};
    const char *key;
    json_t *row;

    json_object_foreach(ratios, key, row)
    {
        double ratio = study_number(row, "ratio");

        if (isnan(ratio) || f.n == MAX_ROWS)
            continue;
        f.rows[f.n++] = (struct forest_row){.name = key,
                                            .ratio = ratio,
                                            .low = NAN,
                                            .high = NAN,
                                            .verdict = ""};
    }
    return put_forest(p, &f, "Now against the baseline",
                      "The ratio of each quantity to that of the baseline; for "
                      "the time, how many times as fast.",
                      alone);
}
