/* Latency against the rank of a request: p50 is one in two, p99 one in a
 * hundred, on a log scale of 1 / (1 - p). */
#include <math.h>
#include <stdio.h>

#include "analyzer/html/chart/charts.h"
#include "analyzer/html/html_text.h"
#include "common/stats/stats.h"

static double place(double p)
{
    return -log10(fmax(1 - p, 1e-9));
}

/* The range of all values and the limit, with some room. */
static struct axis y_axis(const struct spectrum_chart *c)
{
    const struct spectrum *d = c->data;
    double low = INFINITY;
    double high = 0;

    for (size_t i = 0; i < d->len; i++) {
        if (d->due_ns[i] > 0) {
            low = fmin(low, (double)d->due_ns[i]);
            high = fmax(high, (double)d->due_ns[i]);
        }
        if (d->has_sent && d->sent_ns[i] > 0)
            low = fmin(low, (double)d->sent_ns[i]);
    }
    if (c->limit_ns > 0) {
        low = fmin(low, c->limit_ns);
        high = fmax(high, c->limit_ns * 1.35);
    }
    if (!(high > 0) || !(low > 0) || isinf(low))
        return (struct axis){
            .low = 1e6, .high = 1e9, .is_log = true, .kind = TICK_NS};
    return (struct axis){
        .low = low * 0.88, .high = high * 1.3, .is_log = true, .kind = TICK_NS};
}

static double y_of(const struct plot *p, int64_t ns)
{
    return ns >= 0 ? plot_y(p, (double)ns) : 0;
}

/* Up to where even its lower end is among the failures. */
static void draw_band(struct plot *p, const struct spectrum *d)
{
    size_t n = 0;

    while (n < d->len && d->low_ns[n] >= 0)
        n++;
    if (n == 0)
        return;
    plot_path_begin(p, "band", "band");
    for (size_t i = 0; i < n; i++)
        (i > 0 ? plot_line : plot_move)(p, plot_x(p, place(d->p[i])),
                                        y_of(p, d->high_ns[i]));
    for (size_t i = n; i-- > 0;)
        plot_line(p, plot_x(p, place(d->p[i])), y_of(p, d->low_ns[i]));
    plot_path_end(p);
}

/* From the first point up to `to`, or from there on. */
static void add_curve(struct plot *p, const struct spectrum *d,
                      const int64_t *ns, double from, double to)
{
    bool is_down = false;

    for (size_t i = 0; i < d->len; i++) {
        double x = place(d->p[i]);

        if (ns[i] < 0 || x < from - 1e-9 || x > to + 1e-9)
            continue;
        (is_down ? plot_line : plot_move)(p, plot_x(p, x),
                                          plot_y(p, (double)ns[i]));
        is_down = true;
    }
}

/* How far this many requests bound a quantile from above: the last point. */
static double bound_of(const struct spectrum *d)
{
    double last = 0;

    for (size_t i = 0; i < d->len; i++) {
        if (d->p[i] == 0 || stats_min_n(d->p[i]) <= d->n)
            last = place(d->p[i]);
    }
    return last;
}

static void draw_ticks(struct plot *p, const struct spectrum_chart *c)
{
    static const struct {
        double p;
        const char *name;
    } named[] = {{0, "0"},           {0.5, "p50"},        {0.9, "p90"},
                 {0.95, "p95"},      {0.99, "p99"},       {0.999, "p99.9"},
                 {0.9999, "p99.99"}, {0.99999, "p99.999"}};

    for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
        double x = place(named[i].p) / p->x.high;
        bool is_limit =
            c->limit_ns > 0 && fabs(c->quantile - named[i].p) < 1e-9;
        /* Phones leave these out: neighbours come too close. */
        bool is_spare = (named[i].p == 0.95 && !is_limit) ||
                        (named[i].p == 0.9 && c->quantile == 0.95) ||
                        (named[i].p == 0 && p->x.high > 3) ||
                        ((i == 5 || i == 7) && p->x.high > 4);

        if (x > 1.001)
            break;
        svg_line(p->svg, x, 0, x, p->height, "gr");
        svg_text(p->svg, (struct spot){x, 0, p->height + 18},
                 i > 0 ? "middle" : "start", is_spare ? "ax spare" : "ax", "%s",
                 named[i].name);
    }
    svg_text(p->svg, (struct spot){0, 0, p->height + 37}, "start", "axt",
             "← the typical request");
    svg_text(p->svg, (struct spot){1, 0, p->height + 37}, "end", "axt",
             "the rarest →");
}

