/* The distribution as bars, and what to do next. */
#include "analyzer/report/text_parts.h"

#include "analyzer/tally/summary.h"
#include "common/base/buf.h"

#define BAR_WIDTH 48

/* The longest is as wide as there is room; none that counts is empty. */
static void put_bar(int64_t count, int64_t most, struct buf *out)
{
    static const char full[] =
        "################################################";
    int64_t width = most > 0 ? count * BAR_WIDTH / most : 0;

    _Static_assert(sizeof(full) == BAR_WIDTH + 1, "a bar is too short");
    if (width == 0 && count > 0)
        width = 1;
    buf_addf(out, "%8lld %.*s\n", (long long)count, (int)width, full);
}

static int64_t most_of(const struct bars *b)
{
    int64_t most = b->failed > b->out_of_range ? b->failed : b->out_of_range;

    for (size_t i = 0; i < b->len; i++) {
        if (b->list[i].count > most)
            most = b->list[i].count;
    }
    return most;
}

static void put_limit(int64_t limit_ns, struct buf *out)
{
    char text[UNITS_TEXT];

    buf_addf(out, "  ------- limit %s\n",
             units_show_duration((double)limit_ns, text));
}

static void put_rest(const char *name, int64_t count, int64_t most,
                     struct buf *out)
{
    if (count == 0)
        return;
    buf_addf(out, "  %-21s ", name);
    put_bar(count, most, out);
}

/* The limit's line stands before the first row that does not keep it. */
void text_put_bars(const struct summary *s, struct buf *out)
{
    const struct bars *b = &s->bars;
    int64_t most = most_of(b);
    bool has_limit = b->limit_ns > 0;

    if (b->len == 0)
        return;
    buf_addf(out, "%s from due\n", measure_name(b->measure));
    for (size_t i = 0; i < b->len; i++) {
        char from[UNITS_TEXT];
        char to[UNITS_TEXT];

        if (has_limit && b->list[i].from_ns >= b->limit_ns) {
            put_limit(b->limit_ns, out);
            has_limit = false;
        }
        buf_addf(out, "  %9s - %9s ",
                 units_show_duration((double)b->list[i].from_ns, from),
                 units_show_duration((double)b->list[i].to_ns, to));
        put_bar(b->list[i].count, most, out);
    }
    if (has_limit)
        put_limit(b->limit_ns, out);
    put_rest("> 1h", b->out_of_range, most, out);
    put_rest("failed", b->failed, most, out);
    buf_adds(out, "\n");
}

void text_put_next(const struct summary *s, struct buf *out)
{
    for (size_t i = 0; i < s->next.len; i++)
        buf_addf(out, "%s%s\n", i == 0 ? "next       " : "           ",
                 s->next.lines[i]);
}
