#include "analyzer/compare/matched.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/xalloc.h"
#include "common/settings/variant_settings.h"

#define NONE "(none)"

/* The first that fits; a key that ends in a dot stands for all below it. */
static const struct {
    const char *key;
    enum difference_kind kind;
    const char *why;
} rules[] = {
    {"conditions.variant", DIFFERENCE_NOTED, "the name of what differs"},
    {"conditions.", DIFFERENCE_MUST, "a condition of the server"},
    {"load.seed", DIFFERENCE_NOTED, "other arrivals of the same process"},
    {"load.schedule_rng_seed", DIFFERENCE_NOTED,
     "other arrivals of the same process"},
    {"load.abort_on", DIFFERENCE_NOTED, "it only ends a run"},
    {"load.scenario", DIFFERENCE_MUST,
     "open and closed loops measure different things"},
    {"load.arrival", DIFFERENCE_MUST, "bursts make queues"},
    {"load.rate", DIFFERENCE_MUST, "latency follows the load"},
    {"load.stages", DIFFERENCE_MUST, "latency follows the load"},
    {"load.clients", DIFFERENCE_MUST, "latency follows the load"},
    {"load.duration", DIFFERENCE_MUST,
     "a longer window sees rarer events and warmer caches"},
    {"load.requests", DIFFERENCE_MUST,
     "a longer window sees rarer events and warmer caches"},
    {"load.warmup", DIFFERENCE_MUST, "cold requests are slower"},
    {"load.", DIFFERENCE_MUST, "it is part of the load"},
    {"slo", DIFFERENCE_MUST,
     "good means something else; --slo judges all sides by one"},
    {"checks", DIFFERENCE_MUST, "right means something else"},
    {"data.nonce", DIFFERENCE_NOTED, "other prompts of the same kind"},
    {"data.file", DIFFERENCE_NOTED, "its hash is what must match"},
    {"data.sha256", DIFFERENCE_MUST, "other data is other work"},
    {"data.input_tokens", DIFFERENCE_MUST, "prompts decide about ttft"},
    {"data.output_tokens", DIFFERENCE_MUST, "tokens decide about e2e"},
    {"data.cached_share", DIFFERENCE_MUST, "a cache has more to find"},
    {"data.", DIFFERENCE_MUST, "other data is other work"},
    {"trace.file", DIFFERENCE_NOTED, "its hash is what must match"},
    {"trace.", DIFFERENCE_MUST, "another trace is another load"},
    {"target.url", DIFFERENCE_NOTED, "where the server was"},
    {"target.model", DIFFERENCE_MUST, "another model is other work"},
    {"target.api", DIFFERENCE_MUST, "another API is other work"},
    {"target.stream", DIFFERENCE_MUST, "ttft of whole answers is their end"},
    {"target.metrics", DIFFERENCE_NOTED, "it is only looked at"},
    {"target.auth_env", DIFFERENCE_NOTED, "where the key comes from"},
    {"target.auth_file", DIFFERENCE_NOTED, "where the key comes from"},
    {"target.ca_file", DIFFERENCE_NOTED, "whom the client trusts"},
    {"target.cert", DIFFERENCE_NOTED, "whom the server trusts"},
    {"target.key", DIFFERENCE_NOTED, "whom the server trusts"},
    {"target.unix_socket", DIFFERENCE_WARNS, "another way to the server"},
    {"target.connect_to", DIFFERENCE_WARNS, "another way to the server"},
    {"target.transport", DIFFERENCE_WARNS, "another client"},
    {"target.request_id", DIFFERENCE_NOTED, "a header of a few bytes"},
    {"target.", DIFFERENCE_MUST, "the server is asked something else"},
    {"client.connections", DIFFERENCE_MUST,
     "a cap on connections closes the loop"},
    {"client.", DIFFERENCE_WARNS, "another client"},
    {"stub.port", DIFFERENCE_NOTED, "where the server was"},
    {"stub.bind", DIFFERENCE_NOTED, "where the server was"},
    {"stub.seed", DIFFERENCE_NOTED, "other service times of the same kind"},
    {"stub.", DIFFERENCE_MUST, "another server"},
    {"cost.memory_of", DIFFERENCE_WARNS, "an instrument takes CPU"},
    {"cost.usd_per_hour", DIFFERENCE_NOTED, "what it costs"},
    {"cost.machine", DIFFERENCE_NOTED, "whose price it is"},
    {"cost.energy", DIFFERENCE_NOTED, "how energy was measured"},
    {"cost.co2_g_per_kwh", DIFFERENCE_NOTED, "what energy comes to"},
    {"study.", DIFFERENCE_NOTED, "how many runs there were"},
    {"search.", DIFFERENCE_NOTED, "how the load was chosen"},
    {"sweep.", DIFFERENCE_NOTED, "how the load was chosen"},
    {"name", DIFFERENCE_NOTED, "free text"},
    {"clock.", DIFFERENCE_NOTED, "when it was"},
    {"endpoints", DIFFERENCE_NOTED, "where the server was"},
    {"server.flavour", DIFFERENCE_WARNS, "another kind of server"},
    {"server.start", DIFFERENCE_MUST, "another server"},
    {"server.", DIFFERENCE_NOTED, "how the server was started and ended"},
    {"variant.", DIFFERENCE_NOTED, "what the variants of a study say"},
    {"tailgate", DIFFERENCE_WARNS, "another client"},
    {"transport", DIFFERENCE_WARNS, "another client"},
    {"environment.", DIFFERENCE_WARNS, "another host of the client"},
    {"noise.", DIFFERENCE_NOTED, "what else went on at the client"},
    {"rtt_floor", DIFFERENCE_NOTED, "the network is part of every latency"},
};

