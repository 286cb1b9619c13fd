/* The heat map: how many requests due at a time took how long. */
#include <math.h>
#include <stdio.h>

#include "analyzer/html/chart/charts.h"
#include "analyzer/html/html_text.h"

int count_level(double count, double max)
{
    if (!(count > 0))
        return 0;
    if (max <= 1)
        return 5;
    if (max < 8)
        return 3 + (int)(4 * (count - 1) / (max - 1) + 0.5);
    return (int)fmin(7, 1 + floor(7 * log(count) / log(max + 1)));
}

/* ---- merging ---- */

/* Rows in use, except for a few very small values that would stretch the
 * picture: those are in the lowest row. */
static bool rows_in_use(const struct run_bins *b, const struct value_bins *v,
                        int *first, int *last)
{
    int64_t in_row[BINS_ROWS] = {0};
    double n = 0;
    double seen = 0;

    for (size_t k = 0; k < b->n; k++) {
        for (int row = 0; row < BINS_ROWS; row++)
            in_row[row] += v->cells[k][row];
    }
    for (int row = 0; row < BINS_ROWS; row++)
        n += (double)in_row[row];
    if (!(n > 0))
        return false;
    *first = -1;
    for (int row = 0; row < BINS_ROWS; row++) {
        seen += (double)in_row[row];
        if (*first < 0 && seen > n * 0.001)
            *first = row;
        if (in_row[row] > 0)
            *last = row;
    }
    return true;
}

static int floor_div(int a, int b)
{
    return a >= 0 ? a / b : -((-a + b - 1) / b);
}

/* Columns of few requests are mostly gaps. */
#define MIN_COLUMNS 24
#define MIN_DUE     20

static size_t merge_of(const struct run_bins *b)
{
    size_t merge = (b->n + HEAT_COLUMNS - 1) / HEAT_COLUMNS;
    double due = 0;

    for (size_t k = 0; k < b->n; k++)
        due += (double)b->due[k];
    while (due * (double)merge < MIN_DUE * (double)b->n &&
           (b->n + merge) / (merge + 1) >= MIN_COLUMNS)
        merge++;
    return merge;
}

bool heat_make(struct heat_map *h, const struct run_bins *b,
               enum bins_measure m)
{
    const struct value_bins *v = &b->values[m];
    size_t merge = merge_of(b);
    int factor = 1;
    int first;
    int last;

    *h = (struct heat_map){.base_ns = (double)v->base_ns,
                           .has_limit = v->has_limit};
    if (b->n == 0 || !v->cells || !rows_in_use(b, v, &first, &last))
        return false;
    if (v->has_limit) {
        first = first < BINS_BASE - 4 ? first : BINS_BASE - 4;
        last = last > BINS_BASE + 3 ? last : BINS_BASE + 3;
    }
    first -= BINS_BASE;
    last -= BINS_BASE;
    while (floor_div(last, factor) - floor_div(first, factor) >= HEAT_ROWS)
        factor++;
    h->rows_per_octave = (double)BINS_PER_OCTAVE / factor;
    h->first_row = floor_div(first, factor);
    h->n_rows = floor_div(last, factor) - h->first_row + 1;
    h->step_s = (double)b->step_ns * (double)merge / 1e9;
    h->end_s = (double)b->end_ns / 1e9;
    h->warmup_s = (double)b->window.start_ns / 1e9;
    h->n_columns = (b->n + merge - 1) / merge;
    for (size_t k = 0; k < b->n; k++) {
        size_t column = k / merge;

        h->due[column] += (double)b->due[k];
        h->good[column] += (double)b->good[k];
        h->failed[column] += (double)(b->due[k] - b->ok[k]);
        for (int o = 0; o < OUTCOME_COUNT; o++) {
            if (o != OUTCOME_OK)
                h->kinds[column][o] += (double)b->outcome[k][o];
        }
        for (int row = 0; row < BINS_ROWS; row++) {
            int at;

            if (v->cells[k][row] == 0)
                continue;
            at = floor_div(row - BINS_BASE, factor) - h->first_row;
            h->cells[column][at < 0 ? 0 : at] += v->cells[k][row];
        }
    }
    return true;
}

