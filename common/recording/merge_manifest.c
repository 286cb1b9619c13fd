/* The manifest of a merged recording.  It has what the shards have in common
 * once, and under `shards` an entry for each with what is its own, so that a
 * merged recording can be merged again with the same result. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/recording/dir.h"
#include "common/recording/failures.h"
#include "common/recording/merge.h"
#include "common/recording/merge_impl.h"
#include "common/settings/settings.h"
#include "common/text/json.h"
#include "common/text/units.h"

/* Keys of a manifest that go into the entry of a shard. */
static const char *const own_parts[] = {"environment", "clock",  "calibration",
                                        "endpoints",   "server", "end",
                                        "failures"};

/* Keys that must be the same in all shards. */
static const char *const common_parts[] = {"tailgate", "transport",  "targets",
                                           "data",     "class_data", "trace"};

/* Keys that the merged manifest takes from the first shard, in this order. */
static const char *const first_parts[] = {
    "schema",      "tailgate",    "asked",   "settings",    "clock",
    "environment", "endpoints",   "targets", "stub_beside", "server_port",
    "transport",   "calibration", "trace",   "data",        "class_data"};

/* Tables that are not merged: all shards observe the same server. */
static const char *const single_tables[] = {"server", "meter"};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- entries ---- */

bool merge_entry_has(const json_t *entry, const char *table)
{
    const json_t *list = json_object_get(entry, "tables");

    for (size_t i = 0; i < json_array_size(list); i++) {
        if (strcmp(json_string_value(json_array_get(list, i)), table) == 0)
            return true;
    }
    return false;
}

int64_t merge_entry_scheduled(const json_t *entry)
{
    return json_get_int(json_object_get(entry, "end"), "scheduled", 0);
}

bool merge_entry_has_end(const json_t *entry)
{
    return json_is_object(json_object_get(entry, "end"));
}

int64_t merge_entry_threads(const json_t *entry)
{
    const char *text = json_string_value(
        json_object_get(json_object_get(entry, "client"), "threads"));
    struct err ignored = {0};
    int64_t n = 0;

    return text && units_parse_count(text, &n, &ignored) == 0 ? n : 0;
}

/* The entry of a shard, from its own manifest. */
static json_t *entry_of(const struct merge_input *in)
{
    const json_t *from = in->manifest.json;
    json_t *client =
        json_object_get(json_object_get(from, "settings"), "client");
    json_t *entry = json_pack("{sI}", "index", (json_int_t)in->id.index);
    json_t *own = json_object();
    json_t *tables = json_array();

    for (size_t i = 0; i < MANIFEST_OWN_KEYS; i++) {
        json_t *value = json_object_get(client, manifest_own_keys[i]);

        if (value && strcmp(manifest_own_keys[i], "shard") != 0)
            json_object_set(own, manifest_own_keys[i], value);
    }
    json_object_set_new(entry, "client", own);
    for (size_t i = 0; i < COUNT(single_tables); i++) {
        char *path = xasprintf("%s/%s.tgr", in->dir, single_tables[i]);

        if (access(path, F_OK) == 0)
            json_array_append_new(tables, json_string(single_tables[i]));
        free(path);
    }
    json_object_set_new(entry, "tables", tables);
    for (size_t i = 0; i < COUNT(own_parts); i++) {
        json_t *value = json_object_get(from, own_parts[i]);

        if (value)
            json_object_set(entry, own_parts[i], value);
    }
    return entry;
}

int merge_input_open(struct merge_input *input, const char *dir,
                     struct err *err)
{
    const json_t *shards;
    struct shard_start start;

    *input = (struct merge_input){.dir = dir};
    if (recording_check(dir, err) || manifest_load(&input->manifest, dir, err))
        return -1;
    shards = json_object_get(input->manifest.json, "shards");
    input->is_merged = json_is_object(shards);
    if (!input->is_merged && !manifest_shard(&input->manifest, &start))
        return err_set(
            err, ERR_CONFIG,
            "%s is a whole run, not a shard; 'tailgate run --shard I/N' "
            "makes shards",
            dir);
    if (input->is_merged) {
        input->entries = json_incref(json_object_get(shards, "list"));
        input->start_at_ns = json_get_int(shards, "start_at_ns", -1);
        input->id = (struct shard_id){
            .index =
                json_get_int(json_array_get(input->entries, 0), "index", -1),
            .count = json_get_int(shards, "of", -1)};
    } else {
        input->id = start.id;
        input->start_at_ns = start.start_at_ns;
        input->entries = json_array();
        json_array_append_new(input->entries, entry_of(input));
    }
    if (json_array_size(input->entries) == 0 || input->id.count < 1 ||
        input->id.count > SHARD_ID_MAX || input->id.index < 0 ||
        input->id.index >= input->id.count)
        return err_set(err, ERR_FORMAT, "%s/manifest.json: no valid shard",
                       dir);
    return 0;
}

