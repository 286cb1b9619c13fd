/* certs.h - certificates for a test, made by the openssl command in the scratch
 * directory: NAME.pem and NAME.key.
 *
 *   ca          the authority that signs the others
 *   server      for 127.0.0.1 and localhost
 *   expired     the same, since yesterday no longer
 *   future      the same, from tomorrow on
 *   self        the same, signed by itself
 *   other-host  for another host
 *   wildcard    for any host below localhost
 *   name-alone  for localhost as its common name, with no alternative names
 *   middle      an authority that ca has signed, ...
 *   below       ... and a server that it has signed
 *   old-ca      an authority that has expired, ...
 *   of-old-ca   ... and a server that it has signed
 *   client      of a client
 *   foreign     of a client, signed by itself
 */
#ifndef TESTS_SUPPORT_CERTS_H
#define TESTS_SUPPORT_CERTS_H

#include <stddef.h>

/* What verification says of servers, whichever library does it. */
struct cert_verdict {
    const char *cert;
    const char *host; /* as in the URL */
    const char *ca;   /* the only authority that is trusted */
    const char *why;  /* NULL: all is well */
};

extern const struct cert_verdict cert_verdicts[];
extern const size_t n_cert_verdicts;

/* A group fixture of cmocka: tmpdir_setup(), and all of them. */
int certs_setup(void **state);

#endif
