/* answers.h - what the server said, kept in DIR/answers.jsonl: a line an
 * answer, in the order in which they end.
 *
 * For runs that are about quality.  It is written where the answer ends, and a
 * slow disk holds up that thread.
 */
#ifndef LOADGEN_ANSWERS_H
#define LOADGEN_ANSWERS_H

#include <stdatomic.h>

#include "common/buf.h"

struct api;
struct err;
struct request;

/* Shared by all threads; each brings its own buffer for a line. */
struct answers {
    int fd;
    atomic_int failed; /* errno of the first write that did; 0: none */
};

/* ERR_IO. */
int answers_open(struct answers *a, const char *dir, struct err *err);

/* ERR_IO if not all of them are there. */
int answers_close(struct answers *a, struct err *err);

/* The request has ended. */
void answers_add(struct answers *a, const struct api *api,
                 const struct request *r, struct buf *line);

#endif
