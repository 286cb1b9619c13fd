/* Sessions as JSON. */
#include "analyzer/report/json_parts.h"

#include <jansson.h>
#include <stdio.h>

#include "analyzer/tally/summary.h"

static void put_quantiles(json_t *o, const char *name,
                          const int64_t ns[TURN_QUANTILES])
{
    for (int i = 0; i < TURN_QUANTILES; i++) {
        char key[32];

        snprintf(key, sizeof(key), "%s_%s", name, turn_quantile_name[i]);
        json_put_ns(o, key, (double)ns[i]);
    }
}

static json_t *turns_of(const struct turn_summary *t, bool is_streamed)
{
    json_t *o = json_pack("{s:I}", "turns", (json_int_t)t->n);

    if (is_streamed)
        put_quantiles(o, "ttft", t->ttft_ns);
    put_quantiles(o, "e2e", t->e2e_ns);
    json_object_set_new(o, "cached_share",
                        t->cached_share < 0 ? json_null()
                                            : json_real(t->cached_share));
    return o;
}

void json_put_sessions(json_t *o, const struct summary *s)
{
    const struct session_summary *c = &s->sessions;
    json_t *sessions;

    if (!c->is_there)
        return;
    sessions = json_pack("{s:I,s:I,s:I,s:I}", "begun", (json_int_t)c->begun,
                         "finished", (json_int_t)c->finished, "broken",
                         (json_int_t)c->broken, "cut", (json_int_t)c->cut);
    json_object_set_new(sessions, "turns_mean",
                        c->turns_mean < 0 ? json_null()
                                          : json_real(c->turns_mean));
    json_object_set_new(sessions, "first",
                        turns_of(&c->kinds[TURN_FIRST], s->is_streamed));
    json_object_set_new(sessions, "later",
                        turns_of(&c->kinds[TURN_LATER], s->is_streamed));
    json_object_set_new(o, "sessions", sessions);
}
