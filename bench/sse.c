/* CPU time to read one chunk of a streamed chat answer: the events alone, with
 * what a client wants to know of each taken by our scanner, and by jansson's
 * tree; compared with a bare search for the blank lines.  Alternating rounds,
 * medians, one line each. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/text/jscan.h"
#include "common/wire/sse.h"

#define ROUNDS      15
#define PASSES      50   /* over the stream, in a round */
#define EVENTS      1000 /* in the stream */
#define ANSWER      100  /* events of an answer; the last has the usage */
#define MANY        ((size_t)16 << 10) /* bytes of a feed of many events */
#define MAX_EVENT   ((size_t)1 << 20)
#define FULL_EVENTS ((int64_t)PASSES * EVENTS)

static struct buf stream;
static size_t starts[EVENTS + 1]; /* of the events in it */

static void make_stream(void)
{
    static const char *const words[] = {" the",   " of", ",",
                                        " loads", "\\n", " caf\xc3\xa9"};

    buf_init(&stream, MAX_EVENT);
    for (int i = 0; i < EVENTS; i++) {
        bool is_last = i % ANSWER == ANSWER - 1;

        starts[i] = stream.len;
        buf_addf(&stream,
                 "data: {\"id\":\"chatcmpl-4f1c8a27d0b9\","
                 "\"object\":\"chat.completion.chunk\",\"created\":1790000000,"
                 "\"model\":\"llama-3.1-8b\",\"choices\":[{\"index\":0,"
                 "\"delta\":{\"content\":\"%s\"},\"logprobs\":null,"
                 "\"finish_reason\":%s}]%s}\n\n",
                 words[i % 6], is_last ? "\"stop\"" : "null",
                 is_last ? ",\"usage\":{\"prompt_tokens\":100,"
                           "\"total_tokens\":200,\"completion_tokens\":100}"
                         : "");
    }
    starts[EVENTS] = stream.len;
}

/* What was found; the same by every reader that looks. */
struct found {
    int64_t events;
    int64_t contents;
    int64_t finishes;
    int64_t tokens;
};

/* ---- nothing but events ---- */

static void count_event(void *arg, const struct sse_event *event)
{
    ((struct found *)arg)->events += event->len > 0;
}

/* ---- our scanner ---- */

static void scan_delta(struct jscan *s, struct found *f)
{
    struct jtext key;
    struct jtext text;

    if (!jscan_object(s))
        return;
    while (jscan_key(s, &key)) {
        if (jtext_is(key, "content"))
            f->contents += jscan_string(s, &text) && text.len > 0;
        else
            jscan_skip(s);
    }
}

static void scan_choice(struct jscan *s, struct found *f)
{
    struct jtext key;
    struct jtext text;

    if (!jscan_object(s))
        return;
    while (jscan_key(s, &key)) {
        if (jtext_is(key, "delta"))
            scan_delta(s, f);
        else if (jtext_is(key, "finish_reason"))
            f->finishes += jscan_string(s, &text);
        else
            jscan_skip(s);
    }
}

static void scan_choices(struct jscan *s, struct found *f)
{
    bool is_first = true;

    if (!jscan_array(s))
        return;
    while (jscan_item(s)) {
        if (is_first)
            scan_choice(s, f);
        else
            jscan_skip(s);
        is_first = false;
    }
}

static void scan_usage(struct jscan *s, struct found *f)
{
    struct jtext key;
    int64_t tokens;

    if (!jscan_object(s))
        return;
    while (jscan_key(s, &key)) {
        if (!jtext_is(key, "completion_tokens"))
            jscan_skip(s);
        else if (jscan_int(s, &tokens))
            f->tokens += tokens;
    }
}

static void scan_event(void *arg, const struct sse_event *event)
{
    struct found *f = arg;
    struct jtext key;
    struct jscan s;

    jscan_init(&s, event->data, event->len);
    if (!jscan_object(&s))
        abort();
    while (jscan_key(&s, &key)) {
        if (jtext_is(key, "choices"))
            scan_choices(&s, f);
        else if (jtext_is(key, "usage"))
            scan_usage(&s, f);
        else
            jscan_skip(&s);
    }
    if (!jscan_end(&s))
        abort();
    f->events++;
}

/* ---- jansson's tree ---- */

static void tree_event(void *arg, const struct sse_event *event)
{
    struct found *f = arg;
    json_t *root = json_loadb(event->data, event->len, 0, NULL);
    json_t *choice = json_array_get(json_object_get(root, "choices"), 0);
    json_t *content =
        json_object_get(json_object_get(choice, "delta"), "content");
    json_t *usage = json_object_get(root, "usage");

    if (!root)
        abort();
    f->events++;
    f->contents += json_string_length(content) > 0;
    f->finishes += json_is_string(json_object_get(choice, "finish_reason"));
    f->tokens +=
        json_integer_value(json_object_get(usage, "completion_tokens"));
    json_decref(root);
}

