#include "common/recording/shards.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/xalloc.h"
#include "common/recording/manifest.h"
#include "common/recording/merge_impl.h"
#include "common/text/json.h"

static struct shard_info info_of(const json_t *entry)
{
    const json_t *clock = json_object_get(entry, "clock");
    const char *host = json_string_value(
        json_object_get(json_object_get(entry, "environment"), "host"));
    struct shard_info s = {
        .index = json_get_int(entry, "index", 0),
        .threads = merge_entry_threads(entry),
        .was_killed = !merge_entry_has_end(entry),
        .damaged = json_get_int(entry, "damaged_bytes", 0),
        .start_ns = json_get_int(clock, "started_ns",
                                 json_get_int(clock, "realtime_ns", 0)),
        .clock_error_ns = json_get_int(clock, "max_error_ns", 0),
        .is_synchronised =
            json_is_true(json_object_get(clock, "is_synchronised")),
        .clock_offset_ns = json_get_int(clock, "offset_ns", 0),
        .offset_error_ns = json_get_int(clock, "offset_error_ns", 0),
        .is_corrected = json_is_true(json_object_get(clock, "is_corrected")),
        .drift_ppm = json_number_value(json_object_get(clock, "drift_ppm")),
    };

    snprintf(s.host, sizeof(s.host), "%s", host ? host : "");
    return s;
}

void shard_list_read(struct shard_list *list, const struct manifest *m)
{
    const json_t *shards = json_object_get(m->json, "shards");
    const json_t *entries = json_object_get(shards, "list");
    size_t n = json_array_size(entries);
    struct shard_start one = {0};

    *list = (struct shard_list){.of = 1};
    if (n > 0) {
        list->of = json_get_int(shards, "of", 1);
        list->start_at_ns = json_get_int(shards, "start_at_ns", 0);
        list->is_merged = true;
    } else if (manifest_shard(m, &one)) {
        list->of = one.id.count;
        list->start_at_ns = one.start_at_ns;
        n = 1;
    }
    if (list->of < 1 || list->of > SHARD_ID_MAX || (int64_t)n > list->of)
        *list = (struct shard_list){.of = 1}; /* not written by tailgate */
    if (list->of == 1)
        return;
    list->items = xcalloc(n, sizeof(*list->items));
    for (size_t i = 0; i < n; i++) {
        /* The manifest of one shard has the parts of an entry. */
        struct shard_info s =
            info_of(list->is_merged ? json_array_get(entries, i) : m->json);

        if (!list->is_merged) {
            s.index = one.id.index;
            s.threads =
                merge_entry_threads(json_object_get(m->json, "settings"));
        }
        if (s.index >= 0 && s.index < list->of)
            list->items[list->len++] = s;
    }
}

void shard_list_fini(struct shard_list *list)
{
    free(list->items);
    *list = (struct shard_list){.of = 1};
}
