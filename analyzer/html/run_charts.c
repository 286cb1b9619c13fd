/* The sections of a run about latency and about which requests miss, and single
 * pictures. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/html/chart/chart_time.h"
#include "analyzer/html/chart/charts.h"
#include "analyzer/html/html_text.h"
#include "analyzer/html/run_page.h"
#include "analyzer/html/run_view.h"
#include "analyzer/tally/run_bins.h"
#include "analyzer/tally/summary.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/stats/stats.h"

static const char *const measure_classes[] = {"ttft", "tpot", "e2e"};
static const char *const measure_words[] = {"First token", "Per token",
                                            "Whole answer"};

/* ---- latency ---- */

static const struct term_judgement *term_of(const struct summary *s,
                                            enum measure m)
{
    const struct term_judgement *found = NULL;

    for (size_t i = 0; i < s->judgement.len; i++) {
        const struct term_judgement *j = &s->judgement.terms[i];

        if (j->term->kind == SLO_QUANTILE && j->term->measure == m &&
            (!found || j->term->quantile > found->term->quantile))
            found = j;
    }
    return found;
}

static struct spectrum_chart spectrum_of(const struct run_page *r,
                                         enum bins_measure m, const char *name)
{
    const struct term_judgement *j = term_of(r->s, r->bins->values[m].measure);
    struct spectrum_chart c = {.name = name, .data = &r->bins->spectra[m]};

    if (j) {
        c.limit_ns = (double)j->term->limit_ns;
        c.quantile = j->term->quantile;
        c.measured_ns = (double)j->measured_ns;
    }
    return c;
}

/* The quantile that the legend shows while nothing is pointed at. */
static double shown_quantile(const struct spectrum_chart *c)
{
    return c->limit_ns > 0 ? c->quantile : 0.5;
}

static int64_t value_at(const struct spectrum *d, const int64_t *ns, double q)
{
    size_t best = 0;

    if (d->len == 0)
        return HIST_EMPTY;
    /* The points of a small run end before its failures. */
    if (d->failed > 0 && stats_rank(q, d->n) > d->n - d->failed)
        return HIST_BEYOND;
    for (size_t i = 0; i < d->len; i++) {
        if (fabs(d->p[i] - q) < fabs(d->p[best] - q))
            best = i;
    }
    return ns[best];
}

/* Of the whole window: what was judged, if it was.  Bins of a run that goes on
 * know any quantile, its spectrum only a few. */
static double overall(const struct run_bins *b, enum bins_measure m, double q,
                      const struct term_judgement *j)
{
    const struct spectrum *d = &b->spectra[m];

    return b->is_partial ? run_bins_window_quantile_ns(b, m, q)
           : j           ? (double)j->measured_ns
                         : (double)value_at(d, d->due_ns, q);
}

static void put_spectrum_table(struct page *p, const struct spectrum *d)
{
    char text[SHOW_TEXT];

    page_table_begin(p, d->has_sent
                            ? "percentile|from due|95% band from|to|from sent"
                            : "percentile|from due|95% band from|to");
    for (size_t i = 0; i < d->len; i++) {
        page_row(p);
        page_cellf(p, "p%.6g", 100 * d->p[i]);
        page_cell(p, show_ns((double)d->due_ns[i], text));
        page_cell(p, show_ns((double)d->low_ns[i], text));
        page_cell(p, d->high_ns[i] <= HIST_BEYOND && d->due_ns[i] > HIST_BEYOND
                         ? "no bound"
                         : show_ns((double)d->high_ns[i], text));
        if (d->has_sent)
            page_cell(p, show_ns((double)d->sent_ns[i], text));
    }
    page_table_end(p);
}

static void put_spectrum(struct page *p, const struct run_page *r,
                         enum bins_measure m, const char *classes)
{
    char name[32];
    char what[64];
    char text[SHOW_TEXT];
    struct spectrum_chart c;
    const struct spectrum *d;

