#include "analyzer/html/chart/chart_time.h"

#include <math.h>
#include <stdio.h>

#include "analyzer/html/html_text.h"

const char *time_chart_show(const struct time_chart *c, double value, char *out)
{
    char text[SHOW_TEXT];

    if (value > 0 && isinf(value))
        snprintf(out, SHOW_TEXT, "failed");
    else if (isnan(value))
        snprintf(out, SHOW_TEXT, "–");
    else if (c->y.kind == TICK_NS)
        show_ns(value, out);
    else if (c->y.kind == TICK_SHARE)
        show_share(value, out);
    else
        snprintf(out, SHOW_TEXT, "%s%s", show_number(value, text),
                 c->y.kind == TICK_RATE ? "/s" : "");
    return out;
}

/* ---- drawing ---- */

/* A failed bin is at the top. */
static double y_of(const struct plot *p, double value)
{
    return isinf(value) ? 0 : plot_y(p, value);
}

static double bin_x(const struct plot *p, const struct time_chart *c, double k)
{
    return plot_x(p, fmin(k * c->step_s, c->end_s));
}

static void add_steps(struct plot *p, const struct time_chart *c,
                      const double *y)
{
    bool is_down = false;

    for (size_t k = 0; k < c->n; k++) {
        if (isnan(y[k])) {
            is_down = false;
            continue;
        }
        (is_down ? plot_line : plot_move)(p, bin_x(p, c, (double)k),
                                          y_of(p, y[k]));
        plot_line(p, bin_x(p, c, (double)k + 1), y_of(p, y[k]));
        is_down = true;
    }
}

static void add_line(struct plot *p, const struct time_chart *c,
                     const double *y)
{
    bool is_down = false;
    size_t n = 0;

    for (size_t k = 0; k < c->n; k++)
        n += isnan(y[k]) ? 0 : 1;
    if (n == 1) { /* a line needs two points */
        add_steps(p, c, y);
        return;
    }

    for (size_t k = 0; k < c->n; k++) {
        if (isnan(y[k]))
            continue;
        (is_down ? plot_line : plot_move)(p, bin_x(p, c, (double)k + 0.5),
                                          y_of(p, y[k]));
        is_down = true;
    }
}

/* Boxes between `low` and y; low NULL: from the bottom. */
static void add_boxes(struct plot *p, const struct time_chart *c,
                      const double *y, const double *low)
{
    for (size_t k = 0; k < c->n; k++) {
        double a = bin_x(p, c, (double)k);
        double b = bin_x(p, c, (double)k + 1);
        double top = y_of(p, y[k]);
        double bottom = low ? y_of(p, low[k]) : p->height;

        if (isnan(y[k]) || (low && isnan(low[k])) || bottom - top < 0.05)
            continue;
        plot_move(p, a, top);
        plot_line(p, b, top);
        plot_line(p, b, bottom);
        plot_line(p, a, bottom);
    }
}

static void draw_series(struct plot *p, const struct time_chart *c, size_t i,
                        int gradient)
{
    const struct time_series *s = &c->series[i];
    char classes[64];

    if (s->look == LOOK_AREA || s->look == LOOK_GAP) {
        snprintf(classes, sizeof(classes), "f-%s %s", s->colour,
                 s->look == LOOK_GAP ? "half" : "soft");
        plot_path_begin(p, classes, s->key);
        add_boxes(p, c, s->y, s->look == LOOK_GAP ? c->series[i + 1].y : NULL);
        plot_path_end(p);
        return;
    }
    snprintf(classes, sizeof(classes), "ln%s%s%s%s", s->is_thin ? " thin" : "",
             s->swatch == SWATCH_DASH ? " dash" : "", s->is_split ? "" : " s-",
             s->is_split ? "" : s->colour);
    if (s->is_split)
        plot_path_begin_split(p, classes, s->key, gradient);
    else
        plot_path_begin(p, classes, s->key);
    (s->look == LOOK_STEP ? add_steps : add_line)(p, c, s->y);
    plot_path_end(p);
}

