/* preflight.h - checks everything about a run that needs no network: whether
 * its settings fit together, its files can be read, and this machine can run
 * it.  A run begins with it, `validate` ends with it. */
#ifndef LOADGEN_PREPARE_PREFLIGHT_H
#define LOADGEN_PREPARE_PREFLIGHT_H

#include "common/settings/settings.h"
#include "common/spec/cpu_list.h"
#include "loadgen/engine/run_limits.h"
#include "loadgen/trace/trace_survey.h"

struct buf;
struct dataset;
struct err;
struct transport_ops;

/* What one run finds out and opens.  The settings that were asked for are never
 * changed; a run works on its own copy of them. */
struct run_plan {
    struct settings used; /* as asked, with what was found out filled in: what
                             "auto" becomes, model, tensors, nonce, port.  The
                             manifest has these.  Must not be moved. */
    int server_port;      /* that replaced {port}; 0: none did */
    struct machine machine;
    int64_t asked_threads; /* client.threads, before the plan */
    struct cpus cpus;      /* to pin the threads to; empty: not pinned */
    const struct transport_ops *transport;
    struct survey trace;  /* of a trace to replay */
    struct dataset *data; /* to send; NULL: prompts are synthetic */
    struct dataset *class_data[CLASSES_MAX]; /* the same, of each class */
    struct dataset *warmup_data;             /* ... and of the warm-up */
};

/* Copy resolved settings.  run_plan_fini() releases the plan. */
void run_plan_init(struct run_plan *p, const struct settings *asked);
void run_plan_fini(struct run_plan *p);

/* Fill in what "auto" becomes, see plan_client(), and how long the replay of a
 * trace takes.  A data set is loaded, and out->used points to it from then on.
 * ERR_CONFIG for what was asked wrongly, ERR_IO for what this machine does not
 * allow. */
int preflight(struct run_plan *out, struct err *err);

/* Load the data set, if there is one; the settings point to it from then on,
 * and the caller owns it.  ERR_CONFIG. */
int preflight_data(struct data_settings *s, struct dataset **out,
                   struct err *err);

/* Lines for people about the files that are sent. */
void preflight_describe_data(const struct run_plan *p, struct buf *out);

/* The checks of the target alone, and its transport; NULL with err set. */
const struct transport_ops *preflight_target(const struct target_settings *s,
                                             struct err *err);

#endif