/* ---- do they belong together? ---- */

/* What the settings of all shards must have in common; the caller owns it. */
static json_t *common_settings(const struct merge_input *in)
{
    json_t *all =
        json_deep_copy(json_object_get(in->manifest.json, "settings"));
    json_t *client = json_object_get(all, "client");

    for (size_t i = 0; i < MANIFEST_OWN_KEYS; i++)
        json_object_del(client, manifest_own_keys[i]);
    /* What was planned for it depends on the machine; what was asked for is in
     * the hash. */
    json_object_del(client, "max_in_flight");
    return all;
}

/* Of two objects that differ: "load.seed is 2, but 1 in DIR". */
static int refuse_settings(const struct merge_input *in, const json_t *mine,
                           const struct merge_input *other,
                           const json_t *theirs, const char *block,
                           struct err *err)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)mine, key, value)
    {
        const json_t *there = json_object_get(theirs, key);
        char *a;
        char *b;

        if (there && json_equal(value, (json_t *)there))
            continue;
        if (!block && json_is_object(value) && json_is_object(there))
            return refuse_settings(in, value, other, there, key, err);
        a = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
        b = there ? json_dumps(there, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
        err_set(err, ERR_FORMAT,
                "%s: %s%s%s is %.60s, but %.60s in %s: they are not shards of "
                "one run",
                in->dir, block ? block : "", block ? "." : "", key, a,
                b ? b : "not set", other->dir);
        free(a);
        free(b);
        return -1;
    }
    return err_set(err, ERR_FORMAT,
                   "%s: its settings are not those of %s: they are not shards "
                   "of one run",
                   in->dir, other->dir);
}

static const char *hash_of(const struct merge_input *in)
{
    const char *text = manifest_text(
        &in->manifest, in->is_merged ? "shards" : "shard", "settings_sha256");

    return text ? text : "";
}

static int check_settings(const struct merge_input *in,
                          const struct merge_input *other, struct err *err)
{
    json_t *mine = common_settings(in);
    json_t *theirs = common_settings(other);
    int rc = 0;

    if (!json_equal(mine, theirs) || strcmp(hash_of(in), hash_of(other)) != 0)
        rc = refuse_settings(in, mine, other, theirs, NULL, err);
    json_decref(mine);
    json_decref(theirs);
    return rc;
}

static int64_t start_of(const json_t *entry)
{
    return json_get_int(json_object_get(entry, "clock"), "realtime_ns", 0);
}

/* The common start of both must be the same.  Without one they must have
 * started at about the same time, so that they are not of two runs. */
static int check_start(const struct merge_input *in,
                       const struct merge_input *other, struct err *err)
{
    bool is_known = in->start_at_ns >= 0 && other->start_at_ns >= 0;
    int64_t apart_ns = start_of(json_array_get(in->entries, 0)) -
                       start_of(json_array_get(other->entries, 0));

    if (is_known && in->start_at_ns > 0 && other->start_at_ns > 0)
        apart_ns = in->start_at_ns - other->start_at_ns;
    else if (is_known && in->start_at_ns != other->start_at_ns)
        return err_set(err, ERR_FORMAT,
                       "%s: %s a common start (--start-at TIME), but %s %s: "
                       "they are not shards of one run",
                       in->dir, in->start_at_ns > 0 ? "has" : "does not have",
                       other->dir, in->start_at_ns > 0 ? "does not" : "has");
    else if (llabs(apart_ns) <= MERGE_MAX_SKEW_NS)
        return 0;
    return apart_ns == 0
               ? 0
               : err_set(err, ERR_FORMAT,
                         "%s: was to start %.3f s %s %s: they are not shards "
                         "of one run",
                         in->dir, (double)llabs(apart_ns) / 1e9,
                         apart_ns > 0 ? "after" : "before", other->dir);
}

