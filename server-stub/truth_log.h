/* truth_log.h - the truth log: what the stub knows of each request, on disk.
 *
 * Rows are gathered and appended as blocks, so that one costs little and a
 * stub that is killed loses at most the last second.
 */
#ifndef SERVER_STUB_TRUTH_LOG_H
#define SERVER_STUB_TRUTH_LOG_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct truth;
struct truth_log;
struct truth_step;

/* `path`, and beside it the same name with -steps, if there are to be any.
 * NULL and ERR_IO if a file cannot be made. */
struct truth_log *truth_log_new(const char *path, bool with_steps,
                                struct err *err);

/* Take a row.  The first failure to write is kept for truth_log_free(), and
 * from then on rows are dropped. */
void truth_log_add(struct truth_log *log, const struct truth *row);

/* Only of a log with steps. */
void truth_log_add_step(struct truth_log *log, const struct truth_step *row);

/* Call often: writes what is there once a second. */
void truth_log_tick(struct truth_log *log, int64_t now_ns);

/* Did a write fail? */
bool truth_log_has_failed(const struct truth_log *log);

/* Write what is left and close; accepts NULL.  -1 and ERR_IO if that or any
 * write before it failed; gone in either case. */
int truth_log_free(struct truth_log *log, struct err *err);

#endif
