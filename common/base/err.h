/* err.h - error reporting.
 *
 * A function that can fail returns 0 or -1 and takes a struct err as its last
 * parameter.  On success it does not touch the err.  On failure it sets one
 * message that can be shown to the user as it is.  Only cli/ prints an err and
 * turns it into an exit status.
 *
 * A request that fails is not an err.  It is a result, and it is recorded.
 */
#ifndef COMMON_BASE_ERR_H
#define COMMON_BASE_ERR_H

enum err_code {
    ERR_NONE = 0,
    ERR_USAGE,  /* the command line is wrong */
    ERR_CONFIG, /* a setting is wrong, or an input is missing or unreadable */
    ERR_IO,     /* a local file cannot be written, or a socket call failed */
    ERR_FORMAT, /* a recording is damaged or has another version */
    ERR_UNTOLD, /* the measurements do not allow an answer */
    ERR_STOPPED /* common/base/stop.h's flag was set */
};

struct err {
    enum err_code code;
    char msg[512];
};

/* Set code and message, made printable (common/base/str.h).  Returns -1, so
 * that a caller can `return err_set(...)`.  The err must not be set already:
 * the first failure is reported. */
int err_set(struct err *err, enum err_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Put "<context>: " before the message.  Returns -1, like err_set(). */
int err_context(struct err *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