    snprintf(name, sizeof(name), "spectrum-%s", measure_classes[m]);
    c = spectrum_of(r, m, name);
    d = c.data;
    page_figure_begin(
        p, classes, name, "Percentile spectrum",
        c.limit_ns > 0
            ? "How long requests took, from the typical one on the left to "
              "the rarest on the right. A curve that runs into the hatched "
              "barrier misses the limit."
            : "How long requests took, from the typical one on the left to "
              "the rarest on the right.");
    snprintf(what, sizeof(what), "at p%.6g", 100 * shown_quantile(&c));
    page_legend_begin(p, what);
    page_legend(p, "due", SWATCH_LINE, "good", "from due",
                show_ns(c.limit_ns > 0 ? c.measured_ns
                                       : (double)value_at(d, d->due_ns, 0.5),
                        text));
    if (d->has_sent)
        page_legend(
            p, "sent", SWATCH_DASH, "ink3", "from sent",
            show_ns((double)value_at(d, d->sent_ns, shown_quantile(&c)), text));
    page_legend(p, "band", SWATCH_AREA, "good", "95% band", "");
    page_legend_end(p);
    page_put(p, "<p class=\"ramp\">Dotted: too few requests to be sure.</p>");
    page_figure_plot(p);
    if (d->n < SPECTRUM_MIN)
        page_textf(p, "Only %lld request%s: see the numbers.", (long long)d->n,
                   d->n == 1 ? "" : "s");
    else
        spectrum_draw(&p->svg, &c);
    put_spectrum_table(p, d);
    page_figure_end(p);
    spectrum_put_data(p, &c);
}

static void put_ramp(struct page *p, char letter, const char *name)
{
    page_put(p, "<p class=\"ramp\"><svg viewBox=\"0 0 112 10\" "
                "aria-hidden=\"true\">");
    for (int i = 1; i <= 7; i++)
        page_putf(p,
                  "<path class=\"%c%d\" stroke-width=\"10\" d=\"M%d 5h15\"/>",
                  letter, i, (i - 1) * 16);
    page_putf(p, "</svg>%s</p>", name);
}

static bool has_failed(const struct heat_map *h, int outcome)
{
    for (size_t i = 0; i < h->n_columns; i++) {
        if (h->kinds[i][outcome] > 0)
            return true;
    }
    return false;
}

static void put_heat_table(struct page *p, const struct heat_map *h)
{
    char columns[512];
    char text[SHOW_TEXT];
    int len = snprintf(columns, sizeof(columns), "due at|due|%s|good|failed",
                       h->has_limit ? "within|beyond the limit" : "answered");

    for (int o = 0; o < OUTCOME_COUNT; o++) {
        if (has_failed(h, o))
            len += snprintf(columns + len, sizeof(columns) - (size_t)len, "|%s",
                            outcome_name((enum outcome)o));
    }
    page_table_begin(p, columns);
    for (size_t i = 0; i < h->n_columns; i++) {
        double within = 0;
        double beyond = 0;

        for (int row = 0; row < h->n_rows; row++) {
            if (h->has_limit && h->first_row + row >= 0)
                beyond += h->cells[i][row];
            else
                within += h->cells[i][row];
        }
        page_row(p);
        page_cell(p, show_time((double)i * h->step_s, text));
        page_cell(p, show_count((int64_t)h->due[i], text));
        page_cell(p, show_count((int64_t)within, text));
        if (h->has_limit)
            page_cell(p, show_count((int64_t)beyond, text));
        page_cell(p, show_count((int64_t)h->good[i], text));
        page_cell(p, show_count((int64_t)h->failed[i], text));
        for (int o = 0; o < OUTCOME_COUNT; o++) {
            if (has_failed(h, o))
                page_cell(p, show_count((int64_t)h->kinds[i][o], text));
        }
    }
    page_table_end(p);
}

static void put_heat(struct page *p, const struct run_bins *b,
                     enum bins_measure m, const char *classes)
{
    struct heat_map *h = xcalloc(1, sizeof(*h));
    char name[32];
    char title[96];
    char caption[256];
    char step[SHOW_TEXT];

