#include "analyzer/html/chart/svg.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/html/html_text.h"
#include "common/base/buf.h"

#define LEFT     54 /* margins of a plot in pixels */
#define RIGHT    18
#define UNITS    1000 /* across the layer in a page */
#define MAX_TEXT 512

#define LEGEND_ROW 18

/* Labels are chosen for a plot of this width in pixels, and keep this distance.
 */
#define MIN_WHOLE 820
#define MIN_HALF  400
#define LABEL     48

/* ---- classes, and the same as presentation attributes ---- */

struct look {
    const char *name;
    const char *attributes;
};

#define TEXT_LOOK "fill=\"#646d77\" font-size=\"12\""

static const struct look looks[] = {
    {"ax", TEXT_LOOK},
    {"axt", TEXT_LOOK},
    {"lab", "fill=\"#14181c\" font-size=\"12.5\" font-weight=\"600\""},
    {"lab2", "fill=\"#434b54\" font-size=\"12\""},
    {"limt", "fill=\"#14181c\" font-size=\"12\" font-weight=\"600\""},
    {"big", "fill=\"#14181c\" font-size=\"15\" font-weight=\"600\""},
    {"halo", "paint-order=\"stroke\" stroke=\"#fbfbfa\" stroke-width=\"4\" "
             "stroke-linejoin=\"round\""},
    {"gr", "stroke=\"#eaecee\""},
    {"bl", "stroke=\"#c6ccd1\""},
    {"lim", "stroke=\"#14181c\" stroke-width=\"1.5\" "
            "stroke-dasharray=\"5 4\""},
    {"warm", "fill=\"#14181c\" fill-opacity=\".045\""},
    {"veil", "fill=\"#fbfbfa\" fill-opacity=\".6\""},
    {"hatched", "fill=\"url(#hatch)\""},
    {"beyond", "fill=\"#d2650a\" fill-opacity=\".07\""},
    {"band", "fill=\"#1f6fc9\" fill-opacity=\".14\""},
    {"soft", "fill-opacity=\".2\""},
    {"soft2", "fill-opacity=\".4\""},
    {"half", "fill-opacity=\".55\""},
    {"ln", "fill=\"none\" stroke-width=\"2\" stroke-linejoin=\"round\""},
    {"thin", "stroke-width=\"1.25\""},
    {"dash", "stroke-dasharray=\"5 3\""},
    {"dots", "stroke-dasharray=\"1.5 4\""},
    {"dashdot", "stroke-dasharray=\"8 3 2 3\""},
    {"rim", "stroke=\"#fbfbfa\" stroke-width=\"2\""},
    {"f-good", "fill=\"#1f6fc9\""},
    {"f-late", "fill=\"#d2650a\""},
    {"f-fail", "fill=\"#b0124c\""},
    {"f-pass", "fill=\"#0e7a4d\""},
    {"f-und", "fill=\"#8a5800\""},
    {"f-unsent", "fill=\"#7d858e\""},
    {"f-server", "fill=\"#6d47c0\""},
    {"f-client", "fill=\"#0c7c7f\""},
    {"f-ink", "fill=\"#14181c\""},
    {"f-ink3", "fill=\"#646d77\""},
    {"f-none", "fill=\"none\""},
    {"s-good", "stroke=\"#1f6fc9\""},
    {"s-late", "stroke=\"#d2650a\""},
    {"s-fail", "stroke=\"#b0124c\""},
    {"s-pass", "stroke=\"#0e7a4d\""},
    {"s-und", "stroke=\"#8a5800\""},
    {"s-unsent", "stroke=\"#7d858e\""},
    {"s-server", "stroke=\"#6d47c0\""},
    {"s-server2", "stroke=\"#9275d4\""},
    {"s-client", "stroke=\"#0c7c7f\""},
    {"s-client2", "stroke=\"#3a9896\""},
    {"s-ink", "stroke=\"#14181c\""},
    {"s-ink3", "stroke=\"#646d77\""},
    {"s-line2", "stroke=\"#c6ccd1\""},
    {"s-paper", "stroke=\"#fbfbfa\""},
    {"w2", "stroke-width=\"2\""},
    {"iv", "stroke-width=\"3\" stroke-opacity=\".45\""},
    {"c-good", "stop-color=\"#1f6fc9\""},
    {"c-late", "stop-color=\"#d2650a\""},
    {"cells", "fill=\"none\" stroke-width=\".96\""},
    {"g1", "stroke=\"#dce9f8\""},
    {"g2", "stroke=\"#b9d3f1\""},
    {"g3", "stroke=\"#8db8e8\""},
    {"g4", "stroke=\"#5c98db\""},
    {"g5", "stroke=\"#3178cb\""},
    {"g6", "stroke=\"#16559f\""},
    {"g7", "stroke=\"#0a3569\""},
    {"l1", "stroke=\"#fde6cf\""},
    {"l2", "stroke=\"#fbcb9f\""},
    {"l3", "stroke=\"#f6a862\""},
    {"l4", "stroke=\"#ea8430\""},
    {"l5", "stroke=\"#cd620c\""},
    {"l6", "stroke=\"#9c4503\""},
    {"l7", "stroke=\"#6a2d00\""},
};