static int check_pair(const struct merge_input *in,
                      const struct merge_input *other, struct err *err)
{
    if (in->id.count != other->id.count)
        return err_set(err, ERR_FORMAT,
                       "%s: is one of %lld shards, but %s is one of %lld",
                       in->dir, (long long)in->id.count, other->dir,
                       (long long)other->id.count);
    for (size_t i = 0; i < COUNT(common_parts); i++) {
        json_t *a = json_object_get(in->manifest.json, common_parts[i]);
        json_t *b = json_object_get(other->manifest.json, common_parts[i]);

        if (a != b && (!a || !b || !json_equal(a, b)))
            return err_set(err, ERR_FORMAT,
                           "%s: '%s' in its manifest differs from that of %s: "
                           "they are not shards of one run",
                           in->dir, common_parts[i], other->dir);
    }
    return check_settings(in, other, err) || check_start(in, other, err) ? -1
                                                                         : 0;
}

/* 0: there is no probe shard. */
static int64_t probe_every_of(const struct merge_input *in)
{
    const char *text = json_string_value(json_object_get(
        json_object_get(json_object_get(in->manifest.json, "settings"),
                        "client"),
        "probe_shard"));
    struct err ignored = {0};
    int64_t n = 0;

    return text && units_parse_count(text, &n, &ignored) == 0 && n > 1 ? n : 0;
}

int merge_check(struct merge *m, struct err *err)
{
    m->of = m->inputs[0].id.count;
    m->layout = (struct shard_layout){m->of, probe_every_of(&m->inputs[0])};
    for (size_t i = 0; i < m->n_inputs; i++) {
        struct merge_input *in = &m->inputs[i];

        if (i > 0 && check_pair(in, &m->inputs[0], err))
            return -1;
        for (size_t k = 0; k < json_array_size(in->entries); k++) {
            const json_t *entry = json_array_get(in->entries, k);
            int64_t index = json_get_int(entry, "index", -1);

            if (index < 0 || index >= m->of)
                return err_set(err, ERR_FORMAT,
                               "%s/manifest.json: no valid shard", in->dir);
            if (m->entry[index])
                return err_set(err, ERR_FORMAT,
                               "%s: shard %lld of %lld is given twice", in->dir,
                               (long long)index, (long long)m->of);
            m->entry[index] = entry;
        }
    }
    return 0;
}

/* ---- the end of the run ---- */

static bool end_of(const json_t *entry, struct run_end *end)
{
    const struct manifest view = {.json = (json_t *)entry};

    return entry && manifest_end(&view, end);
}

/* The shards of a load that ended once its result was known did not end at the
 * same time. */
static bool was_cut(const struct run_end *e, const struct settings *s)
{
    return s->load.stop == STOP_DECIDED || e->stopped_by || e->was_enough ||
           e->aborted[0];
}

/* How many requests a shard that is missing or was killed should have sent: in
 * an open loop the sequence numbers of the others tell; in a closed loop and
 * for sessions, as many as the busiest shard. */
