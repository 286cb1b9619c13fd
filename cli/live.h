/* live.h - progress on standard error: a block that is redrawn where that is a
 * terminal, else a line now and then.
 *
 * The cursor is hidden within a frame only, and a frame is one write: whatever
 * ends us, the terminal is left as it should be.  A frame that the terminal
 * does not take at once is dropped.
 */
#ifndef CLI_LIVE_H
#define CLI_LIVE_H

#include <stdbool.h>

struct run_progress;

struct live {
    bool is_block;
    bool has_colour;
    const char *title; /* a line above the block; NULL: none */
    int drawn_rows;    /* of the block on the screen, above the cursor */
    double drawn_s;    /* when */
    double next_line;  /* seconds into the run */
};

/* Looks at the terminal, TERM and NO_COLOR.  The title, if any, is borrowed and
 * stands above the block.  From here on a message of
 * common/log erases the block first. */
void live_init(struct live *live, bool no_colour, const char *title);

/* A struct live as `arg`, for run_options. */
void live_show(void *arg, const struct run_progress *progress);

/* Erase the block: before anything else is printed. */
void live_end(struct live *live);

#endif