double heat_edge_ns(const struct heat_map *h, int row)
{
    return h->base_ns * exp2((h->first_row + row) / h->rows_per_octave);
}

/* ---- drawing ---- */

static double max_of(const struct heat_map *h)
{
    double max = 0;

    for (size_t i = 0; i < h->n_columns; i++) {
        for (int row = 0; row < h->n_rows; row++)
            max = fmax(max, h->cells[i][row]);
    }
    return max;
}

static int colour_of(const struct heat_map *h, size_t column, int row,
                     double max)
{
    int level = count_level(h->cells[column][row], max);

    return level > 0 && h->has_limit && h->first_row + row >= 0 ? level + 7
                                                                : level;
}

static void put_colour(struct plot *p, const struct heat_map *h,
                       char (*colours)[HEAT_ROWS], int colour)
{
    const char name[] = {colour > 7 ? 'l' : 'g',
                         (char)('0' + (colour - 1) % 7 + 1), '\0'};
    bool is_open = false;

    for (int row = 0; row < h->n_rows; row++) {
        for (size_t i = 0; i < h->n_columns;) {
            size_t run = i;

            while (run < h->n_columns && colours[run][row] == colour)
                run++;
            if (run == i) {
                i++;
                continue;
            }
            if (!is_open)
                plot_path_begin(p, name, NULL);
            is_open = true;
            plot_cells(p, (int)i, row, (double)(run - i));
            i = run;
        }
    }
    if (is_open)
        plot_path_end(p);
}

/* One path per colour, in units of columns and rows; neighbours of one colour
 * are one stroke. */
static void draw_cells(struct plot *p, const struct heat_map *h)
{
    char colours[HEAT_COLUMNS][HEAT_ROWS];
    double max = max_of(h);

    for (size_t i = 0; i < h->n_columns; i++) {
        for (int row = 0; row < h->n_rows; row++)
            colours[i][row] = (char)colour_of(h, i, row, max);
    }
    plot_cells_begin(p, plot_x(p, fmin(h->step_s, h->end_s)),
                     (double)p->height / h->n_rows);
    for (int colour = 1; colour <= 14; colour++)
        put_colour(p, h, colours, colour);
    plot_cells_end(p);
}

/* A lane above the plot: its own layer, so that it zooms with it. */
static void draw_failures(struct plot *p, const struct heat_map *h)
{
    struct plot lane = *p;
    double max = 0;

    for (size_t i = 0; i < h->n_columns; i++)
        max = fmax(max, h->failed[i]);
    svg_text(p->svg, (struct spot){0, -9, -9}, "end", "ax", "failed");
    svg_line(p->svg, 0, -6, 1, -6, "gr");
    if (!(max > 0))
        return;
    buf_adds(p->svg->out, "<svg y=\"-24\" overflow=\"visible\">");
    lane.height = 18;
    plot_layer_begin(&lane);
    plot_path_begin(&lane, "f-fail", NULL);
    for (size_t i = 0; i < h->n_columns; i++) {
        double a = plot_x(p, (double)i * h->step_s);
        double b = plot_x(p, fmin((double)(i + 1) * h->step_s, h->end_s));
        double height = 4 + 12 * h->failed[i] / max;

        if (!(h->failed[i] > 0))
            continue;
        b = fmax(b, a + 3);
        plot_move(&lane, a, 18 - height);
        plot_line(&lane, b, 18 - height);
        plot_line(&lane, b, 18);
        plot_line(&lane, a, 18);
    }
    plot_path_end(&lane);
    plot_layer_end(&lane);
    buf_adds(p->svg->out, "</svg>");
}

