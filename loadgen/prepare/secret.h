/* secret.h - API keys and other secrets: they go into requests and nowhere
 * else.
 *
 * Servers may echo what they were sent.  A list of secrets holds every text
 * that must therefore be removed from answers and messages, longest first. */
#ifndef LOADGEN_PREPARE_SECRET_H
#define LOADGEN_PREPARE_SECRET_H

#include <stddef.h>

#include "common/base/buf.h"

struct err;
struct failures;
struct strlist;
struct target_settings;
struct targets;

/* Add the line "Authorization: Bearer KEY" if target.auth_env or
 * target.auth_file is set; a key that names its scheme ("Basic ...") is used
 * unchanged.  ERR_CONFIG. */
int secret_add_header(const struct target_settings *s, struct strlist *lines,
                      struct err *err);

/* Collect the values of secret headers and URL parameters and the proxy's
 * password, each as a whole and in the parts in which they may be echoed. */
void secrets_find(const struct targets *ts, const struct target_settings *s,
                  struct strlist *secrets);

/* Overwrite each secret with stars, also one that is cut off at the end. */
void secrets_cross_out(const struct strlist *secrets, char *text, size_t len);

/* The same for the texts and bodies of failed requests. */
void secrets_redact_failures(const struct strlist *secrets,
                             struct failures *failures);

/* Append the bytes of one direction of an exchange, without secrets and without
 * the values of secret headers. */
void secrets_redact_http(const struct strlist *secrets, const struct buf *bytes,
                         struct buf *out);

#endif
