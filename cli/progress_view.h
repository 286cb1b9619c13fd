/* progress_view.h - how a run stands, as text.  Pure: a moment of the run in,
 * lines out.  Plain ASCII, so that a byte is a column. */
#ifndef CLI_PROGRESS_VIEW_H
#define CLI_PROGRESS_VIEW_H

#include <stdbool.h>

struct buf;
struct run_progress;

struct view_style {
    int columns; /* no line has as many */
    bool has_colour;
};

/* A few lines, each with its end; as many of them at every moment of a run.
 * What does not fit whole into a line is left out, and ".." says so. */
void progress_view_block(const struct run_progress *p,
                         const struct view_style *style, struct buf *out);

/* The same facts in one long line, with its end. */
void progress_view_line(const struct run_progress *p, struct buf *out);

#endif