    if (heat_make(h, b, m)) {
        snprintf(name, sizeof(name), "heat-%s", measure_classes[m]);
        snprintf(title, sizeof(title), "%s over time",
                 measure_title(b->values[m].measure));
        snprintf(caption, sizeof(caption),
                 "Each column is %s of arrivals; stronger cells hold more "
                 "requests.%s Failures stand in the lane on top.",
                 show_time(h->step_s, step),
                 h->has_limit ? " Orange is beyond the limit." : "");
        h->name = name;
        h->label = title;
        page_figure_begin(p, classes, name, title, caption);
        put_ramp(p, 'g', h->has_limit ? "within the limit" : "answered");
        if (h->has_limit)
            put_ramp(p, 'l', "beyond it");
        page_put(p, "<p class=\"ramp\"><svg viewBox=\"0 0 112 10\" "
                    "aria-hidden=\"true\"><rect class=\"f-fail\" "
                    "width=\"15\" height=\"10\"/></svg>failed, in the lane on "
                    "top</p>");
        page_figure_plot(p);
        heat_draw(&p->svg, h);
        put_heat_table(p, h);
        page_figure_end(p);
        heat_put_data(p, h);
    }
    free(h);
}

/* The narrowest bins of which nine of ten, inside the window, bound the
 * quantile.  A bin that holds only a short cool-down has few requests. */
static bool quantile_view(const struct run_bins *b, double q,
                          struct bins_view *v)
{
    static const double steps_s[] = {1,  2,   5,   10,  15,   30,
                                     60, 120, 300, 600, 1800, 3600};

    for (size_t i = 0; i < sizeof(steps_s) / sizeof(steps_s[0]); i++) {
        size_t inside = 0;
        size_t enough = 0;

        *v = run_view_of(b, steps_s[i]);
        if (v->n < 6)
            return false;
        for (size_t k = 0; k < v->n; k++) {
            int64_t step_ns = b->step_ns * (int64_t)v->merge;
            int64_t from_ns = step_ns * (int64_t)k;
            int64_t n = 0;

            if (from_ns < b->window.start_ns ||
                from_ns + step_ns > b->window.end_ns)
                continue;
            for (size_t j = k * v->merge; j < (k + 1) * v->merge && j < b->n;
                 j++)
                n += b->due[j];
            inside++;
            enough += n >= stats_min_n(q);
        }
        if (inside > 0 && enough * 10 >= inside * 9)
            return true;
    }
    return false;
}

static void put_quantiles(struct page *p, const struct run_page *r,
                          enum bins_measure m, const char *classes)
{
    const struct run_bins *b = r->bins;
    const struct term_judgement *j = term_of(r->s, b->values[m].measure);
    double q = j ? j->term->quantile : 0.95;
    double low[BINS_TIME];
    double high[BINS_TIME];
    struct bins_view v;
    struct time_chart c;
    char name[32];
    char high_name[SHOW_TEXT];
    char caption[256];
    char step[SHOW_TEXT];

    snprintf(name, sizeof(name), "quant-%s", measure_classes[m]);
    if (!quantile_view(b, q, &v)) {
        page_figure_begin(p, classes, name, "Percentiles over time",
                          "How the percentiles changed during the run.");
        page_figure_plot(p);
        page_textf(p,
                   "The run is too short for p%.6g over time: each bin "
                   "needs %lld requests.",
                   100 * q, (long long)stats_min_n(q));
        page_put(p, "</div>");
        page_figure_end(p);
        return;
    }
    run_view_quantiles(b, &v, m, 0.5, low);
    run_view_quantiles(b, &v, m, q, high);
    snprintf(high_name, sizeof(high_name), "p%.6g", 100 * q);
    snprintf(caption, sizeof(caption),
             "Of the requests due in each %s, half were faster than p50 and "
             "%.6g%% faster than %s.%s",
             show_time(v.step_s, step), 100 * q, high_name,
             j ? " Orange is beyond the limit." : "");
    c = run_view_chart(b, &v);
    c.name = name;
    c.classes = classes;
    c.title = "Percentiles over time";
    c.caption = caption;
    c.what = "of the window";
    c.height = 170;
    c.y = run_view_log_axis(low, high, v.n, j ? (double)j->term->limit_ns : 0);
    if (j) {
        c.limit = (double)j->term->limit_ns;
        snprintf(c.limit_text, sizeof(c.limit_text), "limit %s",
                 show_tick_ns(c.limit, step));
    }
    c.series[0] = (struct time_series){.key = "hi",
                                       .name = high_name,
                                       .colour = "good",
                                       .swatch = SWATCH_LINE,
                                       .y = high,
                                       .overall = overall(b, m, q, j),
                                       .is_split = j != NULL};
    c.series[1] = (struct time_series){.key = "p50",
                                       .name = "p50",
                                       .colour = "good",
                                       .swatch = SWATCH_LINE,
                                       .y = low,
                                       .overall = overall(b, m, 0.5, NULL),
                                       .is_split = j != NULL,
                                       .is_thin = true};
    c.n_series = 2;
    time_chart_put(p, &c);
}

