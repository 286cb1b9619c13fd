/* child.h - a stub that runs as a process of its own, and a user's command that
 * is waited for.
 *
 * The stub is this same executable.  It has its own process group, so that
 * Ctrl-C reaches only us; it ends when we end, even if we are killed. */
#ifndef STUDY_CHILD_H
#define STUDY_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/base/clk.h"

struct err;
struct settings;

struct child {
    pid_t pid;        /* 0: none */
    char *url;        /* owned */
    char *grpc_url;   /* owned; NULL: it does not serve gRPC */
    int64_t grace_ns; /* from SIGTERM to SIGKILL; 0: 10 s */
};

/* Start it with the stub's settings on a free port, and on a second one for
 * gRPC if the settings or a target ask for that, and wait until it listens.
 * `truth_path` may be NULL.  ERR_CONFIG for settings that it cannot serve,
 * ERR_IO if it does not start. */
int child_start_stub(struct child *child, const struct settings *settings,
                     const char *truth_path, struct err *err);

/* The URL of the stub that replaces a target's URL: HTTP or gRPC. */
const char *child_url_for(const struct child *child, const char *target);

/* End it and wait for that; accepts one that was never started.  ERR_IO if it
 * failed, or did not end within its grace and was killed. */
int child_stop(struct child *child, struct err *err);

/* A program with which we talk over pipes. */
struct child_piped {
    pid_t pid;
    int in_fd;  /* its standard input, for us to write */
    int out_fd; /* its standard output, for us to read */
};

/* Start a program by its name or path; its standard error is ours, and it gets
 * SIGTERM when we end.  A name that does not exist is seen by its output, which
 * ends at once.  ERR_IO. */
int child_start_piped(struct child_piped *child, const char *const *argv,
                      struct err *err);

/* Close the pipes, send SIGTERM unless it ends by that, and wait for its end.
 */
void child_end_piped(struct child_piped *child, bool is_told);

/* From now on, the end of our standard input is a SIGTERM for us: a process of
 * its own reads and drops what comes.  ERR_IO. */
int child_follow_input(struct err *err);

/* The maximum time for a user's command that restarts a server. */
#define CHILD_PATIENCE_NS (INT64_C(86400) * NS_PER_S)

/* Run `/bin/sh -c command` in a session of its own, with nothing to read and
 * its output among our messages, and wait until it ends; what it leaves running
 * is left alone.  ERR_IO if it fails or does not end within max_ns; ERR_STOPPED
 * with common/base/stop.h's flag.  In both cases, and if we are killed, it is
 * ended with everything that it has started: SIGTERM, and 2 s later SIGKILL.
 * Errors begin with `key`, the setting that holds the command. */
int child_run_command(const char *command, const char *key, int64_t max_ns,
                      struct err *err);

#endif
