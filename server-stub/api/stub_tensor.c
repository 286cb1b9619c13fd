#include "server-stub/api/stub_tensor.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"

#define MAX_ELEMENTS (INT64_C(1) << 32)

/* Multiply *n by size; false if the result is too large. */
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

/* Append the lowest bytes of a number, little-endian. */
static void put_number(uint64_t value, size_t size, struct buf *out)
{
    char bytes[8];

    for (size_t i = 0; i < size; i++)
        bytes[i] = (char)(value >> (8 * i) & 0xff);
    buf_add(out, bytes, size);
}

static bool encode_one(const struct tensor_type *type, const json_t *value,
                       struct buf *out)
{
    int64_t integer = json_integer_value(value);
    int bits = (int)(8 * type->size);
    double wide = json_number_value(value);
    float narrow = (float)wide;
    bool is_in_range;

    switch (type->kind) {
    case TENSOR_BOOL:
        put_number(json_is_true(value), 1, out);
        return json_is_boolean(value);
    case TENSOR_SIGNED:
        is_in_range = bits == 64 || (integer >= -(INT64_C(1) << (bits - 1)) &&
                                     integer >> (bits - 1) <= 0);
        put_number((uint64_t)integer, type->size, out);
        return json_is_integer(value) && is_in_range;
    case TENSOR_UNSIGNED:
        is_in_range = integer >= 0 && (bits == 64 || integer >> bits == 0);
        put_number((uint64_t)integer, type->size, out);
        return json_is_integer(value) && is_in_range;
    case TENSOR_FLOAT: /* both formats are little-endian, as the machine is */
        if (type->size == sizeof(narrow))
            buf_add(out, &narrow, sizeof(narrow));
        else
            buf_add(out, &wide, sizeof(wide));
        return json_is_number(value);
    case TENSOR_BYTES:
        put_number(json_string_length(value), TENSOR_LENGTH_SIZE, out);
        buf_add(out, json_is_string(value) ? json_string_value(value) : "",
                json_string_length(value));
        return json_is_string(value);
    case TENSOR_RAW:
        break;
    }
    return false;
}

/* Adds the number of values to *n. */
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

/* ---- from bytes ---- */

/* Size of the next element; 0 if it is incomplete. */
static size_t size_of_next(const struct tensor_type *type, const char *bytes,
                           size_t len)
{
    uint64_t size = type->size;

    if (type->kind == TENSOR_BYTES) {
        if (len < TENSOR_LENGTH_SIZE)
            return 0;
        size = TENSOR_LENGTH_SIZE + tensor_bits(bytes, TENSOR_LENGTH_SIZE);
    }
    return size <= len ? size : 0;
}

static json_t *decode_one(const struct tensor_type *type, const char *bytes,
                          size_t size)
{
    uint64_t value = type->size > 0 ? tensor_bits(bytes, size) : 0;
    int unused = type->size > 0 ? (int)(64 - 8 * type->size) : 0;
    double number = 0;
    json_t *json;

    switch (type->kind) {
    case TENSOR_BOOL:
        return json_boolean(bytes[0] != 0);
    case TENSOR_SIGNED:
        return json_integer((int64_t)(value << unused) >> unused);
    case TENSOR_UNSIGNED:
        return value > INT64_MAX ? json_real((double)value)
                                 : json_integer((json_int_t)value);
    case TENSOR_FLOAT:
        tensor_element(type, bytes, size, 0, &number);
        json = json_real(number);
        return json ? json : json_null(); /* JSON has no infinity */
    case TENSOR_BYTES:
        return json_stringn(bytes + TENSOR_LENGTH_SIZE,
                            size - TENSOR_LENGTH_SIZE);
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

bool tensor_output_index(const char *name, size_t n_inputs, size_t *nth)
{
    char *end;

    if (!name || strncmp(name, TENSOR_OUTPUT, strlen(TENSOR_OUTPUT)) != 0)
        return false;
    name += strlen(TENSOR_OUTPUT);
    *nth = strtoul(name, &end, 10);
    return *name >= '0' && *name <= '9' && !*end && *nth < n_inputs;
}
