/* redact.h - secrets, and how to show text without them.
 *
 * Secret are the values of headers and URL parameters whose names say so, and
 * the user and password of a URL.  They are sent, but never shown or recorded.
 * Pure.
 */
#ifndef COMMON_BASE_REDACT_H
#define COMMON_BASE_REDACT_H

#include <stdbool.h>
#include <stddef.h>

/* Replaces the value of a secret header. */
#define REDACTED "(redacted)"

/* Part of a text; len is 0 if there is none. */
struct redact_span {
    size_t from;
    size_t len;
};

/* Is the value of a header, URL parameter or setting of this name secret?  True
 * for names that contain auth, cookie, token, secret, key, passw, passphrase,
 * bearer, credential, signature, session, jwt, assertion, hmac, saml, private
 * or ticket, or that have sig, pass, pwd, pw, pin, sid, sess, otp, csrf or code
 * as a word.  Case is ignored. */
bool redact_is_secret(const char *name);

/* The first secret at or after `at` in a URL, or in a text with parameters: the
 * user and password, or the value of a secret parameter. */
struct redact_span redact_find(const char *text, size_t at);

/* Decode %20 and the like in place; false if there was nothing to decode. */
bool redact_decode(char *text);

/* Was a secret removed from this text by the functions below? */
bool redact_was(const char *text);

/* These return a copy without secrets, which the caller frees. */

/* At most three stars for each secret: the result is a URL and not longer. */
char *redact_url(const char *text);

/* Redacts the URLs in a text such as a command; a text without "://" is
 * unchanged. */
char *redact_text(const char *text);

/* The value of a header. */
char *redact_header(const char *name, const char *value);

/* argv[i], in whatever form it contains a header or a URL. */
char *redact_arg(const char *const *argv, size_t i);

#endif