void heat_draw(struct svg *s, const struct heat_map *h)
{
    struct plot p = {
        .svg = s,
        .name = h->name,
        .label = h->label,
        .x = {.high = h->end_s, .kind = TICK_TIME},
        .y = {.low = heat_edge_ns(h, 0),
              .high = heat_edge_ns(h, h->n_rows),
              .is_log = true,
              .kind = TICK_NS},
        .top = 32,
        .bottom = 30,
        .height = 240,
        .is_time = true,
    };
    char text[SHOW_TEXT];
    char limit[SHOW_TEXT + 8];

    plot_begin(&p);
    draw_failures(&p, h);
    plot_layer_begin(&p);
    draw_cells(&p, h);
    if (h->warmup_s > 0) {
        double x = plot_x(&p, h->warmup_s);

        plot_path_begin(&p, "veil", NULL);
        plot_move(&p, 0, 0);
        plot_line(&p, x, 0);
        plot_line(&p, x, p.height);
        plot_line(&p, 0, p.height);
        plot_path_end(&p);
        plot_path_begin(&p, "ln thin s-ink3", NULL);
        plot_move(&p, x, 0);
        plot_line(&p, x, p.height);
        plot_path_end(&p);
    }
    plot_layer_end(&p);
    if (h->has_limit) {
        snprintf(limit, sizeof(limit), "limit %s",
                 show_tick_ns(h->base_ns, text));
        plot_limit(&p, h->base_ns, limit);
    }
    if (axis_at(&p.x, h->warmup_s) > 0.1)
        svg_text(s, (struct spot){axis_at(&p.x, h->warmup_s), -5, p.height - 7},
                 "end", "ax halo wt spare", "warm-up");
    plot_end(&p);
}

static void put_count(struct page *p, double count)
{
    buf_adds(&p->data, ",");
    put_number(&p->data, count, 0);
}

/* What failed: the columns in which it did, each with its count. */
static void put_kinds(struct page *p, const struct heat_map *h)
{
    const char *before = ",\"kinds\":{";

    for (int o = 0; o < OUTCOME_COUNT; o++) {
        bool is_open = false;

        for (size_t i = 0; i < h->n_columns; i++) {
            if (!(h->kinds[i][o] > 0))
                continue;
            if (is_open)
                buf_addf(&p->data, ",\"%zu\":", i);
            else
                buf_addf(&p->data, "%s\"%s\":{\"%zu\":", before,
                         outcome_name((enum outcome)o), i);
            put_number(&p->data, h->kinds[i][o], 0);
            is_open = true;
            before = ",";
        }
        buf_adds(&p->data, is_open ? "}" : "");
    }
    buf_adds(&p->data, before[1] ? "" : "}");
}

void heat_put_data(struct page *p, const struct heat_map *h)
{
    page_data(p, h->name);
    buf_adds(&p->data, "{\"step\":");
    put_number(&p->data, h->step_s, 3);
    buf_adds(&p->data, ",\"base\":");
    put_number(&p->data, h->base_ns, 0);
    buf_adds(&p->data, ",\"per\":");
    put_number(&p->data, h->rows_per_octave, 6);
    buf_addf(&p->data, ",\"k0\":%d,\"rows\":%d,\"due\":", h->first_row,
             h->n_rows);
    page_data_numbers(p, h->due, h->n_columns, 0);
    buf_adds(&p->data, ",\"good\":");
    page_data_numbers(p, h->good, h->n_columns, 0);
    buf_adds(&p->data, ",\"failed\":");
    page_data_numbers(p, h->failed, h->n_columns, 0);
    put_kinds(p, h);
    /* A column: its first row in use and the counts from there on. */
    buf_adds(&p->data, ",\"cols\":[");
    for (size_t i = 0; i < h->n_columns; i++) {
        int first = 0;
        int last = h->n_rows - 1;

        while (first < h->n_rows && h->cells[i][first] == 0)
            first++;
        while (last > first && h->cells[i][last] == 0)
            last--;
        buf_addf(&p->data, "%s[%d", i > 0 ? "," : "", first);
        for (int row = first; row <= last; row++)
            put_count(p, h->cells[i][row]);
        buf_adds(&p->data, "]");
    }
    buf_adds(&p->data, "]}");
}
