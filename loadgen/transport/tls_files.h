/* tls_files.h - are the files that TLS was given what they should be?  Nothing
 * is sent anywhere. */
#ifndef LOADGEN_TRANSPORT_TLS_FILES_H
#define LOADGEN_TRANSPORT_TLS_FILES_H

struct err;
struct target_settings;

/* target.ca_file, target.cert and target.key, as far as they were given.
 * ERR_CONFIG. */
int tls_files_check(const struct target_settings *s, struct err *err);

#endif
