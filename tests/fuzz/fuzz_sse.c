/* However the bytes are cut, the events are the same; and they are those of a
 * reader that takes the standard at its word.  An input is the bound of an
 * event, the number of cuts, the lengths of the pieces between them, which
 * come round again, and the stream. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/xalloc.h"
#include "common/wire/sse.h"

#define SEVERAL ((size_t)1 << 24)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct run {
    struct buf events;
    uint64_t comments;
    int finish; /* of sse_finish() */
};

static void put_event(struct run *run, const struct sse_event *event)
{
    buf_add(&run->events, &event->name_len, sizeof(event->name_len));
    buf_add(&run->events, event->name, event->name_len);
    buf_add(&run->events, &event->len, sizeof(event->len));
    buf_add(&run->events, event->data, event->len);
}

/* ---- in pieces ---- */

static void on_event(void *arg, const struct sse_event *event)
{
    put_event(arg, event);
}

/* A copy that is gone afterwards, so that nothing may point into it. */
static int feed(struct sse *s, const uint8_t *data, size_t len)
{
    char *copy = xcalloc(len ? len : 1, 1);
    int rc;

    memcpy(copy, data, len);
    rc = sse_feed(s, copy, len);
    free(copy);
    return rc;
}

static void run_cut(struct run *run, size_t max_event, const uint8_t *pieces,
                    size_t count, const uint8_t *data, size_t size)
{
    struct sse s;
    int rc = 0;

    buf_init(&run->events, SEVERAL);
    sse_init(&s, max_event, on_event, run);
    for (size_t used = 0, i = 0; used < size && rc == 0; i++) {
        size_t len = count > 0 ? pieces[i % count] + (size_t)1 : size;

        if (len > size - used)
            len = size - used;
        rc = feed(&s, data + used, len);
        used += len;
    }
    run->finish = sse_finish(&s);
    if ((run->finish < 0) != (rc < 0))
        abort();
    run->comments = s.comments;
    sse_fini(&s);
}

/* ---- by the word ---- */

struct model {
    struct buf data; /* each line with its \n */
    struct buf name;
    struct run *run;
};

static int model_dispatch(struct model *m)
{
    bool has_event = m->data.len > 0;
    struct sse_event event = {
        .data = buf_text(&m->data),
        .len = m->data.len - 1,
        .name = buf_text(&m->name),
        .name_len = m->name.len,
    };

    if (has_event)
        put_event(m->run, &event);
    buf_reset(&m->data);
    buf_reset(&m->name);
    return has_event;
}

static void model_line(struct model *m, const char *line, size_t len)
{
    const char *colon = memchr(line, ':', len);
    size_t field = colon ? (size_t)(colon - line) : len;
    size_t at = colon ? field + 1 : len;

    if (len == 0) {
        model_dispatch(m);
        return;
    }
    m->run->comments += colon == line;
    if (at < len && line[at] == ' ')
        at++;
    if (field == 4 && memcmp(line, "data", 4) == 0) {
        buf_add(&m->data, line + at, len - at);
        buf_add(&m->data, "\n", 1);
    } else if (field == 5 && memcmp(line, "event", 5) == 0) {
        buf_reset(&m->name);
        buf_add(&m->name, line + at, len - at);
    }
}

static void run_model(struct run *run, const char *text, size_t size)
{
    struct model m = {.run = run};
    size_t start = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

    *run = (struct run){0};
    buf_init(&run->events, SEVERAL);
    buf_init(&m.data, SEVERAL);
    buf_init(&m.name, SEVERAL);
    for (size_t i = start; i < size; i++) {
        if (text[i] != '\n' && text[i] != '\r')
            continue;
        model_line(&m, text + start, i - start);
        i += text[i] == '\r' && i + 1 < size && text[i + 1] == '\n';
        start = i + 1;
    }
    if (start < size)
        model_line(&m, text + start, size - start);
    run->finish = model_dispatch(&m);
    buf_fini(&m.data);
    buf_fini(&m.name);
}

/* ---- both ---- */

static void compare(const struct run *a, const struct run *b)
{
    if (a->finish != b->finish || a->comments != b->comments ||
        a->events.len != b->events.len ||
        memcmp(buf_text(&a->events), buf_text(&b->events), a->events.len) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct run whole;
    struct run cut;
    struct run model;
    size_t max_event;
    size_t count;

    if (size < 2 || size - 2 < data[1] % 16)
        return 0;
    max_event = data[0] < 128 ? data[0] + (size_t)1 : SEVERAL;
    count = data[1] % 16;
    run_cut(&whole, max_event, NULL, 0, data + 2 + count, size - 2 - count);
    run_cut(&cut, max_event, data + 2, count, data + 2 + count,
            size - 2 - count);
    compare(&whole, &cut);
    run_model(&model, (const char *)data + 2 + count, size - 2 - count);
    if (whole.finish >= 0)
        compare(&whole, &model);
    buf_fini(&whole.events);
    buf_fini(&cut.events);
    buf_fini(&model.events);
    return 0;
}
