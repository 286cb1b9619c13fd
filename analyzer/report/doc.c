#include "analyzer/report/doc.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/brief.h"
#include "analyzer/stats/trial_stats.h"
#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "common/stats/hist.h"

/* Everything that a document holds is freed with it. */
struct block {
    struct block *next;
    max_align_t bytes[];
};

struct doc {
    struct block *blocks;
    struct doc_node root;
    enum conclusion conclusion;
    void (*make_brief)(struct brief *b, const struct doc_node *root);
};

/* ---- memory ---- */

static void *hold(struct doc *d, size_t size)
{
    struct block *b = xcalloc(1, sizeof(struct block) + size);

    b->next = d->blocks;
    d->blocks = b;
    return b->bytes;
}

static const char *copy(struct doc *d, const char *text)
{
    return text ? memcpy(hold(d, strlen(text) + 1), text, strlen(text) + 1)
                : NULL;
}

/* Names may come from a settings file or a server. */
static const char *copy_name(struct doc *d, const char *name)
{
    char *held = (char *)(uintptr_t)copy(d, name);

    if (held)
        printable(held, strlen(held), "");
    return held;
}

static const char *vformat(struct doc *d, const char *fmt, va_list ap)
{
    char *text = xvasprintf(fmt, ap);
    const char *held = copy(d, text);

    free(text);
    return held;
}

struct doc *doc_new(void)
{
    struct doc *d = xcalloc(1, sizeof(*d));

    d->root = (struct doc_node){.type = DOC_SECTION, .label = "", .doc = d};
    return d;
}

void doc_free(struct doc *d)
{
    struct block *next;

    if (!d)
        return;
    for (struct block *b = d->blocks; b; b = next) {
        next = b->next;
        free(b);
    }
    free(d);
}

struct doc_node *doc_root(const struct doc *d)
{
    return (struct doc_node *)(uintptr_t)&d->root;
}

void doc_conclude(struct doc *d, enum conclusion conclusion)
{
    d->conclusion = conclusion;
}

enum conclusion doc_conclusion(const struct doc *d)
{
    return d->conclusion;
}

void doc_set_brief(struct doc *d,
                   void (*make)(struct brief *b, const struct doc_node *root))
{
    d->make_brief = make;
}

bool doc_has_brief(const struct doc *d)
{
    return d->make_brief != NULL;
}

/* ---- nodes ---- */

static struct doc_node *add(struct doc_node *in, enum doc_type type,
                            const char *key, const char *label)
{
    struct doc_node *n = hold(in->doc, sizeof(*n));

    *n = (struct doc_node){.type = type,
                           .doc = in->doc,
                           .key = copy(in->doc, key),
                           .label = copy_name(in->doc, label)};
    if (in->last)
        in->last->next = n;
    else
        in->first = n;
    in->last = n;
    return n;
}

struct doc_node *doc_section(struct doc_node *in, const char *key,
                             const char *label)
{
    return add(in, DOC_SECTION, key, label);
}

struct doc_node *doc_list(struct doc_node *in, const char *key,
                          const char *label)
{
    return add(in, DOC_LIST, key, label);
}

struct doc_node *doc_table(struct doc_node *in, const char *key,
                           const char *label)
{
    return add(in, DOC_TABLE, key, label);
}

struct doc_node *doc_rows(struct doc_node *in, const char *key,
                          const char *label)
{
    return add(in, DOC_ROWS, key, label);
}

struct doc_node *doc_row(struct doc_node *in)
{
    return add(in, DOC_SECTION, NULL, "");
}

static struct doc_node *add_value(struct doc_node *in, enum doc_kind kind,
                                  const char *key, const char *label)
{
    struct doc_node *n = add(in, DOC_VALUE, key, label);

    n->kind = kind;
    return n;
}

struct doc_node *doc_text(struct doc_node *in, const char *key,
                          const char *label, const char *text)
{
    struct doc_node *n = add_value(in, DOC_TEXT, key, label);

    n->text = copy(in->doc, text);
    n->is_missing = !text;
    return n;
}

struct doc_node *doc_textf(struct doc_node *in, const char *key,
                           const char *label, const char *fmt, ...)
{
    struct doc_node *n = add_value(in, DOC_TEXT, key, label);
    va_list ap;

    va_start(ap, fmt);
    n->text = vformat(in->doc, fmt, ap);
    va_end(ap);
    return n;
}

