#include "loadgen/api/grpc_message.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "loadgen/api/api.h"

/* ---- memory ---- */

struct arena_chunk {
    struct arena_chunk *next;
    _Alignas(max_align_t) char bytes[];
};

void *arena_take(struct arena *a, size_t size)
{
    const size_t unit = _Alignof(max_align_t);
    struct arena_chunk *chunk;

    if (size <= ARENA_FIRST - a->used) {
        void *at = a->first + a->used;

        a->used += (size + unit - 1) / unit * unit;
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

/* ---- values of tensors ---- */

/* Numbers are little-endian, whatever this machine is. */
static uint64_t read_bits(const char *raw, size_t size)
{
    uint64_t bits = 0;

    for (size_t i = size; i > 0; i--)
        bits = bits << 8 | (unsigned char)raw[i - 1];
    return bits;
}

ProtobufCBinaryData typed_first_text(const char *raw, size_t len)
{
    ProtobufCBinaryData none = {0};
    uint64_t text_len;

    if (len < TENSOR_LENGTH_SIZE)
        return none;
    text_len = read_bits(raw, TENSOR_LENGTH_SIZE);
    if (text_len > len - TENSOR_LENGTH_SIZE)
        return none;
    return (ProtobufCBinaryData){.data = (uint8_t *)(uintptr_t)raw +
                                         TENSOR_LENGTH_SIZE,
                                 .len = (size_t)text_len};
}

static struct typed texts_from_raw(const char *raw, size_t len, struct arena *a)
{
    struct typed t = {.texts = arena_take(a, (len / TENSOR_LENGTH_SIZE + 1) *
                                                 sizeof(*t.texts))};
    ProtobufCBinaryData text;

    while ((text = typed_first_text(raw, len)).data) {
        t.texts[t.n++] = text;
        raw += TENSOR_LENGTH_SIZE + text.len;
        len -= TENSOR_LENGTH_SIZE + text.len;
    }
    return t;
}

/* Allocate the list of that type, with room for t->n. */
static void take_list(const struct tensor_type *type, struct typed *t,
                      struct arena *a)
{
    bool is_long = type->size == sizeof(int64_t);
    bool is_bool = type->kind == TENSOR_BOOL;
    void *list = NULL;

    if (type->kind == TENSOR_RAW) /* has no list */
        t->n = 0;
    else
        list = arena_take(a, t->n * (is_bool   ? sizeof(*t->bools)
                                     : is_long ? sizeof(int64_t)
                                               : sizeof(int32_t)));
    if (is_bool)
        t->bools = list;
    else if (type->kind == TENSOR_SIGNED && is_long)
        t->longs = list;
    else if (type->kind == TENSOR_SIGNED)
        t->ints = list;
    else if (type->kind == TENSOR_UNSIGNED && is_long)
        t->ulongs = list;
    else if (type->kind == TENSOR_UNSIGNED)
        t->uints = list;
    else if (type->kind == TENSOR_FLOAT && is_long)
        t->doubles = list;
    else if (type->kind == TENSOR_FLOAT)
        t->floats = list;
}

static void set_element(const struct typed *t, size_t i, const char *raw,
                        size_t size)
{
    uint64_t bits = read_bits(raw, size);
    uint32_t half = (uint32_t)bits;
    unsigned unused = 64 - 8 * (unsigned)size;

    if (t->bools)
        t->bools[i] = bits != 0;
    else if (t->ints)
        t->ints[i] = (int32_t)((int64_t)(bits << unused) >> unused);
    else if (t->longs)
        t->longs[i] = (int64_t)bits;
    else if (t->uints)
        t->uints[i] = half;
    else if (t->ulongs)
        t->ulongs[i] = bits;
    else if (t->floats)
        memcpy(&t->floats[i], &half, sizeof(half));
    else if (t->doubles)
        memcpy(&t->doubles[i], &bits, sizeof(bits));
}

struct typed typed_from_raw(const struct tensor_type *type, const char *raw,
                            size_t len, struct arena *a)
{
    struct typed t = {0};

    if (type->kind == TENSOR_BYTES)
        return texts_from_raw(raw, len, a);
    t.n = len / type->size;
    take_list(type, &t, a);
    for (size_t i = 0; i < t.n; i++)
        set_element(&t, i, raw + i * type->size, type->size);
    return t;
}

static uint64_t get_element(const struct typed *t, size_t i)
{
    uint32_t half = 0;
    uint64_t bits = 0;

    if (t->bools)
        return t->bools[i] != 0;
    if (t->ints)
        return (uint64_t)t->ints[i];
    if (t->longs)
        return (uint64_t)t->longs[i];
    if (t->uints)
        return t->uints[i];
    if (t->ulongs)
        return t->ulongs[i];
    if (t->floats) {
        memcpy(&half, &t->floats[i], sizeof(half));
        return half;
    }
    if (t->doubles)
        memcpy(&bits, &t->doubles[i], sizeof(bits));
    return bits;
}

static void put_bits(uint64_t bits, size_t size, struct buf *out)
{
    char raw[sizeof(bits)];

    for (size_t i = 0; i < size; i++)
        raw[i] = (char)(bits >> (8 * i));
    buf_add(out, raw, size);
}

void typed_put_raw(const struct tensor_type *type, const struct typed *t,
                   struct buf *out)
{
    for (size_t i = 0; i < t->n; i++) {
        if (t->texts) {
            put_bits(t->texts[i].len, TENSOR_LENGTH_SIZE, out);
            buf_add(out, t->texts[i].data, t->texts[i].len);
        } else {
            put_bits(get_element(t, i), type->size, out);
        }
    }
}

/* ---- messages ---- */

char *message_borrow(const char *text)
{
    return (char *)(uintptr_t)text; /* protobuf-c does not write to it */
}

void message_pack(const ProtobufCMessage *m, struct buf *out)
{
    size_t len = protobuf_c_message_get_packed_size(m);
    char *at = buf_reserve(out, len);

    if (!at)
        return; /* buf is marked as overflowed */
    protobuf_c_message_pack(m, (uint8_t *)at);
    buf_commit(out, len);
}

struct jtext message_text(const char *data, size_t len,
                          ProtobufCBinaryData text)
{
    const char *at =
        text.len > 0 ? memmem(data, len, text.data, text.len) : data;

    return (struct jtext){.at = at, .len = at ? text.len : 0};
}

void message_tensor(ProtobufCBinaryData raw, const struct typed *typed,
                    struct check_tensor *tensor, struct buf *room)
{
    if (raw.len > 0)
        buf_add(room, raw.data, raw.len);
    else
        typed_put_raw(tensor->type, typed, room);
    tensor->raw = buf_text(room);
    tensor->len = room->len;
}

int message_inputs(struct inputs *in, struct api *api, struct err *err)
{
    if (!api->model)
        return err_set(err, ERR_CONFIG, "target.model is required (--model)");
    if (inputs_init(in, api, err))
        return -1;
    for (size_t i = 0; i < in->len && api->settings->data.typed; i++) {
        if (in->tensors[i].type->kind == TENSOR_RAW)
            return err_set(err, ERR_CONFIG,
                           "data.typed: %s can only be sent as raw bytes",
                           in->tensors[i].type->name);
    }
    return 0;
}
