/* scrape.h - the server's own view of a run: its metrics, once a second.
 *
 * A thread of its own scrapes them and writes server.tgr.  The scrapes are
 * spread over their seconds, so that periodic load is not always seen at the
 * same point of its period.  A scrape that fails is recorded as such and does
 * not affect the run.
 */
#ifndef LOADGEN_OBSERVE_SCRAPE_H
#define LOADGEN_OBSERVE_SCRAPE_H

#include <stdint.h>

#include "common/recording/manifest.h"

struct err;
struct scrape;
struct settings;
struct targets;

/* Scrape once to find out whether the server has metrics; *scrape is NULL if it
 * has none; then a note is logged if servers of its API usually have metrics.
 * Arguments are borrowed.  May block for two seconds.  Metrics whose URL is set
 * must be available: ERR_CONFIG, ERR_IO; ERR_STOPPED. */
int scrape_new(struct scrape **scrape, const struct settings *s,
               const struct targets *targets, struct err *err);

/* Write DIR/server.tgr, one row per second, from start_ns of the monotonic
 * clock on.  `dir` is borrowed.  ERR_IO. */
int scrape_start(struct scrape *scrape, const char *dir, int64_t start_ns,
                 struct err *err);

/* End the thread and close the file.  Accepts NULL, and may be called twice. */
void scrape_stop(struct scrape *scrape);

/* Stops it first.  Accepts NULL. */
void scrape_free(struct scrape *scrape);

/* For the manifest; before the start and after the end.  The texts live as long
 * as the scrape. */
struct server_source scrape_source(const struct scrape *scrape);

/* When to scrape in second `n` of the run, in ns after its start. */
int64_t scrape_due_ns(int64_t n);

#endif