static const char *attributes_of(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++) {
        if (strlen(looks[i].name) == len &&
            strncmp(looks[i].name, name, len) == 0)
            return looks[i].attributes;
    }
    return "";
}

/* "stroke-width" of `stroke-width="2"`. */
static size_t name_len(const char *attribute)
{
    return strcspn(attribute, "=");
}

static bool has_attribute(const char *list, const char *name, size_t len)
{
    for (const char *p = list; (p = strstr(p, "=\"")); p++) {
        const char *start = p;

        while (start > list && start[-1] != ' ')
            start--;
        if ((size_t)(p - start) == len && strncmp(start, name, len) == 0)
            return true;
    }
    return false;
}

/* An attribute may occur only once: the last class that has it counts. */
static void add_attributes(struct svg *s, const char *classes)
{
    for (const char *p = classes; *p;) {
        size_t len = strcspn(p, " ");
        const char *rest = p + len;

        for (const char *a = attributes_of(p, len); *a;) {
            const char *end = strchr(strchr(a, '"') + 1, '"') + 1;
            bool is_later = false;

            for (const char *q = rest; *q && !is_later;) {
                size_t n;

                q += strspn(q, " ");
                n = strcspn(q, " ");
                is_later = has_attribute(attributes_of(q, n), a, name_len(a));
                q += n;
            }
            if (!is_later) {
                buf_adds(s->out, " ");
                buf_add(s->out, a, (size_t)(end - a));
            }
            a = end + strspn(end, " ");
        }
        p = rest + strspn(rest, " ");
    }
}

void svg_class(struct svg *s, const char *classes)
{
    if (s->is_alone)
        add_attributes(s, classes);
    else
        buf_addf(s->out, " class=\"%s\"", classes);
}

/* ---- axes ---- */

static double log_odds(double share)
{
    return log(share / (1 - share));
}

double axis_at(const struct axis *a, double value)
{
    double at = a->is_odds ? (log_odds(fmin(fmax(value, a->low), a->high)) -
                              log_odds(a->low)) /
                                 (log_odds(a->high) - log_odds(a->low))
                : a->is_log
                    ? log(fmax(value, a->low) / a->low) / log(a->high / a->low)
                    : (value - a->low) / (a->high - a->low);

    return isfinite(at) ? fmin(1, fmax(0, at)) : 0;
}

/* Steps of time that people count in. */
static double time_step(double raw)
{
    static const double steps[] = {
        0.001, 0.002, 0.005, 0.01, 0.02,  0.05,  0.1,   0.2,  0.5, 1,
        2,     5,     10,    15,   20,    30,    60,    120,  300, 600,
        900,   1800,  3600,  7200, 14400, 21600, 43200, 86400};

    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        if (steps[i] >= raw)
            return steps[i];
    }
    return ceil(raw / 86400) * 86400;
}

