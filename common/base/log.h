/* log.h - messages for people, on standard error.  Data never goes this way.  A
 * message is one line; characters that a terminal obeys are replaced.
 *
 * Only log_flush() blocks.  While a terminal is stopped (Ctrl-S, a hung
 * connection) or a pipe is full, output waits in a bounded queue, in order, for
 * the next call.  The queue is process-wide, as standard error is.
 */
#ifndef COMMON_BASE_LOG_H
#define COMMON_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>

enum log_level {
    LOG_QUIET,  /* errors only */
    LOG_NORMAL, /* progress and notes too */
};

/* Set once, before threads start. */
void log_set_level(enum log_level level);

/* Called before each message, on its thread, to clear the progress display;
 * NULL: nothing to clear. */
void log_set_before(void (*before)(void *arg), void *arg);

/* "tailgate: <text>"; always shown. */
void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Plain line; not shown when quiet. */
void log_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Maximum size of a frame.  At most twice this waits; further messages are
 * dropped. */
#define LOG_MAX_BYTES 16384

/* Show a frame of progress, at most LOG_MAX_BYTES.  Returns false if it was
 * dropped as a whole because standard error is full.  A frame that was begun is
 * completed before anything else is written. */
bool log_frame(const char *bytes, size_t len);

/* Write bytes.  If standard error is full, they wait; beyond the limit they are
 * dropped. */
void log_bytes(const char *bytes, size_t len);

/* Before the end of the program: write what still waits, within a second. */
void log_flush(void);

#endif
