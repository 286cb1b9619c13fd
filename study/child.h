/* child.h - a stub that runs beside us, as a process of its own; and a user's
 * command, which is waited for.
 *
 * It is this same executable, in a process group of its own so that a Ctrl-C
 * is ours alone; it ends with us, whatever happens to us. */
#ifndef STUDY_CHILD_H
#define STUDY_CHILD_H

#include <stdint.h>
#include <sys/types.h>

#include "common/base/clk.h"

struct err;
struct settings;

struct child {
    pid_t pid;        /* 0: none */
    char *url;        /* owned */
    char *grpc_url;   /* likewise; NULL: it speaks none */
    int64_t grace_ns; /* from SIGTERM to SIGKILL; 0: 10 s */
};

/* Start it with the stub's settings, on a free port, and on one more for gRPC
 * if they say so or a target is of that kind, and wait until it listens.
 * `truth_path` may be NULL.  ERR_CONFIG for settings that it cannot serve,
 * ERR_IO if it does not start. */
int child_start_stub(struct child *child, const struct settings *settings,
                     const char *truth_path, struct err *err);

/* The URL of it that a target of this URL is meant for. */
const char *child_url_for(const struct child *child, const char *target);

/* End it and wait for that; accepts one that never started.  ERR_IO if it had
 * failed, or did not end within its grace and was killed. */
int child_stop(struct child *child, struct err *err);

/* How long a user may take to start a server. */
#define CHILD_PATIENCE_NS (INT64_C(86400) * NS_PER_S)

/* `/bin/sh -c command`, in a session of its own, with nothing to read and its
 * output among our messages; returns when it has ended, whatever it leaves
 * running.  ERR_IO if it fails or does not end within most_ns; ERR_STOPPED with
 * common/base/stop.h's flag.  In both cases, and if we are killed, it is ended
 * with all that it has started: SIGTERM, and 2 s later SIGKILL.  Errors begin
 * with `key`, the setting that it is from. */
int child_run_command(const char *command, const char *key, int64_t most_ns,
                      struct err *err);

#endif
