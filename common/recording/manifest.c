#include "common/recording/manifest.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/hash.h"
#include "common/base/xalloc.h"
#include "common/config.h"
#include "common/recording/failures.h"
#include "common/spec/calibration.h"
#include "common/text/json.h"
#include "common/text/redact.h"

#define MANIFEST_SCHEMA 1

const char *const manifest_own_keys[MANIFEST_OWN_KEYS] = {"shard", "threads",
                                                          "cpus", "memory"};

static char *manifest_path(const char *dir)
{
    return xasprintf("%s/manifest.json", dir);
}

static json_t *text_to_json(const char *text)
{
    return json_bytes(text, strlen(text));
}

static const char *get_text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static bool is_true(const json_t *object, const char *key)
{
    return json_is_true(json_object_get(object, key));
}

/* argv without secrets: "-H 'authorization: x'" must not be written to disk. */
static json_t *asked(const struct run_start *start)
{
    json_t *argv = json_array();
    json_t *out = json_object();

    for (size_t i = 0; start->argv && start->argv[i]; i++) {
        char *text = redact_arg(start->argv, i);

        json_array_append_new(argv, text_to_json(text));
        free(text);
    }
    json_object_set_new(out, "argv", argv);
    if (start->settings_file)
        json_object_set_new(out, "file", text_to_json(start->settings_file));
    if (start->settings_sha256)
        json_object_set_new(out, "settings_file_sha256",
                            json_string(start->settings_sha256));
    if (start->settings_git)
        json_object_set_new(out, "git", json_string(start->settings_git));
    return out;
}

static json_t *texts(const struct strlist *list)
{
    json_t *out = json_array();

    for (size_t i = 0; list && i < list->len; i++)
        json_array_append_new(out, text_to_json(list->items[i]));
    return out;
}

/* With the names of the proxy variables that are set: a run ignores them. */
static json_t *environment(const struct strmap *more)
{
    static const char *const proxies[] = {
        "http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY",
        "all_proxy",  "ALL_PROXY",  "no_proxy",    "NO_PROXY"};
    json_t *ignored = json_array();
    struct utsname u = {0};
    json_t *out;

    for (size_t i = 0; i < sizeof(proxies) / sizeof(proxies[0]); i++) {
        const char *value = getenv(proxies[i]);

        if (value && value[0])
            json_array_append_new(ignored, json_string(proxies[i]));
    }
    uname(&u);
    out = json_pack("{so, ss, ss, sI, so}", "host", text_to_json(u.nodename),
                    "kernel", u.release, "machine", u.machine, "cpus",
                    (json_int_t)sysconf(_SC_NPROCESSORS_ONLN), "ignored",
                    ignored);
    for (size_t i = 0; more && i < more->keys.len; i++)
        json_object_set_new(out, more->keys.items[i],
                            text_to_json(more->values.items[i]));
    return out;
}

void manifest_hash_settings(const struct settings *asked,
                            char out[static SHA256_TEXT])
{
    json_t *json = settings_to_json(asked);
    json_t *client = json_object_get(json, "client");
    char *text;

    for (size_t i = 0; i < MANIFEST_OWN_KEYS; i++)
        json_object_del(client, manifest_own_keys[i]);
    text = json_dumps(json, JSON_COMPACT | JSON_SORT_KEYS);
    sha256_bytes(text, strlen(text), out);
    free(text);
    json_decref(json);
}

static json_t *shard_to_json(const struct shard_start *s)
{
    json_t *out = json_pack("{sI, sI, ss}", "index", (json_int_t)s->id.index,
                            "of", (json_int_t)s->id.count, "settings_sha256",
                            s->settings_sha256);

    if (s->start_at_ns > 0)
        json_object_set_new(out, "start_at_ns", json_integer(s->start_at_ns));
    return out;
}

bool manifest_shard(const struct manifest *m, struct shard_start *shard)
{
    const json_t *json = json_object_get(m->json, "shard");
    const char *sha256 = get_text(json, "settings_sha256");

    if (!json_is_object(json))
        return false;
    *shard = (struct shard_start){
        .id = {.index = json_get_int(json, "index", -1),
               .count = json_get_int(json, "of", -1)},
        .settings_sha256 = sha256 ? sha256 : "",
        .start_at_ns = json_get_int(json, "start_at_ns", 0),
    };
    return true;
}

