/* The tracked values of a document (doc_track()) for trackers of results:
 * Bencher and github-action-benchmark.  Numbers that cannot be trusted, or of
 * only a part of what was asked for, are withheld: a tracker would keep them
 * for ever. */
#include "analyzer/report/render/render_trackers.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/doc.h"
#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "common/text/json.h"

#define MAX_NAME  256
#define MAX_VALUE 64

/* ---- whether there is anything to track ---- */

static bool is_true(const struct doc_node *n)
{
    return n && n->kind == DOC_BOOL && !n->is_missing && n->count != 0;
}

static bool is_text(const struct doc_node *n, const char *text)
{
    return n && n->type == DOC_VALUE && n->text && strcmp(n->text, text) == 0;
}

static bool has_tracked(const struct doc_node *n)
{
    if (n->is_text_only)
        return false;
    if (n->better != DOC_UNTRACKED && !n->is_missing)
        return true;
    for (const struct doc_node *c = n->first; c; c = c->next) {
        if (has_tracked(c))
            return true;
    }
    return false;
}

bool doc_is_for_trackers(enum doc_format format)
{
    return format == DOC_AS_BENCHER || format == DOC_AS_GITHUB_SMALLER ||
           format == DOC_AS_GITHUB_BIGGER || format == DOC_AS_LLM_D;
}

const char *doc_withheld(const struct doc *d)
{
    const struct doc_node *root = doc_root(d);
    const struct doc_node *valid = doc_at(root, "trust.valid");
    const struct doc_node *aborted = doc_at(root, "aborted");
    const struct doc_node *due = doc_at(root, "requests.scheduled");

    if ((valid && !is_true(valid)) ||
        is_text(doc_at(root, "verdict"), "invalid"))
        return "a trust check failed";
    if (is_true(doc_at(root, "interrupted")))
        return "the run was interrupted";
    if (aborted && !aborted->is_missing)
        return "the run was aborted";
    if (due && due->count == 0)
        return "nothing was due in the window";
    return has_tracked(root) ? NULL : "there is no result to track";
}

/* ---- walking ---- */

struct tracked {
    const struct doc_node *node;
    char benchmark[MAX_NAME]; /* "chat/gold" */
    char path[MAX_NAME];      /* keys, with spaces: "e2e p99_ms" */
};

struct walk {
    json_t *json;
    enum doc_better better; /* only these; DOC_UNTRACKED: all */
    void (*put)(json_t *json, const struct tracked *t);
    const struct doc *doc;
};

/* Appends as much as fits, in whole characters. */
static void append(char out[static MAX_NAME], const char *between,
                   const char *text)
{
    size_t len = strlen(out);

    snprintf(out + len, MAX_NAME - len, "%s%s", between, text);
    printable(out, strlen(out), "");
}

/* Which element of a list it is: its name, or the load in a sweep. */
static void add_element(char benchmark[static MAX_NAME],
                        const struct doc_node *row)
{
    const struct doc_node *name = doc_at(row, "name");
    const struct doc_node *value = doc_at(row, "value");
    struct buf text;

    if (!name && !value)
        return;
    buf_init(&text, MAX_VALUE);
    doc_show_value(name ? name : value, &text);
    append(benchmark, "/", buf_text(&text));
    buf_fini(&text);
}

/* "measures" and "median" say nothing that the other keys do not. */
static bool is_named(const struct doc_node *n)
{
    return n->key && strcmp(n->key, "measures") != 0 &&
           strcmp(n->key, "median") != 0;
}

