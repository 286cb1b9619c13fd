/* live.h - progress on standard error: a block that is redrawn on a terminal,
 * otherwise a line now and then.
 *
 * The cursor is hidden only within a frame, and a frame is one write, so the
 * terminal is left as it should be however the process ends.  A frame that the
 * terminal does not take at once is dropped.
 */
#ifndef CLI_LIVE_H
#define CLI_LIVE_H

#include <stdbool.h>

struct buf;
struct run_progress;

struct live {
    bool is_block;
    bool has_colour;
    bool has_utf8;
    const char *title; /* a line above the block; NULL: none */
    int drawn_rows;    /* of the block on the screen, above the cursor */
    double drawn_s;    /* when */
    double next_line;  /* seconds into the run */
};

/* Depends on the terminal, TERM and NO_COLOR.  The title, if not NULL, is
 * borrowed and drawn above the block.  From here on a message of
 * common/base/log.h erases the block first. */
void live_init(struct live *live, bool no_colour, const char *title);

/* A struct live as `arg`, for run_options. */
void live_show(void *arg, const struct run_progress *progress);

/* Erase the block, before anything else is printed. */
void live_end(struct live *live);

/* ---- terminals ---- */

/* The width of the terminal at this descriptor; `otherwise` if it is not one.
 */
int terminal_columns(int fd, int otherwise);

/* Is it a terminal that shows colours, and does nothing forbid them: the flag,
 * NO_COLOR, or TERM=dumb? */
bool terminal_has_colour(int fd, bool no_colour);

/* ---- the text alone: a moment of a run in, lines out.  Pure. ---- */

struct view_style {
    int columns; /* lines are shorter than this */
    bool has_colour;
    bool has_utf8; /* of the terminal: for the small bars */
};

/* A few lines, always the same number in a run: a bar, what happened in the
 * last second with p99 of the seconds before it, and the run so far.  Items
 * that do not fit into a line are replaced by "..". */
void progress_view_block(const struct run_progress *p,
                         const struct view_style *style, struct buf *out);

/* The same facts in one long line, with its end. */
void progress_view_line(const struct run_progress *p, struct buf *out);

#endif
