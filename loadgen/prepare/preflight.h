/* preflight.h - everything that can be known of a run without asking anybody:
 * whether its settings go together, its files are there, and this machine can
 * do what was asked.  A run begins with it, `validate` ends with it. */
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

/* What it found. */
struct preflight {
    struct machine machine;
    int64_t asked_threads; /* client.threads, before the plan */
    struct cpus cpus;      /* to pin the threads to; none: to no one's */
    const struct transport_ops *transport;
    struct survey trace;  /* of a trace that is to be replayed */
    struct dataset *data; /* that is to be sent; NULL: prompts are made */
    struct dataset *class_data[CLASSES_MAX]; /* likewise, of each class */
    struct dataset *warmup_data;             /* ... and of the warm-up */
};

/* Fills in what "auto" becomes, see plan_client(), and of a trace, which is
 * read for that, how long its replay takes.  A data set is loaded, and the
 * settings point to it from then on.  ERR_CONFIG for what was asked wrongly,
 * ERR_IO for what this machine does not allow.  preflight_fini() may follow
 * either way, and comes after the last use of the settings. */
int preflight(struct settings *s, struct preflight *out, struct err *err);
void preflight_fini(struct preflight *p);

/* The data set, if there is one; the settings point to it from then on, and
 * the caller owns it.  ERR_CONFIG. */
int preflight_data(struct data_settings *s, struct dataset **out,
                   struct err *err);

/* Lines for people about the files that are sent. */
void preflight_describe_data(const struct preflight *p,
                             const struct settings *s, struct buf *out);

/* Of the target alone; NULL with err set. */
const struct transport_ops *preflight_target(const struct target_settings *s,
                                             struct err *err);

#endif
