/* curl_connect.h - how libcurl connects: TLS, authorities, proxies, unix
 * sockets, addresses; and a probe that tries it.
 *
 * libcurl would read the authorities from their file for every connection,
 * inside the handshake; here it is given those of tls_trust.h.
 */
#ifndef LOADGEN_TRANSPORT_CURL_CONNECT_H
#define LOADGEN_TRANSPORT_CURL_CONNECT_H

#include <stdbool.h>
#include <stddef.h>

struct curl_slist;
struct tls_counts;
struct tls_trust;
struct endpoint;
struct err;
struct target_settings;

/* As tls_trust_take(); NULL without an error if libcurl has a TLS library of
 * its own, which then reads the authorities. */
struct tls_trust *curl_trust_take(const char *ca_file, struct err *err);

/* Set up a new easy handle (a CURL *): TLS and where to connect.  `trust` may
 * be NULL: libcurl then reads the authorities.  Everything is borrowed for as
 * long as the handle lives. */
void curl_set_connection(void *easy, const struct target_settings *s,
                         const struct tls_trust *trust,
                         struct curl_slist *connect_to);

/* Count the handshake of the connection that the transfer of an easy handle has
 * just opened; nothing if it has no TLS, or libcurl another TLS library. */
void curl_count_handshake(void *easy, struct tls_counts *counts);

/* For CURLOPT_CONNECT_TO: connect to the endpoint's address, while Host and TLS
 * keep the name of the URL.  NULL: the endpoint has no address.  The caller
 * frees it. */
struct curl_slist *curl_connect_to(const struct endpoint *e);

/* Can a connection be established?  One attempt, without a request, which may
 * block for the connect timeout.  False if it fails for a lasting reason:
 * nothing listens at the proxy or socket, the server's certificate cannot be
 * verified, or the server lacks the HTTP/2 that is required.  Then `why` says
 * where and what.  Other failures are left to the run. */
bool curl_probe(const struct endpoint *e, const struct target_settings *s,
                char *why, size_t size);

#endif