static void draw_failed(struct plot *p, const struct spectrum *d)
{
    char text[SHOW_TEXT];
    double x = d->failed > 0
                   ? place(1 - (double)d->failed / (double)d->n) / p->x.high
                   : 2;

    svg_text(p->svg, (struct spot){0, -9, -11}, "end", "ax", "failed");
    svg_line(p->svg, 0, -6, 1, -6, "gr");
    if (x > 1)
        return;
    svg_rect(p->svg, x, -18, fmax(0.004, 1 - x), 8, "f-fail");
    svg_text(p->svg,
             (struct spot){x > 0.2 ? x : fmin(1, x), x > 0.2 ? -7 : 7,
                           x > 0.2 ? -10 : -22},
             x > 0.2 ? "end" : "start", "lab2", "%s failed",
             show_count(d->failed, text));
}

/* Hatched from the limit up: a curve that runs into it misses the limit. */
static void draw_barrier(struct plot *p, const struct spectrum_chart *c)
{
    double x = fmin(1, place(c->quantile) / p->x.high);
    double limit = plot_y(p, c->limit_ns);
    double y = c->measured_ns >= 0 ? plot_y(p, c->measured_ns) : 0;
    bool is_missed = c->measured_ns < 0 || c->measured_ns >= c->limit_ns;
    bool is_left = x > 0.8 || (is_missed && x > 0.4);
    char text[SHOW_TEXT];
    char name[SHOW_TEXT];

    snprintf(name, sizeof(name), "p%.6g", 100 * c->quantile);
    svg_rect(p->svg, x - 0.004, 0, 0.008, limit,
             p->svg->is_alone ? "f-ink3" : "hatched");
    svg_line(p->svg, x - 0.012, limit, x + 0.012, limit, "s-ink w2");
    svg_mark(p->svg, MARK_DOT, x, y, is_missed ? "fail" : "pass", NULL);
    /* The curve rises to the right: above to the left and below to the right
     * there is room. */
    svg_text(
        p->svg,
        (struct spot){x, is_left ? -14 : 12, is_left ? fmax(y - 8, 8) : y + 18},
        is_left ? "end" : "start", "lab halo", "%s %s", name,
        show_ns(c->measured_ns, text));
    svg_text(p->svg,
             (struct spot){x, x < 0.75 ? 17 : -17,
                           fabs(y - limit) < 22 && y < limit ? limit + 16
                                                             : limit + 4},
             x < 0.75 ? "start" : "end", "lab2 halo", "limit %s at %s",
             show_tick_ns(c->limit_ns, text), name);
}

void spectrum_draw(struct svg *s, const struct spectrum_chart *c)
{
    const struct spectrum *d = c->data;
    double bound = bound_of(d);
    struct plot p = {
        .svg = s,
        .name = c->name,
        .label = "Percentile spectrum: latency from the typical request on "
                 "the left to the rarest on the right",
        .x = {.high = fmax(2, d->len > 0 ? place(d->p[d->len - 1]) : 0)},
        .y = y_axis(c),
        .top = 38,
        .bottom = 44,
        .height = 250,
        .has_own_x = true,
    };

    plot_begin(&p);
    draw_ticks(&p, c);
    draw_failed(&p, d);
    plot_layer_begin(&p);
    draw_band(&p, d);
    if (d->has_sent) {
        plot_path_begin(&p, "ln thin dash s-ink3", "sent");
        add_curve(&p, d, d->sent_ns, 0, INFINITY);
        plot_path_end(&p);
    }
    for (int part = 0; part < 2; part++) {
        const char *classes = part == 0 ? "ln" : "ln dots";

        if (c->limit_ns > 0) {
            int id = plot_split(&p, c->limit_ns);

            plot_path_begin_split(&p, classes, "due", id);
        } else {
            plot_path_begin(&p, part == 0 ? "ln s-good" : "ln dots s-good",
                            "due");
        }
        add_curve(&p, d, d->due_ns, part == 0 ? 0 : bound,
                  part == 0 ? bound : INFINITY);
        plot_path_end(&p);
    }
    plot_layer_end(&p);
    if (c->limit_ns > 0)
        draw_barrier(&p, c);
    plot_end(&p);
}

void spectrum_put_data(struct page *p, const struct spectrum_chart *c)
{
    const struct spectrum *d = c->data;
    double values[BINS_POINTS];

    page_data(p, c->name);
    buf_adds(&p->data, "{\"x\":");
    for (size_t i = 0; i < d->len; i++)
        values[i] = place(d->p[i]);
    page_data_numbers(p, values, d->len, 4);
    for (int from = 0; from < 1 + d->has_sent; from++) {
        const int64_t *ns = from ? d->sent_ns : d->due_ns;

        for (size_t i = 0; i < d->len; i++)
            values[i] = ns[i] >= 0 ? (double)ns[i] : INFINITY;
        buf_adds(&p->data, from ? ",\"sent\":" : ",\"due\":");
        page_data_numbers(p, values, d->len, 0);
    }
    buf_adds(&p->data, "}");
}
