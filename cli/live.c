#include "cli/live.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/progress_view.h"
#include "common/base/buf.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "loadgen/engine/progress.h"

#define MAX_FRAME LOG_MAX_BYTES

#define HIDE_CURSOR  "\x1b[?25l"
#define SHOW_CURSOR  "\x1b[?25h"
#define ERASE_TO_EOL "\x1b[K"
#define ERASE_TO_END "\x1b[J"
#define UP_BY        "\r\x1b[%dA"

/* Lines that are not redrawn come at a slower pace after a minute. */
#define LINE_EVERY_S      2
#define LATE_LINE_EVERY_S 10
#define LATE_S            60

/* After as long without a frame, as when we were stopped, the screen may hold
 * something else below the block: that one is left alone, a new one begun. */
#define STALE_S 2

static const char *environment(const char *name)
{
    const char *value = getenv(name);

    return value ? value : "";
}

static bool can_redraw(void)
{
    const char *term = environment("TERM");

    return isatty(STDERR_FILENO) && term[0] && strcmp(term, "dumb") != 0;
}

static struct winsize screen_size(void)
{
    struct winsize size = {0};

    ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
    if (size.ws_col == 0)
        size.ws_col = 80;
    if (size.ws_row == 0)
        size.ws_row = 24;
    return size;
}

/* In the background of a shell the screen is somebody else's. */
static bool is_in_background(void)
{
    pid_t group = tcgetpgrp(STDERR_FILENO);

    return group >= 0 && group != getpgrp();
}

static void put_start(const struct live *l, struct buf *frame)
{
    buf_adds(frame, HIDE_CURSOR);
    if (l->drawn_rows > 0)
        buf_addf(frame, UP_BY, l->drawn_rows);
}

/* The lines, over those of the frame before; at most max_rows of them. */
static int put_lines(const struct buf *lines, int max_rows, struct buf *frame)
{
    const char *at = buf_text(lines);
    const char *end;
    int n = 0;

    for (; n < max_rows && (end = strchr(at, '\n')); n++) {
        buf_add(frame, at, (size_t)(end - at));
        buf_adds(frame, ERASE_TO_EOL "\n");
        at = end + 1;
    }
    return n;
}

static void draw(struct live *l, const struct run_progress *p)
{
    struct winsize size = screen_size();
    struct view_style style = {.columns = size.ws_col,
                               .has_colour = l->has_colour};
    struct buf lines;
    struct buf frame;
    int rows;

    if (p->elapsed_s - l->drawn_s > STALE_S)
        l->drawn_rows = 0;
    if (is_in_background())
        return;
    buf_init(&lines, MAX_FRAME);
    buf_init(&frame, MAX_FRAME);
    if (l->title) {
        buf_addf(&lines, "%.*s\n", style.columns - 1, l->title);
        printable(lines.data, lines.len, "\n");
    }
    progress_view_block(p, &style, &lines);
    put_start(l, &frame);
    rows = put_lines(&lines, size.ws_row - 1, &frame);
    buf_adds(&frame, ERASE_TO_END SHOW_CURSOR);
    if (log_frame(frame.data, frame.len))
        l->drawn_rows = rows;
    l->drawn_s = p->elapsed_s; /* else the screen is as it was */
    buf_fini(&frame);
    buf_fini(&lines);
}

static void erase(void *arg)
{
    struct live *l = arg;
    struct buf frame;

    if (l->drawn_rows == 0)
        return;
    buf_init(&frame, MAX_FRAME);
    put_start(l, &frame);
    buf_adds(&frame, ERASE_TO_END SHOW_CURSOR);
    log_bytes(frame.data, frame.len);
    buf_fini(&frame);
    l->drawn_rows = 0;
}

static void print_line(struct live *l, const struct run_progress *p)
{
    struct buf line;

    if (p->elapsed_s < l->next_line)
        return;
    while (l->next_line <= p->elapsed_s)
        l->next_line += l->next_line < LATE_S && !l->title ? LINE_EVERY_S
                                                           : LATE_LINE_EVERY_S;
    buf_init(&line, MAX_FRAME);
    progress_view_line(p, &line);
    log_frame(line.data, line.len);
    buf_fini(&line);
}

void live_init(struct live *l, bool no_colour, const char *title)
{
    *l = (struct live){.is_block = can_redraw(),
                       .title = title,
                       .next_line = title ? LATE_LINE_EVERY_S : LINE_EVERY_S};
    l->has_colour = l->is_block && !no_colour && !environment("NO_COLOR")[0];
    log_set_before(erase, l);
}

void live_show(void *arg, const struct run_progress *p)
{
    struct live *l = arg;

    if (l->is_block)
        draw(l, p);
    else
        print_line(l, p);
}

void live_end(struct live *l)
{
    erase(l);
    log_set_before(NULL, NULL);
}
