/* svg.h - draws charts as SVG.
 *
 * A chart in a page is as wide as its column: places along x are percentages,
 * heights are pixels, and text keeps its size.  What can be zoomed lies in a
 * layer of its own with 1000 units across.  Colours are classes of the page's
 * style sheet.  A chart in a file of its own has a fixed width and presentation
 * attributes instead.
 */
#ifndef ANALYZER_HTML_SVG_H
#define ANALYZER_HTML_SVG_H

#include <stdbool.h>
#include <stddef.h>

struct buf;

struct svg {
    struct buf *out;
    bool is_alone; /* a file of its own */
    int width;     /* of that file in pixels */
    int height;    /* ... of its charts so far: they stand below each other */
    int n_charts;
    int next_id; /* of gradients */
};

/* Append a file with the charts that `from` has drawn alone. */
void svg_join(struct svg *s, const struct svg *from);

/* Append an attribute for these classes, separated by blanks. */
void svg_class(struct svg *s, const char *classes);

/* ---- axes ---- */

enum tick_kind {
    TICK_COUNT,
    TICK_NS,
    TICK_SHARE,
    TICK_TIME, /* seconds since the start */
    TICK_USD,
    TICK_RATE, /* per second */
    TICK_FACTOR,
};

struct axis {
    double low;
    double high; /* above low */
    bool is_log; /* low is above 0 */
    enum tick_kind kind;
    bool is_odds; /* shares above 0 and below 1, by their log odds */
};

/* From 0 at the low end to 1 at the high end; values outside are moved to the
 * end. */
double axis_at(const struct axis *a, double value);

#define AXIS_TICKS 24

/* Round values inside the axis, about as many as wanted; returns how many. */
size_t axis_ticks(const struct axis *a, int wanted,
                  double ticks[static AXIS_TICKS]);

/* The text of a tick. */
const char *axis_show(const struct axis *a, double value, char *out);

/* ---- a plot ---- */

struct plot {
    struct svg *svg;
    const char *name;  /* of the chart, for the script */
    const char *label; /* a sentence for screen readers */
    struct axis x;
    struct axis y;
    int top;             /* margin in pixels, above ... */
    int bottom;          /* ... and below, ... */
    int below;           /* ... where the ticks begin this much further down */
    int height;          /* of the plot itself */
    const char *x_title; /* NULL: none */
    const char *y_title;
    double y_title_up; /* pixels above the plot, beyond the usual */
    bool is_time;      /* x is time since the start and can be zoomed */
    bool has_own_x;    /* the caller draws the ticks of x */
    bool has_own_y;    /* ... or of y */
    bool is_half;      /* next to another one: half as wide */
};

/* Opens the chart and draws grid and tick labels. */
void plot_begin(struct plot *p);
void plot_end(struct plot *p);

/* Pixels from the top of the plot. */
double plot_y(const struct plot *p, double value);

/* The layer that can be zoomed, and places in it. */
void plot_layer_begin(struct plot *p);
void plot_layer_end(struct plot *p);
double plot_x(const struct plot *p, double value);

/* A path in the layer.  `series` is its name in the legend; NULL: none. */
void plot_path_begin(struct plot *p, const char *classes, const char *series);
void plot_path_end(struct plot *p);
void plot_move(struct plot *p, double x, double y); /* in units */
void plot_line(struct plot *p, double x, double y);

/* Cells of a grid as strokes, in units of columns and rows from the lower left:
 * a path for each colour, and runs of cells in it. */
void plot_cells_begin(struct plot *p, double width, double height);
void plot_cells(struct plot *p, int column, int row, double length);
void plot_cells_end(struct plot *p);

/* A gradient for strokes that turns from orange to blue at a value; returns its
 * number for plot_path_begin_split(). */
int plot_split(struct plot *p, double at);
void plot_path_begin_split(struct plot *p, const char *classes,
                           const char *series, int gradient);

/* ---- marks outside the layer: x is a share of the width, y in pixels ---- */

void svg_line(struct svg *s, double x1, double y1, double x2, double y2,
              const char *classes);
void svg_rect(struct svg *s, double x, double y, double width, double height,
              const char *classes);

/* A place for a text, dx pixels to the right of x. */
struct spot {
    double x;
    double dx;
    double y;
};

/* anchor "start", "middle" or "end". */
void svg_text(struct svg *s, struct spot at, const char *anchor,
              const char *classes, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

enum mark {
    MARK_DOT,
    MARK_RING,
    MARK_DIAMOND,
    MARK_DIAMOND_OPEN,
    MARK_TARGET,
    MARK_CIRCLE,
    MARK_SQUARE,
    MARK_SQUARE_OPEN,
    MARK_UP,
    MARK_UP_OPEN,
    MARK_DOWN,
    MARK_DOWN_OPEN,
};

/* The shape of a mark around the origin. */
void svg_shape(struct svg *s, enum mark mark, const char *colour);

/* `tip`: what hovering shows, lines separated by '|'; NULL: nothing. */
void svg_mark(struct svg *s, enum mark mark, double x, double y,
              const char *colour, const char *tip);

/* A name in a legend, and what stands before it: a mark if it has one, else a
 * line if it has one, else an area. */
struct legend_entry {
    const char *name;
    const char *colour;
    char line[48]; /* classes; "": none */
    bool has_mark;
    enum mark mark;
};

/* In a file of its own: the height of these entries, in as many rows as they
 * need, and the rows, the last of them at y.  In a page, where the legend
 * stands next to the chart, 0 and nothing. */
int legend_height(const struct svg *s, const struct legend_entry *e, size_t n);
void plot_legend(struct plot *p, double y, const struct legend_entry *e,
                 size_t n);

/* The dashed line of a limit, with its text at the right. */
void plot_limit(struct plot *p, double value, const char *text);

#endif
