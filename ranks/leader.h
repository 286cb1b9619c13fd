/* leader.h - what rank 0 does besides sending its shard: it passes jobs on,
 * compares clocks, gives the start when all are ready, and notices who has
 * fallen silent. */
#ifndef RANKS_LEADER_H
#define RANKS_LEADER_H

#include <stdbool.h>
#include <stdint.h>

#include "ranks/queue.h"
#include "study/launch/rank_talk.h"

struct link;
struct member;

enum leader_stage {
    LEADER_IDLE,
    LEADER_GATHERS, /* ranks prepare, and clocks are compared */
    LEADER_RUNS,
    LEADER_CLOSES, /* all are done; clocks are compared once more */
};

struct leader {
    struct link *link;
    int in; /* non-blocking, as is `out`; from and to the command */
    int out;
    struct talk_reader reader;
    struct queue told;      /* for the command */
    struct queue held;      /* rows, until all ranks have begun */
    struct member *members; /* owned; one per rank */
    int n_ready;            /* of the current job, as is ... */
    int n_going;
    int n_done;
    enum leader_stage stage;
    int64_t job;
    int64_t lead_ns;
    int64_t told_ns;    /* the command was told that we live */
    int64_t stepped_ns; /* the last step; 0: none yet */
    bool may_leave;     /* the command has closed our input, or does not read */
    bool has_left;      /* all ranks were told */
};

void leader_init(struct leader *l, struct link *link, int in, int out);
void leader_fini(struct leader *l);

/* A message from a rank. */
void leader_take(struct leader *l, const struct talk *talk);

/* Call often. */
void leader_step(struct leader *l, int64_t now_ns);

#endif
