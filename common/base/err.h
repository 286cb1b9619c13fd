/* err.h - how a function says what went wrong.
 *
 * A function that can fail returns 0 or -1 and takes a struct err as its last
 * parameter.  On success it leaves the err alone.  On failure it fills in one
 * message that is good enough to show the user as it stands.  Only cli/
 * prints an err, and only cli/ turns one into an exit status.
 *
 * A request that fails is not an err: it is a result, and it is recorded.
 */
#ifndef COMMON_BASE_ERR_H
#define COMMON_BASE_ERR_H

enum err_code {
    ERR_NONE = 0,
    ERR_USAGE,  /* the command line is wrong */
    ERR_CONFIG, /* the settings are wrong, or an input that is named is not
                 * there or cannot be read */
    ERR_IO,     /* a local file cannot be written, or a socket call failed */
    ERR_FORMAT, /* an artefact is damaged or of another version */
    ERR_UNTOLD, /* what was measured does not tell */
    ERR_STOPPED /* common/base/stop.h's flag was set */
};

struct err {
    enum err_code code;
    char msg[512];
};

/* Set code and message, on one line that a terminal can show whatever it quotes
 * (common/base/printable.h); return -1, so that a caller can `return
 * err_set(...)`. The err must not be set already: the first failure is the one
 * to report. */
int err_set(struct err *err, enum err_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Put "<context>: " before the message.  Returns -1, like err_set(). */
int err_context(struct err *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
