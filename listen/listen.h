/* listen.h - lets others watch a run or a study while it goes on: a page that
 * updates itself, metrics, a summary so far.
 *
 * The caller says what is recorded; rows come from the recorder's thread; a
 * thread of its own serves them.  No worker waits for anything here, and the
 * end of a run waits for no client longer than LISTEN_GRACE_NS.
 */
#ifndef LISTEN_LISTEN_H
#define LISTEN_LISTEN_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/clk.h"

struct buf;
struct doc;
struct err;
struct listen;
struct listen_point;
struct run_progress;
struct run_watch;
struct settings;

/* At the end, for clients to take the final report. */
#define LISTEN_GRACE_NS (500 * NS_PER_MS)

/* Lengths of a token.  The maximum leaves room for a user's name and base64 in
 * a header of LISTEN_MAX_VALUE. */
#define LISTEN_MIN_TOKEN 8
#define LISTEN_MAX_TOKEN 256

struct listen_ask {
    const char *address;      /* "127.0.0.1:0"; NULL: serve nothing */
    const char *token;        /* NULL: none */
    const char *metrics_file; /* replaced once per second; NULL: none */
    const char *run;          /* the label that tells runs apart */
};

/* Bind and serve.  ERR_USAGE for an address beyond loopback without a token;
 * ERR_IO. */
int listen_new(struct listen **made, const struct listen_ask *ask,
               struct err *err);

/* Where it serves; "" if it does not. */
const char *listen_url(const struct listen *l);

/* A recording begins.  ERR_CONFIG. */
int listen_begin(struct listen *l, const struct settings *s,
                 const struct listen_point *point, struct err *err);

/* For struct run_options of this recording. */
const struct run_watch *listen_watch(const struct listen *l);
void listen_progress(struct listen *l, const struct run_progress *progress);

/* The recording ended. */
void listen_end(struct listen *l);

/* Is a page open? */
bool listen_is_watched(const struct listen *l);

/* What the study has found so far; borrowed. */
void listen_study(struct listen *l, const struct doc *doc);

/* All is over: offer the report and summary.json, each maybe empty, for
 * `linger_ns` or until the stop flag is set.  The texts are copied. */
void listen_finish(struct listen *l, const struct buf *page,
                   const struct buf *summary, int64_t linger_ns);

/* Accepts NULL. */
void listen_free(struct listen *l);

#endif