struct doc_node *doc_bool(struct doc_node *in, const char *key,
                          const char *label, bool value)
{
    struct doc_node *n = add_value(in, DOC_BOOL, key, label);

    n->count = value;
    return n;
}

struct doc_node *doc_count(struct doc_node *in, const char *key,
                           const char *label, int64_t value)
{
    struct doc_node *n = add_value(in, DOC_COUNT, key, label);

    n->count = value;
    return n;
}

struct doc_node *doc_value(struct doc_node *in, enum doc_kind kind,
                           const char *key, const char *label, double value)
{
    struct doc_node *n = add_value(in, kind, key, label);

    n->number = value;
    n->is_missing = !isfinite(value);
    return n;
}

struct doc_node *doc_ns(struct doc_node *in, const char *key, const char *label,
                        double ns)
{
    static const struct {
        double code;
        const char *note;
        const char *brief;
    } codes[] = {
        {HIST_TOO_FEW, "n too small", "too few"},
        {HIST_BEYOND, "beyond failures", "failed"},
        {HIST_OUT_OF_RANGE, "out of range", "> 1h"},
    };
    struct doc_node *n = doc_value(in, DOC_NS, NULL, label, ns);
    char name[64];

    snprintf(name, sizeof(name), "%s_ms", key ? key : "");
    n->key = key ? copy(in->doc, name) : NULL;
    snprintf(name, sizeof(name), "%s_note", key ? key : "");
    n->note_key = copy(in->doc, name);
    doc_undotted(n);
    if (!isfinite(ns))
        return doc_brief(n, "failed");
    if (ns >= 0)
        return n;
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        if (ns == codes[i].code)
            return doc_brief(doc_missing_if(n, true, codes[i].note),
                             codes[i].brief);
    }
    return doc_brief(doc_missing_if(n, true, "no samples"), "-");
}

struct doc_node *doc_range(struct doc_node *in, const char *key,
                           const char *label, enum doc_kind kind,
                           struct interval range)
{
    struct doc_node *n = add_value(in, kind, key, label);

    n->is_range = true;
    n->number = range.low;
    n->high = range.high;
    return n;
}

struct doc_node *doc_range_of(struct doc_node *in, const char *key,
                              const char *label, enum doc_kind kind,
                              const struct uncertain *u)
{
    return doc_missing_if(doc_range(in, key, label, kind, u->range),
                          !u->has_range, NULL);
}

struct doc_node *doc_null(struct doc_node *in, const char *key,
                          const char *note)
{
    return doc_missing_if(add_value(in, DOC_NULL, key, NULL), true, note);
}

struct doc_node *doc_plot(struct doc_node *in, const char *label,
                          const struct doc_plot *plot)
{
    struct doc_node *n = add_value(in, DOC_PLOT, NULL, label);

    n->plot = *plot;
    return n;
}

struct doc_node *doc_line(struct doc_node *in, enum doc_severity severity,
                          const char *fmt, ...)
{
    struct doc_node *n = add(in, DOC_LINE, NULL, "");
    va_list ap;

    va_start(ap, fmt);
    n->text = vformat(in->doc, fmt, ap);
    va_end(ap);
    n->severity = severity;
    return n;
}

void doc_break(struct doc_node *root)
{
    doc_line(root, DOC_PLAIN, "%s", "");
}

void doc_paragraph(struct doc_node *in, const char *text)
{
    while (text && *text) {
        size_t len = strcspn(text, "\n");

        doc_line(in, DOC_PLAIN, "%.*s", (int)len, text);
        text += len + (text[len] == '\n');
    }
}

struct doc_node *doc_lines(struct doc_node *in, const char *key,
                           const char *label, const struct strlist *list)
{
    struct doc_node *n = doc_list(in, key, label);

    for (size_t i = 0; i < list->len; i++)
        doc_line(n, DOC_PLAIN, "%s", list->items[i]);
    return n;
}

/* ---- modifiers ---- */

struct doc_node *doc_missing_if(struct doc_node *n, bool is_missing,
                                const char *note)
{
    if (is_missing) {
        n->is_missing = true;
        n->note = copy(n->doc, note);
    }
    return n;
}

struct doc_node *doc_show_if(struct doc_node *n, bool is_shown)
{
    if (!is_shown)
        n->label = NULL;
    return n;
}

struct doc_node *doc_show(struct doc_node *n, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    n->shown = vformat(n->doc, fmt, ap);
    va_end(ap);
    return n;
}

