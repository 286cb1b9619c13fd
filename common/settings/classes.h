/* classes.h - a workload of several kinds of requests in one run, each with its
 * own data, API and SLO.
 *
 * A class is a complete struct settings: that of the run, with the values that
 * the class overrides.  The class of a request depends only on the seed and its
 * place in the schedule, not on the worker that sends it.
 */
#ifndef COMMON_SETTINGS_CLASSES_H
#define COMMON_SETTINGS_CLASSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct json_t;
struct opt;
struct settings;
struct spot;

#define CLASSES_MAX 16

/* The key of the warm-up's own data, and the name of its class. */
#define CLASSES_WARMUP "warmup_data"

struct class_settings {
    char *name; /* letters, digits and ._- */
    double weight;
    struct settings *settings; /* owned */

    /* The options that the class sets itself; owned. */
    const struct opt **said;
    size_t n_said;
};

struct classes {
    struct class_settings *items;
    size_t len; /* 0: the run has no classes */
};

void classes_fini(struct classes *c);

/* The list of a settings file; it replaces the present one.  ERR_CONFIG
 * "file:line: ...". */
int classes_load(struct classes *c, const struct spot *at);

/* The data of the warm-up, a map, becomes the one class of a list. */
int classes_load_warmup(struct classes *c, const struct spot *at);

/* Give each class, and the warm-up, the values that it does not set itself from
 * the run, which is not resolved yet.  A run without a target gets that of the
 * first class. */
void classes_overlay(struct settings *run);

/* Resolve each class, and refuse what cannot be combined with classes.  The run
 * is resolved.  ERR_CONFIG "classes: chat: data.file: ...". */
int classes_resolve(const struct settings *run, struct err *err);

/* For a manifest, secrets redacted unless they are kept; the caller owns the
 * reference. */
struct json_t *classes_to_json(const struct classes *c, bool keeps_secrets);

/* Read them; each starts as a copy of the run.  ERR_FORMAT. */
int classes_from_json(struct settings *run, const struct json_t *json,
                      struct err *err);

/* The same for the data of the warm-up, which sets all of it itself. */
int classes_warmup_from_json(struct settings *run, const struct json_t *json,
                             struct err *err);

/* The expected share of requests of this class. */
double classes_share(const struct classes *c, size_t i);

/* Are these settings of a run, or of a class that sets this option itself? What
 * a class takes from the run can be meant for other classes. */
bool settings_says(const struct settings *s, const struct opt *opt);

/* Does it hold for the run or, if it has classes, for one of them? */
bool settings_some(bool (*does)(const struct settings *s),
                   const struct settings *run);

/* The class drawn for `key`; there is at least one class. */
size_t classes_draw(const struct classes *c, uint64_t seed, int64_t key);

#endif