void manifest_init(struct manifest *m, const struct settings *s,
                   const struct run_start *start)
{
    json_t *calibration = start->calibration
                              ? calibration_stamp_to_json(start->calibration)
                              : json_null();
    struct clk_error clock = clk_realtime_error();
    char utc[32];

    clk_format_utc(start->realtime_ns, CLK_TEXT_FORMAT, utc, sizeof(utc));
    m->json = json_pack(
        "{si, ss, so, so, s{ss, sI, sI, sI, sb}, so, so}", "schema",
        MANIFEST_SCHEMA, "tailgate", TAILGATE_VERSION, "asked", asked(start),
        "settings", settings_to_json(s), "clock", "utc", utc, "monotonic_ns",
        (json_int_t)start->monotonic_ns, "realtime_ns",
        (json_int_t)start->realtime_ns, "max_error_ns",
        (json_int_t)clock.max_ns, "is_synchronised", clock.is_synchronised,
        "environment", environment(start->environment), "endpoints",
        texts(start->endpoints));
    if (start->targets && start->targets->len > 1)
        json_object_set_new(m->json, "targets", texts(start->targets));
    if (start->has_stub)
        json_object_set_new(m->json, "stub_beside", json_true());
    if (start->server_port > 0)
        json_object_set_new(m->json, "server_port",
                            json_integer(start->server_port));
    if (start->transport)
        json_object_set_new(m->json, "transport",
                            json_string(start->transport));
    json_object_set_new(m->json, "calibration", calibration);
    if (start->shard)
        json_object_set_new(m->json, "shard", shard_to_json(start->shard));
}

void manifest_complete(struct manifest *m, const struct run_end *end,
                       const struct failures *failures)
{
    json_t *o = json_pack(
        "{sI, sI, sI, sI, sI, sI, sI, sI}", "stopped_by",
        (json_int_t)end->stopped_by, "due_end_ns", (json_int_t)end->due_end_ns,
        "scheduled", (json_int_t)end->scheduled, "issued",
        (json_int_t)end->issued, "unsent", (json_int_t)end->unsent,
        "rtt_floor_ns", (json_int_t)end->rtt_floor_ns, "segments",
        (json_int_t)end->segments, "retransmits", (json_int_t)end->retransmits);

    if (end->tls[0])
        json_object_set_new(o, "tls",
                            json_pack("{ss, sI, sI}", "protocol", end->tls,
                                      "handshakes",
                                      (json_int_t)end->tls_handshakes,
                                      "resumed", (json_int_t)end->tls_resumed));
    if (end->window_start_ns > 0)
        json_object_set_new(o, "window_start_ns",
                            json_integer(end->window_start_ns));
    if (end->window_end_ns > 0)
        json_object_set_new(o, "window_end_ns",
                            json_integer(end->window_end_ns));
    if (end->was_enough)
        json_object_set_new(o, "was_enough", json_true());
    if (end->aborted[0])
        json_object_set_new(o, "aborted", json_string(end->aborted));
    json_object_set_new(m->json, "end", o);
    json_object_set_new(m->json, "failures", failures_to_json(failures));
}

void manifest_reopen(struct manifest *m)
{
    json_object_del(m->json, "end");
    json_object_del(m->json, "failures");
}

void manifest_set_stopped(struct manifest *m, int signal_number)
{
    json_t *end = json_object_get(m->json, "end");

    json_object_set_new(end ? end : m->json, "stopped_by",
                        json_integer(signal_number));
}

void manifest_set_server(struct manifest *m, const struct server_source *source)
{
    json_object_set_new(m->json, "server",
                        json_pack("{ss?, so, sb}", "flavour", source->dialect,
                                  "url", text_to_json(source->url),
                                  "is_partial", source->is_partial));
}

void manifest_set_started(struct manifest *m, int64_t realtime_ns)
{
    json_object_set_new(json_object_get(m->json, "clock"), "started_ns",
                        json_integer(realtime_ns));
}

void manifest_set_clock(struct manifest *m, const struct manifest_clock *c)
{
    json_t *clock = json_object_get(m->json, "clock");

    json_object_set_new(clock, "offset_ns", json_integer(c->offset_ns));
    json_object_set_new(clock, "offset_error_ns", json_integer(c->error_ns));
    if (!c->is_corrected)
        return;
    json_object_set_new(clock, "is_corrected", json_true());
    json_object_set_new(clock, "drift_ppm", json_real(c->drift_ppm));
}

