#include "study/launch/shard_plan.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/xalloc.h"
#include "common/config.h"
#include "common/spec/calibration.h"
#include "common/spec/shard_id.h"
#include "common/text/json.h"
#include "loadgen/engine/run.h"
#include "loadgen/prepare/preflight.h"

#define MAX_PLAN ((size_t)16 << 20)

/* ---- writing ---- */

static json_t *text_or_null(const char *text)
{
    return text ? json_bytes(text, strlen(text)) : json_null();
}

static json_t *plan_to_json(const struct run_plan *plan,
                            const struct run_options *options, int64_t n,
                            int64_t start_at_ns)
{
    const char *const *argv = options->argv;
    json_t *words = json_array();

    for (size_t i = 0; argv && argv[i]; i++)
        json_array_append_new(words, text_or_null(argv[i]));
    return json_pack("{ss, sI, sI, sI, si, sb, sb, so, so, so, so, so}",
                     "tailgate", TAILGATE_VERSION, "shards", (json_int_t)n,
                     "start_at_ns", (json_int_t)start_at_ns, "wait_ready_ns",
                     (json_int_t)options->wait_ready_ns, "server_port",
                     plan->server_port, "has_stub", plan->used.has_stub,
                     "warns", options->foresee != NULL, "argv", words,
                     "settings_file", text_or_null(options->settings_file),
                     "settings_sha256", text_or_null(options->settings_sha256),
                     "memory_of", text_or_null(options->memory_of), "settings",
                     settings_to_json_with_secrets(&plan->used));
}

int shard_plan_write(const char *path, const struct run_plan *plan,
                     const struct run_options *options, int64_t n,
                     int64_t start_at_ns, struct err *err)
{
    json_t *json = plan_to_json(plan, options, n, start_at_ns);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    struct buf text;
    int rc;

    buf_init(&text, MAX_PLAN);
    json_print(json, &text);
    rc = fd < 0 ? -1 : file_write_all(fd, buf_text(&text), text.len);
    if (rc)
        err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    buf_fini(&text);
    json_decref(json);
    return rc;
}

/* ---- reading ---- */

/* What follows the object on standard input is left to the caller. */
static json_t *read_object(const char *path, struct err *err)
{
    bool is_input = strcmp(path, "-") == 0;
    FILE *file = is_input ? stdin : fopen(path, "re");
    json_error_t where;
    json_t *json;

    if (!file) {
        err_set(err, ERR_CONFIG, "%s: %s", path, strerror(errno));
        return NULL;
    }
    json = json_loadf(file, JSON_DISABLE_EOF_CHECK, &where);
    if (!is_input)
        fclose(file);
    if (json_is_object(json))
        return json;
    json_decref(json);
    err_set(err, ERR_FORMAT, "%s: is not the plan of a launch: %s",
            is_input ? "standard input" : path,
            json ? "no object" : where.text);
    return NULL;
}

static char *text_of(const json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));

    return text ? xstrdup(text) : NULL;
}

static int check(const struct shard_plan *p, const json_t *json,
                 struct err *err)
{
    const char *version = json_string_value(json_object_get(json, "tailgate"));

    if (!version || p->shards < 1 || p->shards > SHARD_ID_MAX ||
        p->start_at_ns < 1)
        return err_set(err, ERR_FORMAT,
                       "is not the plan of a launch: it has no valid version, "
                       "number of shards or start");
    if (strcmp(version, TAILGATE_VERSION) != 0)
        return err_set(err, ERR_FORMAT,
                       "was made by tailgate %s, and this is %s: install the "
                       "same version on all machines",
                       version, TAILGATE_VERSION);
    return 0;
}

int shard_plan_read(struct shard_plan *p, const char *path, struct err *err)
{
    json_t *json = read_object(path, err);
    const json_t *word;
    size_t i;
    int rc;

    *p = (struct shard_plan){0};
    settings_init(&p->settings);
    if (!json)
        return -1;
    p->shards = json_get_int(json, "shards", 0);
    p->start_at_ns = json_get_int(json, "start_at_ns", 0);
    p->wait_ready_ns = json_get_int(json, "wait_ready_ns", 0);
    p->server_port = (int)json_get_int(json, "server_port", 0);
    p->warns = json_is_true(json_object_get(json, "warns"));
    json_array_foreach(json_object_get(json, "argv"), i, word)
    {
        if (json_is_string(word))
            strlist_add(&p->argv, json_string_value(word));
    }
    p->settings_file = text_of(json, "settings_file");
    p->settings_sha256 = text_of(json, "settings_sha256");
    p->memory_of = text_of(json, "memory_of");
    p->settings.has_stub = json_is_true(json_object_get(json, "has_stub"));
    rc = check(p, json, err);
    if (rc == 0)
        rc = settings_from_json(&p->settings, json_object_get(json, "settings"),
                                err);
    if (rc)
        err_context(err, "%s", strcmp(path, "-") ? path : "standard input");
    json_decref(json);
    return rc;
}

void shard_plan_fini(struct shard_plan *p)
{
    settings_fini(&p->settings);
    strlist_fini(&p->argv);
    free(p->settings_file);
    free(p->settings_sha256);
    free(p->memory_of);
}

/* ---- running it ---- */

int shard_run(struct shard_plan *p, struct shard_id id, const char *out,
              const struct run_options *how, struct err *err)
{
    struct err no_calibration = {0};
    struct calibration calibration;
    struct run_options options = *how;
    const char **argv = xcalloc(p->argv.len + 1, sizeof(*argv));
    char *dir = xasprintf("%s/%lld", out, (long long)id.index);
    char text[SHARD_ID_TEXT];
    char host[256] = "";
    struct run_plan plan;
    struct run_end end;
    int rc;

    memcpy((void *)argv, (void *)p->argv.items, p->argv.len * sizeof(*argv));
    options.dir = dir;
    options.argv = argv;
    options.settings_file = p->settings_file;
    options.settings_sha256 = p->settings_sha256;
    options.wait_ready_ns = p->wait_ready_ns;
    options.memory_of = p->memory_of;
    if (calibration_load(&calibration, &no_calibration) == 1)
        options.calibration = &calibration;
    free(p->settings.client.shard);
    p->settings.client.shard = xstrdup(shard_id_print(id, text));
    run_plan_init(&plan, &p->settings);
    plan.server_port = p->server_port;
    gethostname(host, sizeof(host) - 1);
    rc = run_load(&plan, &options, &end, err);
    if (rc)
        err_context(err, "shard %lld of %lld on %s", (long long)id.index,
                    (long long)id.count, host);
    run_plan_fini(&plan);
    free((void *)argv);
    free(dir);
    return rc;
}
