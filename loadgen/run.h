/* run.h - one run: settings in, a recording on disk out. */
#ifndef LOADGEN_RUN_H
#define LOADGEN_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "common/recording/manifest.h"

struct err;
struct settings;

/* What a person may want to see while it runs. */
struct run_progress {
    double elapsed_s;
    double planned_s; /* 0: not known */
    int64_t issued;
    int64_t in_flight;
    int64_t failed;
    int64_t unsent;
};

struct run_options {
    const char *dir;           /* made here, unless the caller has made it */
    bool has_dir;              /* the caller has */
    bool force;                /* replace a recording that is there */
    const char *const *argv;   /* for the manifest */
    const char *settings_file; /* likewise; NULL: none */

    /* Called once for each second of the run, soon after it is over, from the
     * calling thread.  Optional. */
    void (*progress)(void *arg, const struct run_progress *progress);
    void *arg;
};

/* Drive the load and record it; returns when every request has ended, or soon
 * after common/stop.h's flag was set.  *end says how it went.  ERR_CONFIG,
 * ERR_IO; after a disk that failed mid-run what was recorded is kept. */
int run_load(struct settings *settings, const struct run_options *options,
             struct run_end *end, struct err *err);

#endif
