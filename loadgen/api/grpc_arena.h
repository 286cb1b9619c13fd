/* grpc_arena.h - memory for one message of protobuf-c, given back at once.
 *
 * A small message needs none beyond what is in here, so that reading one costs
 * no call of malloc.  It stays where it is between init and fini.
 */
#ifndef LOADGEN_API_GRPC_ARENA_H
#define LOADGEN_API_GRPC_ARENA_H

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>

#define ARENA_FIRST 4096

struct arena_chunk;

struct arena {
    ProtobufCAllocator allocator; /* for protobuf-c, which never has to free */
    struct arena_chunk *chunks;   /* beyond the first; owned */
    size_t used;
    _Alignas(max_align_t) char first[ARENA_FIRST];
};

void arena_init(struct arena *a);
void arena_fini(struct arena *a);

/* Never NULL; not zeroed. */
void *arena_take(struct arena *a, size_t size);

/* Room for n pointers, as protobuf-c has its lists. */
static inline void *arena_take_pointers(struct arena *a, size_t n)
{
    return arena_take(a, n * sizeof(void *));
}

#endif
