/* truth_log.h - the truth log: what the stub knows about each request, on disk.
 *
 * Rows are collected and appended in blocks, so that a row costs little and a
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

/* Creates `path` and, with steps, the same name with -steps.  NULL and ERR_IO
 * if a file cannot be created. */
struct truth_log *truth_log_new(const char *path, bool with_steps,
                                struct err *err);

/* Add a row.  The first failure to write is kept for truth_log_free(); later
 * rows are dropped. */
void truth_log_add(struct truth_log *log, const struct truth *row);

/* Only for a log with steps. */
void truth_log_add_step(struct truth_log *log, const struct truth_step *row);

/* Call it often: writes the collected rows once per second. */
void truth_log_tick(struct truth_log *log, int64_t now_ns);

/* Did a write fail? */
bool truth_log_has_failed(const struct truth_log *log);

/* Write what is left and close.  Accepts NULL.  -1 and ERR_IO if that or an
 * earlier write failed; the log is freed in any case. */
int truth_log_free(struct truth_log *log, struct err *err);

#endif
