#include "common/spec/calibration.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/xalloc.h"
#include "common/config.h"
#include "common/text/json.h"

#define CALIBRATION_SCHEMA 1

static const char below_home[] = ".local/state";
static const char note[] = "client and stub shared the machine, so that this "
                           "is a lower bound";

const char *const calibrated_names[] = {
    [CALIBRATED_NATIVE] = "native", [CALIBRATED_TLS] = "tls",
    [CALIBRATED_HTTP2] = "http2",   [CALIBRATED_CURL] = "curl",
    [CALIBRATED_COUNT] = NULL,
};

bool calibrated_has_tls(const char *name)
{
    return strcmp(name, calibrated_names[CALIBRATED_TLS]) == 0 ||
           strcmp(name, calibrated_names[CALIBRATED_HTTP2]) == 0;
}

const char *calibrated_name(const char *transport, bool has_tls)
{
    bool is_native =
        strcmp(transport, calibrated_names[CALIBRATED_NATIVE]) == 0;

    return has_tls && is_native ? calibrated_names[CALIBRATED_TLS] : transport;
}

static const char *const limit_names[] = {[LIMIT_CLIENT] = "client",
                                          [LIMIT_STUB] = "stub",
                                          [LIMIT_SEARCH] = "search"};

#define N_LIMITS (sizeof(limit_names) / sizeof(limit_names[0]))

/* ---- validity ---- */

static void put_text(char out[static CALIBRATION_TEXT], const char *text)
{
    snprintf(out, CALIBRATION_TEXT, "%s", text);
}

struct calibration_place calibration_here(void)
{
    struct calibration_place here = {.cpus = sysconf(_SC_NPROCESSORS_ONLN)};
    struct utsname u = {0};

    uname(&u);
    put_text(here.host, u.nodename);
    put_text(here.kernel, u.release);
    put_text(here.version, TAILGATE_VERSION);
    return here;
}

void calibration_differs(const struct calibration_place *of,
                         const struct calibration_place *here,
                         char why[static CALIBRATION_TEXT])
{
    const struct {
        bool differs;
        const char *text;
    } points[] = {
        {strcmp(of->host, here->host) != 0, "another host"},
        {strcmp(of->version, here->version) != 0, "another version"},
        {of->cpus != here->cpus, "another number of CPUs"},
    };
    size_t len = 0;

    why[0] = '\0';
    for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
        if (points[i].differs)
            len += (size_t)snprintf(why + len, CALIBRATION_TEXT - len, "%s%s",
                                    len ? ", " : "", points[i].text);
    }
}

/* ---- to JSON ---- */

/* The times of a transport; negative ones are unknown. */
static const struct {
    const char *key;
    size_t offset;
} times[] = {
    {"floor_ns", offsetof(struct calibrated_transport, floor_ns)},
    {"floor_sent_ns", offsetof(struct calibrated_transport, floor_sent_ns)},
    {"lag_p50_ns", offsetof(struct calibrated_transport, lag_p50_ns)},
    {"lag_p99_ns", offsetof(struct calibrated_transport, lag_p99_ns)},
    {"spin_lag_p50_ns", offsetof(struct calibrated_transport, spin_lag_p50_ns)},
    {"spin_lag_p99_ns", offsetof(struct calibrated_transport, spin_lag_p99_ns)},
};

#define N_TIMES (sizeof(times) / sizeof(times[0]))

static json_t *transport_to_json(const struct calibrated_transport *t)
{
    bool has_rate = t->max_rate_rps > 0;
    json_t *o = json_pack("{ss, sb, sb}", "date", t->date, "quick", t->is_quick,
                          "disturbed", t->is_disturbed);

    for (size_t i = 0; i < N_TIMES; i++) {
        int64_t ns = *(const int64_t *)((const char *)t + times[i].offset);

        json_object_set_new(o, times[i].key,
                            ns >= 0 ? json_integer(ns) : json_null());
    }
    json_object_set_new(o, "max_rate_rps",
                        has_rate ? json_real(t->max_rate_rps) : json_null());
    if (!has_rate)
        json_object_set_new(o, "max_rate_note",
                            json_string(calibration_no_rate(t)));
    json_object_set_new(o, "is_at_least",
                        json_boolean(calibration_is_at_least(t)));
    json_object_set_new(o, "limit", json_string(limit_names[t->limit]));
    return o;
}

