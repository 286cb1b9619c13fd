/* A history as data: every number of the text. */
#include <jansson.h>
#include <string.h>

#include "analyzer/compare/compare_history.h"
#include "analyzer/compare/compare_json_parts.h"
#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/json.h"

#define HISTORY_SCHEMA 1

static const char *const answers[] = {
    [HISTORY_NO_CHANGE] = "no change for the worse",
    [HISTORY_BETTER] = "better",
    [HISTORY_WORSE] = "worse",
    [HISTORY_CANNOT_TELL] = "cannot tell",
};

static json_t *text(const char *s)
{
    return json_bytes(s, strlen(s));
}

static json_t *point_json(const struct history *h,
                          const struct history_point *p)
{
    char utc[32];

    clk_format_utc(p->started_ns, CLK_TEXT_FORMAT, utc, sizeof(utc));
    return json_pack(
        "{so, so, sb, so, so, so}", "dir", text(p->dir), "started",
        p->started_ns > 0 ? json_string(utc) : json_null(), "used", p->is_used,
        "value", compare_json_value(&h->quantity, p->value, p->is_used),
        "segment",
        p->is_used && h->segments.len > 0 ? json_integer((json_int_t)p->segment)
                                          : json_null(),
        "why", p->is_used ? json_null() : text(p->why));
}

static json_t *segment_json(const struct history *h, size_t i)
{
    const struct segment *s = &h->segments.list[i];

    return json_pack("{sI, sI, so, so}", "first", (json_int_t)s->first, "n",
                     (json_int_t)s->n, "median",
                     compare_json_value(&h->quantity, s->median, true), "p",
                     i > 0 ? json_real(s->p) : json_null());
}

void history_render_json(const struct history *h, struct buf *out)
{
    json_t *points = json_array();
    json_t *segments = json_array();
    json_t *json;

    for (size_t i = 0; i < h->n; i++)
        json_array_append_new(points, point_json(h, &h->points[i]));
    for (size_t i = 0; i < h->segments.len; i++)
        json_array_append_new(segments, segment_json(h, i));
    json =
        json_pack("{si, ss, so, ss, ss, so, sI, sI, so, so, so, so}", "schema",
                  HISTORY_SCHEMA, "verdict", answers[h->answer], "note",
                  h->why ? json_string(h->why) : json_null(), "quantity",
                  h->quantity.name, "unit", compare_json_unit(&h->quantity),
                  "load", text(h->load), "used", (json_int_t)h->used,
                  "left_out", (json_int_t)(h->n - h->used), "loss_share",
                  h->segments.len > 1 ? json_real(h->loss) : json_null(),
                  "regression_threshold",
                  h->regression >= 0 ? json_real(h->regression) : json_null(),
                  "segments", segments, "points", points);
    json_print(json, out);
    json_decref(json);
}
