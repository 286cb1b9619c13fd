#include "cli/live.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/stats/hist.h"
#include "common/text/units.h"
#include "loadgen/engine/progress.h"

#define DIM    "\x1b[2m"
#define RED    "\x1b[31m"
#define GREEN  "\x1b[32m"
#define NORMAL "\x1b[0m"

#define LABEL        9 /* columns of it */
#define BAR          20
#define BAR_FROM     60 /* columns of a terminal that has room for it */
#define MIN_SPARK    3
#define SPARK_BEFORE "; p99 by second "
#define MAX_LINE     512

/* ---- values ---- */

static const char *show_rate(double rps, char out[static UNITS_TEXT])
{
    snprintf(out, UNITS_TEXT, rps < 99.95 ? "%.3g/s" : "%.0f/s", rps);
    return out;
}

static const char *show_ns(int64_t ns, char out[static UNITS_TEXT])
{
    if (ns >= 0)
        return units_show_duration((double)ns, out);
    return ns == HIST_BEYOND         ? "failed"
           : ns == HIST_OUT_OF_RANGE ? "> 1h"
                                     : "-";
}

/* ---- facts, without an end of line ---- */

/* Where there is more than a window. */
static void put_phase(const struct run_progress *p, struct buf *out)
{
    static const char *const names[] = {
        [PHASE_WARMUP] = "warm-up",
        [PHASE_WINDOW] = "window",
        [PHASE_COOLDOWN] = "cool-down",
        [PHASE_DRAIN] = "drain",
    };

    if (p->has_phases)
        buf_addf(out, ", %s", names[p->phase]);
}

static void put_time(const struct run_progress *p, struct buf *out)
{
    char elapsed[UNITS_TEXT];
    char text[UNITS_TEXT];

    buf_adds(out, units_show_span((int64_t)p->elapsed_s * NS_PER_S, elapsed));
    if (p->planned_s > 0)
        buf_addf(out, " of %s",
                 units_show_span((int64_t)p->planned_s * NS_PER_S, text));
    if (p->planned_s > p->elapsed_s)
        buf_addf(out, ", %s left",
                 units_show_span(llround((p->planned_s - p->elapsed_s) * 1e9),
                                 text));
    else if (p->planned_s > 0)
        buf_adds(out, ", waiting for answers");
    put_phase(p, out);
}

/* How much of the run is over: "[#####...............]"; nothing if its end is
 * not known. */
static void put_bar(const struct run_progress *p, struct buf *out)
{
    double share = p->planned_s > 0 ? p->elapsed_s / p->planned_s
                   : p->planned_requests > 0
                       ? (double)p->issued / (double)p->planned_requests
                       : -1;
    int done = (int)(fmin(1, share) * BAR);

    if (share < 0)
        return;
    buf_adds(out, "[");
    for (int i = 0; i < BAR; i++)
        buf_adds(out, i < done ? "#" : ".");
    buf_adds(out, "] ");
}

static void put_rate(const struct run_progress *p, struct buf *out)
{
    char text[UNITS_TEXT];

    if (p->is_open_loop)
        buf_addf(out, "asked %s, ", show_rate(p->asked_rps, text));
    buf_addf(out, "sent %s", show_rate(p->sent_rps, text));
    buf_addf(out, ", done %s", show_rate(p->done_rps, text));
}

static void put_requests(const struct run_progress *p, struct buf *out)
{
    buf_addf(out, "%lld", (long long)p->issued);
    if (p->planned_requests > 0)
        buf_addf(out, " of %lld", (long long)p->planned_requests);
    buf_addf(out, " sent, %lld in flight", (long long)p->in_flight);
    if (p->unsent > 0)
        buf_addf(out, ", %lld unsent", (long long)p->unsent);
}

static void put_quantiles(const struct last_second *s, struct buf *out)
{
    char text[UNITS_TEXT];

    buf_addf(out, "p50 %s", show_ns(s->p50_ns, text));
    buf_addf(out, ", p99 %s", show_ns(s->p99_ns, text));
}

