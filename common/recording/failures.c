#include "common/recording/failures.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/measure/measure.h"
#include "common/text/json.h"

/* Are the texts equal, except for numbers, as far as they are kept? */
static bool is_same(const char *kept, const char *text)
{
    const char *end = kept + FAILURES_TEXT - 1;

    while (kept < end && *kept && *text) {
        size_t n = strspn(kept, "0123456789");
        size_t m = strspn(text, "0123456789");

        if ((n == 0) != (m == 0) || (n == 0 && *kept != *text))
            return false;
        kept += n ? n : 1;
        text += n ? m : 1;
    }
    return kept >= end || *kept == *text;
}

static void keep_body(struct failure_kind *k, const char *body, size_t len)
{
    if (k->body_len > 0 || !body)
        return;
    k->body_len = len < FAILURES_BODY ? len : FAILURES_BODY;
    memcpy(k->body, body, k->body_len);
}

/* The kind, added if it is new; NULL if there is no room. */
static struct failure_kind *kind_of(struct failures *f, int64_t outcome,
                                    int64_t detail, const char *text)
{
    struct failure_kind *k;

    for (size_t i = 0; i < f->len; i++) {
        k = &f->kinds[i];
        if (k->outcome == outcome && k->detail == detail &&
            is_same(k->text, text))
            return k;
    }
    if (f->len == FAILURES_KINDS)
        return NULL;
    k = &f->kinds[f->len++];
    k->outcome = outcome;
    k->detail = detail;
    snprintf(k->text, sizeof(k->text), "%s", text);
    return k;
}

void failures_note(struct failures *f, int64_t outcome, int64_t detail,
                   const char *text, const char *body, size_t body_len)
{
    struct failure_kind *k = kind_of(f, outcome, detail, text);

    if (!k) {
        f->overflow++;
        return;
    }
    k->count++;
    keep_body(k, body, body_len);
}

void failures_merge(struct failures *into, const struct failures *from)
{
    into->overflow += from->overflow;
    for (size_t i = 0; i < from->len; i++) {
        const struct failure_kind *k = &from->kinds[i];
        struct failure_kind *to = kind_of(into, k->outcome, k->detail, k->text);

        if (!to) {
            into->overflow += k->count;
            continue;
        }
        to->count += k->count;
        keep_body(to, k->body, k->body_len);
    }
}

static int more_first(const void *a, const void *b)
{
    int64_t x = ((const struct failure_kind *)a)->count;
    int64_t y = ((const struct failure_kind *)b)->count;

    return (x < y) - (x > y);
}

void failures_sort(struct failures *f)
{
    qsort(f->kinds, f->len, sizeof(f->kinds[0]), more_first);
}

struct json_t *failures_to_json(const struct failures *f)
{
    json_t *array = json_array();

    for (size_t i = 0; i < f->len; i++) {
        const struct failure_kind *k = &f->kinds[i];
        json_t *o =
            json_pack("{ss, sI, sI, so}", "outcome",
                      outcome_name((enum outcome)k->outcome), "detail",
                      (json_int_t)k->detail, "count", (json_int_t)k->count,
                      "text", json_bytes(k->text, strlen(k->text)));

        if (k->body_len > 0)
            json_object_set_new(o, "body", json_bytes(k->body, k->body_len));
        json_array_append_new(array, o);
    }
    if (f->overflow > 0)
        json_array_append_new(array,
                              json_pack("{ss, sI}", "text", "of other kinds",
                                        "count", (json_int_t)f->overflow));
    return array;
}

void failures_from_json(struct failures *f, const struct json_t *array)
{
    const json_t *item;
    size_t i;

    *f = (struct failures){0};
    json_array_foreach(array, i, item)
    {
        const char *text = json_string_value(json_object_get(item, "text"));
        const char *name = json_string_value(json_object_get(item, "outcome"));
        struct failure_kind *k;
        int outcome = 0;

        while (name && outcome < OUTCOME_COUNT &&
               strcmp(outcome_name((enum outcome)outcome), name) != 0)
            outcome++;
        if (f->len == FAILURES_KINDS || !name || outcome == OUTCOME_COUNT ||
            !text)
            continue;
        k = &f->kinds[f->len];
        k->outcome = outcome;
        k->detail = json_get_int(item, "detail", 0);
        k->count = json_get_int(item, "count", 0);
        snprintf(k->text, sizeof(k->text), "%s", text);
        f->len++;
    }
}
