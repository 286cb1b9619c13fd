#include "analyzer/report/brief.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/doc.h"
#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"

#define HEAD         11 /* columns of a head, with the space behind it */
#define MAX_TEXT     ((size_t)64 << 10)
#define MAX_OPTIONAL 4
#define MIN_COLUMNS  40

/* Tones inside a line, as single bytes that no text of a document has. */
#define TONE_MARK '\x01' /* + enum brief_tone */
#define TONE_LAST ((char)(TONE_MARK + TONE_DIM))

struct line {
    char head[HEAD + 1];
    struct buf text;
    size_t optional[MAX_OPTIONAL]; /* where a part begins that may be left
                                      out */
    size_t n_optional;
    int rank;
    bool is_item;
    bool is_row; /* of a table */
    bool is_left_out;
    struct strlist rows; /* as shown */
};

struct brief {
    const struct brief_style *style;
    size_t columns;
    struct line *lines;
    size_t n;
};

struct brief *brief_new(const struct brief_style *style)
{
    struct brief *b = xcalloc(1, sizeof(*b));

    b->style = style;
    b->columns = style->columns > MIN_COLUMNS ? (size_t)style->columns
                                              : (size_t)MIN_COLUMNS;
    return b;
}

void brief_free(struct brief *b)
{
    for (size_t i = 0; i < b->n; i++) {
        buf_fini(&b->lines[i].text);
        strlist_fini(&b->lines[i].rows);
    }
    free(b->lines);
    free(b);
}

/* ---- lines ---- */

void brief_line(struct brief *b, int rank, const char *head)
{
    struct line *l;

    b->lines = xrealloc(b->lines, b->n + 1, sizeof(*b->lines));
    l = &b->lines[b->n++];
    *l = (struct line){.rank = rank};
    snprintf(l->head, sizeof(l->head), "%s", head);
    buf_init(&l->text, MAX_TEXT);
}

void brief_item(struct brief *b, int rank, const char *head)
{
    brief_line(b, rank, head);
    b->lines[b->n - 1].is_item = true;
}

static struct buf *text_of(struct brief *b)
{
    return &b->lines[b->n - 1].text;
}

void brief_table(struct brief *b, const struct doc_node *table,
                 const char *const *columns)
{
    struct buf text;
    const char *at;

    if (!table || !doc_is_visible(table))
        return;
    buf_init(&text, MAX_TEXT);
    doc_show_table(table, columns, &text);
    for (at = buf_text(&text); *at; at += strcspn(at, "\n") + 1) {
        brief_line(b, 0, "");
        b->lines[b->n - 1].is_row = true;
        buf_add(text_of(b), at, strcspn(at, "\n"));
    }
    buf_fini(&text);
}

/* ---- parts of a line ---- */

static void add_words(struct brief *b, const char *fmt, va_list ap)
{
    char *words = xvasprintf(fmt, ap);

    printable_add(words, text_of(b));
    free(words);
}

void brief_words(struct brief *b, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    add_words(b, fmt, ap);
    va_end(ap);
}

static void add_mark(struct brief *b, enum brief_tone tone)
{
    char mark = (char)(TONE_MARK + (int)tone);

    buf_add(text_of(b), &mark, 1);
}

void brief_tone(struct brief *b, enum brief_tone tone, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    add_mark(b, tone);
    add_words(b, fmt, ap);
    add_mark(b, TONE_PLAIN);
    va_end(ap);
}

bool brief_value(struct brief *b, const char *before, const struct doc_node *n,
                 const char *after)
{
    if (!n || (n->is_missing && !n->brief))
        return false;
    buf_adds(text_of(b), before);
    doc_show_value(n, text_of(b));
    buf_adds(text_of(b), after);
    return true;
}

static bool is_mark(char c)
{
    return c >= TONE_MARK && c <= TONE_LAST;
}

/* Columns: characters, not bytes, and no marks. */
static size_t width_of(const char *text, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++)
        n += ((unsigned char)text[i] & 0xC0) != 0x80 && !is_mark(text[i]);
    return n;
}

void brief_pad(struct brief *b, size_t column)
{
    struct buf *text = text_of(b);

    while (width_of(buf_text(text), text->len) < column)
        buf_adds(text, " ");
}

void brief_optional(struct brief *b)
{
    struct line *l = &b->lines[b->n - 1];

    if (l->n_optional < MAX_OPTIONAL)
        l->optional[l->n_optional++] = l->text.len;
}

/* ---- common lines ---- */

