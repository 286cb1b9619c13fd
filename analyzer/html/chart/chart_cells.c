/* Two quantities of each request against each other: time to first token and
 * pace, or length of the prompt and time to first token. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/html/chart/charts.h"
#include "analyzer/html/html_text.h"
#include "common/stats/stats.h"

/* ---- cropping and merging ---- */

static int floor_div(int a, int b)
{
    return a >= 0 ? a / b : -((-a + b - 1) / b);
}

/* The cells from first to last, relative to the base, merged into `max`; with
 * a limit some room on both sides of it. */
static struct cell_axis make_axis(struct cell_axis a, int first, int last,
                                  int max, int *factor)
{
    if (a.limit > 0) {
        first = first < -4 ? first : -4;
        last = last > 6 ? last : 6;
    }
    *factor = 1;
    while (floor_div(last, *factor) - floor_div(first, *factor) >= max)
        ++*factor;
    a.per_octave /= *factor;
    a.first = floor_div(first, *factor);
    a.n = floor_div(last, *factor) - a.first + 1;
    return a;
}

/* Of a latency, before it is cropped and merged. */
static struct cell_axis whole_axis(const struct value_bins *v)
{
    return (struct cell_axis){.base = (double)v->base_ns,
                              .per_octave = BINS_CELL_OCTAVE,
                              .limit = v->has_limit ? (double)v->base_ns : 0};
}

static double edge(const struct cell_axis *a, int k)
{
    return a->base * exp2((a->first + k) / a->per_octave);
}

/* Rows and columns in use of a table of `n` rows. */
struct extent_of {
    int x0, x1, y0, y1;
};

static bool find_extent(uint32_t (*table)[BINS_CELLS], int n,
                        struct extent_of *e)
{
    *e = (struct extent_of){n, -1, BINS_CELLS, -1};
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < BINS_CELLS; j++) {
            if (table[i][j] == 0)
                continue;
            e->x0 = i < e->x0 ? i : e->x0;
            e->x1 = i > e->x1 ? i : e->x1;
            e->y0 = j < e->y0 ? j : e->y0;
            e->y1 = j > e->y1 ? j : e->y1;
        }
    }
    return e->x1 >= 0;
}

static void fill(struct cell_map *c, uint32_t (*table)[BINS_CELLS],
                 const struct extent_of *e, int x_base, int x_factor,
                 int y_factor)
{
    for (int i = e->x0; i <= e->x1; i++) {
        for (int j = e->y0; j <= e->y1; j++) {
            int x = floor_div(i - x_base, x_factor) - c->x.first;
            int y = floor_div(j - BINS_CELL_BASE, y_factor) - c->y.first;

            c->cells[x][y] += table[i][j];
            c->n += table[i][j];
        }
    }
}

bool plane_make(struct cell_map *c, const struct run_bins *b)
{
    const struct value_bins *t = &b->values[BINS_TTFT];
    const struct value_bins *p = &b->values[BINS_TPOT];
    struct extent_of e;
    int fx;
    int fy;

    *c = (struct cell_map){.name = "plane"};
    if (!b->plane || !find_extent(b->plane, BINS_CELLS, &e))
        return false;
    c->x = make_axis(whole_axis(t), e.x0 - BINS_CELL_BASE,
                     e.x1 - BINS_CELL_BASE, CELLS_X, &fx);
    c->y = make_axis(whole_axis(p), e.y0 - BINS_CELL_BASE,
                     e.y1 - BINS_CELL_BASE, CELLS_Y, &fy);
    fill(c, b->plane, &e, BINS_CELL_BASE, fx, fy);
    return true;
}

bool prompt_make(struct cell_map *c, const struct run_bins *b)
{
    const struct value_bins *t = &b->values[BINS_TTFT];
    struct extent_of e;
    int fx;
    int fy;

    *c = (struct cell_map){.name = "prompt", .x_is_tokens = true};
    if (!b->prompt || !find_extent(b->prompt, BINS_TOKEN_ROWS, &e) ||
        e.x0 == e.x1)
        return false;
    c->x = make_axis(
        (struct cell_axis){.base = 1, .per_octave = BINS_TOKEN_OCTAVE}, e.x0,
        e.x1, CELLS_X, &fx);
    c->y = make_axis(whole_axis(t), e.y0 - BINS_CELL_BASE,
                     e.y1 - BINS_CELL_BASE, CELLS_Y, &fy);
    fill(c, b->prompt, &e, 0, fx, fy);
    return true;
}

