/* supervise.h - a user's server: a shell command that ends with us, and with it
 * all that it has started, whatever happens to us.  Also any other command that
 * we wait for (study/child.h).
 *
 * Between us and the command stands a keeper, a process of its own.  It learns
 * of our end, a SIGKILL too, by a pipe that nobody else holds; it inherits what
 * the command leaves behind, also what has left its process group; and it ends
 * when none of them is left.  If the keeper itself is killed, the kernel kills
 * the command, and supervise_stop() what is left of its group.
 */
#ifndef STUDY_SUPERVISE_H
#define STUDY_SUPERVISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;

struct supervise_how {
    const char *start; /* for /bin/sh -c; stays in the foreground */
    const char *stop;  /* likewise, asked first to end it; NULL: none */
    const char *log;   /* file that the output of both is added to; NULL: our
                          standard error */
    int port;          /* TAILGATE_PORT in their environment; 0: not set here */
    int64_t grace_ns;  /* for `stop`, and again from SIGTERM to SIGKILL */
    bool leaves_rest;  /* once it has ended by itself, what it left running is
                          left alone; if it is ended, that ends with it, and
                          without grace if we are gone */
};

struct supervised {
    pid_t keeper;   /* 0: none */
    pid_t pid;      /* of the command, and of its process group */
    int life_fd;    /* its end is ours */
    int news_fd;    /* from the keeper */
    bool has_ended; /* the command has */
    int status;     /* if so, as of waitpid() ... */
    bool is_orphan; /* ... or nobody knows: the keeper is gone */
    int failed;     /* ... or errno: the keeper could not start it */
};

/* Returns as soon as it is started.  ERR_IO. */
int supervise_start(struct supervised *s, const struct supervise_how *how,
                    struct err *err);

/* Has the command ended by itself?  Does not wait.  Never if nothing was
 * started. */
bool supervise_has_ended(struct supervised *s);

/* "exit code 3" or "signal 9", once it has. */
const char *supervise_describe_end(const struct supervised *s, char *text,
                                   size_t size);

/* End it and wait for that; accepts one that never started. */
void supervise_stop(struct supervised *s);

/* A TCP port that is free on 127.0.0.1 just now; 0 if there is none. */
int supervise_free_port(void);

#endif