struct doc_node *doc_brief(struct doc_node *n, const char *brief)
{
    n->brief = copy(n->doc, brief);
    return n;
}

struct doc_node *doc_sep(struct doc_node *n, const char *sep)
{
    n->sep = copy(n->doc, sep);
    return n;
}

struct doc_node *doc_unit(struct doc_node *n, const char *unit)
{
    n->unit = copy(n->doc, unit);
    return n;
}

struct doc_node *doc_help(struct doc_node *n, const char *help)
{
    n->help = copy(n->doc, help);
    return n;
}

struct doc_node *doc_signed(struct doc_node *n)
{
    n->is_signed = true;
    return n;
}

struct doc_node *doc_digits(struct doc_node *n, int digits)
{
    n->digits = digits;
    return n;
}

struct doc_node *doc_text_only(struct doc_node *n)
{
    n->is_text_only = true;
    return n;
}

struct doc_node *doc_undotted(struct doc_node *n)
{
    char *to;

    if (!n->key || !strchr(n->key, '.'))
        return n;
    n->alias = copy(n->doc, n->key);
    to = (char *)(uintptr_t)n->alias;
    for (const char *from = n->key; *from; from++) {
        if (*from != '.')
            *to++ = *from;
    }
    *to = '\0';
    return n;
}

struct doc_node *doc_track(struct doc_node *n, enum doc_better better)
{
    n->better = better;
    return n;
}

struct doc_node *doc_bounds(struct doc_node *n, struct interval bounds)
{
    n->has_bounds = isfinite(bounds.low) && isfinite(bounds.high);
    n->bounds = bounds;
    return n;
}

struct doc_node *doc_detail(struct doc_node *n)
{
    n->is_detail = true;
    return n;
}

/* ---- finding nodes ---- */

/* Sections without a key are part of the object around them. */
static const struct doc_node *child(const struct doc_node *in, const char *key,
                                    size_t len)
{
    for (const struct doc_node *c = in->first; c; c = c->next) {
        const struct doc_node *found = NULL;

        if (c->is_text_only)
            continue;
        if (c->key && strlen(c->key) == len && strncmp(c->key, key, len) == 0)
            return c;
        if ((c->type == DOC_SECTION || c->type == DOC_ROWS) && !c->key)
            found = child(c, key, len);
        if (found)
            return found;
    }
    return NULL;
}

const struct doc_node *doc_at(const struct doc_node *in, const char *path)
{
    while (in && *path) {
        size_t len = strcspn(path, ".");

        in = child(in, path, len);
        path += len + (path[len] == '.');
    }
    return in;
}

const struct doc_node *doc_labelled(const struct doc_node *in,
                                    const char *label)
{
    for (const struct doc_node *c = in ? in->first : NULL; c; c = c->next) {
        if (c->label && strcmp(c->label, label) == 0)
            return c;
    }
    return NULL;
}

/* ---- rendering ---- */

void doc_render_brief(const struct doc *d, const struct brief_style *style,
                      struct buf *out)
{
    struct brief *b;

    if (!d->make_brief) {
        doc_render_text(d, out);
        return;
    }
    b = brief_new(style);
    d->make_brief(b, &d->root);
    brief_render(b, out);
    brief_free(b);
}

static void render_brief(const struct doc *d, struct buf *out)
{
    doc_render_brief(d, &(struct brief_style){.columns = BRIEF_COLUMNS}, out);
}

void doc_render(const struct doc *d, enum doc_format format, struct buf *out)
{
    static void (*const renderers[])(const struct doc *d, struct buf *out) = {
        [DOC_AS_BRIEF] = render_brief,
        [DOC_AS_TEXT] = doc_render_text,
        [DOC_AS_JSON] = doc_render_json,
        [DOC_AS_FULL] = doc_render_full,
        [DOC_AS_MARKDOWN] = doc_render_markdown,
        [DOC_AS_BENCHER] = doc_render_bencher,
        [DOC_AS_GITHUB_SMALLER] = doc_render_github_smaller,
        [DOC_AS_GITHUB_BIGGER] = doc_render_github_bigger,
        [DOC_AS_LLM_D] = doc_render_llm_d,
    };

    renderers[format](d, out);
}

void doc_put(struct doc *taken, enum doc_format format, struct buf *out)
{
    doc_render(taken, format, out);
    doc_free(taken);
}
