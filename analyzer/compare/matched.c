#include "analyzer/compare/matched.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/settings/variant_settings.h"

/* The first matching rule counts; a key that ends in a dot matches every key
 * that begins with it. */
static const struct {
    const char *key;
    enum difference_kind kind;
    const char *why;
} rules[] = {
    {"conditions.variant", DIFFERENCE_NOTED, "the name of the variant"},
    {"conditions.", DIFFERENCE_MUST, "a condition of the server"},
    {"load.seed", DIFFERENCE_NOTED,
     "other arrivals of the same random process"},
    {"load.schedule_rng_seed", DIFFERENCE_NOTED,
     "other arrivals of the same random process"},
    {"load.abort_on", DIFFERENCE_NOTED,
     "it only decides when a run is stopped"},
    {"load.scenario", DIFFERENCE_MUST,
     "open and closed loops measure different things"},
    {"load.arrival", DIFFERENCE_MUST, "bursts make queues"},
    {"load.rate", DIFFERENCE_MUST, "latency follows the load"},
    {"load.stages", DIFFERENCE_MUST, "latency follows the load"},
    {"load.clients", DIFFERENCE_MUST, "latency follows the load"},
    {"load.duration", DIFFERENCE_MUST,
     "a longer window includes rarer events and warmer caches"},
    {"load.requests", DIFFERENCE_MUST,
     "a longer window includes rarer events and warmer caches"},
    {"load.warmup", DIFFERENCE_MUST, "cold requests are slower"},
    {"load.cooldown", DIFFERENCE_WARNS,
     "without load after the window its last requests are faster"},
    {"load.", DIFFERENCE_MUST, "it is part of the load"},
    {"slo", DIFFERENCE_MUST,
     "\"good\" means something else; --slo judges all sides alike"},
    {"checks", DIFFERENCE_MUST, "\"correct\" means something else"},
    {"data.nonce", DIFFERENCE_NOTED, "other prompts of the same kind"},
    {"data.file", DIFFERENCE_NOTED, "only its hash must match"},
    {"data.sha256", DIFFERENCE_MUST, "other data means other work"},
    {"data.input_tokens", DIFFERENCE_MUST,
     "ttft depends on the length of the prompt"},
    {"data.output_tokens", DIFFERENCE_MUST,
     "e2e depends on the length of the answer"},
    {"data.cached_share", DIFFERENCE_MUST,
     "more prompts can be served from a cache"},
    {"data.", DIFFERENCE_MUST, "other data means other work"},
    {"trace.file", DIFFERENCE_NOTED, "only its hash must match"},
    {"trace.", DIFFERENCE_MUST, "another trace means another load"},
    {"target.url", DIFFERENCE_NOTED, "the address of the server"},
    {"target.model", DIFFERENCE_MUST, "another model means other work"},
    {"target.api", DIFFERENCE_MUST, "another API means other work"},
    {"target.stream", DIFFERENCE_MUST,
     "without streaming, ttft is the end of the answer"},
    {"target.metrics", DIFFERENCE_NOTED, "it is only observed"},
    {"target.auth_env", DIFFERENCE_NOTED, "where the key comes from"},
    {"target.auth_file", DIFFERENCE_NOTED, "where the key comes from"},
    {"target.ca_file", DIFFERENCE_NOTED, "which servers the client trusts"},
    {"target.cert", DIFFERENCE_NOTED, "how the client identifies itself"},
    {"target.key", DIFFERENCE_NOTED, "how the client identifies itself"},
    {"target.unix_socket", DIFFERENCE_WARNS,
     "another network path to the server"},
    {"target.connect_to", DIFFERENCE_WARNS,
     "another network path to the server"},
    {"target.transport", DIFFERENCE_WARNS, "another client"},
    {"target.no_preflight", DIFFERENCE_WARNS,
     "one request before the run warms the server"},
    {"target.request_id", DIFFERENCE_NOTED, "a header of a few bytes"},
    {"target.", DIFFERENCE_MUST, "the requests differ"},
    {"client.connections", DIFFERENCE_MUST,
     "a limit on connections turns an open loop into a closed one"},
    {"client.", DIFFERENCE_WARNS, "another client"},
    {"stub.port", DIFFERENCE_NOTED, "the address of the server"},
    {"stub.bind", DIFFERENCE_NOTED, "the address of the server"},
    {"stub.seed", DIFFERENCE_NOTED,
     "other service times of the same distribution"},
    {"stub.", DIFFERENCE_MUST, "another server"},
    {"cost.memory_of", DIFFERENCE_WARNS, "measuring takes CPU time"},
    {"cost.usd_per_hour", DIFFERENCE_NOTED, "it only sets the price"},
    {"cost.machine", DIFFERENCE_NOTED, "it only sets the price"},
    {"cost.usd_per_gb_egress", DIFFERENCE_NOTED, "it only sets the price"},
    {"cost.usd_per_gb_month", DIFFERENCE_NOTED, "it only sets the price"},
    {"cost.storage_gb", DIFFERENCE_NOTED, "it only sets the price"},
    {"cost.energy", DIFFERENCE_NOTED, "how energy was measured"},
    {"cost.co2_g_per_kwh", DIFFERENCE_NOTED, "how energy is converted"},
    {"study.", DIFFERENCE_NOTED, "the number of runs"},
    {"search.", DIFFERENCE_NOTED, "how the load was chosen"},
    {"sweep.", DIFFERENCE_NOTED, "how the load was chosen"},
    {"name", DIFFERENCE_NOTED, "free text"},
    {"clock.", DIFFERENCE_NOTED, "the time of the run"},
    {"endpoints", DIFFERENCE_NOTED, "the address of the server"},
    {"server.flavour", DIFFERENCE_WARNS, "another kind of server"},
    {"server.start", DIFFERENCE_MUST, "another server"},
    {"server.", DIFFERENCE_NOTED, "how the server was started and stopped"},
    {"variant.", DIFFERENCE_NOTED, "what the variants of a study set"},
    {"tailgate", DIFFERENCE_WARNS, "another client"},
    {"transport", DIFFERENCE_WARNS, "another client"},
    {"environment.", DIFFERENCE_WARNS, "the client ran on another host"},
    {"noise.", DIFFERENCE_NOTED, "other activity on the client host"},
    {"rtt_floor", DIFFERENCE_NOTED, "the network is part of every latency"},
};

