/* secret.h - API keys, which come from the environment or a file and go into
 * requests, and nowhere else. */
#ifndef LOADGEN_SECRET_H
#define LOADGEN_SECRET_H

struct err;
struct failures;
struct strlist;
struct target_settings;

/* The line "Authorization: Bearer KEY" if target.auth_env or target.auth_file
 * asks for one; a key that names its scheme ("Basic ...") is taken as it is.
 * ERR_CONFIG. */
int secret_add_header(const struct target_settings *s, struct strlist *lines,
                      struct err *err);

/* Servers echo what they were sent: take the values of secret headers out of
 * what failing requests said. */
void secret_redact(const struct strlist *lines, struct failures *failures);

#endif
