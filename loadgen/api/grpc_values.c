#include "loadgen/api/grpc_values.h"

#include <string.h>

#include "common/base/buf.h"
#include "common/wire/tensor.h"
#include "loadgen/api/grpc_arena.h"

/* Numbers are little-endian, whatever this machine is. */
static uint64_t read_bits(const char *raw, size_t size)
{
    uint64_t bits = 0;

    for (size_t i = size; i > 0; i--)
        bits = bits << 8 | (unsigned char)raw[i - 1];
    return bits;
}

static int64_t read_signed(const char *raw, size_t size)
{
    uint64_t bits = read_bits(raw, size);
    unsigned unused = 64 - 8 * (unsigned)size;

    return (int64_t)(bits << unused) >> unused;
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

/* The list of that type, with room for t->n. */
static void take_list(const struct tensor_type *type, struct typed *t,
                      struct arena *a)
{
    bool is_long = type->size == sizeof(int64_t);

    switch (type->kind) {
    case TENSOR_BOOL:
        t->bools = arena_take(a, t->n * sizeof(*t->bools));
        break;
    case TENSOR_SIGNED:
        if (is_long)
            t->longs = arena_take(a, t->n * sizeof(*t->longs));
        else
            t->ints = arena_take(a, t->n * sizeof(*t->ints));
        break;
    case TENSOR_UNSIGNED:
        if (is_long)
            t->ulongs = arena_take(a, t->n * sizeof(*t->ulongs));
        else
            t->uints = arena_take(a, t->n * sizeof(*t->uints));
        break;
    case TENSOR_FLOAT:
        if (is_long)
            t->doubles = arena_take(a, t->n * sizeof(*t->doubles));
        else
            t->floats = arena_take(a, t->n * sizeof(*t->floats));
        break;
    default: /* TENSOR_RAW has none */
        t->n = 0;
    }
}

static void set_element(const struct typed *t, size_t i, const char *raw,
                        size_t size)
{
    uint64_t bits = read_bits(raw, size);
    uint32_t half = (uint32_t)bits;

    if (t->bools)
        t->bools[i] = bits != 0;
    else if (t->ints)
        t->ints[i] = (int32_t)read_signed(raw, size);
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