const char *calibration_no_rate(const struct calibrated_transport *t)
{
    return t->limit == LIMIT_SEARCH
               ? "no rate was trusted; there was no time for the lowest"
               : "not even the lowest rate was trusted";
}

struct json_t *calibration_to_json(const struct calibration *c)
{
    json_t *transports = json_object();
    const char *last_date = "";

    for (int i = 0; i < CALIBRATED_COUNT; i++) {
        const struct calibrated_transport *t = &c->transports[i];

        if (t->date[0])
            json_object_set_new(transports, calibrated_names[i],
                                transport_to_json(t));
        if (strcmp(t->date, last_date) > 0)
            last_date = t->date;
    }
    return json_pack(
        "{si, so, so, sI, so, ss, ss, so}", "schema", CALIBRATION_SCHEMA,
        "host", json_bytes(c->place.host, strlen(c->place.host)), "tailgate",
        json_bytes(c->place.version, strlen(c->place.version)), "cpus",
        (json_int_t)c->place.cpus, "kernel",
        json_bytes(c->place.kernel, strlen(c->place.kernel)), "date", last_date,
        "note", note, "transports", transports);
}

/* ---- from JSON ---- */

/* Printable ASCII, like everything that is written here; otherwise false. */
static bool get_text(const json_t *o, const char *key,
                     char out[static CALIBRATION_TEXT])
{
    const char *text = json_string_value(json_object_get(o, key));

    if (!text || !text[0] || strlen(text) >= CALIBRATION_TEXT)
        return false;
    for (const char *p = text; *p; p++) {
        if (*p < ' ' || *p > '~')
            return false;
    }
    put_text(out, text);
    return true;
}

static bool get_transport(const json_t *o, struct calibrated_transport *t)
{
    const json_t *rate = json_object_get(o, "max_rate_rps");
    const char *limit = json_string_value(json_object_get(o, "limit"));
    size_t which = 0;

    while (limit && which < N_LIMITS && strcmp(limit, limit_names[which]) != 0)
        which++;
    *t = (struct calibrated_transport){
        .is_quick = json_is_true(json_object_get(o, "quick")),
        .is_disturbed = json_is_true(json_object_get(o, "disturbed")),
        .max_rate_rps = json_number_value(rate),
        .limit = (enum calibration_limit)which};
    for (size_t i = 0; i < N_TIMES; i++) {
        const json_t *value = json_object_get(o, times[i].key);
        int64_t ns = json_is_integer(value) ? json_integer_value(value) : -1;

        if (ns < 0 && !json_is_null(value))
            return false;
        *(int64_t *)((char *)t + times[i].offset) = ns;
    }
    return get_text(o, "date", t->date) && limit && which < N_LIMITS &&
           (json_is_null(rate) ||
            (json_is_number(rate) && isfinite(t->max_rate_rps) &&
             t->max_rate_rps > 0));
}

int calibration_from_json(struct calibration *c, const struct json_t *json,
                          struct err *err)
{
    const json_t *transports = json_object_get(json, "transports");
    int64_t schema = json_get_int(json, "schema", -1);