static bool fits(const char *rule, const char *key)
{
    size_t len = strlen(rule);

    return rule[len - 1] == '.' ? strncmp(rule, key, len) == 0
                                : strcmp(rule, key) == 0;
}

enum difference_kind matched_kind(const char *key, const char **why)
{
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        if (fits(rules[i].key, key)) {
            *why = rules[i].why;
            return rules[i].kind;
        }
    }
    *why = "a setting that is not known to do no harm";
    return DIFFERENCE_MUST;
}

static bool some_have(const struct strmap *const *cards, size_t n,
                      const char *key)
{
    for (size_t i = 0; i < n; i++) {
        if (strmap_get(cards[i], key))
            return true;
    }
    return false;
}

char *matched_key(const struct strmap *const *cards, size_t n, const char *vary)
{
    char *condition = xasprintf("conditions.%s", vary);

    if (some_have(cards, n, condition))
        return condition;
    free(condition);
    return some_have(cards, n, vary) ? xstrdup(vary) : NULL;
}

static bool is_listed(const struct differences *d, const struct difference *new)
{
    for (size_t i = 0; i < d->len; i++) {
        const struct difference *x = &d->list[i];

        if (strcmp(x->key, new->key) == 0 && strcmp(x->a, new->a) == 0 &&
            strcmp(x->b, new->b) == 0 && x->side == new->side)
            return true;
    }
    return false;
}

static void difference_fini(struct difference *x)
{
    free(x->key);
    free(x->a);
    free(x->b);
}

static void add(struct differences *d, struct difference x)
{
    if (is_listed(d, &x)) {
        difference_fini(&x);
        return;
    }
    d->list = xrealloc(d->list, d->len + 1, sizeof(*d->list));
    d->list[d->len++] = x;
    d->must += x.kind == DIFFERENCE_MUST && !x.is_declared;
}

/* Is it one of "stub.batching, stub.max_batch"? */
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

/* To vary the variant is to vary whatever it says. */
static bool is_declared(const char *key, const struct match *match)
{
    if (!match->vary)
        return false;
    if (strcmp(match->vary, "conditions." VARIANTS_CONDITION) == 0 &&
        (lists(match->said[0], key) || lists(match->said[1], key)))
        return true;
    return strcmp(key, match->vary) == 0;
}

static void add_key(struct differences *d, const char *key, const char *a,
                    const char *b, const struct match *match)
{
    struct difference x = {.side = match->side};

    if (a && b && strcmp(a, b) == 0)
        return;
    if (match->ignores_slo && strcmp(key, "slo") == 0)
        return;
    x.kind = matched_kind(key, &x.why);
    x.is_declared = is_declared(key, match);
    if (match->is_must && (x.kind != DIFFERENCE_MUST || x.is_declared))
        return;
    x.key = xstrdup(key);
    x.a = xstrdup(a ? a : NONE);
    x.b = xstrdup(b ? b : NONE);
    add(d, x);
}

static void find(struct differences *d, const struct strmap *a,
                 const struct strmap *b, const struct match *match)
{
    for (size_t i = 0; i < a->keys.len; i++) {
        const char *key = a->keys.items[i];

        add_key(d, key, a->values.items[i], strmap_get(b, key), match);
    }
    for (size_t i = 0; i < b->keys.len; i++) {
        const char *key = b->keys.items[i];

        if (!strmap_get(a, key))
            add_key(d, key, NULL, b->values.items[i], match);
    }
}

void matched_find(struct differences *d, const struct strmap *a,
                  const struct strmap *b, const struct match *match)
{
    struct match both = *match;

    both.said[0] = strmap_get(a, VARIANTS_CONDITION ".keys");
    both.said[1] = strmap_get(b, VARIANTS_CONDITION ".keys");
    find(d, a, b, &both);
}

void differences_fini(struct differences *d)
{
    for (size_t i = 0; i < d->len; i++)
        difference_fini(&d->list[i]);
    free(d->list);
    *d = (struct differences){0};
}
