/* front_tls.h - the stub's side of TLS: its certificate, from files or made
 * here, and the choice between HTTP/1.1 and HTTP/2. */
#ifndef SERVER_STUB_FRONT_FRONT_TLS_H
#define SERVER_STUB_FRONT_FRONT_TLS_H

#include "common/wire/tls.h"

struct err;
struct front_tls;
struct stub_settings;

/* ERR_CONFIG for files that cannot be used. */
int front_tls_new(struct front_tls **tls, const struct stub_settings *s,
                  struct err *err);

/* Accepts NULL. */
void front_tls_free(struct front_tls *tls);

/* A client has connected; tls_handshake() is next. */
void front_tls_start(struct front_tls *tls, struct tls *t,
                     const struct tls_io *io, void *arg);

#endif