static void visit(const struct walk *w, const struct doc_node *n,
                  const struct tracked *at, bool is_element)
{
    struct tracked t = *at;

    if (n->is_text_only)
        return;
    if (is_element)
        add_element(t.benchmark, n);
    if (n->type == DOC_LIST || n->type == DOC_TABLE)
        t.path[0] = '\0';
    else if (is_named(n))
        append(t.path, t.path[0] ? " " : "", n->alias ? n->alias : n->key);
    if (n->better != DOC_UNTRACKED && !n->is_missing &&
        (w->better == DOC_UNTRACKED || w->better == n->better)) {
        t.node = n;
        w->put(w->json, &t);
    }
    for (const struct doc_node *c = n->first; c; c = c->next)
        visit(w, c, &t, n->type == DOC_LIST || n->type == DOC_TABLE);
}

static void render(const struct walk *w, struct buf *out)
{
    const struct doc_node *root = doc_root(w->doc);
    const struct doc_node *name = doc_at(root, "name");
    struct tracked t = {0};

    append(t.benchmark, "",
           name && name->text && name->text[0] ? name->text : "tailgate");
    if (!doc_withheld(w->doc))
        visit(w, root, &t, false);
    json_print(w->json, out);
    json_decref(w->json);
}

/* The number in the unit of the JSON. */
static json_t *end_to_json(const struct doc_node *n, double x)
{
    return json_real(n->kind == DOC_NS ? x / 1e6 : x);
}

/* ---- Bencher ---- */

/* "e2e p99_ms" -> "e2e-p99-ms" */
static void put_bencher(json_t *json, const struct tracked *t)
{
    json_t *benchmark = json_object_get(json, t->benchmark);
    json_t *metric = json_pack("{so}", "value", doc_value_to_json(t->node));
    char *slug = xstrdup(t->path);

    for (char *c = slug; *c; c++)
        *c = (char)(*c == ' ' || *c == '_' ? '-' : *c);
    if (t->node->has_bounds) {
        json_object_set_new(metric, "lower_value",
                            end_to_json(t->node, t->node->bounds.low));
        json_object_set_new(metric, "upper_value",
                            end_to_json(t->node, t->node->bounds.high));
    }
    if (!benchmark) {
        benchmark = json_object();
        json_object_set_new(json, t->benchmark, benchmark);
    }
    json_object_set_new(benchmark, slug, metric);
    free(slug);
}

void doc_render_bencher(const struct doc *d, struct buf *out)
{
    render(&(struct walk){.json = json_object(), .put = put_bencher, .doc = d},
           out);
}

/* ---- github-action-benchmark ---- */

static const char *unit_of(const struct doc_node *n)
{
    switch (n->kind) {
    case DOC_NS:
    case DOC_MS:
        return "ms";
    case DOC_SECONDS:
        return "s";
    case DOC_SHARE:
        return "share";
    case DOC_USD:
        return "USD";
    case DOC_RATE:
        return n->unit ? n->unit + strspn(n->unit, " ") : "/s";
    default:
        return n->unit ? n->unit + strspn(n->unit, " ") : "";
    }
}

static void put_github(json_t *json, const struct tracked *t)
{
    char *name = xasprintf("%s: %s", t->benchmark, t->path);
    json_t *row = json_object();

    json_object_set_new(row, "name", json_bytes(name, strlen(name)));
    json_object_set_new(row, "unit", json_string(unit_of(t->node)));
    json_object_set_new(row, "value", doc_value_to_json(t->node));
    if (t->node->has_bounds) {
        double unit = t->node->kind == DOC_NS ? 1e-6 : 1;

        json_object_set_new(row, "range",
                            json_sprintf("%.4g to %.4g",
                                         t->node->bounds.low * unit,
                                         t->node->bounds.high * unit));
    }
    json_array_append_new(json, row);
    free(name);
}

void doc_render_github_smaller(const struct doc *d, struct buf *out)
{
    render(&(struct walk){.json = json_array(),
                          .better = DOC_LOWER,
                          .put = put_github,
                          .doc = d},
           out);
}

void doc_render_github_bigger(const struct doc *d, struct buf *out)
{
    render(&(struct walk){.json = json_array(),
                          .better = DOC_HIGHER,
                          .put = put_github,
                          .doc = d},
           out);
}
