/* A history that a person reads: the answer, then every point. */
#include <stdio.h>

#include "analyzer/compare/compare_history.h"
#include "analyzer/compare/quantity.h"
#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/settings/settings.h"

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
