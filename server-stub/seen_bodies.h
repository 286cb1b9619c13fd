/* seen_bodies.h - which request bodies were seen before, by hash: the response
 * cache and the prefix cache of the stub. */
#ifndef SERVER_STUB_SEEN_BODIES_H
#define SERVER_STUB_SEEN_BODIES_H

#include <stddef.h>
#include <stdint.h>

struct seen_body {
    uint64_t hash; /* 0: free slot */
    int64_t tokens;
};

/* Start with a zeroed struct. */
struct seen {
    struct seen_body *bodies; /* owned; open addressing */
    size_t len;
    size_t cap; /* a power of two */
};

void seen_fini(struct seen *s);

/* Hash of the data; never 0. */
uint64_t seen_hash(const char *data, size_t len);

/* Remember a body with its number of tokens, at least 1; the first number is
 * kept.  Remembers at most a million bodies.  The hash is not 0. */
void seen_add(struct seen *s, uint64_t hash, int64_t tokens);

/* The number of tokens; 0 if the body was not seen. */
int64_t seen_find(const struct seen *s, uint64_t hash);

/* The prefix cache keeps bodies in blocks of this many bytes. */
#define PREFIX_BLOCK 64

/* Number of bytes, in whole blocks, that this body has in common with the start
 * of an earlier one; then remembers the body.  Use `s` for nothing else. */
size_t prefix_take(struct seen *s, const char *body, size_t len);

#endif
