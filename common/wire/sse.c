/* Lines first, then fields, then events.  Both ends of line are looked for with
 * memchr() and the places remembered, so that each byte is looked at twice,
 * whatever the lines end with. */
#include "common/wire/sse.h"

#include <string.h>

#include "common/base/str.h"

static void forget_event(struct sse *s)
{
    s->event = (struct sse_event){.data = "", .name = ""};
    s->has_data = false;
    s->has_name = false;
    s->is_data_kept = false;
    s->is_name_kept = false;
    s->event_len = 0;
}

void sse_init(struct sse *s, size_t max_event, sse_event_fn *on_event,
              void *arg)
{
    *s = (struct sse){.max_event = max_event, .on_event = on_event, .arg = arg};
    buf_init(&s->line, max_event);
    buf_init(&s->data, max_event);
    buf_init(&s->name, max_event);
    sse_begin(s);
}

void sse_fini(struct sse *s)
{
    buf_fini(&s->line);
    buf_fini(&s->data);
    buf_fini(&s->name);
}

void sse_begin(struct sse *s)
{
    s->comments = 0;
    s->has_failed = false;
    s->is_first_line = true;
    s->is_after_cr = false;
    buf_reset(&s->line);
    forget_event(s);
}

/* ---- the event so far ---- */

static void keep_data(struct sse *s)
{
    if (s->is_data_kept || !s->has_data)
        return;
    buf_reset(&s->data);
    buf_add(&s->data, s->event.data, s->event.len);
    s->event.data = s->data.data;
    s->is_data_kept = true;
}

static void keep_name(struct sse *s)
{
    if (s->is_name_kept || !s->has_name)
        return;
    buf_reset(&s->name);
    buf_add(&s->name, s->event.name, s->event.name_len);
    s->event.name = s->name.data;
    s->is_name_kept = true;
}

static void add_data(struct sse *s, const char *value, size_t len)
{
    if (!s->has_data) {
        s->event.data = value;
        s->event.len = len;
        s->has_data = true;
        return;
    }
    keep_data(s);
    buf_add(&s->data, "\n", 1);
    buf_add(&s->data, value, len);
    s->event.data = s->data.data;
    s->event.len = s->data.len;
}

static void end_event(struct sse *s)
{
    if (s->has_data)
        s->on_event(s->arg, &s->event);
    forget_event(s);
}

/* ---- lines ---- */

static bool is_field(const char *line, size_t len, const char *name)
{
    return strlen(name) == len && memcmp(line, name, len) == 0;
}

static void take_field(struct sse *s, const char *line, size_t len)
{
    const char *colon = memchr(line, ':', len);
    const char *end = line + len;
    const char *value = colon ? colon + 1 : end;
    size_t name_len = colon ? (size_t)(colon - line) : len;

    if (value < end && *value == ' ')
        value++;
    if (is_field(line, name_len, "data")) {
        add_data(s, value, (size_t)(end - value));
    } else if (is_field(line, name_len, "event")) {
        s->event.name = value;
        s->event.name_len = (size_t)(end - value);
        s->has_name = true;
        s->is_name_kept = false;
    }
}

static void take_line(struct sse *s, const char *line, size_t len)
{
    size_t bom_len = s->is_first_line ? str_bom_len(line, len) : 0;

    line += bom_len;
    len -= bom_len;
    s->is_first_line = false;
    if (len == 0) {
        end_event(s);
    } else if (*line == ':') {
        s->comments++;
    } else {
        s->event_len += len;
        take_field(s, line, len);
    }
}

/* The next bytes of a line: is there room for them? */
static bool has_room(struct sse *s, size_t len)
{
    if (len <= s->max_event - s->event_len - s->line.len)
        return true;
    s->has_failed = true;
    return false;
}

/* All that was missing of a line. */
static int end_line(struct sse *s, const char *rest, size_t len)
{
    if (!has_room(s, len))
        return -1;
    if (s->line.len == 0) {
        take_line(s, rest, len);
        return 0;
    }
    buf_add(&s->line, rest, len);
    take_line(s, s->line.data, s->line.len);
    /* This overwrites the first byte alone, and a value starts later. */
    buf_reset(&s->line);
    return 0;
}

/* ---- bytes ---- */

struct cursor {
    const char *at;
    const char *end;
    const char *lf; /* the first \n and \r from `at` on, or `end` */
    const char *cr;
};

static const char *find(const char *at, const char *end, char c)
{
    const char *found = memchr(at, c, (size_t)(end - at));

    return found ? found : end;
}

/* The end of the line, and the next one after it; NULL if there is no end. */
static const char *next_line(struct cursor *c)
{
    const char *stop;

    if (c->lf < c->at)
        c->lf = find(c->at, c->end, '\n');
    if (c->cr < c->at)
        c->cr = find(c->at, c->end, '\r');
    stop = c->lf < c->cr ? c->lf : c->cr;
    if (stop == c->end)
        return NULL;
    c->at = stop + 1;
    if (*stop == '\r' && c->at < c->end && *c->at == '\n')
        c->at++;
    return stop;
}

int sse_feed(struct sse *s, const char *data, size_t len)
{
    struct cursor c = {.at = data, .end = data + len};
    const char *line;
    const char *stop;

    if (s->has_failed)
        return -1;
    if (len == 0)
        return 0;
    if (s->is_after_cr && *data == '\n')
        c.at++;
    c.lf = find(c.at, c.end, '\n');
    c.cr = find(c.at, c.end, '\r');
    for (line = c.at; (stop = next_line(&c)); line = c.at) {
        if (end_line(s, line, (size_t)(stop - line)))
            return -1;
    }
    s->is_after_cr = line == c.end && line[-1] == '\r';
    keep_data(s);
    keep_name(s);
    if (line == c.end)
        return 0;
    if (!has_room(s, (size_t)(c.end - line)))
        return -1;
    return buf_add(&s->line, line, (size_t)(c.end - line));
}

int sse_finish(struct sse *s)
{
    bool has_event;

    if (s->has_failed)
        return -1;
    if (s->line.len > 0)
        end_line(s, "", 0);
    has_event = s->has_data;
    end_event(s);
    return has_event ? 1 : 0;
}