/* "offered 5/s, completed 4/s", as in the long form. */
static void add_item(struct brief *b, const struct doc_node *n, bool is_first)
{
    const char *sep = n->sep ? n->sep : n->is_range ? " " : ", ";
    struct buf *out = text_of(b);

    if (n->type == DOC_LINE) {
        buf_adds(out, is_first ? "" : "; ");
        printable_add(n->text, out);
        return;
    }
    buf_adds(out, is_first ? "" : sep);
    buf_addf(out, "%s%s%s", n->is_range ? "(" : "", n->label,
             n->label[0] ? " " : "");
    doc_show_value(n, out);
    buf_adds(out, n->is_range ? ")" : "");
}

static bool is_said(const struct doc_node *n)
{
    return (n->type == DOC_VALUE || n->type == DOC_LINE) && doc_is_visible(n) &&
           !n->is_detail;
}

void brief_section(struct brief *b, int rank, const char *head,
                   const struct doc_node *section)
{
    bool is_first = true;

    for (const struct doc_node *c = section ? section->first : NULL; c;
         c = c->next) {
        if (!is_said(c) || c->severity == DOC_WARNING)
            continue;
        if (is_first)
            brief_line(b, rank, head);
        add_item(b, c, is_first);
        is_first = false;
    }
}

void brief_sentences(struct brief *b, int rank, const char *head,
                     const struct doc_node *section)
{
    for (const struct doc_node *c = section ? section->first : NULL; c;
         c = c->next) {
        if (c->type != DOC_LINE || !is_said(c))
            continue;
        brief_line(b, rank, head);
        add_item(b, c, true);
        head = "";
    }
}

void brief_title(struct brief *b, const struct doc_node *root)
{
    for (const struct doc_node *c = root->first; c; c = c->next) {
        if (c->type != DOC_LINE || !c->text[0])
            continue;
        brief_line(b, 2, "");
        b->lines[b->n - 1].is_row = true; /* no column for a head */
        printable_add(c->text, text_of(b));
        return;
    }
}

void brief_warnings(struct brief *b, const struct doc_node *root)
{
    for (const struct doc_node *c = root->first; c; c = c->next) {
        if (c->type == DOC_SECTION)
            brief_warnings(b, c);
        if (c->type != DOC_LINE || c->severity != DOC_WARNING || !is_said(c))
            continue;
        brief_line(b, 3, "warning");
        printable_add(c->text, text_of(b));
    }
}

void brief_where(struct brief *b)
{
    if (!b->style->dir && !b->style->more)
        return;
    brief_line(b, 0, b->style->dir ? "recording" : "more");
    if (b->style->dir) {
        size_t len = strlen(b->style->dir);
        bool has_slash = len > 0 && b->style->dir[len - 1] == '/';

        brief_words(b, "%s%s", b->style->dir, has_slash ? "" : "/");
    }
    if (!b->style->more)
        return;
    if (b->style->dir) {
        brief_optional(b);
        brief_tone(b, TONE_DIM, "  (all numbers: %s)", b->style->more);
    } else {
        brief_words(b, "%s", b->style->more);
    }
}

const char *brief_text_of(const struct doc_node *n)
{
    return n && !n->is_missing && n->text ? n->text : "";
}

enum brief_tone brief_tone_of(const struct doc_node *verdict)
{
    static const struct {
        const char *word;
        enum brief_tone tone;
    } tones[] = {
        {"pass", TONE_GOOD},      {"fail", TONE_BAD},
        {"invalid", TONE_BAD},    {"undecided", TONE_OPEN},
        {"better", TONE_GOOD},    {"worse", TONE_BAD},
        {"refused", TONE_BAD},    {"cannot tell", TONE_OPEN},
        {"scales", TONE_GOOD},    {"does not scale", TONE_BAD},
        {"found", TONE_GOOD},     {"at least", TONE_GOOD},
        {"never", TONE_BAD},      {"estimated", TONE_OPEN},
        {"not probed", TONE_BAD}, {"budget", TONE_OPEN},
    };
    const char *word = brief_text_of(verdict);

    for (size_t i = 0; i < sizeof(tones) / sizeof(tones[0]); i++) {
        if (strcmp(word, tones[i].word) == 0)
            return tones[i].tone;
    }
    return TONE_PLAIN;
}

void brief_answer(struct brief *b, const char *head,
                  const struct doc_node *section, enum brief_tone tone,
                  bool has_sentences)
{
    bool is_first = true;

    brief_line(b, 0, head);
    for (const struct doc_node *c = section ? section->first : NULL; c;
         c = c->next) {
        if (!is_said(c) || (c->type == DOC_LINE && !has_sentences))
            continue;
        if (is_first)
            add_mark(b, tone);
        add_item(b, c, is_first);
        if (is_first)
            add_mark(b, TONE_PLAIN);
        is_first = false;
    }
}

void brief_verdict(struct brief *b, const struct doc_node *root)
{
    brief_answer(b, "verdict", doc_labelled(root, "verdict"),
                 brief_tone_of(doc_at(root, "verdict")), false);
}

/* ---- rows ---- */

