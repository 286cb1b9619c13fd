/* A document as GitHub-flavoured Markdown, for a comment on a pull request or
 * the summary of a CI job: the verdict, its table and the main numbers; the
 * rest is folded.  GitLab, Gitea and others read the same. */
#include <ctype.h>
#include <string.h>

#include "analyzer/report/doc.h"
#include "analyzer/report/doc_grid.h"
#include "common/base/buf.h"
#include "common/base/str.h"

/* GitHub accepts comments of 65,536 characters.  A table that does not fit is
 * among the details; details that do not fit are left out as a whole. */
#define MAX_COMMENT 65000
#define MAX_DETAILS ((size_t)16 << 20)
#define MAX_TEXT    ((size_t)64 << 10)
#define MAX_CELL    4096

/* Parts of a document that are not folded, by a key that they are or hold; and
 * the first table. */
static const char *const main_parts[] = {
    "verdict",  "sides",      "outcome",  "answer",       "trust",
    "scenario", "requests",   "notes",    "goodput_rps",  "claim",
    "next",     "ratios",     "findings", "rankings",     "knee",
    "binding",  "saturation", "values",   "best_goodput", "regime",
    "trials",   "within_slo", "failures", "baseline",     "slo",
    "vary"};

/* ---- texts ---- */

/* Characters that Markdown, HTML or GitHub give a meaning to. */
static bool is_markup(char c)
{
    return strchr("&<>|\\`*_[]~$\"", c) != NULL;
}

/* Would this begin a list, a heading or a quote? */
static bool begins_block(const char *text)
{
    size_t digits = strspn(text, "0123456789");

    if (text[0] && strchr("-+=#", text[0]))
        return true;
    return digits > 0 && (text[digits] == '.' || text[digits] == ')') &&
           text[digits + 1] == ' ';
}

/* Entities mean the same in Markdown, in a table and in HTML.  A character
 * without width keeps '@' and '#' from naming a person or an issue. */
static void put_text(struct buf *out, const char *text, bool is_start)
{
    struct buf safe;
    const char *p;

    buf_init(&safe, MAX_TEXT);
    printable_add(text, &safe);
    p = buf_text(&safe);
    if (is_start && begins_block(p)) {
        for (; isdigit((unsigned char)*p); p++)
            buf_addf(out, "%c", *p);
        buf_addf(out, "&#%d;", *p++);
    }
    for (; *p; p++) {
        if (is_markup(*p))
            buf_addf(out, "&#%d;", *p);
        else if (*p == '@' || (*p == '#' && isalnum((unsigned char)p[1])))
            buf_addf(out, "%c&#8203;", *p);
        else
            buf_addf(out, "%c", *p);
    }
    buf_fini(&safe);
}

static void put_value(struct buf *out, const struct doc_node *n, bool is_start)
{
    struct buf text;

    buf_init(&text, MAX_CELL);
    doc_show_value(n, &text);
    put_text(out, buf_text(&text), is_start);
    buf_fini(&text);
}

/* ---- tables ---- */

/* Bars are made of characters, and mean nothing here. */
static bool has_column(const struct grid_column *c)
{
    return c->has_values && c->of->kind != DOC_PLOT;
}

static void put_cells(const struct doc_grid *g, const struct grid_row *r,
                      struct buf *out)
{
    buf_adds(out, "|");
    for (size_t i = 0; i < g->n_columns; i++) {
        if (!has_column(&g->columns[i]))
            continue;
        buf_adds(out, " ");
        put_text(out, doc_grid_text(g, r, i), false);
        buf_adds(out, " |");
    }
    buf_adds(out, "\n");
}

static void put_header(const struct doc_grid *g, struct buf *out)
{
    put_cells(g, NULL, out);
    buf_adds(out, "|");
    for (size_t i = 0; i < g->n_columns; i++) {
        if (has_column(&g->columns[i]))
            buf_adds(out, g->columns[i].is_left ? " :--- |" : " ---: |");
    }
    buf_adds(out, "\n");
}

/* Is it only a picture made of characters, with a name for each row? */
static bool is_picture(const struct doc_grid *g)
{
    size_t shown = 0;
    size_t plots = 0;

    for (size_t i = 0; i < g->n_columns; i++) {
        shown += has_column(&g->columns[i]);
        plots += g->columns[i].of->kind == DOC_PLOT;
    }
    return plots > 0 && shown <= 1;
}

