/* page.h - the parts that every HTML report is made of: the frame, the verdict,
 * sections, figures with a legend and a table of their numbers.
 *
 * One file without a network: style and script are embedded, and the policy of
 * the page allows nothing else.  Everything from outside goes through
 * html_escape().
 */
#ifndef ANALYZER_HTML_PAGE_H
#define ANALYZER_HTML_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/html/chart/svg.h"
#include "analyzer/html/html_text.h"
#include "common/base/buf.h"

/* A page is refused above this; 1 MB is the aim for any run. */
#define PAGE_MAX ((size_t)8 << 20)

enum tone { TONE_PASS, TONE_FAIL, TONE_UNDECIDED, TONE_INVALID, TONE_NONE };

enum icon {
    ICON_PASS,
    ICON_FAIL,
    ICON_UNDECIDED,
    ICON_INVALID,
    ICON_OK,
    ICON_BAD,
    ICON_NOTE,
    ICON_FOUND,
    ICON_SAME,
    ICON_LIMIT,
    ICON_AT_LEAST,
};

/* How a verdict is shown. */
struct verdict_look {
    const char *word; /* "pass" */
    const char *badge;
    enum tone tone;
    enum icon icon;
};

/* By the word that the verdict of a run, of trials or of a comparison is; NULL:
 * there is none. */
const struct verdict_look *verdict_look(const char *word);

struct page {
    struct buf *out;
    struct buf data; /* members of the JSON object that the script reads */
    struct svg svg;
    const char *part; /* title of the section or figure, which names a table */
    bool is_first;    /* the next cell is the first of its row */
    bool is_live;     /* see struct page_head */
};

struct nav_entry {
    const char *id;
    const char *name;
};

struct page_head {
    const char *kind;       /* "Load test" */
    const char *title;      /* of the window, without verdict */
    const char *badge;      /* "FAIL" */
    const char *badge_note; /* "as observed"; NULL: nothing */
    enum tone tone;
    enum icon icon;
    bool is_withdrawn; /* figures are shown in grey */
    const struct nav_entry *nav;
    size_t n_nav;
    bool is_live; /* the page is served by the run, and updates itself */
};

void page_begin(struct page *p, struct buf *out, const struct page_head *head);

/* Only what is between page_begin() and page_end(), for a page that is there
 * already; page_part_end() appends the data to `data`. */
void page_part_begin(struct page *p, struct buf *out);
void page_part_end(struct page *p, struct buf *data);

/* The section with the words of the page, which key figures link to. */
void page_words(struct page *p);

/* The last words, the data and the end. */
void page_end(struct page *p, const char *origin);

void page_icon(struct page *p, enum icon icon, const char *classes);

/* Words with printf; what comes from outside is passed as an argument of
 * page_text(). */
void page_put(struct page *p, const char *html);
void page_putf(struct page *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void page_text(struct page *p, const char *text);
void page_textf(struct page *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- the verdict ---- */

/* Opens the head of the page: badge, name and `lines` about the run. */
void page_hero_begin(struct page *p, const struct page_head *head,
                     const char *name, const char *const *lines, size_t n_lines,
                     const char *headline);
void page_hero_end(struct page *p);

/* ---- a row of key figures ---- */

struct key_figure {
    const char *name; /* "Goodput" */
    const char *unit; /* "/s" */
    char value[SHOW_TEXT];
    double share; /* length of the bar below it; NAN: no bar */
    double low;   /* of an interval of the share; NAN: none */
    double high;
    const char *colour; /* of the bar */
    char words[160];
};

void page_figs_begin(struct page *p);
void page_fig(struct page *p, const struct key_figure *f);
void page_figs_end(struct page *p);

/* ---- sections and figures ---- */

/* Opens the heading of a section; page_section_body() closes it.  `note` may be
 * NULL; `is_zoomed`: it shows the range while zoomed. */
void page_section_begin(struct page *p, const char *id, const char *title,
                        const char *note, bool is_zoomed);
void page_section_body(struct page *p);
void page_section_end(struct page *p);

/* A figure: title and caption, then the legend, then page_figure_plot(), the
 * chart, page_figure_table() with rows, page_figure_end().  `classes` may be
 * "". */
void page_figure_begin(struct page *p, const char *classes, const char *name,
                       const char *title, const char *caption);

/* `what` the values of the legend are, such as "mean of the window". */
void page_legend_begin(struct page *p, const char *what);

enum swatch { SWATCH_LINE, SWATCH_DASH, SWATCH_DOTS, SWATCH_AREA };

/* `value` may be "". */
void page_legend(struct page *p, const char *series, enum swatch swatch,
                 const char *colour, const char *name, const char *value);

/* An entry for marks of this shape. */
void page_legend_mark(struct page *p, const char *series, enum mark mark,
                      const char *colour, const char *name);
void page_legend_end(struct page *p);
void page_figure_plot(struct page *p);
void page_figure_end(struct page *p);

/* The same without an aside, for two next to each other. */
void page_pair_begin(struct page *p);
void page_cell_begin(struct page *p, const char *name, const char *title,
                     const char *caption);
void page_cell_end(struct page *p);
void page_pair_end(struct page *p);

/* ---- numbers, one click away ---- */

/* Column names separated by '|'; they are escaped.  The first cell is the name
 * of its row. */
void page_table_begin(struct page *p, const char *columns);
void page_row(struct page *p);
void page_cell(struct page *p, const char *text); /* escaped */
void page_cellf(struct page *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void page_table_end(struct page *p);

/* ---- data for the script ---- */

/* Start a member of the object; what follows in p->data is its value. */
void page_data(struct page *p, const char *key);
void page_data_numbers(struct page *p, const double *values, size_t n,
                       int digits);

/* ---- commands to copy ---- */

void page_command(struct page *p, const char *what, const char *text,
                  bool is_prose);

#endif
