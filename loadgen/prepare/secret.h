/* secret.h - API keys and the like: they go into requests, and nowhere else.
 *
 * Servers echo what they were sent.  A list of secrets holds every text that
 * must therefore be looked for in what comes back, longest first. */
#ifndef LOADGEN_PREPARE_SECRET_H
#define LOADGEN_PREPARE_SECRET_H

#include <stddef.h>

#include "common/base/buf.h"

struct err;
struct failures;
struct strlist;
struct target_settings;
struct targets;

/* The line "Authorization: Bearer KEY" if target.auth_env or target.auth_file
 * asks for one; a key that names its scheme ("Basic ...") is taken as it is.
 * ERR_CONFIG. */
int secret_add_header(const struct target_settings *s, struct strlist *lines,
                      struct err *err);

/* The values of secret headers and parameters, and the proxy's password, each
 * as a whole and in the parts in which they may come back. */
void secrets_find(const struct targets *ts, const struct target_settings *s,
                  struct strlist *secrets);

/* Stars over each, and over the beginning of one that is cut off at the end. */
void secrets_cross_out(const struct strlist *secrets, char *text, size_t len);

/* The same in what failing requests said. */
void secrets_redact_failures(const struct strlist *secrets,
                             struct failures *failures);

/* The bytes of one direction of an exchange, to show: the values of secret
 * headers, of either side, are gone too. */
void secrets_redact_http(const struct strlist *secrets, const struct buf *bytes,
                         struct buf *out);

#endif
