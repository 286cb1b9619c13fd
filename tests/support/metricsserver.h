/* metricsserver.h - a server that has one good page, and then misbehaves. */
#ifndef TESTS_SUPPORT_METRICSSERVER_H
#define TESTS_SUPPORT_METRICSSERVER_H

#include <sys/types.h>

/* How it answers, after a first answer that is good. */
enum metrics_way {
    WAY_GOOD,
    WAY_STALL,   /* not at all */
    WAY_GARBAGE, /* with bytes of no sense */
    WAY_HUGE,    /* with 10 MB of series */
    WAY_ERROR,   /* with status 500 */
    WAY_CUT,     /* with half of an answer */
    WAY_OTHER,   /* with a page that has no series that one knows */
    WAY_COUNT,
};

struct metricsserver {
    pid_t pid;
    char url[40];
};

/* Requests are appended to the file `log` as they come. */
struct metricsserver metricsserver_start(const char *page, enum metrics_way way,
                                         const char *log);
void metricsserver_stop(struct metricsserver *s);

#endif
