#include "server-stub/api/stub_tensor.h"

#include <jansson.h>
#include <string.h>

#include "common/base/buf.h"

#define MAX_ELEMENTS (INT64_C(1) << 32)

/* Of a string among its bytes. */
#define LENGTH_SIZE 4

/* So many times n; false if that is no number of elements. */
static bool multiply(int64_t *n, int64_t size)
{
    if (size < 0 || size > MAX_ELEMENTS)
        return false;
    *n *= size;
    return *n <= MAX_ELEMENTS;
}

int64_t tensor_elements(const struct json_t *shape)
{
    int64_t n = 1;
    const json_t *size;
    size_t i;

    if (!json_is_array(shape))
        return -1;
    json_array_foreach(shape, i, size)
    {
        if (!json_is_integer(size) || !multiply(&n, json_integer_value(size)))
            return -1;
    }
    return n;
}

int64_t tensor_elements_of(const int64_t *dims, size_t n_dims)
{
    int64_t n = 1;

    for (size_t i = 0; i < n_dims; i++) {
        if (!multiply(&n, dims[i]))
            return -1;
    }
    return n;
}

/* ---- to bytes ---- */

/* The lowest bytes of a number, the lowest first. */
static void put_number(uint64_t value, size_t size, struct buf *out)
{
    char bytes[8];

    for (size_t i = 0; i < size; i++)
        bytes[i] = (char)(value >> (8 * i) & 0xff);
    buf_add(out, bytes, size);
}

/* Is a number within what so many bytes hold? */
static bool is_within(const struct tensor_type *type, int64_t value)
{
    int bits = (int)(8 * type->size);

    if (type->kind == TENSOR_UNSIGNED)
        return value >= 0 && (bits == 64 || value >> bits == 0);
    return bits == 64 ||
           (value >= -(INT64_C(1) << (bits - 1)) && value >> (bits - 1) <= 0);
}

static bool encode_integer(const struct tensor_type *type, const json_t *value,
                           struct buf *out)
{
    if (!json_is_integer(value) || !is_within(type, json_integer_value(value)))
        return false;
    put_number((uint64_t)json_integer_value(value), type->size, out);
    return true;
}

static bool encode_float(const struct tensor_type *type, const json_t *value,
                         struct buf *out)
{
    double wide = json_number_value(value);
    float narrow = (float)wide;
    uint32_t bits32;
    uint64_t bits64;

    if (!json_is_number(value))
        return false;
    memcpy(&bits32, &narrow, sizeof(bits32));
    memcpy(&bits64, &wide, sizeof(bits64));
    put_number(type->size == 4 ? bits32 : bits64, type->size, out);
    return true;
}

static bool encode_one(const struct tensor_type *type, const json_t *value,
                       struct buf *out)
{
    switch (type->kind) {
    case TENSOR_BOOL:
        put_number(json_is_true(value), 1, out);
        return json_is_boolean(value);
    case TENSOR_SIGNED:
    case TENSOR_UNSIGNED:
        return encode_integer(type, value, out);
    case TENSOR_FLOAT:
        return encode_float(type, value, out);
    case TENSOR_BYTES:
        put_number(json_string_length(value), LENGTH_SIZE, out);
        buf_add(out, json_is_string(value) ? json_string_value(value) : "",
                json_string_length(value));
        return json_is_string(value);
    case TENSOR_RAW:
        break;
    }
    return false;
}

/* Adds up how many there were. */
static bool encode_all(const struct tensor_type *type, const json_t *data,
                       int64_t *n, struct buf *out)
{
    const json_t *item;
    size_t i;

    if (!json_is_array(data)) {
        ++*n;
        return encode_one(type, data, out);
    }
    json_array_foreach(data, i, item)
    {
        if (!encode_all(type, item, n, out))
            return false;
    }
    return true;
}

bool tensor_encode(const struct tensor_type *type, const struct json_t *data,
                   int64_t n, struct buf *out)
{
    int64_t found = 0;

    return json_is_array(data) && encode_all(type, data, &found, out) &&
           found == n && !out->overflowed;
}

/* ---- and back ---- */

static uint64_t get_number(const char *bytes, size_t size)
{
    uint64_t value = 0;

    for (size_t i = size; i > 0; i--)
        value = value << 8 | (unsigned char)bytes[i - 1];
    return value;
}

static json_t *decode_float(const char *bytes, size_t size)
{
    uint64_t bits64 = get_number(bytes, size);
    uint32_t bits32 = (uint32_t)bits64;
    double wide;
    float narrow;
    json_t *json;

    memcpy(&wide, &bits64, sizeof(wide));
    memcpy(&narrow, &bits32, sizeof(narrow));
    json = json_real(size == 4 ? (double)narrow : wide);
    return json ? json : json_null(); /* JSON has no infinity */
}

static json_t *decode_integer(const struct tensor_type *type, const char *bytes)
{
    uint64_t value = get_number(bytes, type->size);
    int unused = (int)(64 - 8 * type->size);

    if (type->kind == TENSOR_SIGNED)
        return json_integer((int64_t)(value << unused) >> unused);
    return value > INT64_MAX ? json_real((double)value)
                             : json_integer((json_int_t)value);
}

/* Bytes of the next element; 0 if it is not whole. */
static size_t size_of_next(const struct tensor_type *type, const char *bytes,
                           size_t len)
{
    uint64_t size = type->size;

    if (type->kind == TENSOR_BYTES) {
        if (len < LENGTH_SIZE)
            return 0;
        size = LENGTH_SIZE + get_number(bytes, LENGTH_SIZE);
    }
    return size <= len ? size : 0;
}

static json_t *decode_one(const struct tensor_type *type, const char *bytes,
                          size_t size)
{
    switch (type->kind) {
    case TENSOR_BOOL:
        return json_boolean(bytes[0] != 0);
    case TENSOR_SIGNED:
    case TENSOR_UNSIGNED:
        return decode_integer(type, bytes);
    case TENSOR_FLOAT:
        return decode_float(bytes, size);
    case TENSOR_BYTES:
        return json_stringn(bytes + LENGTH_SIZE, size - LENGTH_SIZE);
    case TENSOR_RAW:
        break;
    }
    return NULL;
}

struct json_t *tensor_decode(const struct tensor_type *type, const char *bytes,
                             size_t len, int64_t n)
{
    json_t *list;

    if (!tensor_is_whole(type, bytes, len, n))
        return NULL;
    list = json_array();
    while (len > 0) {
        size_t size = size_of_next(type, bytes, len);
        json_t *value = decode_one(type, bytes, size);

        if (!value) {
            json_decref(list);
            return NULL;
        }
        json_array_append_new(list, value);
        bytes += size;
        len -= size;
    }
    return list;
}

bool tensor_is_whole(const struct tensor_type *type, const char *bytes,
                     size_t len, int64_t n)
{
    if (type->size > 0)
        return len == type->size * (size_t)n;
    for (; n > 0; n--) {
        size_t size = size_of_next(type, bytes, len);

        if (size == 0)
            return false;
        bytes += size;
        len -= size;
    }
    return len == 0;
}