/* How much of the text fits into `room` columns: up to the end of an item that
 * fills half of them, else up to a space; a long word is cut. */
static size_t fitting(const char *text, size_t room)
{
    size_t at = 0;
    size_t space = 0;
    size_t item = 0;
    size_t used = 0;

    for (; text[at] && used <= room; at++) {
        used += width_of(text + at, 1);
        if (text[at] != ' ')
            continue;
        space = at;
        if (at > 0 && strchr(",;", text[at - 1]))
            item = at;
    }
    if (!text[at] && used <= room)
        return at;
    while (at > 0 && width_of(text, at) > room)
        at--;
    return item > room / 2 ? item : space > 0 ? space : at;
}

/* Left of it a head, or its spaces. */
static void add_shown(struct line *l, const char *head, size_t head_width,
                      const char *text, size_t len)
{
    char *row;

    while (len > 0 && text[len - 1] == ' ')
        len--;
    row = xasprintf("%-*s%.*s", (int)head_width, head, (int)len, text);
    strlist_add(&l->rows, row);
    free(row);
}

static void wrap(struct line *l, size_t columns)
{
    size_t head = l->is_row ? 0 : HEAD;
    char *whole = xstrdup(buf_text(&l->text));
    const char *text = whole;
    const char *name = l->head;

    for (size_t i = l->n_optional; i > 0; i--) {
        if (width_of(whole, strlen(whole)) + head > columns)
            whole[l->optional[i - 1]] = '\0';
    }
    do {
        size_t len = l->is_row ? strlen(text) : fitting(text, columns - head);

        add_shown(l, name, head, text, len);
        name = "";
        text += len + strspn(text + len, " ");
    } while (*text);
    free(whole);
}

/* ---- the whole ---- */

static size_t rows_of(const struct brief *b, size_t *items_left_out)
{
    size_t rows = 0;

    *items_left_out = 0;
    for (size_t i = 0; i < b->n; i++) {
        const struct line *l = &b->lines[i];

        if (!l->is_left_out)
            rows += l->is_row && l->rank == 0 ? 0 : l->rows.len;
        else
            *items_left_out += l->is_item;
    }
    return rows + (*items_left_out > 0);
}

/* The last of those with the highest rank. */
static struct line *least_important(struct brief *b)
{
    struct line *found = NULL;

    for (size_t i = 0; i < b->n; i++) {
        struct line *l = &b->lines[i];

        if (!l->is_left_out && l->rank > 0 &&
            (!found || l->rank >= found->rank))
            found = l;
    }
    return found;
}

/* Leave lines out until the rest fits; then take back what still has room, the
 * most important first. */
static size_t choose(struct brief *b)
{
    struct line *dropped;
    size_t items = 0;
    int last_rank = 0;

    while (rows_of(b, &items) > BRIEF_ROWS && (dropped = least_important(b)))
        dropped->is_left_out = true;
    for (size_t i = 0; i < b->n; i++)
        last_rank = b->lines[i].rank > last_rank ? b->lines[i].rank : last_rank;
    for (int rank = 1; rank <= last_rank; rank++) {
        for (size_t i = 0; i < b->n; i++) {
            struct line *l = &b->lines[i];

            if (!l->is_left_out || l->rank != rank)
                continue;
            l->is_left_out = false;
            l->is_left_out = rows_of(b, &items) > BRIEF_ROWS;
        }
    }
    rows_of(b, &items);
    return items;
}

static void put_row(const struct brief *b, const char *row, struct buf *out)
{
    static const char *const codes[] = {
        [TONE_PLAIN] = "\x1b[0m",  [TONE_GOOD] = "\x1b[1;32m",
        [TONE_BAD] = "\x1b[1;31m", [TONE_OPEN] = "\x1b[1;33m",
        [TONE_DIM] = "\x1b[2m",
    };

    for (; *row; row++) {
        if (!is_mark(*row))
            buf_add(out, row, 1);
        else if (b->style->has_colour)
            buf_adds(out, codes[*row - TONE_MARK]);
    }
    buf_adds(out, "\n");
}

void brief_render(struct brief *b, struct buf *out)
{
    const struct line *last = NULL;
    size_t left_out;

    for (size_t i = 0; i < b->n; i++)
        wrap(&b->lines[i], b->columns);
    left_out = choose(b);
    for (size_t i = 0; i < b->n; i++) {
        const struct line *l = &b->lines[i];

        if (l->is_item && !l->is_left_out)
            last = l;
    }
    for (size_t i = 0; i < b->n; i++) {
        const struct line *l = &b->lines[i];

        for (size_t k = 0; !l->is_left_out && k < l->rows.len; k++)
            put_row(b, l->rows.items[k], out);
        if (l == last && left_out > 0)
            buf_addf(out, "%*sand %zu more; -v shows all\n", HEAD, "",
                     left_out);
    }
}
