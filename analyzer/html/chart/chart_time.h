/* chart_time.h - a chart over the time of a run: lines, steps and areas with a
 * legend, a limit and the warm-up. */
#ifndef ANALYZER_HTML_CHART_TIME_H
#define ANALYZER_HTML_CHART_TIME_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/html/page.h"

enum time_look {
    LOOK_STEP,
    LOOK_LINE, /* through the middles of bins, also across unknown ones */
    LOOK_AREA, /* from 0 up */
    LOOK_GAP,  /* from the next series up to this one */
};

struct time_series {
    const char *key;
    const char *name;
    const char *colour;
    enum time_look look;
    enum swatch swatch;
    const double *y; /* per bin; NAN: unknown; INFINITY: failed */
    double overall;  /* shown while nothing is pointed at; NAN: the mean of the
                        window */
    bool is_split;   /* turns orange beyond the limit */
    bool is_thin;
};

#define TIME_SERIES 4

struct time_chart {
    const char *name; /* unique in the page */
    const char *classes;
    const char *title;
    const char *caption;
    const char *what; /* what the values in the legend are */
    double step_s;
    size_t n;
    double end_s;    /* of the last bin */
    double warmup_s; /* 0: none */
    double window_end_s;
    struct axis y;
    double limit; /* NAN: none */
    char limit_text[64];
    int height;
    struct time_series series[TIME_SERIES]; /* the first is drawn last */
    size_t n_series;
};

void time_chart_draw(struct svg *s, const struct time_chart *c);

/* The whole figure. */
void time_chart_put(struct page *p, const struct time_chart *c);

/* A value in the unit of the chart. */
const char *time_chart_show(const struct time_chart *c, double value,
                            char *out);

#endif
