/* The server as it saw itself, in summary.json. */
#include "analyzer/report/json_parts.h"

#include <jansson.h>

#include "analyzer/tally/summary.h"
#include "common/base/json.h"

static void put(json_t *o, const char *name, double value, double scale)
{
    if (value >= 0)
        json_object_set_new(o, name, json_real(value * scale));
    else
        json_put_nothing(o, name, "not known");
}

static void put_text(json_t *o, const char *name, const char *text)
{
    if (text)
        json_object_set_new(o, name, json_string(text));
    else
        json_put_nothing(o, name, "not known");
}

void json_put_server(json_t *o, const struct summary *sum)
{
    const struct server_summary *s = &sum->server;
    json_t *server;

    if (s->is_unknown) {
        server = json_pack("{sI, sI, ss, sb}", "looks", (json_int_t)0,
                           "failed_looks", (json_int_t)0, "url", s->url,
                           "is_known", 0);
        json_put_nothing(server, "flavour",
                         "the page has no metrics of a known server");
        json_object_set_new(o, "server", server);
    }
    if (!s->is_there)
        return;
    server = json_pack("{sI, sI, sb, sb}", "looks", (json_int_t)s->looks,
                       "failed_looks", (json_int_t)s->failed, "is_partial",
                       s->is_partial, "is_known", 1);
    put_text(server, "flavour", s->dialect);
    put_text(server, "url", s->url);
    put(server, "running_mean", s->running_mean, 1);
    put(server, "running_max", s->running_max, 1);
    put(server, "waiting_mean", s->waiting_mean, 1);
    put(server, "waiting_max", s->waiting_max, 1);
    put(server, "in_flight_mean", s->present_mean, 1);
    put(server, "client_in_flight_mean", s->client_mean, 1);
    put(server, "queue_mean_ms", s->queue_mean_ns, 1e-6);
    put(server, "cache_use_mean", s->cache_mean, 1);
    put(server, "cache_use_max", s->cache_max, 1);
    put(server, "prompt_tokens_per_s", s->prompt_per_s, 1);
    put(server, "output_tokens_per_s", s->generated_per_s, 1);
    put(server, "cached_share", s->cached_share, 1);
    put(server, "preemptions", s->preemptions, 1);
    put(server, "requests_per_s", s->requests_per_s, 1);
    json_object_set_new(o, "server", server);
}
