/* tls_files.h - checks the certificate and key files of TLS before a run. */
#ifndef LOADGEN_TRANSPORT_TLS_FILES_H
#define LOADGEN_TRANSPORT_TLS_FILES_H

struct err;
struct target_settings;

/* Check target.ca_file, target.cert and target.key, as far as they are set:
 * readable, valid, and matching each other.  ERR_CONFIG. */
int tls_files_check(const struct target_settings *s, struct err *err);

#endif
