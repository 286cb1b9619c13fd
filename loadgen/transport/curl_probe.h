/* curl_probe.h - can a connection be had the way that libcurl goes: by a proxy,
 * by a unix socket, and over TLS? */
#ifndef LOADGEN_TRANSPORT_CURL_PROBE_H
#define LOADGEN_TRANSPORT_CURL_PROBE_H

#include <stdbool.h>
#include <stddef.h>

struct endpoint;
struct target_settings;

/* One attempt, without a request, which may block for the connect timeout.
 * False where it fails for a reason that stays: nobody at the proxy or the
 * socket, a server that cannot prove who it is, or one that lacks the HTTP/2
 * that was asked for.  Then `why` says where and what.  What may be otherwise
 * the next time is left to the run. */
bool curl_probe(const struct endpoint *e, const struct target_settings *s,
                char *why, size_t size);

#endif
