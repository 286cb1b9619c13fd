/* classes.h - a mix: several kinds of requests in one run, each with its own
 * data, API and objective.
 *
 * A class is a whole struct settings: what the run says, and over that what the
 * class says.  Which class a request is of depends on the seed and its place in
 * the schedule alone, so not on who sends it.
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

/* The key, and the name of the class, of the warm-up's own data. */
#define CLASSES_WARMUP "warmup_data"

struct class_settings {
    char *name; /* letters, digits and ._- */
    double weight;
    struct settings *settings; /* owned */

    /* What the class says itself, until it is laid over the run; owned. */
    const struct opt **said;
    size_t n_said;
};

struct classes {
    struct class_settings *items;
    size_t len; /* 0: all requests are of one kind */
};

void classes_fini(struct classes *c);

/* The list of a settings file, in place of one that is there.  ERR_CONFIG
 * "file:line: ...". */
int classes_load(struct classes *c, const struct spot *at);

/* The data of the warm-up, a map, becomes the one class of a list. */
int classes_load_warmup(struct classes *c, const struct spot *at);

/* Give each class what it does not say itself from the run, which is not
 * resolved yet; and so the warm-up's.  A run without a target has that of the
 * first class. */
void classes_overlay(struct settings *run);

/* Resolve each, and refuse what does not go with several.  The run is resolved.
 * ERR_CONFIG "classes: chat: data.file: ...". */
int classes_resolve(const struct settings *run, struct err *err);

/* For a manifest; the caller owns the reference. */
struct json_t *classes_to_json(const struct classes *c);

/* Read back, over a copy of the run.  ERR_FORMAT. */
int classes_from_json(struct settings *run, const struct json_t *json,
                      struct err *err);

/* The data of the warm-up, likewise; all of it is its own. */
int classes_warmup_from_json(struct settings *run, const struct json_t *json,
                             struct err *err);

/* The share of requests that are to be of this class. */
double classes_share(const struct classes *c, size_t i);

/* Is it of a run, or does the class say this itself?  What it has from the run
 * may be meant for others. */
bool settings_says(const struct settings *s, const struct opt *opt);

/* Does the run, or where it has classes one of them? */
bool settings_some(bool (*does)(const struct settings *s),
                   const struct settings *run);

/* Which class is drawn for `key`; of at least one. */
size_t classes_draw(const struct classes *c, uint64_t seed, int64_t key);

#endif
