/* keeper.h - the process between us and a user's server (study/supervise.h). */
#ifndef STUDY_KEEPER_H
#define STUDY_KEEPER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum keeper_word {
    KEEPER_STARTED, /* value: its pid */
    KEEPER_ENDED,   /* value: its status */
    KEEPER_FAILED,  /* value: errno; nothing was started */
};

/* What it tells us. */
struct keeper_news {
    int kind; /* enum keeper_word */
    int value;
};

struct keeper {
    pid_t parent;
    const char *start;
    const char *stop; /* NULL: none */
    char *const *environment;
    int log_fd;
    int life_fd; /* at its end everything is to end */
    int news_fd; /* written to, never waited for */
    int64_t grace_ns;
    bool leaves_rest; /* end with the command, and leave what it left running */
};

/* Just after a fork, in the child, and to its end.  Calls nothing that a fork
 * among threads does not allow. */
_Noreturn void keeper_run(const struct keeper *k);

#endif