void time_chart_draw(struct svg *s, const struct time_chart *c)
{
    struct plot p = {.svg = s,
                     .name = c->name,
                     .label = c->caption,
                     .x = {.high = c->end_s, .kind = TICK_TIME},
                     .y = c->y,
                     .top = 12,
                     .bottom = 30,
                     .height = c->height,
                     .is_time = true};
    struct legend_entry legend[TIME_SERIES] = {{.name = NULL}};
    int gradient = -1;

    for (size_t i = 0; i < c->n_series; i++) {
        const struct time_series *of = &c->series[i];

        legend[i].name = of->name;
        legend[i].colour = of->colour;
        if (of->swatch != SWATCH_AREA)
            snprintf(legend[i].line, sizeof(legend[i].line), "w2 s-%s%s",
                     of->colour, of->swatch == SWATCH_DASH ? " dash" : "");
    }
    p.top += legend_height(s, legend, c->n_series);
    plot_begin(&p);
    plot_legend(&p, -12, legend, c->n_series);
    plot_layer_begin(&p);
    if (c->warmup_s > 0) {
        plot_path_begin(&p, "warm", NULL);
        plot_move(&p, 0, 0);
        plot_line(&p, plot_x(&p, c->warmup_s), 0);
        plot_line(&p, plot_x(&p, c->warmup_s), p.height);
        plot_line(&p, 0, p.height);
        plot_path_end(&p);
    }
    for (size_t i = 0; i < c->n_series; i++) {
        if (c->series[i].is_split && gradient < 0)
            gradient = plot_split(&p, c->limit);
    }
    for (size_t i = c->n_series; i-- > 0;)
        draw_series(&p, c, i, gradient);
    plot_layer_end(&p);
    if (!isnan(c->limit))
        plot_limit(&p, c->limit, c->limit_text);
    plot_end(&p);
}

/* ---- the figure ---- */

static double mean_in_window(const struct time_chart *c, const double *y)
{
    double sum = 0;
    size_t n = 0;

    for (size_t k = 0; k < c->n; k++) {
        double middle = ((double)k + 0.5) * c->step_s;

        if (middle < c->warmup_s || middle > c->window_end_s || !isfinite(y[k]))
            continue;
        sum += y[k];
        n++;
    }
    return n > 0 ? sum / (double)n : NAN;
}

static void put_table(struct page *p, const struct time_chart *c)
{
    char text[SHOW_TEXT];
    char columns[512];
    int len = snprintf(columns, sizeof(columns), "due at");

    for (size_t i = 0; i < c->n_series; i++)
        len += snprintf(columns + len, sizeof(columns) - (size_t)len, "|%s",
                        c->series[i].name);
    page_table_begin(p, columns);
    for (size_t k = 0; k < c->n; k++) {
        page_row(p);
        page_cell(p, show_time((double)k * c->step_s, text));
        for (size_t i = 0; i < c->n_series; i++)
            page_cell(p, time_chart_show(c, c->series[i].y[k], text));
    }
    page_table_end(p);
}

static void put_data(struct page *p, const struct time_chart *c)
{
    static const char *const kinds[] = {
        [TICK_COUNT] = "n", [TICK_NS] = "ns", [TICK_SHARE] = "share",
        [TICK_TIME] = "n",  [TICK_USD] = "n", [TICK_RATE] = "rate",
        [TICK_FACTOR] = "n"};

    page_data(p, c->name);
    buf_adds(&p->data, "{\"step\":");
    put_number(&p->data, c->step_s, 3);
    buf_addf(&p->data, ",\"kind\":\"%s\",\"s\":{", kinds[c->y.kind]);
    for (size_t i = 0; i < c->n_series; i++) {
        buf_addf(&p->data, "%s\"%s\":", i > 0 ? "," : "", c->series[i].key);
        page_data_numbers(p, c->series[i].y, c->n,
                          c->y.kind == TICK_NS      ? 0
                          : c->y.kind == TICK_SHARE ? 4
                                                    : 2);
    }
    buf_adds(&p->data, "}}");
}

void time_chart_put(struct page *p, const struct time_chart *c)
{
    char text[SHOW_TEXT];

    page_figure_begin(p, c->classes, c->name, c->title, c->caption);
    page_legend_begin(p, c->what);
    for (size_t i = 0; i < c->n_series; i++) {
        const struct time_series *s = &c->series[i];

        page_legend(p, s->key, s->swatch, s->colour, s->name,
                    time_chart_show(c,
                                    isnan(s->overall) ? mean_in_window(c, s->y)
                                                      : s->overall,
                                    text));
    }
    page_legend_end(p);
    page_figure_plot(p);
    time_chart_draw(&p->svg, c);
    put_table(p, c);
    page_figure_end(p);
    put_data(p, c);
}
