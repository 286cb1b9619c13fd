/* redact.h - what must never be shown, and how the rest of it is.
 *
 * Secret are the values of headers and of URL parameters whose names say so,
 * and the user and password of a URL.  They are sent, and that is all.  Pure.
 */
#ifndef COMMON_BASE_REDACT_H
#define COMMON_BASE_REDACT_H

#include <stdbool.h>
#include <stddef.h>

/* What stands in place of a header's value. */
#define REDACTED "(redacted)"

/* A stretch of a text; len 0: there is none. */
struct redact_span {
    size_t from;
    size_t len;
};

/* Must the value of a header, URL parameter or setting of this name never be
 * shown?  One list decides, in any case of letters: names that contain auth,
 * cookie, token, secret, key, passw, bearer, credential, signature, session,
 * jwt or assertion, or have sig, pass, pwd, sid, sess, otp or csrf as a word.
 */
bool redact_is_secret(const char *name);

/* The first secret of a URL, or of any text with parameters, at or after
 * `at`: the user and password, or the value of a secret parameter. */
struct redact_span redact_find(const char *text, size_t at);

/* Take %20 and the like out of the text, in place; false if there was none. */
bool redact_decode(char *text);

/* These return a copy without secrets, which the caller frees. */

/* At most three stars for each secret: a URL stays one, and gets no longer. */
char *redact_url(const char *text);

/* The URLs in a text such as a command; a text without "://" stays as it is. */
char *redact_text(const char *text);

char *redact_header(const char *name, const char *value);

/* Is the text one whose secret was taken out by these? */
bool redact_was(const char *text);

/* argv[i], whichever way it holds a header or a URL. */
char *redact_arg(const char *const *argv, size_t i);

#endif