static double plain_step(double raw, enum tick_kind kind)
{
    static const double steps[] = {1, 2, 2.5, 5, 10};
    double power = pow(10, floor(log10(raw)));

    if (kind == TICK_COUNT && raw < 1)
        return 1;
    for (size_t i = 0; i < 5; i++) {
        if (steps[i] * power >= raw * 0.9999 &&
            (kind != TICK_COUNT || steps[i] != 2.5 || power >= 10))
            return steps[i] * power;
    }
    return 10 * power;
}

static size_t even_ticks(const struct axis *a, int wanted, double *ticks)
{
    double raw = (a->high - a->low) / wanted;
    double step =
        a->kind == TICK_TIME ? time_step(raw) : plain_step(raw, a->kind);
    size_t n = 0;

    for (double k = ceil(a->low / step - 1e-9);
         k * step <= a->high + step * 1e-6 && n < AXIS_TICKS; k++)
        ticks[n++] = k * step + 0.0; /* never -0 */
    return n;
}

static size_t log_ticks(const struct axis *a, int wanted, double *ticks)
{
    static const double sets[][10] = {{1},
                                      {1, 3},
                                      {1, 2, 5},
                                      {1, 1.5, 2, 3, 5, 7},
                                      {1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8}};
    size_t best = 0;

    for (size_t set = 0; set < 5; set++) {
        double found[AXIS_TICKS] = {0};
        size_t n = 0;

        for (int e = (int)floor(log10(a->low)); pow(10, e) <= a->high * 1.0001;
             e++) {
            for (int k = 0; k < 10 && sets[set][k] > 0; k++) {
                double v = sets[set][k] * pow(10, e);

                if (v >= a->low * 0.9999 && v <= a->high * 1.0001 &&
                    n < AXIS_TICKS)
                    found[n++] = v;
            }
        }
        if (best >= 2 && n > (size_t)wanted)
            break;
        memcpy(ticks, found, n * sizeof(*found));
        best = n;
        if (n >= 3 && n * 2 > (size_t)wanted)
            break;
    }
    return best;
}

/* About evenly spaced in the log odds. */
static size_t odds_ticks(const struct axis *a, double *ticks)
{
    static const double shares[] = {1e-5, 1e-4, 1e-3, 0.01, 0.05,
                                    0.2,  0.5,  0.8,  0.95, 0.99};
    size_t n = 0;

    for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
        if (shares[i] >= a->low && shares[i] <= a->high)
            ticks[n++] = shares[i];
    }
    return n;
}

size_t axis_ticks(const struct axis *a, int wanted,
                  double ticks[static AXIS_TICKS])
{
    size_t n = a->is_odds  ? odds_ticks(a, ticks)
               : a->is_log ? log_ticks(a, wanted, ticks)
                           : 0;

    /* A short piece of a log axis is nearly even. */
    return n >= 2 || a->is_odds ? n : even_ticks(a, wanted, ticks);
}

const char *axis_show(const struct axis *a, double value, char *out)
{
    switch (a->kind) {
    case TICK_NS:
        if (value < 0) {
            char text[SHOW_TEXT];

            snprintf(out, SHOW_TEXT, "−%.40s", show_tick_ns(-value, text));
            return out;
        }
        return show_tick_ns(value, out);
    case TICK_SHARE:
        snprintf(out, SHOW_TEXT, "%.4g%%", 100 * value);
        return out;
    case TICK_TIME:
        return show_time(value, out);
    case TICK_USD:
        snprintf(out, SHOW_TEXT, "$%.3g", value);
        return out;
    case TICK_RATE:
        snprintf(out, SHOW_TEXT, "%.6g/s", value);
        return out;
    case TICK_FACTOR:
        snprintf(out, SHOW_TEXT, "%.4g×", value);
        return out;
    default:
        if (value >= 1e4 && value == floor(value))
            return show_count((int64_t)value, out);
        snprintf(out, SHOW_TEXT, "%.6g", value);
        return out;
    }
}

