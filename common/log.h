/* log.h - messages for people, on stderr.  Data never goes this way.  A message
 * is one line; what a terminal would obey in it is replaced. */
#ifndef COMMON_LOG_H
#define COMMON_LOG_H

enum log_level {
    LOG_QUIET,  /* errors alone */
    LOG_NORMAL, /* progress and notes too */
};

/* Set once, before threads start. */
void log_set_level(enum log_level level);

/* Called before each message, on its thread, to clear what is in the way; NULL:
 * nothing is. */
void log_set_before(void (*before)(void *arg), void *arg);

/* "tailgate: <text>"; always shown. */
void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Plain line; not shown when quiet. */
void log_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
