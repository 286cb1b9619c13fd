/* rank.h - one rank: runs its shard of one job after the other, on a thread of
 * its own, while the thread that has the link passes messages. */
#ifndef RANKS_RANK_H
#define RANKS_RANK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "loadgen/engine/run.h"
#include "ranks/queue.h"
#include "study/launch/rank_talk.h"

struct link;

enum rank_stage {
    RANK_IDLE,
    RANK_PREPARES,
    RANK_READY, /* waits for the start */
    RANK_GOES,
    RANK_DONE, /* its thread is over */
};

struct rank {
    struct link *link;
    int64_t job; /* its number */
    struct talk_job what;
    pthread_t thread;
    bool has_thread;
    struct run_party party;
    struct talk_go go; /* set before has_start */
    atomic_bool has_start;
    atomic_int stage;         /* enum rank_stage; set by that thread */
    enum rank_stage reported; /* to rank 0 */
    struct talk_done done;    /* set before RANK_DONE */

    pthread_mutex_t lock; /* for ... */
    struct run_progress progress;
    bool has_progress; /* that was not passed on */
    struct queue rows; /* for rank 0 */

    int64_t heard_ns; /* from rank 0 */
    bool may_leave;
    bool is_orderly; /* no rank is missing: MPI can be ended */
};

void rank_init(struct rank *r, struct link *link);

/* A message from rank 0. */
void rank_take(struct rank *r, const struct talk *talk);

/* Call often: tell rank 0 what is new, and end when it is gone.  False: this
 * rank has nothing more to do. */
bool rank_step(struct rank *r, int64_t now_ns);

/* Waits for what it is doing.  False if a rank may be missing: ending MPI
 * would wait for it for ever. */
bool rank_fini(struct rank *r);

#endif