enum difference_kind matched_kind(const char *key, const char **why)
{
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        const char *rule = rules[i].key;
        size_t len = strlen(rule);

        if (rule[len - 1] == '.' ? strncmp(rule, key, len) == 0
                                 : strcmp(rule, key) == 0) {
            *why = rules[i].why;
            return rules[i].kind;
        }
    }
    *why = "this setting is not known to be harmless";
    return DIFFERENCE_MUST;
}

static bool some_have(const struct strmap *const *sides, size_t n,
                      const char *key)
{
    for (size_t i = 0; i < n; i++) {
        if (strmap_get(sides[i], key))
            return true;
    }
    return false;
}

char *matched_key(const struct strmap *const *sides, size_t n, const char *vary)
{
    char *condition = xasprintf("conditions.%s", vary);

    if (some_have(sides, n, condition))
        return condition;
    free(condition);
    return some_have(sides, n, vary) ? xstrdup(vary) : NULL;
}

/* A setting of this name in some block; NULL: there is none. */
static const char *find_in_block(const struct strmap *const *sides, size_t n,
                                 const char *name)
{
    size_t len = strlen(name);

    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < sides[i]->keys.len; k++) {
            const char *key = sides[i]->keys.items[k];
            size_t at = strlen(key) - (strlen(key) > len ? len : 0);

            if (at > 0 && key[at - 1] == '.' && strcmp(key + at, name) == 0)
                return key;
        }
    }
    return NULL;
}

int matched_refuse(const struct strmap *const *sides, size_t n,
                   const char *vary, struct err *err)
{
    const char *setting = find_in_block(sides, n, vary);

    if (setting)
        return err_set(err, ERR_USAGE,
                       "--vary: no recording has a condition '%.80s'; did you "
                       "mean the setting '%.80s'? To make it a condition, "
                       "label each run with --label %.80s=VALUE",
                       vary, setting, vary);
    return err_set(err, ERR_USAGE,
                   "--vary: no recording has a condition or a setting "
                   "'%.80s'; label each run when it is made, with --label "
                   "%.80s=VALUE, or name a setting that was recorded",
                   vary, vary);
}

/* Is `key` in a list such as "stub.batching, stub.max_batch"? */
static bool lists(const char *keys, const char *key)
{
    size_t len = strlen(key);

    for (const char *at = keys; at && (at = strstr(at, key)); at += len) {
        bool begins = at == keys || at[-1] == ' ';

        if (begins && (at[len] == ',' || at[len] == '\0'))
            return true;
    }
    return false;
}

/* Varying the variant means varying every setting that it names. */
static bool is_declared(const char *key, const struct match *match)
{
    if (!match->vary)
        return false;
    if (strcmp(match->vary, "conditions." VARIANTS_CONDITION) == 0 &&
        (lists(match->variant_keys[0], key) ||
         lists(match->variant_keys[1], key)))
        return true;
    return strcmp(key, match->vary) == 0;
}

static void add_key(struct differences *d, const char *key, const char *a,
                    const char *b, const struct match *match)
{
    struct difference x = {.side = match->side};

    if ((a && b && strcmp(a, b) == 0) ||
        (match->ignores_slo && strcmp(key, "slo") == 0))
        return;
    x.kind = matched_kind(key, &x.why);
    x.is_declared = is_declared(key, match);
    if (match->is_must && (x.kind != DIFFERENCE_MUST || x.is_declared))
        return;
    a = a ? a : "(none)";
    b = b ? b : "(none)";
    for (size_t i = 0; i < d->len; i++) {
        const struct difference *old = &d->list[i];

        if (strcmp(old->key, key) == 0 && strcmp(old->a, a) == 0 &&
            strcmp(old->b, b) == 0 && old->side == x.side)
            return;
    }
    x.key = xstrdup(key);
    x.a = xstrdup(a);
    x.b = xstrdup(b);
    d->list = xrealloc(d->list, d->len + 1, sizeof(*d->list));
    d->list[d->len++] = x;
    d->must += x.kind == DIFFERENCE_MUST && !x.is_declared;
}

void matched_find(struct differences *d, const struct strmap *a,
                  const struct strmap *b, const struct match *match)
{
    struct match both = *match;

    both.variant_keys[0] = strmap_get(a, VARIANTS_CONDITION ".keys");
    both.variant_keys[1] = strmap_get(b, VARIANTS_CONDITION ".keys");
    for (size_t i = 0; i < a->keys.len; i++) {
        const char *key = a->keys.items[i];

        add_key(d, key, a->values.items[i], strmap_get(b, key), &both);
    }
    for (size_t i = 0; i < b->keys.len; i++) {
        const char *key = b->keys.items[i];

        if (!strmap_get(a, key))
            add_key(d, key, NULL, b->values.items[i], &both);
    }
}

void differences_fini(struct differences *d)
{
    for (size_t i = 0; i < d->len; i++) {
        free(d->list[i].key);
        free(d->list[i].a);
        free(d->list[i].b);
    }
    free(d->list);
    *d = (struct differences){0};
}
