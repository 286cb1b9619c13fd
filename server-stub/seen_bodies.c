#include "server-stub/seen_bodies.h"

#include <stdbool.h>
#include <stdlib.h>

#include "common/base/hash.h"
#include "common/base/xalloc.h"

#define FIRST_CAP 1024
#define MAX_LEN   ((size_t)1 << 20)

void seen_fini(struct seen *s)
{
    free(s->bodies);
    *s = (struct seen){0};
}

/* Hash of data that continues what was hashed before. */
static uint64_t seen_hash_on(uint64_t hash, const char *data, size_t len)
{
    hash = fnv_bytes(hash, data, len);
    return hash ? hash : 1;
}

uint64_t seen_hash(const char *data, size_t len)
{
    return seen_hash_on(FNV_START, data, len);
}

/* The slot of this hash, or the free slot where it would go. */
static struct seen_body *slot(const struct seen *s, uint64_t hash)
{
    size_t at = hash & (s->cap - 1);

    while (s->bodies[at].hash != 0 && s->bodies[at].hash != hash)
        at = (at + 1) & (s->cap - 1);
    return &s->bodies[at];
}

void seen_add(struct seen *s, uint64_t hash, int64_t tokens)
{
    struct seen_body *body;

    if (s->len == MAX_LEN)
        return;
    if (2 * s->len >= s->cap) {
        struct seen larger = {.cap = s->cap ? 2 * s->cap : FIRST_CAP,
                              .len = s->len};

        larger.bodies = xcalloc(larger.cap, sizeof(*larger.bodies));
        for (size_t i = 0; i < s->cap; i++) {
            if (s->bodies[i].hash != 0)
                *slot(&larger, s->bodies[i].hash) = s->bodies[i];
        }
        free(s->bodies);
        *s = larger;
    }
    body = slot(s, hash);
    if (body->hash == hash)
        return;
    *body = (struct seen_body){hash, tokens};
    s->len++;
}

int64_t seen_find(const struct seen *s, uint64_t hash)
{
    return s->cap > 0 ? slot(s, hash)->tokens : 0;
}

/* The hash of a block includes everything before it. */
size_t prefix_take(struct seen *s, const char *body, size_t len)
{
    uint64_t hash = seen_hash("", 0);
    size_t known = 0;

    for (size_t end = PREFIX_BLOCK; end <= len; end += PREFIX_BLOCK) {
        bool is_next = known + PREFIX_BLOCK == end;

        hash = seen_hash_on(hash, body + end - PREFIX_BLOCK, PREFIX_BLOCK);
        if (is_next && seen_find(s, hash) > 0)
            known = end;
        else
            seen_add(s, hash, 1);
    }
    return known;
}
