#include "analyzer/html/chart/chart_xy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/html/html_text.h"
#include "common/base/xalloc.h"

struct xy_chart *xy_new(const char *name, const char *title,
                        const char *caption)
{
    struct xy_chart *c = xcalloc(1, sizeof(*c));

    c->name = name;
    c->title = title;
    c->caption = caption;
    c->limit = c->band_low = c->band_high = c->at = c->max_x = NAN;
    c->height = 190;
    return c;
}

void xy_free(struct xy_chart *c)
{
    free(c->points);
    free(c->series);
    free(c);
}

struct xy_series *xy_add_series(struct xy_chart *c, const char *key,
                                const char *name, const char *colour,
                                const char *line)
{
    struct xy_series *s;

    c->series = xrealloc(c->series, c->n_series + 1, sizeof(*c->series));
    s = &c->series[c->n_series++];
    *s = (struct xy_series){.key = key,
                            .name = name,
                            .colour = colour,
                            .has_marks = true,
                            .from = c->n};
    snprintf(s->line, sizeof(s->line), "%s", line ? line : "");
    return s;
}

struct xy_point *xy_add(struct xy_chart *c, double x, double y)
{
    struct xy_series *s = &c->series[c->n_series - 1];
    struct xy_point *p;

    if ((c->n & (c->n - 1)) == 0) /* full: 0, 1, 2, 4, 8, ... */
        c->points =
            xrealloc(c->points, c->n > 0 ? 2 * c->n : 1, sizeof(*c->points));
    p = &c->points[c->n++];
    *p = (struct xy_point){.x = x,
                           .y = y,
                           .low = NAN,
                           .high = NAN,
                           .mark = MARK_DOT,
                           .colour = s->colour};
    s->n = c->n - s->from;
    return p;
}

/* ---- axes ---- */

double xy_percentile(double p)
{
    return -log10(1 - p / 100);
}

static void include(double *low, double *high, double value)
{
    if (!isfinite(value))
        return;
    *low = fmin(*low, value);
    *high = fmax(*high, value);
}

/* From 0, or on a log axis from a little below the smallest value. */
static void set_ends(struct axis *a, double low, double high)
{
    if (a->is_odds) {
        a->low = fmin(fmax(low, 1e-4), 0.005) / 1.5;
        a->high = fmax(fmin(high, 0.995), 0.9);
        return;
    }
    if (a->is_log && !(low > 0))
        a->is_log = false;
    if (a->is_log) {
        a->low = low / 1.25;
        a->high = fmax(high, low * 1.3) * 1.25;
        return;
    }
    a->low = fmin(0, low < 0 ? low * 1.12 : low);
    a->high = high > a->low ? fmax(high * 1.12, 0) : a->low + 1;
}

/* The ends of y.  0 has a lane of its own where the axis does not reach it. */
static void include_y(struct xy_chart *c, double y[static 2], double value)
{
    if ((c->y.is_log || c->y.is_odds) && !(value > 0))
        return;
    include(&y[0], &y[1], value);
}

static void drop_empty_series(struct xy_chart *c)
{
    size_t kept = 0;

    for (size_t i = 0; i < c->n_series; i++) {
        if (c->series[i].n > 0)
            c->series[kept++] = c->series[i];
    }
    c->n_series = kept;
}

bool xy_fit(struct xy_chart *c)
{
    double x[2] = {INFINITY, -INFINITY};
    double y[2] = {INFINITY, -INFINITY};
    bool has_points = false;

    for (size_t i = 0; i < c->n; i++) {
        const struct xy_point *p = &c->points[i];

        include(&x[0], &x[1], p->x > c->max_x ? c->max_x : p->x);
        include_y(c, y, p->y);
        if (!c->y.is_odds) { /* it ends where the shares do */
            include_y(c, y, p->high);
            include_y(c, y, p->low);
        }
        has_points |= isfinite(p->x) && !isnan(p->y);
        c->has_failed |= isinf(p->y) && p->y > 0;
        c->has_none |= (c->y.is_log || c->y.is_odds) && p->y == 0;
    }
    if (!has_points)
        return false;
    drop_empty_series(c);
    include(&y[0], &y[1], c->limit);
    include(&x[0], &x[1], c->band_high);
    if (isinf(y[0]))
        y[0] = y[1] = 1; /* everything failed, or nothing is above 0 */
    set_ends(&c->x, x[0], x[1]);
    if (x[1] >= c->max_x)
        c->x.high = x[1];
    set_ends(&c->y, y[0], y[1]);
    if (c->y.kind == TICK_SHARE && !c->y.is_odds)
        c->y.high = fmin(c->y.high, fmax(1, y[1]) * 1.05);
    return true;
}

