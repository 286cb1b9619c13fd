/* rank_talk.h - what the ranks of `--launch mpi:N`, and the command that
 * started them, say to each other.
 *
 * The command talks to rank 0 over its standard input and output, rank 0 to all
 * ranks, including itself, over MPI.  Messages are structs: all have been
 * built of the same source for the same kind of machine, which TALK_HERE
 * checks.
 */
#ifndef STUDY_RANK_TALK_H
#define STUDY_RANK_TALK_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/recording/schema.h"
#include "common/spec/abort_rule.h"
#include "loadgen/engine/progress.h"
#include "study/launch/rank_clock.h"

/* A rank speaks this often, and is lost when it has been silent for longer than
 * TALK_LOST_NS.  Then the others have TALK_CUT_NS to end their run.  A rank
 * that hears nothing from rank 0 for TALK_ALONE_NS ends itself. */
#define TALK_BEAT_NS  (250 * NS_PER_MS)
#define TALK_LOST_NS  (2500 * NS_PER_MS)
#define TALK_CUT_NS   (1000 * NS_PER_MS)
#define TALK_ALONE_NS (5 * NS_PER_S)

enum talk_kind {
    TALK_JOB = 1, /* from the command, and from rank 0 to all: a run */
    TALK_ORDER,   /* the same: end it */
    TALK_LEAVE,   /* rank 0 to all: no more jobs */
    TALK_ASK,     /* rank 0 to one: its time */
    TALK_GO,      /* rank 0 to one: the start */

    TALK_TIME,  /* a rank to rank 0: its time */
    TALK_HERE,  /* a rank to rank 0 and the command, as is all below: the first
                   word */
    TALK_READY, /* it waits for the start */
    TALK_STATE, /* progress of the run */
    TALK_ROWS,  /* requests that have ended, if the job asks for them */
    TALK_DONE,  /* its recording is complete, or it failed */

    TALK_ALIVE, /* rank 0 to the command: now and then */
    TALK_CLOCK, /* the same: the clock of a rank, after the run */
    TALK_LOST,  /* the same: a rank has been silent for too long */
    TALK_KINDS,
};

struct talk_job {
    char out[3072]; /* plan.json is there, and the recordings go there */
    int64_t lead_ns;
    int64_t wants_rows;
};

struct talk_order {
    int32_t order; /* enum run_order */
    int32_t signal;
    char why[ABORT_TEXT];
};

struct talk_go {
    int64_t start_at_ns; /* by the clock of rank 0 */
    int64_t offset_ns;   /* the clock of the rank minus that of rank 0 */
};

struct talk_leave {
    int32_t is_orderly; /* no rank is lost, and no run was going on */
};

struct talk_here {
    char version[32];
    char host[64];
    int64_t size; /* of a message */
};

/* A part of struct run_look.  What the rank knows besides the rows comes with
 * the last part. */
struct talk_rows {
    int32_t worker;
    int32_t is_lossy; /* rows are missing from now on: there were too many */
    int32_t is_last;
    int32_t has_seen;
    struct observation seen;
    int64_t start_ns;
    int64_t end_ns;
    int64_t issued;
    int64_t issued_ns;
    int64_t followed_ns;
    int64_t len;
    uint8_t bytes[2600]; /* study/launch/rank_rows.h */
};

struct talk_done {
    int32_t failed;
    char why[sizeof(((struct err *)0)->msg)];
};

struct talk {
    int32_t kind;
    int32_t rank; /* the one that it is from, or about */
    int64_t job;  /* of which it is */
    union {
        struct talk_job job;
        struct talk_order order;
        struct talk_go go;
        struct talk_leave leave;
        struct talk_here here;
        struct talk_done done;
        struct rank_stamps stamps;
        struct rank_offset clock;
        struct run_progress state; /* without worst.text */
        struct talk_rows rows;
    } is;
};

/* The bytes of it that count; 0: no such kind. */
static inline size_t talk_size(int32_t kind)
{
    static const size_t sizes[TALK_KINDS] = {
        [TALK_JOB] = sizeof(struct talk_job),
        [TALK_ORDER] = sizeof(struct talk_order),
        [TALK_ASK] = sizeof(struct rank_stamps),
        [TALK_GO] = sizeof(struct talk_go),
        [TALK_LEAVE] = sizeof(struct talk_leave),
        [TALK_TIME] = sizeof(struct rank_stamps),
        [TALK_HERE] = sizeof(struct talk_here),
        [TALK_STATE] = sizeof(struct run_progress),
        [TALK_ROWS] = sizeof(struct talk_rows),
        [TALK_DONE] = sizeof(struct talk_done),
        [TALK_CLOCK] = sizeof(struct rank_offset),
        [TALK_LOST] = sizeof(struct talk_here),
    };

    return kind < TALK_JOB || kind >= TALK_KINDS
               ? 0
               : offsetof(struct talk, is) + sizes[kind];
}

/* "rank 2 on node7 was lost: ..." */
void talk_describe_lost(int rank, const struct talk_here *here,
                        char out[static ABORT_TEXT]);

/* Reads a stream of them. */
struct talk_reader {
    struct talk next;
    size_t have;
};

/* What is there now; the file is non-blocking.  1: *talk; 0: nothing yet; -1:
 * the stream has ended, or is damaged. */
int talk_read(struct talk_reader *r, int fd, struct talk *talk);

/* Waits TALK_LOST_NS for the reader at most, then fails.  The file is
 * non-blocking. */
int talk_write(int fd, const struct talk *talk);

#endif
