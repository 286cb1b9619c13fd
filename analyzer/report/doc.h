/* doc.h - a report before it is rendered: a tree of sections, lists and values.
 *
 * One builder per kind of report (run_doc.c, trials_doc.c, ...) makes the tree;
 * the renderers (render_text.c, render_json.c) know nothing about runs.  A
 * number is named, labelled and given its unit here, once.
 *
 * `key` is the name for programs, `label` the name for people.  A node without
 * a key is not in the JSON, a node without a label is not in the text; the
 * label "" shows a node without a name.  A section without a key adds its
 * children to the enclosing object.  Children of a list need no key: they are
 * its elements.
 *
 * Strings are copied.  Functions that add a node return it, so that a modifier
 * (doc_missing_if(), doc_sep(), ...) can be applied to it.
 */
#ifndef ANALYZER_REPORT_DOC_H
#define ANALYZER_REPORT_DOC_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/verdict/conclusion.h"
#include "common/stats/stats.h"

struct brief;
struct buf;
struct strlist;
struct uncertain;

enum doc_type {
    DOC_SECTION, /* an object; in text a heading and what follows it */
    DOC_LIST,    /* an array; in text one line for each element */
    DOC_TABLE,   /* an array of sections; in text a table */
    DOC_ROWS,    /* the same as an object: each row has a key and a label */
    DOC_VALUE,
    DOC_LINE, /* a sentence for people; in a list also a string */
};

enum doc_kind {
    DOC_NULL,
    DOC_TEXT,
    DOC_BOOL,
    DOC_COUNT,
    DOC_NUMBER,
    DOC_SHARE, /* of 1; in text a percentage */
    DOC_RATE,  /* per second */
    DOC_NS,    /* nanoseconds; milliseconds in JSON */
    DOC_MS,    /* milliseconds */
    DOC_SECONDS,
    DOC_BYTES,
    DOC_USD,
    DOC_PLOT, /* marks on a scale; text only */
};

enum doc_severity { DOC_PLAIN, DOC_WARNING, DOC_ADVICE };

/* What trackers of results keep, and which way is better. */
enum doc_better { DOC_UNTRACKED, DOC_LOWER, DOC_HIGHER };

/* Two marks a <= b on a scale.  Characters: from the left end to a, at a,
 * between a and b, at b; '\0' at a mark: none.  NaN: no mark. */
struct doc_plot {
    double a;
    double b;
    double low;
    double high;
    bool is_log;
    int width;
    char before;
    char at_a;
    char between;
    char at_b;
};

struct doc_node {
    enum doc_type type;
    enum doc_kind kind;
    enum doc_severity severity;
    const char *key;
    const char *alias;    /* a second key with the same value; NULL: none */
    const char *note_key; /* NULL: key + "_note" */
    const char *label;
    const char *help; /* what it is, in a sentence; NULL: the label says it */
    const char *unit; /* of a count, number or rate; NULL: none, or "/s" */
    const char *text;
    const char *note;  /* why it is missing; NULL: no reason is given */
    const char *shown; /* shown to people instead of the value */
    const char *brief; /* shown to people in place of a missing value */
    const char *sep;   /* before it in a line of values, instead of ", " */
    double number;
    double high; /* the value is a range from number to high */
    int64_t count;
    struct doc_plot plot;
    enum doc_better better;
    struct interval bounds; /* of the value, if has_bounds; for trackers */
    bool has_bounds;
    bool is_missing;
    bool is_range;
    bool is_signed; /* shown with its sign */
    bool is_text_only;
    bool is_detail; /* the short form leaves it out */
    int digits;     /* shown; 0: as usual for its kind */
    struct doc *doc;
    struct doc_node *first;
    struct doc_node *last;
    struct doc_node *next;
};

struct doc;

struct doc *doc_new(void);
void doc_free(struct doc *d);
struct doc_node *doc_root(const struct doc *d);

/* What the document comes to for a script; CONCLUSION_YES until it is set. */
void doc_conclude(struct doc *d, enum conclusion conclusion);
enum conclusion doc_conclusion(const struct doc *d);

