/* seen_bodies.h - which request bodies were seen before, by their hash, and how
 * many tokens they got. */
#ifndef SERVER_STUB_SEEN_BODIES_H
#define SERVER_STUB_SEEN_BODIES_H

#include <stddef.h>
#include <stdint.h>

struct seen_body {
    uint64_t hash; /* 0: free */
    int64_t tokens;
};

/* A zeroed struct has seen nothing. */
struct seen {
    struct seen_body *bodies; /* owned; open addressing */
    size_t len;
    size_t cap; /* a power of two */
};

void seen_fini(struct seen *s);

/* Never 0; and of what goes on after that. */
uint64_t seen_hash(const char *data, size_t len);
uint64_t seen_hash_on(uint64_t hash, const char *data, size_t len);

/* Tokens are at least 1; those of the first time are kept, and no more than a
 * million bodies.  The hash is not 0. */
void seen_add(struct seen *s, uint64_t hash, int64_t tokens);

/* Its tokens; 0 if it was not seen. */
int64_t seen_find(const struct seen *s, uint64_t hash);

/* prefix_cache.h - how far a request begins as one before it did: a cache of
 * prefixes, kept in blocks of bytes of the body. */
#define PREFIX_BLOCK 64

/* Bytes at its beginning, in whole blocks, that another has begun with; from
 * now on it is known itself.  `s` holds nothing else. */
size_t prefix_take(struct seen *s, const char *body, size_t len);

#endif
