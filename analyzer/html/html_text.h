/* html_text.h - text inside HTML: escaping, and numbers for people with three
 * digits.  The functions that show a number write to `out` and return it. */
#ifndef ANALYZER_HTML_HTML_TEXT_H
#define ANALYZER_HTML_HTML_TEXT_H

#include <stdint.h>

#include "common/measure/measure.h"

struct buf;

#define SHOW_TEXT 48

/* Append a text from outside: markup is escaped, and what is not safe to show
 * becomes '?'.  For content and for attributes in double quotes. */
void html_escape(struct buf *out, const char *text);

/* 403 ms, 1.25 s, 17.0 µs, with a narrow no-break space; "failed" or "–" for
 * the codes of hist.h. */
const char *show_ns(double ns, char out[static SHOW_TEXT]);

/* A limit or a tick, without trailing zeros: 300 ms, 1 s. */
const char *show_tick_ns(double ns, char out[static SHOW_TEXT]);

/* 5,604 */
const char *show_count(int64_t n, char out[static SHOW_TEXT]);

/* Three digits, a thousand and more in whole numbers: 93.4, 4,142. */
const char *show_number(double x, char out[static SHOW_TEXT]);

/* 83.0%, 0.036%, <0.001% */
const char *show_share(double share, char out[static SHOW_TEXT]);

struct change_words {
    const char *less;  /* "lower" */
    const char *more;  /* "higher" */
    const char *times; /* "times as high", from twice as much on */
};

/* 37% lower, 4.2% higher, 7.2 times as high, the same. */
const char *show_change(double ratio, const struct change_words *words,
                        char out[static SHOW_TEXT]);

/* Time since the start: 12.5 s, from ten minutes on 12:30, then 3:05:00. */
const char *show_time(double s, char out[static SHOW_TEXT]);

/* "Time to first token" */
const char *measure_title(enum measure measure);

/* A number in JSON and in SVG: at most `digits` after the point, no trailing
 * zeros.  Appended. */
void put_number(struct buf *out, double x, int digits);

#endif