/* ---- elements ---- */

static void put_attribute(struct svg *s, const char *name, double value)
{
    buf_addf(s->out, " %s=\"", name);
    put_number(s->out, value, 1);
    buf_adds(s->out, "\"");
}

/* A place along x: a percentage of the plot. */
static void put_x(struct svg *s, const char *name, double share)
{
    buf_addf(s->out, " %s=\"", name);
    put_number(s->out, 100 * share, 2);
    buf_adds(s->out, "%\"");
}

void svg_line(struct svg *s, double x1, double y1, double x2, double y2,
              const char *classes)
{
    buf_adds(s->out, "<line");
    svg_class(s, classes);
    put_x(s, "x1", x1);
    put_x(s, "x2", x2);
    put_attribute(s, "y1", y1);
    put_attribute(s, "y2", y2);
    buf_adds(s->out, "/>");
}

void svg_rect(struct svg *s, double x, double y, double width, double height,
              const char *classes)
{
    buf_adds(s->out, "<rect");
    svg_class(s, classes);
    put_x(s, "x", x);
    put_x(s, "width", fmax(0, width));
    put_attribute(s, "y", y);
    put_attribute(s, "height", fmax(0, height));
    buf_adds(s->out, "/>");
}

void svg_text(struct svg *s, struct spot at, const char *anchor,
              const char *classes, const char *fmt, ...)
{
    char text[MAX_TEXT];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    buf_adds(s->out, "<text");
    svg_class(s, classes);
    put_x(s, "x", at.x);
    if (at.dx != 0)
        put_attribute(s, "dx", at.dx);
    put_attribute(s, "y", at.y);
    if (strcmp(anchor, "start") != 0)
        buf_addf(s->out, " text-anchor=\"%s\"", anchor);
    buf_adds(s->out, ">");
    html_escape(s->out, text);
    buf_adds(s->out, "</text>");
}

static const char *shape_of(enum mark mark)
{
    switch (mark) {
    case MARK_RING:
        return "<circle r=\"4.5\" fill=\"none\" stroke-dasharray=\"2 2\"/>";
    case MARK_CIRCLE:
        return "<circle r=\"4.5\" fill=\"none\"/>";
    case MARK_DIAMOND:
        return "<path d=\"M0-6.5 6.5 0 0 6.5-6.5 0Z\"/>";
    case MARK_DIAMOND_OPEN:
        return "<path d=\"M0-5.5 5.5 0 0 5.5-5.5 0Z\" fill=\"none\"/>";
    case MARK_TARGET:
        return "<circle r=\"6.5\" fill=\"none\"/><circle r=\"3\"/>";
    case MARK_SQUARE:
        return "<path d=\"M-5-5H5V5H-5Z\"/>";
    case MARK_SQUARE_OPEN:
        return "<path d=\"M-4-4H4V4H-4Z\" fill=\"none\"/>";
    case MARK_UP:
        return "<path d=\"M0-6 6 5H-6Z\"/>";
    case MARK_UP_OPEN:
        return "<path d=\"M0-5.5 5 4H-5Z\" fill=\"none\"/>";
    case MARK_DOWN:
        return "<path d=\"M0 6 6-5H-6Z\"/>";
    case MARK_DOWN_OPEN:
        return "<path d=\"M0 5.5 5-4H-5Z\" fill=\"none\"/>";
    default:
        return "<circle r=\"5\"/>";
    }
}