static void put_lag(const struct run_progress *p, struct buf *out)
{
    char text[UNITS_TEXT];

    put_quantiles(&p->lag, out);
    buf_addf(out, ", max %s", show_ns(p->lag.max_ns, text));
}

static void put_good(const struct run_progress *p, struct buf *out)
{
    if (p->due > 0)
        buf_addf(out, "%.4g%% of %lld", 100 * (double)p->good / (double)p->due,
                 (long long)p->due);
    else
        buf_adds(out, "-");
}

/* By the worst term. */
static bool is_missed(const struct run_progress *p)
{
    return p->worst.text && p->worst.missed > p->worst.allowed;
}

static bool is_met(const struct run_progress *p)
{
    return p->worst.text && p->worst.missed <= p->worst.allowed;
}

static void put_slo(const struct run_progress *p, struct buf *out)
{
    put_good(p, out);
    if (p->worst.text)
        buf_addf(out, ", SLO %s: %s (missed by %.3g%%, allowed %.3g%%)",
                 is_missed(p) ? "MISSED" : "met", p->worst.text,
                 100 * p->worst.missed, 100 * p->worst.allowed);
}

static bool is_error(int outcome)
{
    return outcome != OUTCOME_OK && outcome != OUTCOME_UNSENT;
}

static bool has_errors(const struct run_progress *p)
{
    for (int o = 0; o < OUTCOME_COUNT; o++) {
        if (is_error(o) && p->outcome[o] > 0)
            return true;
    }
    return false;
}

static void put_errors(const struct run_progress *p, struct buf *out)
{
    const char *before = "";

    for (int o = 0; o < OUTCOME_COUNT; o++) {
        if (!is_error(o) || p->outcome[o] == 0)
            continue;
        buf_addf(out, "%s%s %lld", before, outcome_name((enum outcome)o),
                 (long long)p->outcome[o]);
        before = ", ";
    }
    if (!before[0])
        buf_adds(out, "none");
}

static void put_e2e(const struct run_progress *p, struct buf *out)
{
    put_quantiles(&p->e2e, out);
}

static void put_ttft(const struct run_progress *p, struct buf *out)
{
    put_quantiles(&p->ttft, out);
}

/* ---- the block ---- */

enum row_group { ROW_TIME, ROW_LAST_SECOND, ROW_SO_FAR, ROW_GROUPS };

static const char *const group_names[ROW_GROUPS] = {
    [ROW_LAST_SECOND] = "last second",
    [ROW_SO_FAR] = "so far",
};

struct row {
    const char *label;
    enum row_group group;
    void (*put)(const struct run_progress *p, struct buf *out);
    void (*put_in_block)(const struct run_progress *p,
                         struct buf *out);         /* NULL: the same */
    bool (*applies)(const struct run_progress *p); /* NULL: always */
    bool (*is_bad)(const struct run_progress *p);  /* NULL: never */
    bool (*is_fine)(const struct run_progress *p); /* NULL: never */
};

static bool has_slo(const struct run_progress *p)
{
    return p->has_slo;
}

static bool has_streams(const struct run_progress *p)
{
    return p->has_streams;
}

static bool has_lag(const struct run_progress *p)
{
    return !p->is_offline;
}

static const struct row rows[] = {
    {.label = "time", .put = put_time},
    {.label = "rate", .group = ROW_LAST_SECOND, .put = put_rate},
    {.label = "requests", .group = ROW_SO_FAR, .put = put_requests},
    {.label = "e2e", .group = ROW_LAST_SECOND, .put = put_e2e},
    {.label = "ttft",
     .group = ROW_LAST_SECOND,
     .put = put_ttft,
     .applies = has_streams},
    {.label = "good",
     .group = ROW_SO_FAR,
     .put = put_good,
     .put_in_block = put_slo,
     .applies = has_slo,
     .is_bad = is_missed,
     .is_fine = is_met},
    {.label = "errors",
     .group = ROW_SO_FAR,
     .put = put_errors,
     .is_bad = has_errors},
    {.label = "lag",
     .group = ROW_LAST_SECOND,
     .put = put_lag,
     .applies = has_lag},
};

