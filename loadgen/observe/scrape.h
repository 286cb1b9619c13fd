/* scrape.h - the server's own view of a run: its metrics, once a second.
 *
 * A thread of its own beside the workers asks for them and writes server.tgr.
 * Looks are spread over their seconds, so that load with a rhythm is not seen
 * at the same beat each time.  What goes wrong with a look is written down and
 * harms nothing.
 */
#ifndef LOADGEN_OBSERVE_SCRAPE_H
#define LOADGEN_OBSERVE_SCRAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/recording/manifest.h"

struct err;
struct scrape;
struct settings;
struct targets;

/* Find out, by asking once, whether there is something to look at; *scrape is
 * NULL if there is not, and a note says so where one would expect it.  Both are
 * borrowed.  May block for two seconds.  Metrics that were asked for by URL
 * must be there: ERR_CONFIG, ERR_IO; ERR_STOPPED. */
int scrape_new(struct scrape **scrape, const struct settings *s,
               const struct targets *targets, struct err *err);

/* Write DIR/server.tgr, a row a second, from start_ns of the monotonic clock
 * on.  `dir` is borrowed.  ERR_IO. */
int scrape_start(struct scrape *scrape, const char *dir, int64_t start_ns,
                 struct err *err);

/* End the thread and close the file.  Accepts NULL, and may be called twice. */
void scrape_stop(struct scrape *scrape);

/* Stops as well.  Accepts NULL. */
void scrape_free(struct scrape *scrape);

/* For the manifest, before the start and after the end.  The texts live as long
 * as the scrape. */
struct server_source scrape_source(const struct scrape *scrape);

/* When to look in second `n` of the run, in ns after its start. */
int64_t scrape_due_ns(int64_t n);

#endif