static void put_shape(struct svg *s, enum mark mark, const char *colour,
                      const char *tip)
{
    bool is_open = mark != MARK_DOT && mark != MARK_DIAMOND &&
                   mark != MARK_SQUARE && mark != MARK_UP && mark != MARK_DOWN;
    char classes[64];

    snprintf(classes, sizeof(classes), is_open ? "f-%s s-%s w2" : "f-%s rim",
             colour, colour);
    buf_adds(s->out, "<g");
    svg_class(s, classes);
    if (tip && !s->is_alone) {
        buf_adds(s->out, " data-tip=\"");
        html_escape(s->out, tip);
        buf_adds(s->out, "\"");
    }
    buf_addf(s->out, ">%s</g>", shape_of(mark));
}

void svg_shape(struct svg *s, enum mark mark, const char *colour)
{
    put_shape(s, mark, colour, NULL);
}

void svg_mark(struct svg *s, enum mark mark, double x, double y,
              const char *colour, const char *tip)
{
    buf_adds(s->out, "<svg");
    put_x(s, "x", x);
    put_attribute(s, "y", y);
    buf_adds(s->out, " overflow=\"visible\">");
    put_shape(s, mark, colour, tip);
    buf_adds(s->out, "</svg>");
}

/* ---- a plot ---- */

static int inner_width(const struct svg *s)
{
    return s->width - LEFT - RIGHT;
}

static double units(const struct svg *s)
{
    return s->is_alone ? inner_width(s) : UNITS;
}

static void draw_y_ticks(struct plot *p)
{
    int wanted = p->height / 34 > 2 ? p->height / 34 : 2;
    double ticks[AXIS_TICKS];
    char text[SHOW_TEXT];
    size_t n = axis_ticks(&p->y, wanted, ticks);

    for (size_t i = 0; i < n; i++) {
        double y = plot_y(p, ticks[i]);

        svg_line(p->svg, 0, y, 1, y, "gr");
        svg_text(p->svg, (struct spot){0, -9, y + 4}, "end", "ax", "%s",
                 axis_show(&p->y, ticks[i], text));
    }
}

static void draw_x_ticks(struct plot *p)
{
    int width = p->svg->is_alone ? inner_width(p->svg)
                : p->is_half     ? MIN_HALF
                                 : MIN_WHOLE;
    double last = -1;
    double ticks[AXIS_TICKS];
    char text[SHOW_TEXT];
    size_t n = axis_ticks(&p->x, width / (p->x_title ? 70 : 90), ticks);

    for (size_t i = 0; i < n; i++) {
        double x = axis_at(&p->x, ticks[i]);
        /* Phones show every other label. */
        bool is_spare = n > (p->is_half ? 3 : 5) && (i + (n + 1) % 2) % 2 == 1;
        char classes[16];

        if (!p->is_time)
            svg_line(p->svg, x, 0, x, p->height, "gr");
        if (last >= 0 && (x - last) * width < LABEL)
            continue;
        last = x;
        snprintf(classes, sizeof(classes), "ax%s%s", p->is_time ? " xt" : "",
                 is_spare ? " spare" : "");
        svg_text(p->svg, (struct spot){x, 0, p->height + p->below + 18},
                 "middle", classes, "%s", axis_show(&p->x, ticks[i], text));
    }
}

static void draw_grid(struct plot *p)
{
    if (!p->has_own_y)
        draw_y_ticks(p);
    if (!p->has_own_x)
        draw_x_ticks(p);
    svg_line(p->svg, 0, p->height, 1, p->height, "bl");
    if (p->x_title)
        svg_text(p->svg, (struct spot){1, 0, p->height + p->below + 37}, "end",
                 "axt", "%s →", p->x_title);
    if (p->y_title)
        svg_text(p->svg, (struct spot){0, -45, -9 - p->y_title_up}, "start",
                 "axt", "↑ %s", p->y_title);
}

/* Where the next entry begins, in pixels from the left.  It moves to the next
 * row if it does not fit. */