static int64_t expected_of(const struct merge *m, const struct settings *s,
                           int64_t shard, int64_t max_seq, int64_t busiest)
{
    int64_t total = max_seq + 1;
    int64_t expected;

    if (s->load.scenario == SCENARIO_OFFLINE)
        total = s->load.requests;
    expected = shard_share(m->layout, shard, total);
    if (!scenario_is_open(s->load.scenario) &&
        s->load.scenario != SCENARIO_OFFLINE)
        expected = busiest;
    return expected > m->count[shard].rows ? expected : m->count[shard].rows;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* All but due_end_ns. */
static void add_end(struct run_end *all, const struct run_end *e)
{
    if (!all->stopped_by)
        all->stopped_by = e->stopped_by;
    all->was_enough |= e->was_enough;
    if (!all->aborted[0])
        memcpy(all->aborted, e->aborted, sizeof(all->aborted));
    all->window_start_ns = larger(all->window_start_ns, e->window_start_ns);
    all->window_end_ns = larger(all->window_end_ns, e->window_end_ns);
    if (e->rtt_floor_ns > 0 &&
        (all->rtt_floor_ns == 0 || e->rtt_floor_ns < all->rtt_floor_ns))
        all->rtt_floor_ns = e->rtt_floor_ns;
    all->segments += e->segments;
    all->retransmits += e->retransmits;
    all->tls_handshakes += e->tls_handshakes;
    all->tls_resumed += e->tls_resumed;
    if (e->tls[0])
        memcpy(all->tls, e->tls, sizeof(all->tls));
    all->scheduled += e->scheduled;
    all->unsent += e->unsent;
}

/* As run.c does it for workers: if some were cut, the earliest of them counts.
 * False: no shard has an end. */
static bool combine_ends(const struct merge *m, const struct settings *s,
                         struct run_end *all)
{
    bool is_open = scenario_is_open(s->load.scenario);
    int64_t max_seq = m->max_seq;
    int64_t busiest = 0;
    int64_t last_ns = -1;       /* of those that were complete */
    int64_t cut_ns = INT64_MAX; /* of those that were cut */
    struct run_end e;

    *all = (struct run_end){0};
    for (int64_t i = 0; i < m->of; i++) {
        if (!end_of(m->entry[i], &e))
            continue;
        if (was_cut(&e, s))
            cut_ns = e.due_end_ns < cut_ns ? e.due_end_ns : cut_ns;
        last_ns = larger(last_ns, e.due_end_ns);
        busiest = larger(busiest, e.scheduled);
        if (is_open)
            max_seq = larger(max_seq, shard_seq(m->layout, i, e.scheduled - 1));
        add_end(all, &e);
    }
    for (int64_t i = 0; i < m->of; i++) {
        if (end_of(m->entry[i], &e))
            continue;
        all->scheduled += expected_of(m, s, i, max_seq, busiest);
        all->unsent += m->count[i].unsent;
    }
    all->issued = all->scheduled - all->unsent;
    all->due_end_ns = cut_ns < INT64_MAX ? cut_ns : last_ns;
    return last_ns >= 0;
}

/* ---- the manifest ---- */

static json_t *list_entries(const struct merge *m)
{
    json_t *list = json_array();

    for (int64_t i = 0; i < m->of; i++) {
        json_t *entry = (json_t *)m->entry[i];

        if (!entry)
            continue;
        if (m->count[i].damaged > 0 && !json_object_get(entry, "damaged_bytes"))
            json_object_set_new(entry, "damaged_bytes",
                                json_integer(m->count[i].damaged));
        json_array_append(list, entry);
    }
    return list;
}

static void merge_failures(const struct merge *m, struct failures *all)
{
    struct failures *one = xcalloc(1, sizeof(*one));

    for (int64_t i = 0; i < m->of; i++) {
        *one = (struct failures){0};
        if (m->entry[i])
            failures_from_json(one, json_object_get(m->entry[i], "failures"));
        failures_merge(all, one);
    }
    free(one);
}

/* The first shard's settings, without its number, and with all threads. */
static json_t *merged_settings(const struct merge *m, const json_t *first)
{
    json_t *out = json_deep_copy(first);
    json_t *client = json_object_get(out, "client");
    char text[UNITS_TEXT];
    int64_t threads = 0;

    for (int64_t i = 0; i < m->of; i++)
        threads += merge_entry_threads(m->entry[i]);
    json_object_del(client, "shard");
    json_object_set_new(client, "threads",
                        json_string(units_print_count(threads, text)));
    return out;
}

int merge_manifest(const struct merge *m, struct manifest *out, struct err *err)
{
    const struct merge_input *first = &m->inputs[0];
    struct failures *failures;
    json_t *json = json_object();
    json_t *shards;
    struct settings s;
    struct run_end end;
    int rc;

    settings_init(&s);
    rc = manifest_settings(&first->manifest, &s, err);
    for (size_t i = 0; i < COUNT(first_parts); i++) {
        json_t *value = json_object_get(first->manifest.json, first_parts[i]);

        if (value && strcmp(first_parts[i], "settings") == 0)
            json_object_set_new(json, "settings", merged_settings(m, value));
        else if (value)
            json_object_set(json, first_parts[i], value);
    }
    for (int64_t i = 0; i < m->of; i++) {
        json_t *server = json_object_get(m->entry[i], "server");

        if (server && !json_object_get(json, "server"))
            json_object_set(json, "server", server);
    }
    shards =
        json_pack("{sI, ss, so}", "of", (json_int_t)m->of, "settings_sha256",
                  hash_of(first), "list", list_entries(m));
    if (first->start_at_ns >= 0)
        json_object_set_new(shards, "start_at_ns",
                            json_integer(first->start_at_ns));
    json_object_set_new(json, "shards", shards);
    out->json = json;
    if (rc == 0 && combine_ends(m, &s, &end)) {
        failures = xcalloc(1, sizeof(*failures));
        merge_failures(m, failures);
        manifest_complete(out, &end, failures);
        free(failures);
    }
    settings_fini(&s);
    return rc;
}
