/* calibration.h - what the client can measure reliably on this machine, as
 * `tailgate calibrate` found out; kept in the user's state directory.
 *
 * It applies to one host, one version and one number of CPUs; otherwise it is
 * stale and is not used.
 */
#ifndef COMMON_SPEC_CALIBRATION_H
#define COMMON_SPEC_CALIBRATION_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct json_t;

/* Enough for a host name, a version, a date. */
#define CALIBRATION_TEXT 72

enum calibrated {
    CALIBRATED_NATIVE, /* HTTP/1.1 without TLS */
    CALIBRATED_TLS,    /* HTTP/1.1 with TLS */
    CALIBRATED_HTTP2,  /* with TLS */
    CALIBRATED_CURL,   /* HTTP/1.1 without TLS */
    CALIBRATED_COUNT
};

/* Their names, NULL-terminated. */
extern const char *const calibrated_names[];

/* Is it measured with TLS? */
bool calibrated_has_tls(const char *name);

/* The name for a run's transport. */
const char *calibrated_name(const char *transport, bool has_tls);

/* What limited the rate. */
enum calibration_limit {
    LIMIT_CLIENT,
    LIMIT_STUB,   /* the client may be capable of more */
    LIMIT_SEARCH, /* the same: higher rates were not tried */
};

/* One transport.  Times in ns; negative: unknown. */
struct calibrated_transport {
    char date[CALIBRATION_TEXT]; /* UTC; "": not measured */
    bool is_quick;
    bool is_disturbed;     /* late while idle: the machine was in use */
    int64_t floor_ns;      /* median e2e at a low rate, from due ... */
    int64_t floor_sent_ns; /* ... and from sent */
    int64_t lag_p50_ns;    /* at 1,000/s */
    int64_t lag_p99_ns;
    int64_t spin_lag_p50_ns; /* the same with --spin 80us */
    int64_t spin_lag_p99_ns;
    double max_rate_rps; /* 0: not even the lowest rate was trusted, or
                            (LIMIT_SEARCH) there was no time to try it */
    enum calibration_limit limit;
};

/* What a calibration applies to. */
struct calibration_place {
    char host[CALIBRATION_TEXT];
    char version[CALIBRATION_TEXT];
    int64_t cpus;
    char kernel[CALIBRATION_TEXT]; /* informative: it does not make it stale */
};

struct calibration {
    struct calibration_place place;
    struct calibrated_transport transports[CALIBRATED_COUNT];
};

/* Is max_rate_rps a lower bound of what the client can do? */
static inline bool calibration_is_at_least(const struct calibrated_transport *t)
{
    return t->limit != LIMIT_CLIENT;
}

/* The reason why max_rate_rps is 0. */
const char *calibration_no_rate(const struct calibrated_transport *t);

/* This host and program. */
struct calibration_place calibration_here(void);

/* "" if it applies here, otherwise the differences: "another host", "another
 * version, another number of CPUs". */
void calibration_differs(const struct calibration_place *of,
                         const struct calibration_place *here,
                         char why[static CALIBRATION_TEXT]);

/* The caller owns the reference. */
struct json_t *calibration_to_json(const struct calibration *c);

/* ERR_FORMAT, without the name of the file. */
int calibration_from_json(struct calibration *c, const struct json_t *json,
                          struct err *err);

/* $XDG_STATE_HOME/tailgate/calibration.json, or below ~/.local/state; the
 * caller owns it.  NULL with ERR_IO if the environment names neither. */
char *calibration_path(struct err *err);

/* Returns 1, 0 if there is none, or -1 with ERR_IO or ERR_FORMAT. */
int calibration_load(struct calibration *c, struct err *err);

/* Create its directory and check that it is writable.  ERR_IO. */
int calibration_prepare(struct err *err);

/* Replace the file atomically.  ERR_IO. */
int calibration_save(const struct calibration *c, struct err *err);

/* ---- in a manifest ---- */

enum calibration_standing { CALIBRATION_NONE, CALIBRATION_STALE, CALIBRATED };

/* The part of it that concerns one run. */
struct calibration_stamp {
    enum calibration_standing standing;
    char stale[CALIBRATION_TEXT];     /* why, if it is stale */
    char transport[CALIBRATION_TEXT]; /* its calibrated_name() */
    struct calibrated_transport of;   /* its measurements */
};

/* Pure.  `c` can be NULL; `transport` is one of calibrated_names, and the stamp
 * is CALIBRATION_NONE if it was not measured. */
struct calibration_stamp
calibration_stamp_of(const struct calibration *c,
                     const struct calibration_place *here,
                     const char *transport);

/* null, {"stale": why} or the transport's numbers; and the reverse, where
 * invalid JSON gives CALIBRATION_NONE. */
struct json_t *calibration_stamp_to_json(const struct calibration_stamp *s);
void calibration_stamp_from_json(struct calibration_stamp *s,
                                 const struct json_t *json);

#endif