static double place_entry(const struct svg *s, const struct legend_entry *e,
                          double *x, int *row)
{
    double needed = 42 + 6.6 * (double)strlen(e->name);
    double at;

    if (*x > 0 && *x + needed > inner_width(s) + 20) {
        *x = 0;
        ++*row;
    }
    at = *x;
    *x += needed;
    return at;
}

int legend_height(const struct svg *s, const struct legend_entry *e, size_t n)
{
    double x = 0;
    int row = 0;

    for (size_t i = 0; i < n; i++)
        place_entry(s, &e[i], &x, &row);
    return s->is_alone && n > 0 ? LEGEND_ROW * (row + 1) : 0;
}

void plot_legend(struct plot *p, double y, const struct legend_entry *e,
                 size_t n)
{
    double width = inner_width(p->svg);
    double x = 0;
    int row = 0;

    if (!p->svg->is_alone)
        return;
    y -= legend_height(p->svg, e, n) - LEGEND_ROW;
    for (size_t i = 0; i < n; i++, e++) {
        double at = place_entry(p->svg, e, &x, &row);
        double down = y + LEGEND_ROW * row;
        char classes[32];

        snprintf(classes, sizeof(classes), "f-%s soft2", e->colour);
        if (e->has_mark)
            svg_mark(p->svg, e->mark, (at + 6) / width, down - 4, e->colour,
                     NULL);
        else if (e->line[0])
            svg_line(p->svg, at / width, down - 4, (at + 14) / width, down - 4,
                     e->line);
        else
            svg_rect(p->svg, at / width, down - 9, 12 / width, 10, classes);
        svg_text(p->svg, (struct spot){at / width, 19, down}, "start", "lab2",
                 "%s", e->name);
    }
}

/* What begins a file, or a chart in it that is `y` further down. */
static void open_file(struct svg *s, int y, int height)
{
    buf_adds(s->out, "<svg xmlns=\"http://www.w3.org/2000/svg\"");
    if (y > 0)
        buf_addf(s->out, " y=\"%d\"", y);
    buf_addf(s->out,
             " width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
             "font-family=\"Inter, system-ui, 'Segoe UI', Roboto, 'Helvetica "
             "Neue', Arial, sans-serif\" font-size=\"12\" role=\"img\">\n",
             s->width, height, s->width, height);
}

void svg_join(struct svg *s, const struct svg *from)
{
    if (from->n_charts > 1)
        open_file(s, 0, from->height);
    buf_add(s->out, from->out->data, from->out->len);
    if (from->n_charts > 1)
        buf_adds(s->out, "</svg>\n");
}

void plot_begin(struct plot *p)
{
    struct svg *s = p->svg;
    int height = p->top + p->height + p->bottom;

    if (s->is_alone) {
        open_file(s, s->height, height);
        buf_adds(s->out, "<title>");
        s->height += height;
        s->n_charts++;
    } else {
        buf_addf(s->out,
                 "<svg class=\"ch%s\" height=\"%d\" "
                 "role=\"img\" data-chart=\"%s\" aria-label=\"",
                 p->is_time ? " tc" : "", height, p->name);
    }
    html_escape(s->out, p->label);
    if (s->is_alone)
        buf_addf(s->out,
                 "</title>\n<rect width=\"%d\" height=\"%d\" "
                 "fill=\"#fbfbfa\"/>\n",
                 s->width, height);
    else
        buf_addf(s->out, "\" data-top=\"%d\" data-h=\"%d\">", p->top,
                 p->height);
    /* In a page the margins to the left and right are those of the element:
     * labels stand outside of it. */
    buf_addf(s->out,
             "<svg%s x=\"%d\" y=\"%d\" width=\"%d%s\" height=\"%d\" "
             "overflow=\"visible\">",
             s->is_alone ? "" : " class=\"pl\"", s->is_alone ? LEFT : 0, p->top,
             s->is_alone ? inner_width(s) : 100, s->is_alone ? "" : "%",
             p->height);
    draw_grid(p);
}