const char *xy_show(const struct axis *a, double value, char *out)
{
    char text[SHOW_TEXT];

    if (isinf(value))
        snprintf(out, SHOW_TEXT, "failed");
    else if (isnan(value))
        snprintf(out, SHOW_TEXT, "–");
    else if (a->kind == TICK_NS)
        show_ns(value, out);
    else if (a->kind == TICK_SHARE)
        show_share(value, out);
    else if (a->kind == TICK_USD)
        snprintf(out, SHOW_TEXT, "$%s", show_number(value, text));
    else if (a->kind == TICK_COUNT && value == floor(value))
        show_count((int64_t)value, out);
    else
        snprintf(out, SHOW_TEXT, "%s%s", show_number(value, text),
                 a->kind == TICK_RATE     ? "/s"
                 : a->kind == TICK_FACTOR ? "×"
                                          : "");
    return out;
}

/* ---- drawing ---- */

#define LANE 15 /* distance of a lane from the plot, in pixels */

/* What failed is in the lane on top, 0 in the one below. */
static double y_of(const struct plot *p, double value)
{
    return isinf(value) && value > 0                       ? -LANE
           : (p->y.is_log || p->y.is_odds) && !(value > 0) ? p->height + LANE
                                                           : plot_y(p, value);
}

static void draw_line(struct plot *p, const struct xy_chart *c,
                      const struct xy_series *s)
{
    bool is_down = false;

    plot_path_begin(p, s->line, s->key);
    for (size_t i = s->from; i < s->from + s->n; i++) {
        const struct xy_point *q = &c->points[i];

        if (isnan(q->y) || isnan(q->x) ||
            (p->y.is_odds && (q->y < p->y.low || q->y > p->y.high)))
            continue;
        (is_down ? plot_line : plot_move)(
            p, plot_x(p, q->x), fmin(p->height, fmax(0, y_of(p, q->y))));
        is_down = true;
    }
    plot_path_end(p);
}

static void draw_area(struct plot *p, const struct xy_chart *c,
                      const struct xy_series *s)
{
    bool is_down = false;

    plot_path_begin(p, s->area, s->key);
    for (size_t i = 0; i < 2 * s->n; i++) { /* there and back */
        const struct xy_point *q =
            &c->points[s->from + (i < s->n ? i : 2 * s->n - 1 - i)];

        if (q->high < p->y.low || q->low > p->y.high)
            continue;
        (is_down ? plot_line : plot_move)(
            p, plot_x(p, q->x), plot_y(p, i < s->n ? q->low : q->high));
        is_down = true;
    }
    plot_path_end(p);
}

static void draw_interval(struct plot *p, const struct xy_point *q, double x)
{
    double from = isfinite(q->low) ? plot_y(p, q->low) : p->height;
    double to = isfinite(q->high) ? plot_y(p, q->high) : 0;
    char classes[32];

    snprintf(classes, sizeof(classes), "s-%s iv", q->colour);
    if (isfinite(q->low) || isfinite(q->high))
        svg_line(p->svg, x, from, x, to, classes);
}

static void draw_marks(struct plot *p, const struct xy_chart *c,
                       const struct xy_series *s)
{
    struct svg *svg = p->svg;

    if (!svg->is_alone)
        buf_addf(svg->out, "<g data-s=\"%s\">", s->key);
    for (size_t i = s->from; i < s->from + s->n; i++) {
        const struct xy_point *q = &c->points[i];
        double x = axis_at(&p->x, q->x);
        char text[SHOW_TEXT];

        if (isnan(q->y) || isnan(q->x))
            continue;
        draw_interval(p, q, x);
        svg_mark(svg, q->mark, x, y_of(p, q->y), q->colour,
                 q->tip[0] ? q->tip : NULL);
        if (q->x > c->max_x) { /* above its lane, where there are others */
            bool is_above = isinf(q->y);
            double y = y_of(p, q->y) + (is_above ? -13 : 4);

            svg_text(svg, (struct spot){x, is_above ? 6 : -12, y}, "end",
                     "ax halo spare", "%s →", xy_show(&c->x, q->x, text));
        }
    }
    if (!svg->is_alone)
        buf_adds(svg->out, "</g>");
}

