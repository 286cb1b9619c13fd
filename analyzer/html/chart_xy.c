#include "analyzer/html/chart_xy.h"

#include <math.h>
#include <stdio.h>
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
    c->limit = c->band_low = c->band_high = c->at = NAN;
    c->height = 190;
    return c;
}

struct xy_series *xy_add_series(struct xy_chart *c, const char *key,
                                const char *name, const char *colour,
                                const char *line)
{
    struct xy_series *s =
        &c->series[c->n_series < XY_SERIES ? c->n_series++ : XY_SERIES - 1];

    *s = (struct xy_series){.key = key,
                            .name = name,
                            .colour = colour,
                            .line = line,
                            .has_marks = true,
                            .from = c->n};
    return s;
}

struct xy_point *xy_add(struct xy_chart *c, double x, double y)
{
    struct xy_series *s = &c->series[c->n_series - 1];
    struct xy_point *p = &c->points[c->n < XY_POINTS ? c->n++ : XY_POINTS - 1];

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
    if (a->is_log && !(low > 0))
        a->is_log = false;
    if (a->is_log) {
        a->low = low / 1.25;
        a->high = fmax(high, low * 1.3) * 1.25;
        return;
    }
    a->low = fmin(0, low);
    a->high = high > a->low ? high * 1.12 : a->low + 1;
}

bool xy_fit(struct xy_chart *c)
{
    double x[2] = {INFINITY, -INFINITY};
    double y[2] = {INFINITY, -INFINITY};
    double y_above_0 = INFINITY;
    bool has_points = false;

    for (size_t i = 0; i < c->n; i++) {
        const struct xy_point *p = &c->points[i];

        include(&x[0], &x[1], p->x);
        include(&y[0], &y[1], p->y);
        include(&y[0], &y[1], p->high);
        if (!c->y.is_log || p->low > 0)
            include(&y[0], &y[1], p->low);
        if (p->y > 0)
            y_above_0 = fmin(y_above_0, p->y);
        has_points |= isfinite(p->x) && !isnan(p->y);
    }
    if (!has_points)
        return false;
    include(&y[0], &y[1], c->limit);
    include(&x[0], &x[1], c->band_high);
    if (isinf(y[0]))
        y[0] = y[1] = 1; /* everything failed */
    if (c->y.is_log && !(y[0] > 0) && isfinite(y_above_0))
        y[0] = y_above_0 / 3; /* zeros are at the bottom */
    set_ends(&c->x, x[0], x[1]);
    set_ends(&c->y, y[0], y[1]);
    if (c->y.kind == TICK_SHARE)
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

static double y_of(const struct plot *p, double value)
{
    return isinf(value) ? 0 : plot_y(p, value);
}

static void draw_line(struct plot *p, const struct xy_chart *c,
                      const struct xy_series *s)
{
    bool is_down = false;

    plot_path_begin(p, s->line, s->key);
    for (size_t i = s->from; i < s->from + s->n; i++) {
        const struct xy_point *q = &c->points[i];

        if (isnan(q->y) || isnan(q->x))
            continue;
        (is_down ? plot_line : plot_move)(p, plot_x(p, q->x), y_of(p, q->y));
        is_down = true;
    }
    plot_path_end(p);
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
        char classes[32];

        if (isnan(q->y) || isnan(q->x))
            continue;
        snprintf(classes, sizeof(classes), "s-%s w2", q->colour);
        if (isfinite(q->low) || isfinite(q->high))
            svg_line(svg, x, y_of(p, isfinite(q->low) ? q->low : p->y.low), x,
                     y_of(p, isfinite(q->high) ? q->high : INFINITY), classes);
        svg_mark(svg, q->mark, x, y_of(p, q->y), q->colour,
                 q->tip[0] ? q->tip : NULL);
    }
    if (!svg->is_alone)
        buf_adds(svg->out, "</g>");
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
        svg_text(p->svg, (struct spot){x, 0, -7}, "middle", "lab", "%s",
                 c->at_text);
    }
}

/* A tick at each value of x, unless they come too close. */
static void draw_whole_ticks(struct plot *p, const struct xy_chart *c)
{
    double last = -1;

    for (size_t i = 0; i < c->n; i++) {
        double x = axis_at(&p->x, c->points[i].x);
        char text[SHOW_TEXT];

        if (c->points[i].x != floor(c->points[i].x) || x < last + 0.03)
            continue;
        last = x;
        svg_line(p->svg, x, 0, x, p->height, "gr");
        svg_text(p->svg, (struct spot){x, 0, p->height + 18}, "middle", "ax",
                 "%s", axis_show(&p->x, c->points[i].x, text));
    }
    svg_text(p->svg, (struct spot){1, 0, p->height + 37}, "end", "axt", "%s →",
             c->x_title);
}

void xy_draw(struct svg *s, const struct xy_chart *c)
{
    struct plot p = {.svg = s,
                     .name = c->name,
                     .label = c->caption,
                     .x = c->x,
                     .y = c->y,
                     .top = 28,
                     .bottom = 46,
                     .height = c->height,
                     .x_title = c->x_is_whole ? NULL : c->x_title,
                     .y_title = c->y_title,
                     .has_own_x = c->x_is_whole};
    double legend = 0;

    if (s->is_alone && c->n_series > 1)
        p.top += 20;
    plot_begin(&p);
    for (size_t i = 0; c->n_series > 1 && i < c->n_series; i++)
        plot_legend(&p, -28, &legend, c->series[i].colour, c->series[i].name);
    if (c->x_is_whole)
        draw_whole_ticks(&p, c);
    draw_ground(&p, c);
    plot_layer_begin(&p);
    for (size_t i = 0; i < c->n_series; i++) {
        if (c->series[i].line)
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

        page_legend(p, s->key,
                    s->has_marks                         ? SWATCH_MARK
                    : s->line && strstr(s->line, "dash") ? SWATCH_DASH
                                                         : SWATCH_LINE,
                    s->colour, s->name, "");
    }
    page_legend_end(p);
    page_figure_plot(p);
    xy_draw(&p->svg, c);
    put_table(p, c);
    page_figure_end(p);
}