/* ---- groups of prompts ---- */

/* The quantile of a column of cells, interpolated in its cell. */
static double quantile_of(const struct run_bins *b, const double *counts,
                          double n, double q)
{
    double base = (double)b->values[BINS_TTFT].base_ns;
    double rank = ceil(q * n - 1e-9);
    double seen = 0;

    for (int j = 0; j < BINS_CELLS; j++) {
        if (counts[j] > 0 && seen + counts[j] >= rank)
            return base *
                   exp2((j - BINS_CELL_BASE + (rank - seen - 0.5) / counts[j]) /
                        BINS_CELL_OCTAVE);
        seen += counts[j];
    }
    return -1;
}

size_t prompt_groups(const struct run_bins *b,
                     struct prompt_group out[static PROMPT_GROUPS])
{
    bool has_limit = b->values[BINS_TTFT].has_limit;
    double counts[BINS_CELLS] = {0};
    double all = 0;
    double n = 0;
    double missed = 0;
    size_t len = 0;
    int from = -1;
    int last = 0;

    for (int i = 0; i < BINS_TOKEN_ROWS; i++) {
        for (int j = 0; j < BINS_CELLS; j++) {
            all += b->prompt[i][j];
            last = b->prompt[i][j] > 0 ? i : last;
        }
    }
    for (int i = 0; i <= last && len < PROMPT_GROUPS; i++) {
        double here = 0;

        for (int j = 0; j < BINS_CELLS; j++) {
            counts[j] += b->prompt[i][j];
            here += b->prompt[i][j];
            if (has_limit && j >= BINS_CELL_BASE)
                missed += b->prompt[i][j];
        }
        n += here;
        from = from < 0 && n > 0 ? i : from;
        if (n == 0 || (n < fmax(59, all / PROMPT_GROUPS) && i < last))
            continue;
        out[len++] = (struct prompt_group){
            .from = exp2((double)from / BINS_TOKEN_OCTAVE),
            .to = exp2((double)(i + 1) / BINS_TOKEN_OCTAVE),
            .n = n,
            .p50_ns = quantile_of(b, counts, n, 0.5),
            .p95_ns = n >= (double)stats_min_n(0.95)
                          ? quantile_of(b, counts, n, 0.95)
                          : -1,
            .missed = missed,
        };
        memset(counts, 0, sizeof(counts));
        n = missed = 0;
        from = -1;
    }
    return len;
}

/* ---- drawing ---- */

static struct plot plot_of(struct svg *s, const struct cell_map *c)
{
    return (struct plot){
        .svg = s,
        .name = c->name,
        .label = c->label,
        .x = {.low = edge(&c->x, 0),
              .high = edge(&c->x, c->x.n),
              .is_log = true,
              .kind = c->x_is_tokens ? TICK_COUNT : TICK_NS},
        .y = {.low = edge(&c->y, 0),
              .high = edge(&c->y, c->y.n),
              .is_log = true,
              .kind = TICK_NS},
        .top = 26,
        .bottom = 46,
        .height = 290,
        .x_title =
            c->x_is_tokens ? "tokens of the prompt" : "time to first token",
        .y_title = c->x_is_tokens ? "time to first token" : "time per token",
        .is_half = true,
    };
}

static bool is_late(const struct cell_map *c, int i, int j)
{
    return (c->x.limit > 0 && c->x.first + i >= 0) ||
           (c->y.limit > 0 && c->y.first + j >= 0);
}

