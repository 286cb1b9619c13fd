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

ProtobufCBinaryData typed_first_text(const char *raw, size_t len)
{
    ProtobufCBinaryData none = {0};
    uint64_t text_len;

    if (len < TENSOR_LENGTH_SIZE)
        return none;
    text_len = tensor_bits(raw, TENSOR_LENGTH_SIZE);
    if (text_len > len - TENSOR_LENGTH_SIZE)
        return none;
    return (ProtobufCBinaryData){.data = (uint8_t *)(uintptr_t)raw +
                                         TENSOR_LENGTH_SIZE,
                                 .len = (size_t)text_len};
}

/* TENSOR_RAW has no list. */
static enum list_kind kind_of(const struct tensor_type *type)
{
    bool is_long = type->size == sizeof(int64_t);

    switch (type->kind) {
    case TENSOR_BOOL:
        return LIST_BOOL;
    case TENSOR_SIGNED:
        return is_long ? LIST_INT64 : LIST_INT32;
    case TENSOR_UNSIGNED:
        return is_long ? LIST_UINT64 : LIST_UINT32;
    case TENSOR_FLOAT:
        return is_long ? LIST_DOUBLE : LIST_FLOAT;
    case TENSOR_BYTES:
        return LIST_TEXT;
    default:
        return LIST_NONE;
    }
}

static bool is_wide(enum list_kind kind)
{
    return kind == LIST_INT64 || kind == LIST_UINT64 || kind == LIST_DOUBLE;
}

struct typed typed_from_raw(const struct tensor_type *type, const char *raw,
                            size_t len, struct arena *a)
{
    struct typed t = {.kind = kind_of(type)};
    unsigned unused = 64 - 8 * (unsigned)type->size;
    ProtobufCBinaryData text;

    if (t.kind == LIST_NONE)
        return t;
    if (t.kind == LIST_TEXT) {
        ProtobufCBinaryData *texts =
            arena_take(a, (len / TENSOR_LENGTH_SIZE + 1) * sizeof(*texts));

        for (; (text = typed_first_text(raw, len)).data; t.n++) {
            texts[t.n] = text;
            raw += TENSOR_LENGTH_SIZE + text.len;
            len -= TENSOR_LENGTH_SIZE + text.len;
        }
        t.list = texts;
        return t;
    }
    t.n = len / type->size;
    t.list = arena_take(a, t.n * sizeof(uint64_t));
    for (size_t i = 0; i < t.n; i++) {
        uint64_t bits = tensor_bits(raw + i * type->size, type->size);
        uint32_t half = (uint32_t)bits;

        if (t.kind == LIST_BOOL)
            half = bits != 0;
        else if (t.kind == LIST_INT32)
            half = (uint32_t)((int64_t)(bits << unused) >> unused);
        if (is_wide(t.kind))
            memcpy((char *)t.list + i * sizeof(bits), &bits, sizeof(bits));
        else
            memcpy((char *)t.list + i * sizeof(half), &half, sizeof(half));
    }
    return t;
}

void typed_fill(void *message, const struct list_field *fields,
                const struct typed *t)
{
    const struct list_field *f = &fields[t->kind];

    if (f->n_at == 0)
        return;
    memcpy((char *)message + f->n_at, &t->n, sizeof(t->n));
    memcpy((char *)message + f->list_at, &t->list, sizeof(t->list));
}

struct typed typed_find(const void *message, const struct list_field *fields)
{
    struct typed t = {0};

    for (int k = LIST_NONE + 1; k < LIST_COUNT && t.n == 0; k++) {
        if (fields[k].n_at == 0)
            continue;
        t.kind = (enum list_kind)k;
        memcpy(&t.n, (const char *)message + fields[k].n_at, sizeof(t.n));
        memcpy(&t.list, (const char *)message + fields[k].list_at,
               sizeof(t.list));
    }
    return t.n > 0 ? t : (struct typed){0};
}

static uint64_t get_element(const struct typed *t, size_t i)
{
    uint32_t half;
    uint64_t bits;

    if (is_wide(t->kind)) {
        memcpy(&bits, (const char *)t->list + i * sizeof(bits), sizeof(bits));
        return bits;
    }
    memcpy(&half, (const char *)t->list + i * sizeof(half), sizeof(half));
    if (t->kind == LIST_BOOL)
        return half != 0;
    return t->kind == LIST_INT32 ? (uint64_t)(int32_t)half : half;
}

static void put_bits(uint64_t bits, size_t size, struct buf *out)
{
    char raw[sizeof(bits)];

    for (size_t i = 0; i < size; i++)
        raw[i] = (char)(bits >> (8 * i));
    buf_add(out, raw, size);
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
    const ProtobufCBinaryData *texts = typed->list;

    if (raw.len > 0)
        buf_add(room, raw.data, raw.len);
    for (size_t i = 0; raw.len == 0 && i < typed->n; i++) {
        if (typed->kind == LIST_TEXT) {
            put_bits(texts[i].len, TENSOR_LENGTH_SIZE, room);
            buf_add(room, texts[i].data, texts[i].len);
        } else {
            put_bits(get_element(typed, i), tensor->type->size, room);
        }
    }
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
