/* preflight.h - checks everything about a run that needs no network: whether
 * its settings fit together, its files can be read, and this machine can run
 * it.  A run begins with it, `validate` ends with it. */
#ifndef LOADGEN_PREPARE_PREFLIGHT_H
#define LOADGEN_PREPARE_PREFLIGHT_H

#include "common/settings/classes.h"
#include "common/spec/cpu_list.h"
#include "loadgen/engine/run_limits.h"
#include "loadgen/trace/trace_survey.h"

struct buf;
struct data_settings;
struct dataset;
struct err;
struct settings;
struct target_settings;
struct transport_ops;

/* The results. */
struct preflight {
    struct machine machine;
    int64_t asked_threads; /* client.threads, before the plan */
    struct cpus cpus;      /* to pin the threads to; empty: not pinned */
    const struct transport_ops *transport;
    struct survey trace;  /* of a trace to replay */
    struct dataset *data; /* to send; NULL: prompts are synthetic */
    struct dataset *class_data[CLASSES_MAX]; /* the same, of each class */
    struct dataset *warmup_data;             /* ... and of the warm-up */
};

/* Resolves "auto", see plan_client().  Reads a trace and sets the length of its
 * replay.  Loads the data set, and makes the settings point to it.  ERR_CONFIG
 * for invalid settings, ERR_IO for what this machine does not allow.
 * preflight_fini() may follow either way; call it after the last use of the
 * settings. */
int preflight(struct settings *s, struct preflight *out, struct err *err);
void preflight_fini(struct preflight *p);

/* Load the data set, if there is one; the settings point to it from then on,
 * and the caller owns it.  ERR_CONFIG. */
int preflight_data(struct data_settings *s, struct dataset **out,
                   struct err *err);

/* Lines of text about the data sets that are sent. */
void preflight_describe_data(const struct preflight *p,
                             const struct settings *s, struct buf *out);

/* The checks of the target alone, and its transport; NULL with err set. */
const struct transport_ops *preflight_target(const struct target_settings *s,
                                             struct err *err);

#endif
