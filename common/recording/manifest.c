#include "common/recording/manifest.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/config.h"
#include "common/err.h"
#include "common/json.h"
#include "common/recording/failures.h"
#include "common/xalloc.h"

#define MANIFEST_SCHEMA 1

static char *manifest_path(const char *dir)
{
    return xasprintf("%s/manifest.json", dir);
}

/* "-H 'authorization: x'" must not end up on disk by way of argv. */
static json_t *redacted(const char *arg)
{
    size_t len = strcspn(arg, ":");
    bool has_colon = arg[len] == ':';
    json_t *out = NULL;
    char *before;

    while (len > 0 && arg[len - 1] == ' ')
        len--;
    before = xstrndup(arg, len);
    /* By how it ends: -Hcookie, --header=cookie, target.headers=cookie. */
    for (size_t i = 0; i < len && has_colon && !out; i++) {
        if (settings_is_secret(before + i))
            out = json_sprintf("%s: (redacted)", before);
    }
    free(before);
    return out ? out : json_bytes(arg, strlen(arg));
}

static json_t *asked(const struct run_start *start)
{
    json_t *argv = json_array();
    json_t *out = json_object();

    for (size_t i = 0; start->argv && start->argv[i]; i++)
        json_array_append_new(argv, redacted(start->argv[i]));
    json_object_set_new(out, "argv", argv);
    if (start->settings_file)
        json_object_set_new(
            out, "file",
            json_bytes(start->settings_file, strlen(start->settings_file)));
    return out;
}

static json_t *environment(void)
{
    struct utsname u = {0};

    uname(&u);
    return json_pack("{so, ss, ss, sI}", "host",
                     json_bytes(u.nodename, strlen(u.nodename)), "kernel",
                     u.release, "machine", u.machine, "cpus",
                     (json_int_t)sysconf(_SC_NPROCESSORS_ONLN));
}

static json_t *clock_anchor(const struct run_start *start)
{
    char utc[32];

    clk_format_utc(start->realtime_ns, CLK_TEXT_FORMAT, utc, sizeof(utc));
    return json_pack("{ss, sI, sI}", "utc", utc, "monotonic_ns",
                     (json_int_t)start->monotonic_ns, "realtime_ns",
                     (json_int_t)start->realtime_ns);
}

void manifest_init(struct manifest *m, struct settings *s,
                   const struct run_start *start)
{
    m->json = json_pack("{si, ss, so, so, so, so}", "schema", MANIFEST_SCHEMA,
                        "tailgate", TAILGATE_VERSION, "asked", asked(start),
                        "settings", settings_to_json(s), "clock",
                        clock_anchor(start), "environment", environment());
}

void manifest_complete(struct manifest *m, const struct run_end *end,
                       const struct failures *failures)
{
    json_object_set_new(m->json, "end",
                        json_pack("{sI, sI, sI, sI, sI}", "stopped_by",
                                  (json_int_t)end->stopped_by, "due_end_ns",
                                  (json_int_t)end->due_end_ns, "scheduled",
                                  (json_int_t)end->scheduled, "issued",
                                  (json_int_t)end->issued, "unsent",
                                  (json_int_t)end->unsent));
    json_object_set_new(m->json, "failures", failures_to_json(failures));
}

int manifest_save(const struct manifest *m, const char *dir, struct err *err)
{
    char *path = manifest_path(dir);
    int rc = json_write_file(path, m->json, err);

    free(path);
    return rc;
}

int manifest_load(struct manifest *m, const char *dir, struct err *err)
{
    char *path = manifest_path(dir);
    int64_t schema;
    int rc = json_read_file(path, &m->json, err);

    if (rc == 0) {
        schema = json_get_int(m->json, "schema", -1);
        if (schema != MANIFEST_SCHEMA)
            rc = err_set(err, ERR_FORMAT,
                         "%s: schema %lld; this tailgate knows %d", path,
                         (long long)schema, MANIFEST_SCHEMA);
        if (rc)
            manifest_fini(m);
    }
    free(path);
    return rc;
}

int manifest_settings(const struct manifest *m, struct settings *s,
                      struct err *err)
{
    return settings_from_json(s, json_object_get(m->json, "settings"), err);
}

bool manifest_end(const struct manifest *m, struct run_end *end)
{
    const json_t *json = json_object_get(m->json, "end");

    if (!json_is_object(json))
        return false;
    *end = (struct run_end){
        .stopped_by = json_get_int(json, "stopped_by", 0),
        .due_end_ns = json_get_int(json, "due_end_ns", 0),
        .scheduled = json_get_int(json, "scheduled", 0),
        .issued = json_get_int(json, "issued", 0),
        .unsent = json_get_int(json, "unsent", 0),
    };
    return true;
}

int64_t manifest_start_monotonic_ns(const struct manifest *m)
{
    return json_get_int(json_object_get(m->json, "clock"), "monotonic_ns", 0);
}

void manifest_fini(struct manifest *m)
{
    json_decref(m->json);
    m->json = NULL;
}