#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

/* In a line, the rows before this one have no label. */
#define FIRST_NAMED 3

/* Cut it to `columns`, if possible at the end of an item. */
static void shorten(char *line, size_t columns)
{
    size_t at;

    if (strlen(line) <= columns)
        return;
    line[columns] = '\0';
    for (at = columns; at > LABEL; at--) {
        if (line[at - 1] != ',' || at + 2 > columns)
            continue;
        memcpy(line + at - 1, " ..", sizeof(" .."));
        return;
    }
}

/* p99 of the last seconds as small bars, the latest last, in `room` columns;
 * nothing below MIN_SPARK of them.  Failures are the highest. */
static void put_spark(const struct run_progress *p, size_t room,
                      const struct view_style *style, struct buf *out)
{
    static const char *const utf8[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const ascii[] = {"_", ".", ":", "-", "=", "+", "*", "#"};
    const char *const *marks = style->has_utf8 ? utf8 : ascii;
    int n = p->n_history < (int)room ? p->n_history : (int)room;
    const int64_t *ns = p->history_ns + p->n_history - n;
    double low = INFINITY;
    double high = 0;

    for (int i = 0; i < n; i++) {
        if (ns[i] > 0) {
            low = fmin(low, log((double)ns[i]));
            high = fmax(high, log((double)ns[i]));
        }
    }
    for (int i = 0; i < n && n >= MIN_SPARK; i++) {
        double at = ns[i] > 0 && high > low
                        ? (log((double)ns[i]) - low) / (high - low)
                        : 0;

        if (ns[i] == HIST_BEYOND)
            buf_adds(out, "x");
        else if (ns[i] < 0)
            buf_adds(out, " ");
        else
            buf_adds(out, marks[(int)lround(at * 7)]);
    }
}

static bool has_spark(const struct row *row, const struct run_progress *p)
{
    return row->put == (p->has_streams ? put_ttft : put_e2e) &&
           p->n_history >= MIN_SPARK;
}

static void put_row(const struct row *row, const struct run_progress *p,
                    const struct view_style *style, struct buf *out)
{
    size_t columns = style->columns > 1 ? (size_t)style->columns - 1 : 0;
    const char *colour = row->is_bad && row->is_bad(p)     ? RED
                         : row->is_fine && row->is_fine(p) ? GREEN
                                                           : "";
    char line[MAX_LINE];
    size_t used;
    struct buf text;

    buf_init(&text, MAX_LINE);
    if (row->put == put_time && style->columns >= BAR_FROM)
        put_bar(p, &text);
    (row->put_in_block ? row->put_in_block : row->put)(p, &text);
    snprintf(line, sizeof(line), "%-*s%s", LABEL, row->label, buf_text(&text));
    buf_fini(&text);
    shorten(line, columns);
    used = strlen(line) + strlen(SPARK_BEFORE);
    if (style->has_colour && columns > LABEL)
        buf_addf(out, DIM "%.*s" NORMAL "%s%s%s", LABEL, line, colour,
                 line + LABEL, colour[0] ? NORMAL : "");
    else
        buf_adds(out, line);
    if (has_spark(row, p) && used + MIN_SPARK <= columns) {
        buf_adds(out, SPARK_BEFORE);
        put_spark(p, columns - used, style, out);
    }
    buf_adds(out, "\n");
}

void progress_view_block(const struct run_progress *p,
                         const struct view_style *style, struct buf *out)
{
    int columns = style->columns > 1 ? style->columns - 1 : 0;

    for (int g = 0; g < ROW_GROUPS; g++) {
        if (group_names[g])
            buf_addf(out, "%s%.*s%s\n", style->has_colour ? DIM : "", columns,
                     group_names[g], style->has_colour ? NORMAL : "");
        for (const struct row *row = rows; row < rows + N_ROWS; row++) {
            if ((int)row->group == g && (!row->applies || row->applies(p)))
                put_row(row, p, style, out);
        }
    }
}

/* ---- the line ---- */

void progress_view_line(const struct run_progress *p, struct buf *out)
{
    buf_addf(out, "%6.0fs", p->elapsed_s);
    if (p->planned_s > 0)
        buf_addf(out, " of %.0fs", p->planned_s);
    put_phase(p, out);
    buf_adds(out, ": ");
    put_rate(p, out);
    buf_adds(out, "; ");
    put_requests(p, out);
    for (size_t i = FIRST_NAMED; i < N_ROWS; i++) {
        if (rows[i].applies && !rows[i].applies(p))
            continue;
        buf_addf(out, "; %s ", rows[i].label);
        rows[i].put(p, out);
    }
    buf_adds(out, "\n");
}

/* ---- on the terminal ---- */

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

/* After this long without a frame, as when the process was stopped, other text
 * may be on the screen below the block: a new block is begun. */
#define STALE_S 2

static const char *environment(const char *name)
{
    const char *value = getenv(name);

    return value ? value : "";
}

/* Does the locale have more than ASCII?  The first that is set counts. */
static bool is_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *locale = "";

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !locale[0]; i++)
        locale = environment(names[i]);
    return strcasestr(locale, "utf-8") || strcasestr(locale, "utf8");
}