/* One of those that have values is shown at a time. */
static void put_switch(struct page *p, const struct run_bins *b)
{
    bool is_first = true;

    page_put(p, "<div class=\"right\"><div class=\"seg\" role=\"radiogroup\" "
                "aria-label=\"Measure\">");
    for (int m = 0; m < BINS_LAG; m++) {
        if (b->spectra[m].n == 0)
            continue;
        page_putf(p,
                  "<label><input type=\"radio\" name=\"measure\" id=\"m-%s\"%s>"
                  "<span>%s</span></label>",
                  measure_classes[m], is_first ? " checked" : "",
                  measure_words[m]);
        is_first = false;
    }
    page_put(p, "</div></div>\n");
}

static void put_latency(struct page *p, const struct run_page *r)
{
    bool is_streamed = r->s->is_streamed && r->bins->spectra[BINS_TTFT].n > 0;
    int first = is_streamed ? BINS_TTFT : BINS_E2E;

    if (r->bins->spectra[BINS_E2E].n == 0)
        return;
    page_section_begin(p, "latency", "Latency", NULL, true);
    if (is_streamed)
        put_switch(p, r->bins);
    page_section_body(p);
    for (int m = first; m <= BINS_E2E; m++) {
        char classes[16] = "";

        if (r->bins->spectra[m].n == 0) /* such as tpot of answers of 1 token */
            continue;
        if (is_streamed)
            snprintf(classes, sizeof(classes), "m m-%s", measure_classes[m]);
        if (!r->bins->is_partial)
            put_spectrum(p, r, (enum bins_measure)m, classes);
        put_heat(p, r->bins, (enum bins_measure)m, classes);
        if (r->bins->n > 0)
            put_quantiles(p, r, (enum bins_measure)m, classes);
    }
    page_section_end(p);
}

/* ---- which requests miss ---- */

static void put_plane(struct page *p, const struct run_page *r,
                      struct cell_map *c)
{
    /* By the limits that there are: of the first token, and of the pace. */
    static const char *const which[2][2] = {
        {"", " What is below the line keeps the limit."},
        {" What is left of the line keeps the limit.",
         " Only the lower left corner is good."}};
    static const char *const within[2][2] = {
        {"all", "within the limit"},
        {"within the limit", "within both limits"}};
    static const char *const names[2][2] = {{NULL, "slow pace"},
                                            {"late first token", "both"}};
    const struct run_bins *b = r->bins;
    char caption[256];
    char text[SHOW_TEXT];
    bool has_x;
    bool has_y;

    if (!plane_make(c, b))
        return;
    has_x = c->x.limit > 0;
    has_y = c->y.limit > 0;
    c->label = "Time to first token against time per token";
    snprintf(caption, sizeof(caption),
             "Every answered request by its time to first token and its time "
             "per token after that.%s",
             which[has_x][has_y]);
    page_cell_begin(p, "plane", "First token against pace", caption);
    plane_draw(&p->svg, c, b, r->s->scheduled);
    page_table_begin(p, "answered requests|number");
    for (int i = 0; i < (has_x ? 2 : 1); i++) {
        for (int k = 0; k < (has_y ? 2 : 1); k++) {
            page_row(p);
            page_cell(p, names[i][k] ? names[i][k] : within[has_x][has_y]);
            page_cell(p, show_count(b->corner[i][k], text));
        }
    }
    page_table_end(p);
    page_cell_end(p);
    cells_put_data(p, c);
}

