/* A history as text and as data. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/compare/history.h"
#include "analyzer/compare/json_parts.h"
#include "analyzer/compare/show.h"
#include "common/buf.h"
#include "common/clk.h"
#include "common/json.h"
#include "common/settings.h"

#define HISTORY_SCHEMA 1

static const char *const answers[] = {
    [HISTORY_NO_CHANGE] = "no change for the worse",
    [HISTORY_BETTER] = "better",
    [HISTORY_WORSE] = "worse",
    [HISTORY_CANNOT_TELL] = "cannot tell",
};

/* ---- text ---- */

static void put_answer(const struct history *h, struct buf *out)
{
    static const char *const texts[] = {
        [HISTORY_NO_CHANGE] = "NO CHANGE FOR THE WORSE",
        [HISTORY_BETTER] = "BETTER",
        [HISTORY_WORSE] = "WORSE",
        [HISTORY_CANNOT_TELL] = "CANNOT TELL",
    };

    buf_addf(out, "verdict    %s", texts[h->answer]);
    if (h->why)
        buf_addf(out, ": %s", h->why);
    if (h->segments.len > 1)
        buf_addf(out, ": %s, the last segment %s by %.3g%% than the one before",
                 h->quantity.name, h->loss > 0 ? "worse" : "better",
                 (h->loss > 0 ? h->loss : -h->loss) * 100);
    if (h->regression >= 0)
        buf_addf(out, " (threshold %.4g%%)", h->regression * 100);
    buf_addf(out, "\nload       %s\n", h->load);
    buf_addf(out,
             "over       %zu recordings of these conditions, %zu left out\n",
             h->used, h->n - h->used);
}

static void put_change(const struct history *h, size_t segment, struct buf *out)
{
    const struct segment *s = &h->segments.list[segment];
    char before[SHOW_TEXT];
    char after[SHOW_TEXT];

    buf_addf(out, "  -- change: median %s of %zu, then %s of %zu (p %.3g)\n",
             show_value(&h->quantity, s[-1].median, before), s[-1].n,
             show_value(&h->quantity, s->median, after), s->n, s->p);
}

static void put_time(int64_t started_ns, struct buf *out)
{
    char utc[32];

    clk_format_utc(started_ns, CLK_TEXT_FORMAT, utc, sizeof(utc));
    buf_addf(out, "  %-21s", started_ns > 0 ? utc : "-");
}

static void put_points(const struct history *h, struct buf *out)
{
    char value[SHOW_TEXT];
    size_t segment = 0;

    buf_addf(out, "\n  %-21s%12s  recording\n", "started", h->quantity.name);
    for (size_t i = 0; i < h->n; i++) {
        const struct history_point *p = &h->points[i];

        if (!p->is_used)
            continue;
        if (p->segment != segment)
            put_change(h, p->segment, out);
        segment = p->segment;
        put_time(p->started_ns, out);
        buf_addf(out, "%12s  ", show_value(&h->quantity, p->value, value));
        settings_describe_path(p->dir, out);
        buf_adds(out, "\n");
    }
}

static void put_left_out(const struct history *h, struct buf *out)
{
    if (h->used == h->n)
        return;
    buf_adds(out, "\nleft out\n");
    for (size_t i = 0; i < h->n; i++) {
        const struct history_point *p = &h->points[i];

        if (p->is_used)
            continue;
        put_time(p->started_ns, out);
        settings_describe_path(p->dir, out);
        buf_adds(out, ": ");
        settings_describe_path(p->why, out);
        buf_adds(out, "\n");
    }
}

void history_render_text(const struct history *h, struct buf *out)
{
    put_answer(h, out);
    put_points(h, out);
    put_left_out(h, out);
}

/* ---- JSON ---- */

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
