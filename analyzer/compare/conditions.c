#include "analyzer/compare/conditions.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/read/reader.h"
#include "analyzer/tally/summary.h"
#include "common/base/buf.h"
#include "common/base/units.h"
#include "common/base/xalloc.h"

#define MAX_TEXT ((size_t)1 << 20)

/* As JSON where it is no plain text: such as the classes of a mix. */
static void put_text(const json_t *value, struct buf *out)
{
    char *dump;

    if (json_is_string(value)) {
        buf_adds(out, json_string_value(value));
        return;
    }
    dump = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS);
    buf_adds(out, dump ? dump : "?");
    free(dump);
}

static void put_leaf(struct strmap *card, const char *key, const json_t *value)
{
    struct buf text;
    json_t *item;
    size_t i;

    if (!value || json_is_null(value))
        return;
    buf_init(&text, MAX_TEXT);
    if (json_is_array(value)) {
        json_array_foreach(value, i, item)
        {
            buf_adds(&text, i ? ", " : "");
            put_text(item, &text);
        }
    } else {
        put_text(value, &text);
    }
    strmap_put(card, key, buf_text(&text));
    buf_fini(&text);
}

/* The members of an object, below `prefix`; settings nest no deeper than a
 * block and a map in it. */
static void put_members(struct strmap *card, const char *prefix,
                        const json_t *object, int depth)
{
    const char *name;
    json_t *value;

    json_object_foreach((json_t *)object, name, value)
    {
        char *key = xasprintf("%s%s%s", prefix, prefix[0] ? "." : "", name);

        if (json_is_object(value) && depth > 0)
            put_members(card, key, value, depth - 1);
        else
            put_leaf(card, key, value);
        free(key);
    }
}

/* What the manifest says beside the settings. */
static void put_facts(struct strmap *card, const json_t *manifest)
{
    static const char *const facts[][2] = {
        {"data", "sha256"},      {"data", "samples"},
        {"data", "left_out"},    {"data", "cached_share"},
        {"trace", "hash"},       {"trace", "rows"},
        {"clock", "utc"},        {"environment", "host"},
        {"environment", "cpus"}, {"environment", "kernel"},
        {"server", "flavour"},   {"environment", "machine"},
    };

    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
        const json_t *of = json_object_get(manifest, facts[i][0]);
        char key[64];

        snprintf(key, sizeof(key), "%s.%s", facts[i][0], facts[i][1]);
        put_leaf(card, key, json_object_get(of, facts[i][1]));
    }
    put_leaf(card, "tailgate", json_object_get(manifest, "tailgate"));
    put_leaf(card, "transport", json_object_get(manifest, "transport"));
    put_leaf(card, "endpoints", json_object_get(manifest, "endpoints"));
}

/* What disturbed the host, as the checks of trust saw it. */
static void put_noise(struct strmap *card, const struct summary *s)
{
    static const char *const names[] = {"steal", "throttled", "pressure"};

    for (size_t i = 0; i < s->trust.len; i++) {
        const struct check *c = &s->trust.checks[i];

        for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
            char key[32];
            char text[64];

            if (strcmp(c->name, names[k]) != 0)
                continue;
            snprintf(key, sizeof(key), "noise.%s", names[k]);
            snprintf(text, sizeof(text), "%.3g %s", c->value, c->unit);
            strmap_put(card, key, text);
        }
    }
}

void conditions_make(struct strmap *card, struct recording *rec,
                     const struct summary *s)
{
    json_t *settings = settings_to_json(&rec->settings);
    char text[UNITS_TEXT];

    *card = (struct strmap){0};
    put_members(card, "", settings, 2);
    put_facts(card, rec->manifest.json);
    put_noise(card, s);
    if (s->rtt_floor_ns > 0)
        strmap_put(card, "rtt_floor",
                   units_show_duration((double)s->rtt_floor_ns, text));
    json_decref(settings);
}
