/* chart_xy.h - points with intervals against something that was varied: a rate,
 * a number of workers, the number of a trial. */
#ifndef ANALYZER_HTML_CHART_XY_H
#define ANALYZER_HTML_CHART_XY_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/html/page.h"

#define XY_TIP 192

struct xy_point {
    double x;
    double y;   /* INFINITY: failed; NAN: unknown */
    double low; /* of its interval; NAN: none */
    double high;
    enum mark mark;
    const char *colour;
    char tip[XY_TIP]; /* lines separated by '|' */
};

/* Points that follow each other in the array. */
struct xy_series {
    const char *key;
    const char *name;
    const char *colour;
    char line[40]; /* classes of a line through them; "": none */
    bool has_marks;
    enum mark mark;   /* of the legend */
    const char *area; /* classes of the area between low and high of its points;
                         NULL: none */
    size_t from;
    size_t n;
};

struct xy_chart {
    const char *name;
    const char *title;
    const char *caption;
    struct axis x; /* xy_fit() sets their ends */
    struct axis y;
    const char *x_title;
    const char *y_title;
    bool x_is_whole;      /* a tick at each whole number, if they are few */
    bool x_is_percentile; /* x is xy_percentile() of one */
    double limit;         /* a line across; NAN: none */
    char limit_text[64];
    bool shades_above; /* the limit is a maximum */
    bool shades_below; /* ... or a minimum */
    double band_low;   /* of x; NAN: none */
    double band_high;
    double at; /* a line down at this x; NAN: none */
    char at_text[64];
    double max_x;    /* points beyond it stand at the right edge, with their x;
                        NAN: none */
    bool has_failed; /* xy_fit(): values are INFINITY, in a lane on top; ... */
    bool has_none;   /* ... are 0 where the axis has no 0, in a lane below */
    int height;
    struct xy_point *points; /* owned */
    size_t n;
    struct xy_series *series; /* owned */
    size_t n_series;
};

struct xy_chart *xy_new(const char *name, const char *title,
                        const char *caption);
void xy_free(struct xy_chart *c);

/* Start a series; points that are added belong to it.  A series is valid until
 * the next xy_add_series(), a point until the next xy_add(). */
struct xy_series *xy_add_series(struct xy_chart *c, const char *key,
                                const char *name, const char *colour,
                                const char *line);
struct xy_point *xy_add(struct xy_chart *c, double x, double y);

/* Where a percentile stands: p90, p99 and p99.9 at equal distances. */
double xy_percentile(double p);

/* Set the ends of the axes: from 0 unless they are log or of odds; all points,
 * the limit and the band are inside.  Leaves series out that have no points.
 * false: no point to show. */
bool xy_fit(struct xy_chart *c);

void xy_draw(struct svg *s, const struct xy_chart *c);

/* The whole figure, after xy_fit(). */
void xy_put(struct page *p, const struct xy_chart *c);

/* Fit it, draw it alone or put the figure, and free it.  false: there is
 * nothing to draw. */
bool xy_finish(struct page *p, struct xy_chart *c, struct svg *alone);

/* A value on the axis in words. */
const char *xy_show(const struct axis *a, double value, char *out);

#endif
