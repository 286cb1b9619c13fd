/* The distribution as bars, and what to do next. */
#include <jansson.h>

#include "analyzer/report/json_parts.h"
#include "analyzer/tally/summary.h"

static json_t *rows(const struct bars *b)
{
    json_t *array = json_array();

    for (size_t i = 0; i < b->len; i++)
        json_array_append_new(array,
                              json_pack("{sf, sf, sI}", "from_ms",
                                        (double)b->list[i].from_ns / 1e6,
                                        "to_ms", (double)b->list[i].to_ns / 1e6,
                                        "count", (json_int_t)b->list[i].count));
    return array;
}

void json_put_bars(json_t *o, const struct summary *s)
{
    const struct bars *b = &s->bars;

    json_object_set_new(
        o, "distribution",
        json_pack("{ss, so, sI, sI, so}", "measure", measure_name(b->measure),
                  "limit_ms",
                  b->limit_ns > 0 ? json_real((double)b->limit_ns / 1e6)
                                  : json_null(),
                  "failed", (json_int_t)b->failed, "out_of_range",
                  (json_int_t)b->out_of_range, "rows", rows(b)));
}

void json_put_next(json_t *o, const struct summary *s)
{
    json_t *array = json_array();

    for (size_t i = 0; i < s->next.len; i++)
        json_array_append_new(array, json_string(s->next.lines[i]));
    json_object_set_new(o, "next", array);
}