static void draw_lanes(struct plot *p, const struct xy_chart *c)
{
    if (c->has_failed) {
        svg_line(p->svg, 0, 0, 1, 0, "bl");
        svg_text(p->svg, (struct spot){0, -9, 4 - LANE}, "end", "ax", "failed");
    }
    if (c->has_none)
        svg_text(p->svg, (struct spot){0, -9, p->height + LANE + 4}, "end",
                 "ax", "none");
}

static void draw_ground(struct plot *p, const struct xy_chart *c)
{
    double y = isnan(c->limit) ? 0 : plot_y(p, c->limit);

    if (c->shades_above && !isnan(c->limit))
        svg_rect(p->svg, 0, 0, 1, y, "beyond");
    if (c->shades_below && !isnan(c->limit))
        svg_rect(p->svg, 0, y, 1, p->height - y, "beyond");
    if (isfinite(c->band_low) && isfinite(c->band_high)) {
        double a = axis_at(&p->x, c->band_low);

        svg_rect(p->svg, a, 0, axis_at(&p->x, c->band_high) - a, p->height,
                 "band");
    }
    if (isfinite(c->at)) {
        double x = axis_at(&p->x, c->at);

        svg_line(p->svg, x, 0, x, p->height, "s-good w2");
        svg_text(p->svg, (struct spot){x, 0, c->has_failed ? -28 : -7},
                 x > 0.85 ? "end" : "middle", "lab", "%s", c->at_text);
    }
}

static bool has_x(const struct xy_chart *c, double x)
{
    for (size_t i = 0; i < c->n; i++) {
        if (c->points[i].x == x)
            return true;
    }
    return false;
}

/* A tick at each whole value of x, unless they come too close. */
static void draw_whole_ticks(struct plot *p, const struct xy_chart *c)
{
    double last = -1;
    size_t n = 0;

    for (long i = (long)ceil(p->x.low); i <= (long)floor(p->x.high); i++) {
        double value = (double)i;
        double x = axis_at(&p->x, value);
        char text[SHOW_TEXT];

        if (!has_x(c, value) || (last >= 0 && x < last + 0.035))
            continue;
        last = x;
        svg_line(p->svg, x, 0, x, p->height, "gr");
        /* Phones show every other label if there are many. */
        svg_text(p->svg, (struct spot){x, 0, p->height + p->below + 18},
                 "middle",
                 n++ % 2 && p->x.high - p->x.low > 8 ? "ax spare" : "ax", "%s",
                 axis_show(&p->x, value, text));
    }
    svg_text(p->svg, (struct spot){1, 0, p->height + p->below + 37}, "end",
             "axt", "%s →", c->x_title);
}

static void draw_percentile_ticks(struct plot *p, const struct xy_chart *c)
{
    static const double named[] = {10, 50, 80, 90, 95, 98, 99, 99.9};
    double last = -1;

    for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
        double x = axis_at(&p->x, xy_percentile(named[i]));

        if (xy_percentile(named[i]) > p->x.high || x < last + 0.06)
            continue;
        last = x;
        svg_line(p->svg, x, 0, x, p->height, "gr");
        svg_text(p->svg, (struct spot){x, 0, p->height + p->below + 18},
                 "middle", i % 2 ? "ax" : "ax spare", "p%.6g", named[i]);
    }
    svg_text(p->svg, (struct spot){1, 0, p->height + p->below + 37}, "end",
             "axt", "%s →", c->x_title);
}

static struct legend_entry *legend_of(const struct xy_chart *c)
{
    struct legend_entry *legend = xcalloc(c->n_series + 1, sizeof(*legend));

    for (size_t i = 0; i < c->n_series; i++) {
        const struct xy_series *s = &c->series[i];

        legend[i] = (struct legend_entry){.name = s->name,
                                          .colour = s->colour,
                                          .has_mark = s->has_marks,
                                          .mark = s->mark};
        snprintf(legend[i].line, sizeof(legend[i].line), "%s", s->line);
    }
    return legend;
}

