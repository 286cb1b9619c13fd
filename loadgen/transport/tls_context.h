/* tls_context.h - the client's side of TLS: whom to trust, which certificate to
 * show, which protocol to ask for, and sessions to resume.
 *
 * Each worker has one; its connections are those of common/wire/tls.h.
 */
#ifndef LOADGEN_TRANSPORT_TLS_CONTEXT_H
#define LOADGEN_TRANSPORT_TLS_CONTEXT_H

#include <stddef.h>
#include <stdint.h>

#include "common/wire/tls.h"

struct endpoint;
struct err;
struct ssl_st;
struct target_settings;
struct tls_context;

/* Handshakes that were completed. */
struct tls_counts {
    int64_t handshakes;
    int64_t resumed;     /* of those, with a session from before */
    const char *version; /* of the last, such as "TLSv1.3"; NULL: none */
    const char *cipher;
};

/* Count a handshake that is complete; `ssl` is OpenSSL's. */
void tls_counts_add(struct tls_counts *counts, const struct ssl_st *ssl);

/* Check target.ca_file, target.cert and target.key, as far as they are set:
 * readable, valid, and matching each other.  ERR_CONFIG. */
int tls_files_check(const struct target_settings *s, struct err *err);

/* `protocol` is asked for by ALPN; endpoints have places below n_places.
 * ERR_CONFIG. */
int tls_context_new(struct tls_context **context,
                    const struct target_settings *s, const char *protocol,
                    size_t n_places, struct err *err);

/* Accepts NULL. */
void tls_context_free(struct tls_context *context);

/* A new connection to the endpoint; tls_handshake() is next. */
void tls_context_start(struct tls_context *context, struct tls *t,
                       const struct endpoint *e, const struct tls_io *io,
                       void *arg);

/* Count a handshake that is complete. */
void tls_context_count(struct tls_context *context, const struct tls *t);

struct tls_counts tls_context_counts(const struct tls_context *context);

#endif