static void put_prompts(struct page *p, const struct run_bins *b,
                        struct cell_map *c)
{
    struct prompt_group groups[PROMPT_GROUPS];
    char text[SHOW_TEXT];
    size_t n;

    if (!prompt_make(c, b))
        return;
    n = prompt_groups(b, groups);
    c->label = "Time to first token against length of the prompt";
    page_cell_begin(p, "prompt", "First token against prompt length",
                    "Lines that rise mean that long prompts take longer; level "
                    "lines mean that requests wait for something else.");
    prompt_draw(&p->svg, c, groups, n);
    page_table_begin(p, c->y.limit > 0
                            ? "tokens from|below|requests|p50|p95|beyond the "
                              "limit"
                            : "tokens from|below|requests|p50|p95");
    for (size_t i = 0; i < n; i++) {
        page_row(p);
        page_cellf(p, "%.0f", ceil(groups[i].from));
        page_cellf(p, "%.0f", ceil(groups[i].to));
        page_cell(p, show_count((int64_t)groups[i].n, text));
        page_cell(p, show_ns(groups[i].p50_ns, text));
        page_cell(p,
                  groups[i].p95_ns < 0 ? "–" : show_ns(groups[i].p95_ns, text));
        if (c->y.limit > 0)
            page_cell(p, show_count((int64_t)groups[i].missed, text));
    }
    page_table_end(p);
    page_cell_end(p);
    cells_put_data(p, c);
}

static void put_shape(struct page *p, const struct run_page *r)
{
    struct cell_map *c;

    c = xcalloc(1, sizeof(*c));
    if (!plane_make(c, r->bins) && !prompt_make(c, r->bins)) {
        free(c);
        return;
    }
    page_section_begin(p, "shape", "Which requests miss", NULL, false);
    page_section_body(p);
    page_pair_begin(p);
    put_plane(p, r, c);
    put_prompts(p, r->bins, c);
    page_pair_end(p);
    page_section_end(p);
    free(c);
}

void run_charts_put(struct page *p, const struct run_page *r)
{
    put_latency(p, r);
    run_load_put(p, r);
    put_shape(p, r);
}

/* ---- single pictures ---- */

const char *const run_picture_names[] = {"spectrum", "heatmap", "rates", NULL};

static enum bins_measure main_measure(const struct run_page *r)
{
    return r->s->is_streamed && r->bins->spectra[BINS_TTFT].n > 0 ? BINS_TTFT
                                                                  : BINS_E2E;
}

static bool draw_picture(struct svg *s, const struct run_page *r,
                         const char *name)
{
    enum bins_measure m = main_measure(r);
    bool is_drawn = r->bins->n > 0;

    if (strcmp(name, "spectrum") == 0) {
        struct spectrum_chart c = spectrum_of(r, m, name);

        is_drawn = c.data->n >= SPECTRUM_MIN;
        if (is_drawn)
            spectrum_draw(s, &c);
    } else if (strcmp(name, "heatmap") == 0) {
        struct heat_map *h = xcalloc(1, sizeof(*h));

        is_drawn = heat_make(h, r->bins, m);
        h->name = name;
        h->label = "Latency over time: requests by due time and by how long "
                   "they took";
        if (is_drawn)
            heat_draw(s, h);
        free(h);
    } else if (is_drawn) {
        struct rates x;
        struct time_chart c = run_rates_chart(r, &x);

        time_chart_draw(s, &c);
    }
    return is_drawn;
}

int run_picture_render(const struct run_page *r, const char *name,
                       struct buf *out, struct err *err)
{
    struct svg s = {.out = out, .is_alone = true, .width = 900};

    for (size_t i = 0; run_picture_names[i]; i++) {
        if (strcmp(run_picture_names[i], name) != 0)
            continue;
        return draw_picture(&s, r, name)
                   ? 0
                   : err_set(err, ERR_CONFIG,
                             "%s: too few requests for a picture '%s'",
                             r->s->dir, name);
    }
    return err_set(err, ERR_USAGE,
                   "--svg: a run has no picture '%s'; it has spectrum, heatmap "
                   "and rates",
                   name);
}