void xy_draw(struct svg *s, const struct xy_chart *c)
{
    bool has_own_x = c->x_is_whole || c->x_is_percentile;
    struct plot p = {.svg = s,
                     .name = c->name,
                     .label = c->caption,
                     .x = c->x,
                     .y = c->y,
                     .top = c->has_failed ? 46 : 28,
                     .bottom = c->has_none ? 70 : 46,
                     .below = c->has_none ? 24 : 0,
                     .height = c->height,
                     .x_title = has_own_x ? NULL : c->x_title,
                     .y_title = c->y_title,
                     .y_title_up = c->has_failed ? LANE + 4 : 0,
                     .has_own_x = has_own_x};
    /* One series needs no legend. */
    size_t n_legend = c->n_series > 1 ? c->n_series : 0;
    struct legend_entry *legend = legend_of(c);

    if (s->is_alone && n_legend > 0)
        p.top += 6 + legend_height(s, legend, n_legend);
    plot_begin(&p);
    plot_legend(&p, c->has_failed ? -58 : -28, legend, n_legend);
    free(legend);
    if (c->x_is_whole)
        draw_whole_ticks(&p, c);
    if (c->x_is_percentile)
        draw_percentile_ticks(&p, c);
    draw_lanes(&p, c);
    draw_ground(&p, c);
    plot_layer_begin(&p);
    for (size_t i = 0; i < c->n_series; i++) {
        if (c->series[i].area)
            draw_area(&p, c, &c->series[i]);
        if (c->series[i].line[0])
            draw_line(&p, c, &c->series[i]);
    }
    plot_layer_end(&p);
    if (!isnan(c->limit))
        plot_limit(&p, c->limit, c->limit_text);
    for (size_t i = 0; i < c->n_series; i++) {
        if (c->series[i].has_marks)
            draw_marks(&p, c, &c->series[i]);
    }
    plot_end(&p);
}

/* ---- the figure ---- */

static void put_table(struct page *p, const struct xy_chart *c)
{
    char columns[256];
    char text[SHOW_TEXT];

    snprintf(columns, sizeof(columns), "series|%s|value|interval from|to|about",
             c->x_title ? c->x_title : "x");
    page_table_begin(p, columns);
    for (size_t i = 0; i < c->n_series; i++) {
        const struct xy_series *s = &c->series[i];

        if (s->area)
            continue; /* it is drawn from a formula */
        for (size_t k = s->from; k < s->from + s->n; k++) {
            const struct xy_point *q = &c->points[k];

            page_row(p);
            page_cell(p, s->name);
            page_cell(p, xy_show(&c->x, q->x, text));
            page_cell(p, xy_show(&c->y, q->y, text));
            page_cell(p, xy_show(&c->y, q->low, text));
            page_cell(p, xy_show(&c->y, q->high, text));
            page_cell(p, q->tip);
        }
    }
    page_table_end(p);
}

void xy_put(struct page *p, const struct xy_chart *c)
{
    page_figure_begin(p, "", c->name, c->title, c->caption);
    page_legend_begin(p, "");
    for (size_t i = 0; i < c->n_series; i++) {
        const struct xy_series *s = &c->series[i];

        if (s->has_marks)
            page_legend_mark(p, s->key, s->mark, s->colour, s->name);
        else
            page_legend(p, s->key,
                        s->area ? SWATCH_AREA
                        : strstr(s->line, "dash")
                            ? SWATCH_DASH /* also "dashdot" */
                        : strstr(s->line, "dots") ? SWATCH_DOTS
                                                  : SWATCH_LINE,
                        s->colour, s->name, "");
    }
    page_legend_end(p);
    page_figure_plot(p);
    xy_draw(&p->svg, c);
    put_table(p, c);
    page_figure_end(p);
}

bool xy_finish(struct page *p, struct xy_chart *c, struct svg *alone)
{
    bool is_drawn = xy_fit(c);

    if (is_drawn && alone)
        xy_draw(alone, c);
    else if (is_drawn)
        xy_put(p, c);
    xy_free(c);
    return is_drawn;
}