/* ---- a bare look ---- */

static int64_t count_blank_lines(const char *p, size_t len)
{
    const char *end = p + len;
    int64_t count = 0;

    while ((p = memchr(p, '\n', (size_t)(end - p)))) {
        p++;
        if (p == end || *p != '\n')
            continue;
        count++;
        p++;
    }
    return count;
}

/* ---- rounds ---- */

typedef void reader_fn(struct found *f, sse_event_fn *on_event, size_t piece);

/* `piece` bytes a feed, or one event if it is 0. */
static void read_stream(struct found *f, sse_event_fn *on_event, size_t piece)
{
    struct sse s;

    sse_init(&s, MAX_EVENT, on_event, f);
    for (int pass = 0; pass < PASSES; pass++) {
        sse_begin(&s);
        for (size_t used = 0, i = 0; used < stream.len; i++) {
            size_t len = piece ? piece : starts[i + 1] - starts[i];

            if (len > stream.len - used)
                len = stream.len - used;
            if (sse_feed(&s, stream.data + used, len))
                abort();
            used += len;
        }
        if (sse_finish(&s) != 0)
            abort();
    }
    sse_fini(&s);
}

static void look_at_stream(struct found *f, sse_event_fn *on_event,
                           size_t piece)
{
    (void)on_event;
    for (int pass = 0; pass < PASSES; pass++) {
        if (piece) {
            f->events += count_blank_lines(stream.data, stream.len);
            continue;
        }
        for (int i = 0; i < EVENTS; i++)
            f->events += count_blank_lines(stream.data + starts[i],
                                           starts[i + 1] - starts[i]);
    }
}

static const struct way {
    const char *name;
    reader_fn *reader;
    sse_event_fn *on_event;
    bool looks_inside;
} ways[] = {
    {"blank lines", look_at_stream, NULL, false},
    {"sse", read_stream, count_event, false},
    {"sse + jscan", read_stream, scan_event, true},
    {"sse + jansson", read_stream, tree_event, true},
};
enum { BLANK_LINES, SSE, SSE_JSCAN, SSE_JANSSON, WAYS };

static double time_ns(const struct way *way, size_t piece)
{
    struct found f = {0};
    int64_t start = clk_thread_cpu_ns();

    way->reader(&f, way->on_event, piece);
    if (f.events != FULL_EVENTS)
        abort();
    if (way->looks_inside &&
        (f.contents != FULL_EVENTS || f.finishes != FULL_EVENTS / ANSWER ||
         f.tokens != FULL_EVENTS))
        abort();
    return (double)(clk_thread_cpu_ns() - start) / (double)FULL_EVENTS;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values)
{
    qsort(values, ROUNDS, sizeof(*values), by_value);
    return values[ROUNDS / 2];
}

/* The median of the ratios of two ways, round by round. */
static double ratio(const double *of, const double *to)
{
    double ratios[ROUNDS];

    for (int i = 0; i < ROUNDS; i++)
        ratios[i] = of[i] / to[i];
    return median(ratios);
}

static void measure(const char *title, size_t piece)
{
    double ns[WAYS][ROUNDS];
    double jansson_to_jscan;
    double jscan_to_floor;
    double sse_to_floor;

    for (int i = 0; i < ROUNDS; i++) {
        for (int w = 0; w < WAYS; w++)
            ns[w][i] = time_ns(&ways[w], piece);
    }
    sse_to_floor = ratio(ns[SSE], ns[BLANK_LINES]);
    jscan_to_floor = ratio(ns[SSE_JSCAN], ns[BLANK_LINES]);
    jansson_to_jscan = ratio(ns[SSE_JANSSON], ns[SSE_JSCAN]);
    printf("%s:\n", title);
    for (int w = 0; w < WAYS; w++) {
        double each = median(ns[w]);

        printf("  %-13s %5.0f ns per event, %6.2f million per second\n",
               ways[w].name, each, 1e3 / each);
    }
    printf("  ratios: sse %.1f, sse + jscan %.1f of blank lines; "
           "sse + jansson %.1f of sse + jscan\n",
           sse_to_floor, jscan_to_floor, jansson_to_jscan);
}

int main(void)
{
    make_stream();
    printf("events of %zu bytes\n", stream.len / EVENTS);
    measure("16 KiB a feed", MANY);
    measure("one event per feed", 0);
    buf_fini(&stream);
    return 0;
}
