/* charts.h - the charts of a run that are not over time alone.  Each function
 * draws the picture; what stands around it is in run_page.c. */
#ifndef ANALYZER_HTML_CHARTS_H
#define ANALYZER_HTML_CHARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/html/page.h"
#include "analyzer/tally/run_bins.h"

/* A count in a ramp of seven colours; 0: none. */
int count_level(double count, double max);

/* ---- percentile spectrum ---- */

struct spectrum_chart {
    const char *name;
    const struct spectrum *data;
    double limit_ns; /* 0: no limit on a quantile of this measure */
    double quantile; /* of the limit */
    double measured_ns;
};

/* With fewer requests there is only the table. */
#define SPECTRUM_MIN 5

void spectrum_draw(struct svg *s, const struct spectrum_chart *c);
void spectrum_put_data(struct page *p, const struct spectrum_chart *c);

/* ---- heat map over time ---- */

#define HEAT_COLUMNS 200
#define HEAT_ROWS    40

struct heat_map {
    const char *name;
    const char *label;
    double base_ns;
    bool has_limit;
    double rows_per_octave;
    int first_row; /* its lower edge is base 2^(first_row / rows_per_octave) */
    int n_rows;
    size_t n_columns;
    double step_s;
    double end_s;
    double warmup_s;
    double cells[HEAT_COLUMNS][HEAT_ROWS];
    double due[HEAT_COLUMNS];
    double good[HEAT_COLUMNS];
    double failed[HEAT_COLUMNS];
    double kinds[HEAT_COLUMNS][OUTCOME_COUNT]; /* of those that failed */
};

/* Merge bins until they fit and, if 24 columns are left, until a column has 20
 * requests.  false: there is no value to show. */
bool heat_make(struct heat_map *h, const struct run_bins *b,
               enum bins_measure m);
double heat_edge_ns(const struct heat_map *h, int row);
void heat_draw(struct svg *s, const struct heat_map *h);
void heat_put_data(struct page *p, const struct heat_map *h);

/* ---- two quantities of each request ---- */

#define CELLS_X 56
#define CELLS_Y 44

struct cell_axis {
    double base;       /* value at cell 0, in ns or tokens */
    double per_octave; /* cells */
    int first;
    int n;
    double limit; /* 0: none */
};

struct cell_map {
    const char *name;
    const char *label;
    struct cell_axis x;
    struct cell_axis y;
    bool x_is_tokens;
    double cells[CELLS_X][CELLS_Y];
    double n;
};

/* Time to first token against time per token.  false: too little to show. */
bool plane_make(struct cell_map *c, const struct run_bins *b);
void plane_draw(struct svg *s, const struct cell_map *c,
                const struct run_bins *b, int64_t due);

#define PROMPT_GROUPS 12

struct prompt_group {
    double from; /* tokens */
    double to;
    double n;
    double p50_ns;
    double p95_ns; /* below 0: too few requests */
    double missed;
};

/* Time to first token against the length of the prompt. */
bool prompt_make(struct cell_map *c, const struct run_bins *b);
size_t prompt_groups(const struct run_bins *b,
                     struct prompt_group out[static PROMPT_GROUPS]);
void prompt_draw(struct svg *s, const struct cell_map *c,
                 const struct prompt_group *groups, size_t n);
void cells_put_data(struct page *p, const struct cell_map *c);

#endif
