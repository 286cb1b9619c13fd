/* certs.h - certificates for a test, made by the openssl command in the scratch
 * directory: NAME.pem and NAME.key.
 *
 *   ca          the authority that signs the others
 *   server      for 127.0.0.1 and localhost
 *   expired     the same, since yesterday no longer
 *   self        the same, signed by itself
 *   other-host  for another host
 *   client      of a client
 */
#ifndef TESTS_SUPPORT_CERTS_H
#define TESTS_SUPPORT_CERTS_H

/* A group fixture of cmocka: tmpdir_setup(), and all of them. */
int certs_setup(void **state);

#endif
