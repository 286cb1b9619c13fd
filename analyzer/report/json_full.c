/* The text, and then everything that the JSON has, a line each: for whoever
 * wants to find a number that the text leaves out, or to grep for it. */
#include <jansson.h>
#include <stdio.h>

#include "analyzer/report/json_parts.h"
#include "analyzer/report/report.h"
#include "analyzer/report/trials_report.h"
#include "common/base/buf.h"
#include "common/base/json.h"

/* Deeper than any report; what lies below is not walked into. */
#define MAX_DEPTH 16
#define MAX_PATH  1024

static void put_leaf(const json_t *leaf, const char *path, struct buf *out)
{
    buf_addf(out, "%s ", path);
    json_print_value(leaf, out);
    buf_adds(out, "\n");
}

/* Keys by their names and places in lists by their numbers, with dots between
 * them.  Of an object or a list that is empty there is nothing to say. */
static void put_leaves(const json_t *json, const char *path, int depth,
                       struct buf *out)
{
    const char *between = path[0] ? "." : "";
    char below[MAX_PATH];
    const char *key;
    json_t *part;
    size_t i;

    if (depth == MAX_DEPTH || !(json_is_object(json) || json_is_array(json))) {
        put_leaf(json, path, out);
        return;
    }
    json_object_foreach((json_t *)(uintptr_t)json, key, part)
    {
        snprintf(below, sizeof(below), "%s%s%s", path, between, key);
        put_leaves(part, below, depth + 1, out);
    }
    json_array_foreach(json, i, part)
    {
        snprintf(below, sizeof(below), "%s%s%zu", path, between, i);
        put_leaves(part, below, depth + 1, out);
    }
}

static void put_all(json_t *json, struct buf *out)
{
    buf_adds(out, "\nall of it, by the names that it has in JSON\n");
    put_leaves(json, "", 0, out);
    json_decref(json);
}

static void render(const struct summary *s, struct buf *out)
{
    report_text.render(s, out);
    put_all(json_of_summary(s), out);
}

const struct report_ops report_full = {
    .name = "full",
    .render = render,
};

void trials_full(const struct trials_summary *s, struct buf *out)
{
    trials_text(s, out);
    put_all(trials_to_json(s), out);
}
