/* A recording without its manifest, in JSON. */
#include <jansson.h>
#include <string.h>

#include "analyzer/read/salvage.h"
#include "common/base/clk.h"
#include "common/base/json.h"

static json_t *seconds(int64_t ns)
{
    return ns == TIME_ABSENT ? json_null() : json_real((double)ns / 1e9);
}

static json_t *outcomes(const struct salvage *s)
{
    json_t *out = json_object();

    for (int i = 0; i < OUTCOME_COUNT; i++)
        json_object_set_new(out, outcome_name((enum outcome)i),
                            json_integer(s->outcome[i]));
    return out;
}

/* Null where nothing has it, n cannot bound it, or it is out of range. */
static json_t *spread(const struct hist *h)
{
    json_t *out = json_pack("{sI}", "n", (json_int_t)h->n);

    for (size_t i = 0; i < SALVAGE_QUANTILES; i++) {
        int64_t ns = salvage_quantile(h, salvage_quantiles[i].q);

        json_object_set_new(out, salvage_quantiles[i].name,
                            ns < 0 ? json_null() : json_integer(ns));
    }
    return out;
}

void salvage_json(const struct salvage *s, struct buf *out)
{
    json_t *json = json_pack(
        "{so, ss, sn, sI, so, so, so, so, so, so, s{sI, sI}}", "recording",
        json_bytes(s->dir, strlen(s->dir)), "manifest_lost", s->why, "verdict",
        "requests", (json_int_t)s->requests, "outcomes", outcomes(s),
        "first_due_s", seconds(s->first_due_ns), "last_due_s",
        seconds(s->last_due_ns), "last_end_s", seconds(s->last_end_ns),
        "e2e_ok_from_due_ns", spread(&s->e2e), "ttft_ok_from_due_ns",
        spread(&s->ttft), "damage", "skipped_bytes",
        (json_int_t)s->damage.skipped_bytes, "cut_off_bytes",
        (json_int_t)s->damage.cut_off_bytes);

    json_print(json, out);
    json_decref(json);
}