void plot_end(struct plot *p)
{
    buf_adds(p->svg->out, "</svg></svg>\n");
}

double plot_y(const struct plot *p, double value)
{
    return p->height * (1 - axis_at(&p->y, value));
}

double plot_x(const struct plot *p, double value)
{
    return units(p->svg) * axis_at(&p->x, value);
}

void plot_layer_begin(struct plot *p)
{
    buf_addf(p->svg->out,
             "<svg%s width=\"100%%\" height=\"%d\" viewBox=\"0 0 %g %d\" "
             "preserveAspectRatio=\"none\">",
             p->svg->is_alone ? "" : " class=\"z\"", p->height, units(p->svg),
             p->height);
}

void plot_layer_end(struct plot *p)
{
    buf_adds(p->svg->out, "</svg>");
}

void plot_cells_begin(struct plot *p, double width, double height)
{
    buf_adds(p->svg->out, "<g");
    svg_class(p->svg, "cells");
    buf_addf(p->svg->out, " transform=\"translate(0 %.2f) scale(%.4f %.4f)\">",
             p->height - height / 2, width, -height);
}

void plot_cells(struct plot *p, int column, int row, double length)
{
    buf_adds(p->svg->out, "M");
    put_number(p->svg->out, column, 0);
    buf_adds(p->svg->out, " ");
    put_number(p->svg->out, row, 0);
    buf_adds(p->svg->out, "h");
    put_number(p->svg->out, length, 2);
}

void plot_cells_end(struct plot *p)
{
    buf_adds(p->svg->out, "</g>");
}

int plot_split(struct plot *p, double at)
{
    struct svg *s = p->svg;
    int id = s->next_id++;

    buf_addf(s->out,
             "<linearGradient id=\"t%d\" gradientUnits=\"userSpaceOnUse\" "
             "x1=\"0\" x2=\"0\" y1=\"0\" y2=\"%d\">",
             id, p->height);
    for (int i = 0; i < 2; i++) {
        buf_adds(s->out, "<stop offset=\"");
        put_number(s->out, plot_y(p, at) / p->height, 4);
        buf_adds(s->out, "\"");
        svg_class(s, i == 0 ? "c-late" : "c-good");
        buf_adds(s->out, "/>");
    }
    buf_adds(s->out, "</linearGradient>");
    return id;
}

static void begin_path(struct plot *p, const char *classes, const char *series)
{
    buf_adds(p->svg->out, "<path");
    svg_class(p->svg, classes);
    if (series && !p->svg->is_alone)
        buf_addf(p->svg->out, " data-s=\"%s\"", series);
}

void plot_path_begin(struct plot *p, const char *classes, const char *series)
{
    begin_path(p, classes, series);
    buf_adds(p->svg->out, " d=\"");
}

void plot_path_begin_split(struct plot *p, const char *classes,
                           const char *series, int gradient)
{
    begin_path(p, classes, series);
    buf_addf(p->svg->out, " stroke=\"url(#t%d)\" d=\"", gradient);
}

void plot_path_end(struct plot *p)
{
    buf_adds(p->svg->out, "\"/>");
}

static void put_point(struct plot *p, char command, double x, double y)
{
    buf_add(p->svg->out, &command, 1);
    put_number(p->svg->out, x, 1);
    buf_adds(p->svg->out, " ");
    put_number(p->svg->out, y, 1);
}

void plot_move(struct plot *p, double x, double y)
{
    put_point(p, 'M', x, y);
}

void plot_line(struct plot *p, double x, double y)
{
    put_point(p, 'L', x, y);
}

void plot_limit(struct plot *p, double value, const char *text)
{
    double y = plot_y(p, value);

    svg_line(p->svg, 0, y, 1, y, "lim");
    svg_text(p->svg, (struct spot){1, -4, y < 16 ? y + 15 : y - 6}, "end",
             "limt halo", "%s", text);
}
