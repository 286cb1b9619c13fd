#include "loadgen/api/grpc_arena.h"

#include <stdlib.h>

#include "common/base/xalloc.h"

struct arena_chunk {
    struct arena_chunk *next;
    _Alignas(max_align_t) char bytes[];
};

static size_t rounded(size_t size)
{
    const size_t unit = _Alignof(max_align_t);

    return (size + unit - 1) / unit * unit;
}

void *arena_take(struct arena *a, size_t size)
{
    struct arena_chunk *chunk;

    if (size <= ARENA_FIRST - a->used) {
        void *at = a->first + a->used;

        a->used += rounded(size);
        if (a->used > ARENA_FIRST)
            a->used = ARENA_FIRST;
        return at;
    }
    chunk = xcalloc(1, sizeof(*chunk) + size);
    chunk->next = a->chunks;
    a->chunks = chunk;
    return chunk->bytes;
}

static void *take(void *arena, size_t size)
{
    return arena_take(arena, size);
}

static void leave(void *arena, void *pointer)
{
    (void)arena;
    (void)pointer;
}

void arena_init(struct arena *a)
{
    a->allocator =
        (ProtobufCAllocator){.alloc = take, .free = leave, .allocator_data = a};
    a->chunks = NULL;
    a->used = 0;
}

void arena_fini(struct arena *a)
{
    while (a->chunks) {
        struct arena_chunk *next = a->chunks->next;

        free(a->chunks);
        a->chunks = next;
    }
}