static void draw_beyond(struct plot *p, const struct cell_map *c)
{
    double x = c->x.limit > 0 ? axis_at(&p->x, c->x.limit) : 1;

    if (c->x.limit > 0)
        svg_rect(p->svg, x, 0, 1 - x, p->height, "beyond");
    if (c->y.limit > 0)
        svg_rect(p->svg, 0, 0, x, plot_y(p, c->y.limit), "beyond");
}

/* `top`: the strongest level, less where lines have to be seen above. */
static int colour_of(const struct cell_map *c, int i, int j, double max,
                     int top)
{
    int level = count_level(c->cells[i][j], max);

    if (level == 0)
        return 0;
    level = (int)fmax(1, round(level * top / 7.0));
    return is_late(c, i, j) ? level + 7 : level;
}

static void draw_cells(struct plot *p, const struct cell_map *c, int top)
{
    char colours[CELLS_X][CELLS_Y];
    double max = 0;

    for (int i = 0; i < c->x.n; i++) {
        for (int j = 0; j < c->y.n; j++)
            max = fmax(max, c->cells[i][j]);
    }
    for (int i = 0; i < c->x.n; i++) {
        for (int j = 0; j < c->y.n; j++)
            colours[i][j] = (char)colour_of(c, i, j, max, top);
    }
    plot_layer_begin(p);
    plot_cells_begin(p, plot_x(p, p->x.high) / c->x.n,
                     (double)p->height / c->y.n);
    for (int colour = 1; colour <= 14; colour++) {
        const char name[] = {colour > 7 ? 'l' : 'g',
                             (char)('0' + (colour - 1) % 7 + 1), '\0'};
        bool is_open = false;

        for (int i = 0; i < c->x.n; i++) {
            for (int j = 0; j < c->y.n; j++) {
                if (colours[i][j] != colour)
                    continue;
                if (!is_open)
                    plot_path_begin(p, name, NULL);
                is_open = true;
                plot_cells(p, i, j, 0.95);
            }
        }
        if (is_open)
            plot_path_end(p);
    }
    plot_cells_end(p);
    plot_layer_end(p);
}

static void draw_limits(struct plot *p, const struct cell_map *c)
{
    if (c->x.limit > 0) {
        double x = axis_at(&p->x, c->x.limit);

        svg_line(p->svg, x, 0, x, p->height, "lim");
    }
    if (c->y.limit > 0)
        svg_line(p->svg, 0, plot_y(p, c->y.limit), 1, plot_y(p, c->y.limit),
                 "lim");
}

/* Height that two lines of text need; with less they become one line. */
#define CORNER_HEIGHT 38

/* At the top of the plot, or at its bottom, in a strip of this height. */
static void draw_corner(const struct plot *p, bool is_left, bool is_top,
                        double room, double share, const char *name)
{
    struct spot at = {is_left ? 0 : 1, is_left ? 8 : -6,
                      is_top ? 19 : p->height - 25};
    const char *anchor = is_left ? "start" : "end";
    char text[SHOW_TEXT];

    show_share(share, text);
    if (room < CORNER_HEIGHT) {
        at.y = is_top ? room / 2 + 4 : p->height - room / 2 + 4;
        svg_text(p->svg, at, anchor, "lab2 halo", "%s %s", text, name);
        return;
    }
    svg_text(p->svg, at, anchor, "big halo", "%s", text);
    at.y += 15;
    svg_text(p->svg, at, anchor, "lab2 halo", "%s", name);
}

void plane_draw(struct svg *s, const struct cell_map *c,
                const struct run_bins *b, int64_t n_due)
{
    struct plot p = plot_of(s, c);
    double above = c->y.limit > 0 ? plot_y(&p, c->y.limit) : 0;
    double due = (double)n_due;

    plot_begin(&p);
    draw_beyond(&p, c);
    draw_cells(&p, c, 7);
    draw_limits(&p, c);
    if (due > 0 && (c->x.limit > 0 || c->y.limit > 0)) {
        draw_corner(&p, true, false, p.height - above,
                    (double)b->corner[0][0] / due, "within");
        if (c->x.limit > 0)
            draw_corner(&p, false, false, p.height - above,
                        (double)b->corner[1][0] / due, "late");
        if (c->y.limit > 0)
            draw_corner(&p, true, true, above, (double)b->corner[0][1] / due,
                        "slow pace");
        if (c->x.limit > 0 && c->y.limit > 0)
            draw_corner(&p, false, true, above, (double)b->corner[1][1] / due,
                        "both");
    }
    plot_end(&p);
}

