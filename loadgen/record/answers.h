/* answers.h - keeps the server's answers in DIR/answers.jsonl: one line per
 * answer, in the order in which they end.
 *
 * For runs that measure quality.  The worker's thread writes them, and a slow
 * disk delays it.
 */
#ifndef LOADGEN_RECORD_ANSWERS_H
#define LOADGEN_RECORD_ANSWERS_H

#include <stdatomic.h>

#include "common/base/buf.h"
#include "common/base/str.h"

struct api;
struct err;
struct request;
struct target_settings;
struct targets;

/* Shared by all threads; each passes its own buffer for a line. */
struct answers {
    int fd;                 /* below 0: closed */
    struct strlist secrets; /* crossed out if an answer echoes them */
    atomic_int failed;      /* errno of the first failed write; 0: none */
};

/* ERR_IO.  answers_close() may follow either way. */
int answers_open(struct answers *a, const char *dir, const struct targets *ts,
                 const struct target_settings *s, struct err *err);

/* ERR_IO if not all of them were written.  May be called twice. */
int answers_close(struct answers *a, struct err *err);

/* The request has ended. */
void answers_add(struct answers *a, const struct api *api,
                 const struct request *r, struct buf *line);

#endif
