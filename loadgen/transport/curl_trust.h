/* curl_trust.h - the authorities that a server's certificate is verified by.
 *
 * libcurl reads them from their file for every connection, inside the
 * handshake; here they are read once, and shared by all connections of the
 * process.
 */
#ifndef LOADGEN_TRANSPORT_CURL_TRUST_H
#define LOADGEN_TRANSPORT_CURL_TRUST_H

#include <curl/curl.h>
#include <stdbool.h>

struct curl_trust;
struct err;

/* Those of the file alone, or with NULL those of the system.  Several may have
 * them at a time, in any thread.  NULL with err set to ERR_CONFIG if there are
 * none; NULL without if libcurl has a TLS of its own, which then reads them.
 */
struct curl_trust *curl_trust_take(const char *ca_file, struct err *err);

/* Accepts NULL. */
void curl_trust_give_back(struct curl_trust *trust);

/* A new easy handle, and a proxy that it may go through, are to go by them.
 * NULL: by what libcurl finds.  `is_guarded`, without a trust: its loop is told
 * of what comes in, as it is with one: curl_loop_received(). */
void curl_trust_set(const struct curl_trust *trust, const char *ca_file,
                    bool is_guarded, CURL *easy);

/* What a server agreed to speak in the handshake (ALPN); zeroed before. */
struct curl_agreed {
    bool is_known;     /* there was a handshake that could be looked at */
    char protocol[16]; /* such as "h2"; "": none */
};

/* A new easy handle without a trust is to note it; `agreed` is borrowed.
 * Nothing is noted if libcurl has a TLS of its own. */
void curl_trust_note_agreed(CURL *easy, struct curl_agreed *agreed);

#endif
