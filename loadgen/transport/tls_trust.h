/* tls_trust.h - the authorities that verify the certificates of servers.
 *
 * They are read once and shared by all connections of the process: the system's
 * are some hundred kilobytes.
 */
#ifndef LOADGEN_TRANSPORT_TLS_TRUST_H
#define LOADGEN_TRANSPORT_TLS_TRUST_H

struct err;
struct ssl_ctx_st;
struct tls_trust;

/* The authorities of the file or, with NULL, those of the system.  They may be
 * taken several times, by any thread.  NULL with ERR_CONFIG if there are none.
 */
struct tls_trust *tls_trust_take(const char *ca_file, struct err *err);

/* Accepts NULL. */
void tls_trust_give_back(struct tls_trust *trust);

/* Verify with them. */
void tls_trust_use(const struct tls_trust *trust, struct ssl_ctx_st *context);

#endif