void manifest_set_trace(struct manifest *m, const struct trace_seen *t)
{
    char hash[17];

    snprintf(hash, sizeof(hash), "%016llx", (unsigned long long)t->hash);
    json_object_set_new(
        m->json, "trace",
        json_pack("{ss, sI, sI, sI, sI, sb, ss, so}", "format", t->format,
                  "rows", (json_int_t)t->rows, "damaged",
                  (json_int_t)t->damaged, "failed", (json_int_t)t->failed,
                  "tied", (json_int_t)t->tied, "has_blocks", t->has_blocks,
                  "hash", hash, "damage", texts(t->damage)));
}

static json_t *data_to_json(const struct data_seen *d)
{
    return json_pack(
        "{ss?, ss?, ss?, sI, sI, sb, so}", "source", d->source, "format",
        d->format, "sha256", d->sha256, "samples", (json_int_t)d->samples,
        "left_out", (json_int_t)d->left_out, "has_lengths", d->has_lengths,
        "cached_share",
        d->cached_share < 0 ? json_null() : json_real(d->cached_share));
}

void manifest_set_data(struct manifest *m, const struct data_seen *d)
{
    json_object_set_new(m->json, "data", data_to_json(d));
}

void manifest_add_class_data(struct manifest *m, const char *class,
                             const struct data_seen *d)
{
    json_t *list = json_object_get(m->json, "class_data");
    json_t *data = data_to_json(d);

    if (!list) {
        list = json_array();
        json_object_set_new(m->json, "class_data", list);
    }
    json_object_set_new(data, "class", json_string(class));
    json_array_append_new(list, data);
}

int manifest_save(const struct manifest *m, const char *dir, struct err *err)
{
    char *path = manifest_path(dir);
    int rc = json_write_file(path, m->json, err);

    free(path);
    return rc;
}

static int check(const struct manifest *m, struct err *err)
{
    int64_t schema = json_get_int(m->json, "schema", -1);
    struct run_end end;

    if (schema != MANIFEST_SCHEMA)
        return err_set(err, ERR_FORMAT,
                       "unknown schema %lld; this tailgate reads schema %d",
                       (long long)schema, MANIFEST_SCHEMA);
    if (!manifest_end(m, &end))
        return 0;
    if (end.scheduled < 0 || end.issued < 0 || end.unsent < 0 ||
        end.issued != end.scheduled - end.unsent)
        return err_set(err, ERR_FORMAT,
                       "%lld scheduled are not %lld issued + %lld unsent",
                       (long long)end.scheduled, (long long)end.issued,
                       (long long)end.unsent);
    return 0;
}

int manifest_load(struct manifest *m, const char *dir, struct err *err)
{
    char *path = manifest_path(dir);
    int rc = json_read_file(path, &m->json, err);

    if (rc == 0 && check(m, err)) {
        manifest_fini(m);
        rc = err_context(err, "%s", path);
    }
    free(path);
    return rc;
}

const char *manifest_loss(const char *dir)
{
    char *path = manifest_path(dir);
    const char *why = json_loss(path);

    free(path);
    return why;
}

int manifest_settings(const struct manifest *m, struct settings *s,
                      struct err *err)
{
    s->has_stub = is_true(m->json, "stub_beside");
    return settings_from_json(s, json_object_get(m->json, "settings"), err);
}

int manifest_settings_asked(const struct manifest *m, struct settings *s,
                            struct err *err)
{
    int port = (int)json_get_int(m->json, "server_port", 0);
    int rc = manifest_settings(m, s, err);

    if (rc == 0 && port > 0)
        settings_forget_port(s, port);
    return rc;
}

