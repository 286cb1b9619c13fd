/* supervise.h - a user's server: a shell command that ends when we end, with
 * everything that it has started, even if we are killed.  Also any other
 * command that we wait for (study/child.h).
 *
 * A process of its own, the keeper, is the parent of the command.  It learns of
 * our end, also by SIGKILL, through a pipe that no other process holds; it
 * inherits the processes that the command leaves behind, even those that have
 * left its process group; and it ends when none of them is left.  If the keeper
 * itself is killed, the kernel kills the command, and supervise_stop() kills
 * the rest of its group.
 */
#ifndef STUDY_SUPERVISE_H
#define STUDY_SUPERVISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct strlist;

struct supervise_how {
    const char *start; /* for /bin/sh -c; stays in the foreground */
    const char *stop;  /* command that is run first to end it; NULL: none */
    const char *log;   /* the output of both is appended to this file; NULL:
                          our standard error */
    int port;          /* TAILGATE_PORT in their environment; 0: not set here */
    int in_fd;         /* standard input of `start`; 0: nothing to read */
    int out_fd;        /* standard output of both; 0: as the rest */
    const struct strlist *environment; /* more of it: "NAME=value"; NULL: none
                                        */
    int64_t grace_ns; /* for `stop`, and again from SIGTERM to SIGKILL */
    bool leaves_rest; /* processes that a command leaves running when it ends
                         by itself are left alone; if the command is ended,
                         they are ended too, without grace if we are gone */
};

struct supervised {
    pid_t keeper;   /* 0: none */
    pid_t pid;      /* of the command, and of its process group */
    int life_fd;    /* closed when we end */
    int news_fd;    /* from the keeper */
    bool has_ended; /* the command has */
    int status;     /* if so, as of waitpid() ... */
    bool is_orphan; /* ... or it is not known: the keeper is gone */
    int failed;     /* ... or errno: the keeper could not start it */
};

/* Start the command, without waiting for anything.  ERR_IO. */
int supervise_start(struct supervised *s, const struct supervise_how *how,
                    struct err *err);

/* Has the command ended by itself?  Does not wait.  False if nothing was
 * started. */
bool supervise_has_ended(struct supervised *s);

/* "exit code 3" or "signal 9", once it has ended. */
const char *supervise_describe_end(const struct supervised *s, char *text,
                                   size_t size);

/* End it and wait for that; accepts one that was never started. */
void supervise_stop(struct supervised *s);

/* A TCP port that is free on 127.0.0.1 now; 0: none. */
int supervise_free_port(void);

#endif
