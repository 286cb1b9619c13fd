/* prefix_cache.h - how far a request begins as one before it did: a cache of
 * prefixes, kept in blocks of bytes of the body. */
#ifndef SERVER_STUB_SIM_PREFIX_CACHE_H
#define SERVER_STUB_SIM_PREFIX_CACHE_H

#include <stddef.h>

#include "server-stub/seen_bodies.h"

#define PREFIX_BLOCK 64

/* Bytes at its beginning, in whole blocks, that another has begun with; from
 * now on it is known itself.  `s` holds nothing else. */
size_t prefix_take(struct seen *s, const char *body, size_t len);

#endif
