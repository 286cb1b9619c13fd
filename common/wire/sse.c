/* Lines first, then fields, then events.  memchr() finds the next \n and the
 * next \r, and both positions are remembered, so that each byte is scanned
 * twice at most. */
#include "common/wire/sse.h"

#include <stdbool.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/str.h"

static void reset_event(struct sse *s)
{
    s->event = (struct sse_event){.data = "", .name = ""};
    s->has_data = s->has_name = false;
    s->is_data_kept = s->is_name_kept = false;
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
    reset_event(s);
}

/* ---- the event so far ---- */

/* Copy data that still lies in the caller's bytes to the stream's own memory.
 */
static void keep_data(struct sse *s)
{
    if (s->is_data_kept || !s->has_data)
        return;
    buf_reset(&s->data);
    buf_add(&s->data, s->event.data, s->event.len);
    s->event.data = s->data.data;
    s->is_data_kept = true;
}

static void end_event(struct sse *s)
{
    if (s->has_data)
        s->on_event(s->arg, &s->event);
    reset_event(s);
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
    if (is_field(line, name_len, "data") && !s->has_data) {
        s->event.data = value;
        s->event.len = (size_t)(end - value);
        s->has_data = true;
    } else if (is_field(line, name_len, "data")) {
        keep_data(s);
        buf_add(&s->data, "\n", 1);
        buf_add(&s->data, value, (size_t)(end - value));
        s->event.data = s->data.data;
        s->event.len = s->data.len;
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

/* Is there room for the next bytes of the line? */
static bool has_room(struct sse *s, size_t len)
{
    if (len <= s->max_event - s->event_len - s->line.len)
        return true;
    s->has_failed = true;
    return false;
}

/* The rest of the current line has arrived. */
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
    /* This overwrites only the first byte, and a value starts later. */
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

/* Returns the end of the current line and moves to the next one; NULL if the
 * line is not complete. */
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
    if (s->has_name && !s->is_name_kept) {
        buf_reset(&s->name);
        buf_add(&s->name, s->event.name, s->event.name_len);
        s->event.name = s->name.data;
        s->is_name_kept = true;
    }
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

/* ---- styles ---- */

static const char *const names[SSE_STYLES] = {
    [SSE_STYLE_CRLF] = "crlf",         [SSE_STYLE_CR] = "cr",
    [SSE_STYLE_NO_SPACE] = "no-space", [SSE_STYLE_NAMED] = "named",
    [SSE_STYLE_SPLIT] = "split",       [SSE_STYLE_COMMENTS] = "comments",
    [SSE_STYLE_EMPTY] = "empty",       [SSE_STYLE_PINGS] = "pings",
};

static bool has(unsigned styles, enum sse_style style)
{
    return (styles >> style & 1) != 0;
}

static int style_bit(const char *text, unsigned *bit, struct err *err)
{
    for (int style = 0; style < SSE_STYLES; style++) {
        *bit = 1U << style;
        if (strcmp(names[style], text) == 0)
            return 0;
    }
    return err_set(err, ERR_CONFIG,
                   "'%s' is not a style of events; choose from crlf, cr, "
                   "no-space, named, split, comments, empty and pings",
                   text);
}

int sse_style_check(const char *text, struct err *err)
{
    unsigned bit;

    return style_bit(text, &bit, err);
}

int sse_style_parse(const struct strlist *texts, unsigned *styles,
                    struct err *err)
{
    *styles = 0;
    for (size_t i = 0; i < texts->len; i++) {
        unsigned bit;

        if (style_bit(texts->items[i], &bit, err))
            return -1;
        *styles |= bit;
    }
    if (has(*styles, SSE_STYLE_CRLF) && has(*styles, SSE_STYLE_CR))
        return err_set(err, ERR_CONFIG, "crlf cannot be combined with cr");
    return 0;
}

static const char *end_of_line(unsigned styles)
{
    if (has(styles, SSE_STYLE_CRLF))
        return "\r\n";
    return has(styles, SSE_STYLE_CR) ? "\r" : "\n";
}

/* A line "field: value" in pieces: no format, since data may be long. */
static void write_line(unsigned styles, const char *field, const char *value,
                       struct buf *out)
{
    buf_adds(out, field);
    if (!has(styles, SSE_STYLE_NO_SPACE))
        buf_adds(out, " ");
    buf_adds(out, value);
    buf_adds(out, end_of_line(styles));
}

void sse_style_write(unsigned styles, const char *data, struct buf *out)
{
    if (has(styles, SSE_STYLE_NAMED))
        write_line(styles, "event:", "message", out);
    if (has(styles, SSE_STYLE_SPLIT) && data[0] == '{') {
        write_line(styles, "data:", "{", out);
        data++;
    }
    write_line(styles, "data:", data, out);
    buf_adds(out, end_of_line(styles));
}

void sse_style_write_keepalives(unsigned styles, struct buf *out)
{
    static const struct {
        enum sse_style style;
        const char *line;
    } lines[] = {{SSE_STYLE_COMMENTS, ": ping"},
                 {SSE_STYLE_EMPTY, "data:"},
                 {SSE_STYLE_PINGS, "data: : ping"}};

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        if (has(styles, lines[i].style))
            buf_addf(out, "%s%s%s", lines[i].line, end_of_line(styles),
                     end_of_line(styles));
    }
}