/* A sentence between the rows stands between two tables. */
static void put_table(const struct doc_node *n, struct buf *out)
{
    bool is_open = false;
    struct doc_grid g;

    doc_grid_init(&g, n, NULL);
    if (!g.columns[0].has_values && n->label[0] && !is_picture(&g)) {
        buf_adds(out, "**");
        put_text(out, n->label, false);
        buf_adds(out, "**\n\n");
    }
    for (size_t i = 0; i < g.n_rows && !is_picture(&g); i++) {
        bool is_sentence = g.rows[i].node->type == DOC_LINE;

        if (is_sentence && is_open)
            buf_adds(out, "\n");
        if (is_sentence) {
            put_text(out, g.rows[i].node->text, true);
            buf_adds(out, "\n\n");
        } else {
            if (!is_open)
                put_header(&g, out);
            put_cells(&g, &g.rows[i], out);
        }
        is_open = !is_sentence;
    }
    if (is_open)
        buf_adds(out, "\n");
    doc_grid_fini(&g);
}

/* ---- lists ---- */

struct pen {
    struct buf *out;
    const struct doc_node *title; /* shown above, and not again */
    int depth;                    /* of the list */
    bool is_in_item;              /* a line is begun */
    bool is_fresh;                /* only its name is there */
    bool is_in_list;
};

static void end_item(struct pen *p)
{
    if (p->is_in_item)
        buf_adds(p->out, "\n");
    p->is_in_item = false;
}

static void end_list(struct pen *p)
{
    end_item(p);
    if (p->is_in_list)
        buf_adds(p->out, "\n");
    p->is_in_list = false;
}

static void begin_item(struct pen *p)
{
    end_item(p);
    buf_addf(p->out, "%*s- ", 2 * p->depth, "");
    p->is_in_item = true;
    p->is_in_list = true;
    p->is_fresh = true;
}

static void put_words(struct pen *p, const struct doc_node *n)
{
    if (!p->is_in_item)
        begin_item(p);
    else if (!p->is_fresh)
        put_text(p->out, n->sep ? n->sep : n->is_range ? " " : ", ", false);
    buf_adds(p->out, n->is_range ? "(" : "");
    if (n->label[0]) {
        put_text(p->out, n->label, p->is_fresh && !n->is_range);
        buf_adds(p->out, " ");
    }
    put_value(p->out, n, p->is_fresh && !n->label[0] && !n->is_range);
    buf_adds(p->out, n->is_range ? ")" : "");
    p->is_fresh = false;
}

static void put_sentence(struct pen *p, const struct doc_node *n)
{
    if (!p->is_in_item || !p->is_fresh)
        begin_item(p);
    if (n->severity == DOC_WARNING)
        buf_adds(p->out, "**WARNING** ");
    put_text(p->out, n->text, n->severity != DOC_WARNING);
    end_item(p);
}

static void put_node(struct pen *p, const struct doc_node *n);

/* Each element of a list is an item. */
static void put_children(struct pen *p, const struct doc_node *n)
{
    for (const struct doc_node *c = n->first; c; c = c->next) {
        if (n->type == DOC_LIST && p->is_in_item && !p->is_fresh)
            end_item(p);
        put_node(p, c);
    }
}

static void put_named(struct pen *p, const struct doc_node *n)
{
    int depth = p->depth;

    /* A table ends the list: what follows it begins another. */
    if (!p->is_in_list)
        p->depth = 0;
    begin_item(p);
    buf_adds(p->out, "**");
    put_text(p->out, n->label, false);
    buf_adds(p->out, "**: ");
    p->depth++;
    put_children(p, n);
    end_item(p);
    p->depth = depth;
}

/* What the heading above belongs to needs no name of its own. */
static bool is_headed(const struct doc_node *n, const struct doc_node *title)
{
    for (const struct doc_node *c = n->first; c; c = c->next) {
        if (c == title && title && strcmp(n->label, "verdict") == 0)
            return true;
    }
    return false;
}

static void put_node(struct pen *p, const struct doc_node *n)
{
    if (n == p->title || !doc_is_visible(n) || n->kind == DOC_PLOT)
        return;
    switch (n->type) {
    case DOC_VALUE:
        put_words(p, n);
        break;
    case DOC_LINE:
        if (n->text[0])
            put_sentence(p, n);
        break;
    case DOC_TABLE:
    case DOC_ROWS:
        end_list(p);
        put_table(n, p->out);
        p->depth = 0;
        break;
    default:
        if (n->label[0] && !is_headed(n, p->title))
            put_named(p, n);
        else
            put_children(p, n);
    }
}

