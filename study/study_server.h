/* study_server.h - the server of a run (settings: server): started on a free
 * port, waited for, and ended with all that it has started. */
#ifndef STUDY_STUDY_SERVER_H
#define STUDY_STUDY_SERVER_H

#include <stdbool.h>

#include "study/supervise.h"

struct err;
struct run_plan;

struct server {
    struct supervised process;
    char *log;   /* owned, as is ... */
    char *ready; /* ... what tells that it is; NULL: the target does */
};

/* Start it, with its output in DIR/server.log, and wait until it is ready.  The
 * port that is found for it takes the place of {port} in the target's URLs.
 * ERR_IO if it ends, is not ready in time, or if somebody else listens where it
 * should, with the last line that it has said; ERR_STOPPED with
 * common/base/stop.h's flag.  The caller calls server_stop() in any case. */
int server_start(struct server *server, struct run_plan *plan, const char *dir,
                 struct err *err);

/* Has it ended by itself?  Does not wait. */
bool server_has_ended(struct server *server);

/* The error for one that has; `when` such as "during the run".  Returns -1. */
int server_blame_end(struct server *server, const char *when, struct err *err);

void server_stop(struct server *server);

#endif