/* How the short form of this document is made (analyzer/report/brief.h).
 * Documents without one are shown to people as a whole. */
void doc_set_brief(struct doc *d,
                   void (*make)(struct brief *b, const struct doc_node *root));
bool doc_has_brief(const struct doc *d);

/* ---- nodes that hold others ---- */

struct doc_node *doc_section(struct doc_node *in, const char *key,
                             const char *label);
struct doc_node *doc_list(struct doc_node *in, const char *key,
                          const char *label);
struct doc_node *doc_table(struct doc_node *in, const char *key,
                           const char *label);
struct doc_node *doc_rows(struct doc_node *in, const char *key,
                          const char *label);

/* An element of a list or a row of a table. */
struct doc_node *doc_row(struct doc_node *in);

/* ---- values ---- */

/* A text; NULL: null. */
struct doc_node *doc_text(struct doc_node *in, const char *key,
                          const char *label, const char *text);
struct doc_node *doc_textf(struct doc_node *in, const char *key,
                           const char *label, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
struct doc_node *doc_bool(struct doc_node *in, const char *key,
                          const char *label, bool value);
struct doc_node *doc_count(struct doc_node *in, const char *key,
                           const char *label, int64_t value);

/* A number of any kind; null if it is not finite. */
struct doc_node *doc_value(struct doc_node *in, enum doc_kind kind,
                           const char *key, const char *label, double value);

/* The same, missing if `is_missing`: null, with the reason unless NULL. */
#define doc_unless(in, kind, key, label, x, is_missing, note)                  \
    doc_missing_if(doc_value(in, kind, key, label, x), is_missing, note)

#define doc_number(in, key, label, x) doc_value(in, DOC_NUMBER, key, label, x)
#define doc_share(in, key, label, x)  doc_value(in, DOC_SHARE, key, label, x)
#define doc_rate(in, key, label, per_s)                                        \
    doc_value(in, DOC_RATE, key, label, per_s)
#define doc_seconds(in, key, label, s) doc_value(in, DOC_SECONDS, key, label, s)
#define doc_usd(in, key, label, usd)   doc_value(in, DOC_USD, key, label, usd)

/* A duration: key_ms in JSON.  HIST_TOO_FEW and the other codes are null, with
 * the reason in key_note. */
struct doc_node *doc_ns(struct doc_node *in, const char *key, const char *label,
                        double ns);

/* An interval, shown in parentheses behind the value before it.  Ends that are
 * not finite are null. */
struct doc_node *doc_range(struct doc_node *in, const char *key,
                           const char *label, enum doc_kind kind,
                           struct interval range);

/* The range of u; null where it has none. */
struct doc_node *doc_range_of(struct doc_node *in, const char *key,
                              const char *label, enum doc_kind kind,
                              const struct uncertain *u);

/* null, and key_note unless `note` is NULL; not in the text. */
struct doc_node *doc_null(struct doc_node *in, const char *key,
                          const char *note);

/* Marks on a scale, in text alone. */
struct doc_node *doc_plot(struct doc_node *in, const char *label,
                          const struct doc_plot *plot);

/* A sentence of its own. */
struct doc_node *doc_line(struct doc_node *in, enum doc_severity severity,
                          const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* An empty line, between parts of the whole report. */
void doc_break(struct doc_node *root);

/* The texts as a list of lines. */
struct doc_node *doc_lines(struct doc_node *in, const char *key,
                           const char *label, const struct strlist *list);

/* Each line of the text, which may be NULL, as a sentence of its own. */
void doc_paragraph(struct doc_node *in, const char *text);

/* What is JSON already; not in the text.  `json` is borrowed. */
struct json_t;
void doc_json(struct doc_node *in, const char *key, const struct json_t *json);

/* ---- modifiers; each returns the node ---- */

/* The value is missing if `is_missing`: null, with the reason unless NULL. */
struct doc_node *doc_missing_if(struct doc_node *n, bool is_missing,
                                const char *note);

/* Shown to people only if `is_shown`. */
struct doc_node *doc_show_if(struct doc_node *n, bool is_shown);

/* People see these words instead of the value. */
struct doc_node *doc_show(struct doc_node *n, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Shown in place of a missing value, which is otherwise left out. */
struct doc_node *doc_brief(struct doc_node *n, const char *brief);
struct doc_node *doc_sep(struct doc_node *n, const char *sep);
struct doc_node *doc_unit(struct doc_node *n, const char *unit);
struct doc_node *doc_help(struct doc_node *n, const char *help);
struct doc_node *doc_signed(struct doc_node *n);
struct doc_node *doc_digits(struct doc_node *n, int digits);
struct doc_node *doc_text_only(struct doc_node *n);

/* Also known by its key without dots ("p999_ms"), which jq takes unquoted. */
struct doc_node *doc_undotted(struct doc_node *n);

/* Trackers keep it. */
struct doc_node *doc_track(struct doc_node *n, enum doc_better better);

/* The interval of a tracked value, in the unit of its number. */
struct doc_node *doc_bounds(struct doc_node *n, struct interval bounds);

/* A sentence that the short form leaves out. */
struct doc_node *doc_detail(struct doc_node *n);

/* ---- finding nodes ---- */

/* The node at a path of keys such as "requests.ok", as in the JSON; NULL: there
 * is none. */
const struct doc_node *doc_at(const struct doc_node *in, const char *path);

/* The child with this label; NULL: there is none. */
const struct doc_node *doc_labelled(const struct doc_node *in,
                                    const char *label);

/* ---- renderers ---- */

enum doc_format {
    DOC_AS_BRIEF, /* the short form, 80 columns wide and without colour */
    DOC_AS_TEXT,  /* everything that has a label */
    DOC_AS_JSON,
    DOC_AS_FULL, /* the text, and every value of the JSON in a line */
    DOC_AS_MARKDOWN,
    DOC_AS_BENCHER,        /* trackers: Bencher Metric Format */
    DOC_AS_GITHUB_SMALLER, /* github-action-benchmark, smaller is better */
    DOC_AS_GITHUB_BIGGER,
    DOC_AS_LLM_D, /* llm-d benchmark report; a run only */
};

/* Append the whole report. */
void doc_render(const struct doc *d, enum doc_format format, struct buf *out);

/* The same, and free the document. */
void doc_put(struct doc *taken, enum doc_format format, struct buf *out);

/* One renderer each; doc_render() chooses. */
struct brief_style;
void doc_render_brief(const struct doc *d, const struct brief_style *style,
                      struct buf *out);
void doc_render_text(const struct doc *d, struct buf *out);
void doc_render_json(const struct doc *d, struct buf *out);
void doc_render_full(const struct doc *d, struct buf *out);
void doc_render_markdown(const struct doc *d, struct buf *out);
void doc_render_bencher(const struct doc *d, struct buf *out);
void doc_render_github_smaller(const struct doc *d, struct buf *out);
void doc_render_github_bigger(const struct doc *d, struct buf *out);
void doc_render_llm_d(const struct doc *d, struct buf *out);

/* JUnit XML: test cases of the verdict, SLO terms, trust checks and others.
 * `name` is that of the whole, such as the directory. */
void doc_render_junit(const struct doc *d, const char *name, struct buf *out);

/* What renderers for people share: a value in words, and whether a node has
 * anything to show. */
void doc_show_value(const struct doc_node *n, struct buf *out);
bool doc_is_visible(const struct doc_node *n);

/* Of a value: is there anything to show for it? */
bool doc_has_words(const struct doc_node *n);

/* A value as JSON, as programs see it; the caller owns the reference. */
struct json_t *doc_value_to_json(const struct doc_node *n);

/* A table alone.  Only the columns with these labels, if `only` is not NULL; it
 * ends with NULL. */
void doc_show_table(const struct doc_node *n, const char *const *only,
                    struct buf *out);

/* The JSON as a tree; the caller owns the reference. */
struct json_t *doc_to_json(const struct doc *d);

#endif