    *c = (struct calibration){0};
    if (schema != CALIBRATION_SCHEMA)
        return err_set(
            err, ERR_FORMAT,
            "schema %lld is not supported; this tailgate supports %d",
            (long long)schema, CALIBRATION_SCHEMA);
    c->place.cpus = json_get_int(json, "cpus", 0);
    if (!get_text(json, "host", c->place.host) ||
        !get_text(json, "tailgate", c->place.version) ||
        !get_text(json, "kernel", c->place.kernel) || c->place.cpus <= 0 ||
        !json_is_object(transports))
        return err_set(err, ERR_FORMAT, "not a calibration");
    for (int i = 0; i < CALIBRATED_COUNT; i++) {
        const json_t *o = json_object_get(transports, calibrated_names[i]);

        if (o && !get_transport(o, &c->transports[i]))
            return err_set(err, ERR_FORMAT, "not a calibration of %s",
                           calibrated_names[i]);
    }
    return 0;
}

/* ---- the file ---- */

/* The XDG specification says to ignore a relative XDG_STATE_HOME. */
static char *state_dir(struct err *err)
{
    const char *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");

    if (state && state[0] == '/')
        return xasprintf("%s/tailgate", state);
    if (home && home[0])
        return xasprintf("%s/%s/tailgate", home, below_home);
    err_set(err, ERR_IO, "calibration: neither XDG_STATE_HOME nor HOME is set");
    return NULL;
}

char *calibration_path(struct err *err)
{
    char *dir = state_dir(err);
    char *path = dir ? xasprintf("%s/calibration.json", dir) : NULL;

    free(dir);
    return path;
}

int calibration_load(struct calibration *c, struct err *err)
{
    char *path = calibration_path(&(struct err){0});
    json_t *json = NULL;
    int rc = 0;

    if (path &&
        (access(path, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR))) {
        rc = json_read_file(path, &json, err);
        if (rc == 0 && calibration_from_json(c, json, err))
            rc = err_context(err, "%s", path);
        rc = rc ? -1 : 1;
        json_decref(json);
    }
    free(path);
    return rc;
}

int calibration_prepare(struct err *err)
{
    char *dir = state_dir(err);
    int rc = dir ? file_make_dir(dir, err) : -1;

    if (rc == 0 && access(dir, W_OK | X_OK) < 0)
        rc = err_set(err, ERR_IO, "%s: %s", dir, strerror(errno));
    free(dir);
    return rc;
}

int calibration_save(const struct calibration *c, struct err *err)
{
    char *path = calibration_path(err);
    json_t *json = calibration_to_json(c);
    int rc = path && calibration_prepare(err) == 0
                 ? json_write_file(path, json, err)
                 : -1;

    json_decref(json);
    free(path);
    return rc;
}

/* ---- in a manifest ---- */

struct calibration_stamp
calibration_stamp_of(const struct calibration *c,
                     const struct calibration_place *here,
                     const char *transport)
{
    const struct calibrated_transport *t = NULL;
    struct calibration_stamp s = {0};

    for (int i = 0; c && i < CALIBRATED_COUNT; i++) {
        if (strcmp(calibrated_names[i], transport) == 0 &&
            c->transports[i].date[0])
            t = &c->transports[i];
    }

    if (!t)
        return s;
    calibration_differs(&c->place, here, s.stale);
    s.standing = s.stale[0] ? CALIBRATION_STALE : CALIBRATED;
    if (s.standing == CALIBRATED) {
        put_text(s.transport, transport);
        s.of = *t;
    }
    return s;
}

struct json_t *calibration_stamp_to_json(const struct calibration_stamp *s)
{
    json_t *o;

    if (s->standing == CALIBRATION_NONE)
        return json_null();
    if (s->standing == CALIBRATION_STALE)
        return json_pack("{ss}", "stale", s->stale);
    o = transport_to_json(&s->of);
    json_object_set_new(o, "transport", json_string(s->transport));
    return o;
}

void calibration_stamp_from_json(struct calibration_stamp *s,
                                 const struct json_t *json)
{
    *s = (struct calibration_stamp){0};
    if (get_text(json, "stale", s->stale))
        s->standing = CALIBRATION_STALE;
    else if (get_text(json, "transport", s->transport) &&
             get_transport(json, &s->of))
        s->standing = CALIBRATED;
}
