/* The answers in summary.json: their tokens, their quality, and notes. */
#include "analyzer/report/json_parts.h"

#include <jansson.h>
#include <stdio.h>

#include "analyzer/tally/summary.h"

static void put_share(json_t *o, const char *name, int64_t part, int64_t whole)
{
    if (whole > 0)
        json_object_set_new(o, name, json_real((double)part / (double)whole));
    else
        json_put_nothing(o, name, "no samples");
}

/* name, name_n: how many say, name_mean. */
static void put_sum(json_t *o, const char *name, const struct token_sum *s)
{
    char key[40];

    if (s->n == 0) {
        json_put_nothing(o, name, "not known");
        return;
    }
    json_object_set_new(o, name, json_integer(s->sum));
    snprintf(key, sizeof(key), "%s_n", name);
    json_object_set_new(o, key, json_integer(s->n));
    snprintf(key, sizeof(key), "%s_mean", name);
    json_object_set_new(o, key, json_real(token_mean(s)));
}

static json_t *by_name(const int64_t *counts, int len,
                       const char *(*name_of)(int i))
{
    json_t *o = json_object();

    for (int i = 0; i < len; i++) {
        if (counts[i] > 0)
            json_object_set_new(o, name_of(i), json_integer(counts[i]));
    }
    return o;
}

static const char *source_name(int i)
{
    return token_source_name((enum token_source)i);
}

static const char *reason_name(int i)
{
    return finish_name((enum finish)i);
}

static json_t *reference(const struct outlen *o)
{
    json_t *all;

    if (o->source == OUTLEN_NONE)
        return json_null();
    all = json_pack("{ss, sf, sf}", "source", outlen_source_name(o->source),
                    "tokens", o->reference, "tolerance", o->tolerance);
    if (o->mean < 0) {
        json_put_nothing(all, "ratio", "nobody counts tokens");
        json_put_nothing(all, "ok", "nobody counts tokens");
    } else {
        json_object_set_new(all, "ratio", json_real(o->ratio));
        json_object_set_new(all, "ok", json_boolean(o->is_ok));
    }
    return all;
}

static json_t *streams(const struct tokens *t)
{
    json_t *o = json_pack(
        "{sI, sI, sI, sI, sI}", "n", (json_int_t)t->streams, "assumed",
        (json_int_t)t->assumed, "events", (json_int_t)t->events, "coalesced",
        (json_int_t)t->coalesced, "tokens", (json_int_t)t->event_tokens);

    put_share(o, "events_mean", t->events, t->streams);
    put_share(o, "coalesced_share", t->coalesced, t->events);
    put_share(o, "tokens_per_event", t->event_tokens, t->events);
    return o;
}

static json_t *tokens(const struct tokens *t)
{
    json_t *o = json_pack("{sI}", "requests", (json_int_t)t->requests);

    put_sum(o, "prompt_asked", &t->prompt_asked);
    put_sum(o, "prompt", &t->prompt);
    put_sum(o, "cached", &t->cached);
    json_object_set_new(o, "cached_of", json_integer(tokens_cached_of(t)));
    put_share(o, "cached_share", t->cached.sum, tokens_cached_of(t));
    put_sum(o, "output_asked", &t->output_asked);
    put_sum(o, "output", &t->output);
    put_sum(o, "reasoning", &t->reasoning);
    json_object_set_new(o, "by_source",
                        by_name(t->source, TOKENS_SOURCE_COUNT, source_name));
    json_object_set_new(o, "is_mixed", json_boolean(tokens_are_mixed(t)));
    json_object_set_new(o, "by_finish",
                        by_name(t->finish, FINISH_COUNT, reason_name));
    json_object_set_new(o, "streams", streams(t));
    return o;
}

static json_t *quality(const struct quality *q)
{
    return json_pack("{sI, sI, sf, s[f, f]}", "checked", (json_int_t)q->checked,
                     "passed", (json_int_t)q->passed, "share", q->share,
                     "share_ci95", q->ci95.low, q->ci95.high);
}

static json_t *notes(const struct notes *n)
{
    json_t *array = json_array();

    for (size_t i = 0; i < n->len; i++) {
        const struct note *note = &n->list[i];

        json_array_append_new(
            array,
            json_pack("{ss, sI, sI, sf, ss}", "name", note->name, "count",
                      (json_int_t)note->count, "of", (json_int_t)note->of,
                      "share", note->share, "text", note->text));
    }
    return array;
}

void json_put_answers(json_t *o, const struct summary *s)
{
    if (s->has_tokens)
        json_object_set_new(o, "tokens", tokens(&s->tokens));
    else
        json_put_nothing(o, "tokens", "nobody counts them");
    json_object_set_new(o, "output_reference", reference(&s->outlen));
    if (s->quality.checked > 0)
        json_object_set_new(o, "quality", quality(&s->quality));
    else
        json_put_nothing(o, "quality", "no answer was checked");
    json_object_set_new(o, "notes", notes(&s->notes));
}