/* ---- the whole ---- */

/* The answer in words; NULL: the document has none. */
static const struct doc_node *title_of(const struct doc_node *root)
{
    static const char *const keys[] = {"verdict", "outcome", "answer"};

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const struct doc_node *n = doc_at(root, keys[i]);

        if (n && n->type == DOC_VALUE && n->kind == DOC_TEXT && !n->is_missing)
            return n;
    }
    return NULL;
}

static void put_title(const struct doc *d, const struct doc_node *title,
                      struct buf *out)
{
    static const char *const marks[] = {
        [CONCLUSION_YES] = "\u2705",    [CONCLUSION_UNDECIDED] = "\u26a0\ufe0f",
        [CONCLUSION_NO] = "\u274c",     [CONCLUSION_INVALID] = "\u26a0\ufe0f",
        [CONCLUSION_FAILED] = "\u274c",
    };
    const struct doc_node *kind = doc_at(doc_root(d), "kind");
    bool is_none = !title || strcmp(title->text, "none") == 0;

    buf_addf(out, "### %s ",
             is_none && doc_conclusion(d) == CONCLUSION_YES
                 ? "\u2139\ufe0f"
                 : marks[doc_conclusion(d)]);
    if (kind && strcmp(kind->text, "trials") != 0)
        buf_addf(out, "%s%s", kind->text, title ? ": " : "");
    if (title)
        put_value(out, title, false);
    else if (!kind)
        buf_adds(out, doc_at(doc_root(d), "baseline") ? "against the baseline"
                                                      : "tailgate");
    buf_adds(out, "\n\n");
}

/* Checks that passed are details. */
static bool is_main(const struct doc_node *n)
{
    const struct doc_node *valid = doc_at(n, "valid");

    if (n->key && strcmp(n->key, "trust") == 0 && valid && valid->count)
        return false;
    for (size_t i = 0; i < sizeof(main_parts) / sizeof(main_parts[0]); i++) {
        if ((n->key && strcmp(n->key, main_parts[i]) == 0) ||
            (!n->key && n->type == DOC_SECTION && doc_at(n, main_parts[i])))
            return true;
    }
    return false;
}

/* Sentences before the first part say what ran. */
static const struct doc_node *put_what_ran(const struct doc_node *n,
                                           struct buf *out)
{
    for (; n && (n->type == DOC_LINE || !doc_is_visible(n)); n = n->next) {
        if (n->type != DOC_LINE || !n->text[0])
            continue;
        put_text(out, n->text, true);
        buf_adds(out, "\n\n");
    }
    return n;
}

/* `start`: where the comment begins in shown->out. */
static void put_parts(struct pen *shown, struct pen *folded, size_t start,
                      const struct doc_node *first)
{
    bool has_table = false;

    for (const struct doc_node *n = first; n; n = n->next) {
        bool is_table = n->type == DOC_TABLE || n->type == DOC_ROWS;
        bool is_shown = is_main(n) || n->type == DOC_LINE ||
                        n->type == DOC_VALUE || (is_table && !has_table);

        struct pen before = *shown;
        size_t len = shown->out->len;

        has_table |= is_table && doc_is_visible(n);
        put_node(is_shown ? shown : folded, n);
        if (!is_shown || shown->out->len - start <= MAX_COMMENT)
            continue;
        *shown = before;
        shown->out->len = len;
        shown->out->data[len] = '\0';
        put_node(folded, n);
    }
    end_list(shown);
    end_list(folded);
}

void doc_render_markdown(const struct doc *d, struct buf *out)
{
    const struct doc_node *root = doc_root(d);
    const struct doc_node *title = title_of(root);
    size_t start = out->len;
    struct buf details;
    struct pen shown = {.out = out, .title = title};
    struct pen folded = {.out = &details, .title = title};

    buf_init(&details, MAX_DETAILS);
    put_title(d, title, out);
    put_parts(&shown, &folded, start, put_what_ran(root->first, out));
    if (details.len > 0 && out->len - start + details.len > MAX_COMMENT)
        buf_adds(out, "The details are too long for a comment; "
                      "`tailgate report` prints them.\n");
    else if (details.len > 0)
        buf_addf(out, "<details>\n<summary>Details</summary>\n\n%s</details>\n",
                 buf_text(&details));
    buf_fini(&details);
}