static bool is_drawable(int fd)
{
    const char *term = environment("TERM");

    return isatty(fd) && term[0] && strcmp(term, "dumb") != 0;
}

bool terminal_has_colour(int fd, bool no_colour)
{
    return is_drawable(fd) && !no_colour && !environment("NO_COLOR")[0];
}

int terminal_columns(int fd, int otherwise)
{
    struct winsize size = {0};

    return isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0
               ? size.ws_col
               : otherwise;
}

/* In the background of a shell the screen is not ours. */
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

/* The lines, over those of the frame before; no more than the screen has. */
static void draw(struct live *l, const struct run_progress *p)
{
    struct winsize size = {0};
    struct view_style style = {.has_colour = l->has_colour,
                               .has_utf8 = l->has_utf8};
    const char *at;
    const char *end;
    struct buf lines;
    struct buf frame;
    int drawn = 0;

    ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
    style.columns = size.ws_col > 0 ? size.ws_col : 80;
    if (size.ws_row == 0)
        size.ws_row = 24;
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
    at = buf_text(&lines);
    for (; drawn < size.ws_row - 1 && (end = strchr(at, '\n')); drawn++) {
        buf_add(&frame, at, (size_t)(end - at));
        buf_adds(&frame, ERASE_TO_EOL "\n");
        at = end + 1;
    }
    buf_adds(&frame, ERASE_TO_END SHOW_CURSOR);
    if (log_frame(frame.data, frame.len))
        l->drawn_rows = drawn;
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

void live_init(struct live *l, bool no_colour, const char *title)
{
    *l = (struct live){.is_block = is_drawable(STDERR_FILENO),
                       .has_colour =
                           terminal_has_colour(STDERR_FILENO, no_colour),
                       .has_utf8 = is_utf8(),
                       .title = title,
                       .next_line = title ? LATE_LINE_EVERY_S : LINE_EVERY_S};
    log_set_before(erase, l);
}

void live_show(void *arg, const struct run_progress *p)
{
    struct live *l = arg;
    struct buf line;

    if (l->is_block) {
        draw(l, p);
        return;
    }
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

void live_end(struct live *l)
{
    erase(l);
    log_set_before(NULL, NULL);
}
