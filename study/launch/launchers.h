/* launchers.h - the ways to start the shards of a run.
 *
 * Each is a shell script that gets the following variables and leaves the
 * recording of shard I in $TAILGATE_OUT/I, for all I; a user's own command
 * works in the same way.
 *
 *   TAILGATE_PLAN      file for `tailgate shard`: settings, number, start
 *   TAILGATE_SHARDS    their number, N
 *   TAILGATE_START_AT  the common start: @SECONDS since 1970
 *   TAILGATE_OUT       directory, which exists
 *   TAILGATE_EXE       this program
 *   TAILGATE_LAUNCH    what followed the name: the hosts of ssh:HOST,HOST
 *
 * It ends with status 0 when all are there.  SIGTERM asks it to end early; what
 * it has started and does not end is ended by us.  $TAILGATE_OUT/I.clock may
 * hold what `tailgate clock --json COMMAND` found out about the clock of shard
 * I. */
#ifndef STUDY_LAUNCHERS_H
#define STUDY_LAUNCHERS_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct err;
struct ranks;

struct launcher_ops {
    const char *name;
    const char *form;   /* how it is written, for messages */
    const char *script; /* NULL: the user's command */
    const char *file;   /* written to $TAILGATE_OUT/job.template; NULL: none */
    int64_t lead_ns;    /* from the launch to the common start */
    bool is_resident;   /* the processes stay for further recordings */
    bool is_remote;     /* shards do not reach 127.0.0.1 of this machine */

    /* Find the number of shards in what follows the name and a colon (NULL:
     * nothing does); 0: it does not say.  -1: that is wrong. */
    int64_t (*count)(const char *rest);
};

/* How one recording is made. */
struct launcher {
    const struct launcher_ops *ops; /* NULL: by this process */
    const char *rest;               /* after "ssh:", or the command; borrowed */
    struct ranks *ranks;            /* those that stay; borrowed */
    int64_t n;                      /* shards */
    int64_t lead_ns;
    int64_t second_lead_ns; /* the same, of the second attempt */
    int64_t limit_ns; /* of the first attempt; 0: by the length of the run */
};

/* What --launch, --shards, --launch-lead and --launch-limit ask for; 0: not
 * given.  ERR_USAGE. */
struct launch_ask {
    const char *text;
    int64_t shards;
    int64_t lead_ns;
    int64_t limit_ns;
};

/* Do its processes stay, and so say what they do? */
bool launcher_is_resident(const char *text);

int launcher_find(struct launcher *l, const struct launch_ask *ask,
                  struct err *err);

/* Append the script, or the user's command. */
void launcher_script(const struct launcher *l, struct buf *out);

#endif