/* With a rim, so that it is seen above the cells. */
static void draw_group_line(struct plot *p, const struct prompt_group *g,
                            size_t n, bool is_p95)
{
    for (int rim = 1; rim >= 0; rim--) {
        bool is_down = false;

        plot_path_begin(p,
                        rim      ? "ln s-paper wide"
                        : is_p95 ? "ln dash s-ink"
                                 : "ln s-ink",
                        NULL);
        for (size_t i = 0; i < n; i++) {
            double ns = is_p95 ? g[i].p95_ns : g[i].p50_ns;

            if (ns < 0)
                continue;
            (is_down ? plot_line : plot_move)(
                p, plot_x(p, sqrt(g[i].from * g[i].to)), plot_y(p, ns));
            is_down = true;
        }
        plot_path_end(p);
    }
}

/* At the last point that the line has. */
static void draw_group_name(struct plot *p, const struct prompt_group *g,
                            size_t n, bool is_p95)
{
    for (size_t i = n; i-- > 0;) {
        double ns = is_p95 ? g[i].p95_ns : g[i].p50_ns;
        double x = axis_at(&p->x, sqrt(g[i].from * g[i].to));

        if (ns < 0)
            continue;
        svg_text(p->svg,
                 (struct spot){x, x > 0.93 ? -6 : 8,
                               plot_y(p, ns) + (x > 0.93 ? -8 : 4)},
                 x > 0.93 ? "end" : "start", "lab halo", "%s",
                 is_p95 ? "p95" : "p50");
        return;
    }
}

void prompt_draw(struct svg *s, const struct cell_map *c,
                 const struct prompt_group *groups, size_t n)
{
    struct plot p = plot_of(s, c);
    char text[SHOW_TEXT];

    plot_begin(&p);
    draw_beyond(&p, c);
    draw_cells(&p, c, 4);
    draw_limits(&p, c);
    if (n > 1) {
        plot_layer_begin(&p);
        draw_group_line(&p, groups, n, true);
        draw_group_line(&p, groups, n, false);
        plot_layer_end(&p);
        draw_group_name(&p, groups, n, true);
        draw_group_name(&p, groups, n, false);
    }
    if (c->y.limit > 0)
        svg_text(s, (struct spot){0, 8, plot_y(&p, c->y.limit) - 6}, "start",
                 "limt halo", "limit %s", show_tick_ns(c->y.limit, text));
    plot_end(&p);
}

static void put_axis(struct page *p, const char *key, const struct cell_axis *a)
{
    buf_addf(&p->data, "\"%s\":{\"base\":", key);
    put_number(&p->data, a->base, 0);
    buf_adds(&p->data, ",\"per\":");
    put_number(&p->data, a->per_octave, 6);
    buf_addf(&p->data, ",\"k0\":%d,\"n\":%d}", a->first, a->n);
}

void cells_put_data(struct page *p, const struct cell_map *c)
{
    bool is_first = true;

    page_data(p, c->name);
    buf_adds(&p->data, "{");
    put_axis(p, "x", &c->x);
    buf_adds(&p->data, ",");
    put_axis(p, "y", &c->y);
    buf_addf(&p->data, ",\"tokens\":%d,\"cells\":[", c->x_is_tokens);
    for (int i = 0; i < c->x.n; i++) {
        for (int j = 0; j < c->y.n; j++) {
            if (!(c->cells[i][j] > 0))
                continue;
            buf_adds(&p->data, is_first ? "" : ",");
            put_number(&p->data, i, 0);
            buf_adds(&p->data, ",");
            put_number(&p->data, j, 0);
            buf_adds(&p->data, ",");
            put_number(&p->data, c->cells[i][j], 0);
            is_first = false;
        }
    }
    buf_adds(&p->data, "]}");
}