bool manifest_end(const struct manifest *m, struct run_end *end)
{
    const json_t *json = json_object_get(m->json, "end");
    const json_t *tls = json_object_get(json, "tls");
    const char *aborted;

    if (!json_is_object(json)) {
        end->stopped_by = json_get_int(m->json, "stopped_by", 0);
        return false;
    }
    *end = (struct run_end){
        .stopped_by = json_get_int(json, "stopped_by", 0),
        .due_end_ns = json_get_int(json, "due_end_ns", 0),
        .window_start_ns = json_get_int(json, "window_start_ns", 0),
        .window_end_ns = json_get_int(json, "window_end_ns", 0),
        .scheduled = json_get_int(json, "scheduled", 0),
        .issued = json_get_int(json, "issued", 0),
        .unsent = json_get_int(json, "unsent", 0),
        .rtt_floor_ns = json_get_int(json, "rtt_floor_ns", 0),
        .segments = json_get_int(json, "segments", 0),
        .retransmits = json_get_int(json, "retransmits", 0),
        .tls_handshakes = json_get_int(tls, "handshakes", 0),
        .tls_resumed = json_get_int(tls, "resumed", 0),
        .was_enough = is_true(json, "was_enough"),
    };
    if (get_text(tls, "protocol"))
        snprintf(end->tls, sizeof(end->tls), "%s", get_text(tls, "protocol"));
    aborted = get_text(json, "aborted");
    if (aborted)
        snprintf(end->aborted, sizeof(end->aborted), "%s", aborted);
    return true;
}

int64_t manifest_start_monotonic_ns(const struct manifest *m)
{
    return json_get_int(json_object_get(m->json, "clock"), "monotonic_ns", 0);
}

int64_t manifest_start_realtime_ns(const struct manifest *m)
{
    return json_get_int(json_object_get(m->json, "clock"), "realtime_ns", 0);
}

void manifest_failures(const struct manifest *m, struct failures *failures)
{
    failures_from_json(failures, json_object_get(m->json, "failures"));
}

const char *manifest_text(const struct manifest *m, const char *part,
                          const char *key)
{
    return get_text(part ? json_object_get(m->json, part) : m->json, key);
}

int64_t manifest_count(const struct manifest *m, const char *part,
                       const char *key)
{
    return json_get_int(part ? json_object_get(m->json, part) : m->json, key,
                        0);
}

const char *manifest_transport(const struct manifest *m)
{
    return get_text(m->json, "transport");
}

void manifest_calibration(const struct manifest *m,
                          struct calibration_stamp *calibration)
{
    calibration_stamp_from_json(calibration,
                                json_object_get(m->json, "calibration"));
}

bool manifest_server(const struct manifest *m, struct server_source *source)
{
    const json_t *json = json_object_get(m->json, "server");

    if (!json_is_object(json))
        return false;
    *source = (struct server_source){
        .dialect = get_text(json, "flavour"),
        .url = get_text(json, "url"),
        .is_partial = is_true(json, "is_partial"),
    };
    return true;
}

bool manifest_trace(const struct manifest *m, struct trace_seen *trace)
{
    const json_t *json = json_object_get(m->json, "trace");
    const char *hash = get_text(json, "hash");

    if (!json_is_object(json))
        return false;
    *trace = (struct trace_seen){
        .format = get_text(json, "format"),
        .rows = json_get_int(json, "rows", 0),
        .damaged = json_get_int(json, "damaged", 0),
        .failed = json_get_int(json, "failed", 0),
        .tied = json_get_int(json, "tied", 0),
        .has_blocks = is_true(json, "has_blocks"),
        .hash = hash ? strtoull(hash, NULL, 16) : 0,
    };
    return true;
}

bool manifest_data(const struct manifest *m, struct data_seen *data)
{
    const json_t *json = json_object_get(m->json, "data");
    const json_t *share = json_object_get(json, "cached_share");

    if (!json_is_object(json))
        return false;
    *data = (struct data_seen){
        .source = get_text(json, "source"),
        .format = get_text(json, "format"),
        .sha256 = get_text(json, "sha256"),
        .samples = json_get_int(json, "samples", 0),
        .left_out = json_get_int(json, "left_out", 0),
        .has_lengths = is_true(json, "has_lengths"),
        .cached_share = json_is_number(share) ? json_number_value(share) : -1,
    };
    return true;
}

void manifest_targets(const struct manifest *m, struct strlist *names)
{
    const json_t *json = json_object_get(m->json, "targets");

    for (size_t i = 0; i < json_array_size(json); i++) {
        const char *name = json_string_value(json_array_get(json, i));

        strlist_add(names, name ? name : "");
    }
}

void manifest_fini(struct manifest *m)
{
    json_decref(m->json);
    m->json = NULL;
}
