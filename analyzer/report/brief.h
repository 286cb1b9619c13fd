/* brief.h - the short form of a document: at most BRIEF_ROWS rows of text, the
 * answer last, so that it is visible in a small terminal.
 *
 * A document names a function that makes its short form (doc_set_brief()).
 * Such a function takes values out of the finished document by their keys and
 * never sees a summary: every number of the short form is one of the document.
 * A line has a rank.  While there are too many rows, the line with the highest
 * rank is left out; lines of rank 0 stay.
 */
#ifndef ANALYZER_REPORT_BRIEF_H
#define ANALYZER_REPORT_BRIEF_H

#include <stdbool.h>
#include <stddef.h>

struct brief;
struct buf;
struct doc_node;

#define BRIEF_ROWS    12
#define BRIEF_COLUMNS 80
#define BRIEF_TEXT    96 /* of a name or a column */

enum brief_tone { TONE_PLAIN, TONE_GOOD, TONE_BAD, TONE_OPEN, TONE_DIM };

struct brief_style {
    int columns;
    bool has_colour;
    const char *dir;  /* the recording or study; NULL: not said */
    const char *more; /* the command that shows everything; NULL: not said */
};

/* ---- for the renderer ---- */

/* The style is borrowed. */
struct brief *brief_new(const struct brief_style *style);
void brief_free(struct brief *b);
void brief_render(struct brief *b, struct buf *out);

/* ---- lines; what follows is added to the last one ---- */

/* Begin a line.  `head` is shown in a column of its own; "" for a line that
 * belongs to the one before. */
void brief_line(struct brief *b, int rank, const char *head);

/* The same for an element of a list, the most important first.  Elements that
 * are left out are counted: "and 3 more; -v shows all". */
void brief_item(struct brief *b, int rank, const char *head);

/* Each row of the table as a line; they do not count towards BRIEF_ROWS.  Only
 * the columns with these labels; the list ends with NULL. */
void brief_table(struct brief *b, const struct doc_node *table,
                 const char *const *columns);

/* ---- parts of a line ---- */

void brief_words(struct brief *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void brief_tone(struct brief *b, enum brief_tone tone, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The value between these words.  False, and nothing is added, if there is no
 * such node or if it has nothing to show. */
bool brief_value(struct brief *b, const char *before, const struct doc_node *n,
                 const char *after);

/* Spaces up to this column of the line's text. */
void brief_pad(struct brief *b, size_t column);

/* What is added from here on is left out if it does not fit into one row. */
void brief_optional(struct brief *b);

/* ---- common lines ---- */

/* The visible values and sentences of a section in one line; nothing if it is
 * NULL or has none. */
void brief_section(struct brief *b, int rank, const char *head,
                   const struct doc_node *section);

/* The sentences of a section, a line each, the first under `head`; nothing if
 * it is NULL. */
void brief_sentences(struct brief *b, int rank, const char *head,
                     const struct doc_node *section);

/* The first sentence of the document: what ran. */
void brief_title(struct brief *b, const struct doc_node *root);

/* Every warning of the document. */
void brief_warnings(struct brief *b, const struct doc_node *root);

/* Where the recording is, and how to see more. */
void brief_where(struct brief *b);

/* The visible values of a section, the first of them coloured; with its
 * sentences, if asked. */
void brief_answer(struct brief *b, const char *head,
                  const struct doc_node *section, enum brief_tone tone,
                  bool has_sentences);

/* The same for the section "verdict". */
void brief_verdict(struct brief *b, const struct doc_node *root);

/* ---- what values mean ---- */

/* A verdict of the document, such as "pass"; NULL is none. */
enum brief_tone brief_tone_of(const struct doc_node *verdict);

/* The text of a node, and "" where there is none. */
const char *brief_text_of(const struct doc_node *n);

#endif
