#include "common/wire/tensor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/err.h"

#define MAX_ELEMENTS (INT64_C(1) << 28)

/* Length of a generated string; raw, its length precedes it. */
#define TEXT_LEN 8

static const struct tensor_type types[] = {
    {"BOOL", TENSOR_BOOL, 1, 10},      {"UINT8", TENSOR_UNSIGNED, 1, 4},
    {"UINT16", TENSOR_UNSIGNED, 2, 0}, {"UINT32", TENSOR_UNSIGNED, 4, 0},
    {"UINT64", TENSOR_UNSIGNED, 8, 0}, {"INT8", TENSOR_SIGNED, 1, 6},
    {"INT16", TENSOR_SIGNED, 2, 5},    {"INT32", TENSOR_SIGNED, 4, 3},
    {"INT64", TENSOR_SIGNED, 8, 9},    {"FP16", TENSOR_RAW, 2, 19},
    {"BF16", TENSOR_RAW, 2, 0},        {"FP32", TENSOR_FLOAT, 4, 1},
    {"FP64", TENSOR_FLOAT, 8, 2},      {"BYTES", TENSOR_BYTES, 0, 7},
};

const struct tensor_type *tensor_type_find(const char *name)
{
    for (size_t i = 0; name && i < sizeof(types) / sizeof(types[0]); i++) {
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
    }
    return NULL;
}

const struct tensor_type *tensor_type_of_tf(int number)
{
    for (size_t i = 0; number && i < sizeof(types) / sizeof(types[0]); i++) {
        if (types[i].tf == number)
            return &types[i];
    }
    return NULL;
}

int tensor_parse(const char *text, struct tensor *t, struct err *err)
{
    char type[16] = "";
    char shape[128] = "";
    char rest[2] = "";

    *t = (struct tensor){.n = 1};
    if (sscanf(text, "%127s %15s %127s %1s", t->name, type, shape, rest) < 2 ||
        rest[0])
        return err_set(err, ERR_CONFIG,
                       "'%s' is not a tensor; write name, type and shape: 'x "
                       "FP32 1x16'",
                       text);
    t->type = tensor_type_find(type);
    if (!t->type)
        return err_set(err, ERR_CONFIG,
                       "'%s' is not a type; choose from BOOL, (U)INT8 to 64, "
                       "FP16, BF16, FP32, FP64 and BYTES",
                       type);
    for (const char *p = shape; *p;) {
        char *end;
        long long dim = strtoll(p, &end, 10);

        if (end == p || dim < 1 || (*end && *end != 'x') ||
            t->n_dims == TENSOR_MAX_DIMS || dim > MAX_ELEMENTS / t->n)
            return err_set(err, ERR_CONFIG,
                           "'%s' is not a shape; write 1x3x224x224", p);
        t->dims[t->n_dims++] = dim;
        t->n *= dim;
        p = *end ? end + 1 : end;
    }
    return 0;
}

int tensor_check(const char *text, struct err *err)
{
    struct tensor t;

    return tensor_parse(text, &t, err);
}

/* Size of a generated element. */
static size_t element_size(const struct tensor *t)
{
    return t->type->size > 0 ? t->type->size : TENSOR_LENGTH_SIZE + TEXT_LEN;
}

size_t tensor_size(const struct tensor *t)
{
    return (size_t)t->n * element_size(t);
}

void tensor_put_shape(const struct tensor *t, struct buf *out)
{
    buf_adds(out, "[");
    for (size_t i = 0; i < t->n_dims; i++)
        buf_addf(out, "%s%lld", i ? "," : "", (long long)t->dims[i]);
    buf_adds(out, "]");
}

/* ---- generated values: thousandths from 0 to 1, integers below 100 ---- */

static void put_text(uint64_t bits, char text[static TEXT_LEN])
{
    for (int i = 0; i < TEXT_LEN; i++) {
        text[i] = (char)('a' + bits % 26);
        bits /= 26;
    }
}

static void put_element(const struct tensor *t, int64_t i, const void *arg,
                        struct buf *out)
{
    struct rng *const *rng = arg;
    uint64_t bits = rng_next(*rng);
    char text[TEXT_LEN];

    (void)i;
    switch (t->type->kind) {
    case TENSOR_BOOL:
        buf_adds(out, bits % 2 ? "true" : "false");
        break;
    case TENSOR_BYTES:
        put_text(bits, text);
        buf_addf(out, "\"%.*s\"", TEXT_LEN, text);
        break;
    case TENSOR_FLOAT:
        buf_addf(out, "0.%03d", (int)(bits % 1000));
        break;
    default:
        buf_addf(out, "%d", (int)(bits % 100));
    }
}

/* One bracket for each dimension in which a row starts, or ends, at element i.
 */
static void put_brackets(const struct tensor *t, int64_t i, const char *bracket,
                         struct buf *out)
{
    int64_t row = 1;

    for (size_t d = t->n_dims; d > 0; d--) {
        row *= t->dims[d - 1];
        if (i % row == 0)
            buf_adds(out, bracket);
    }
}

void tensor_put_flat_by(const struct tensor *t, tensor_put_fn *put,
                        const void *arg, struct buf *out)
{
    buf_adds(out, "[");
    for (int64_t i = 0; i < t->n; i++) {
        if (i > 0)
            buf_adds(out, ",");
        put(t, i, arg, out);
    }
    buf_adds(out, "]");
}

void tensor_put_nested_by(const struct tensor *t, tensor_put_fn *put,
                          const void *arg, struct buf *out)
{
    for (int64_t i = 0; i < t->n; i++) {
        if (i > 0)
            buf_adds(out, ",");
        put_brackets(t, i, "[", out);
        put(t, i, arg, out);
        put_brackets(t, i + 1, "]", out);
    }
}

void tensor_put_flat(const struct tensor *t, struct rng *rng, struct buf *out)
{
    tensor_put_flat_by(t, put_element, &rng, out);
}

void tensor_put_nested(const struct tensor *t, struct rng *rng, struct buf *out)
{
    tensor_put_nested_by(t, put_element, &rng, out);
}

static void put_raw_element(const struct tensor *t, uint64_t bits, char *out)
{
    double number = (double)(bits % 1000) / 1000;
    float single = (float)number;
    uint64_t raw = bits % 100;

    switch (t->type->kind) {
    case TENSOR_BYTES:
        for (int i = 0; i < TENSOR_LENGTH_SIZE; i++)
            out[i] = (char)(TEXT_LEN >> (8 * i));
        put_text(bits, out + TENSOR_LENGTH_SIZE);
        return;
    case TENSOR_FLOAT:
        if (t->type->size == sizeof(single))
            memcpy(out, &single, sizeof(single));
        else
            memcpy(out, &number, sizeof(number));
        return;
    case TENSOR_RAW: /* 0.5 to 1: one exponent and any mantissa */
        raw = t->type->name[0] == 'B' ? 0x3f00 | (bits & 0x7f)
                                      : 0x3800 | (bits & 0x3ff);
        break;
    case TENSOR_BOOL:
        raw = bits % 2;
        break;
    default:
        break;
    }
    for (size_t i = 0; i < t->type->size; i++)
        out[i] = (char)(raw >> (8 * i));
}

void tensor_put_raw(const struct tensor *t, struct rng *rng, struct buf *out)
{
    size_t size = tensor_size(t);
    char *at = buf_reserve(out, size);

    if (!at)
        return; /* out->overflowed is set */
    for (int64_t i = 0; i < t->n; i++)
        put_raw_element(t, rng_next(rng), at + (size_t)i * element_size(t));
    buf_commit(out, size);
}

/* ---- reading ---- */

static double half_value(bool is_bf16, uint64_t bits)
{
    int exponent_bits = is_bf16 ? 8 : 5;
    int mantissa_bits = 15 - exponent_bits;
    int bias = (1 << (exponent_bits - 1)) - 1;
    int exponent = (int)(bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
    double mantissa = (double)(bits & ((UINT64_C(1) << mantissa_bits) - 1)) /
                      (double)(1 << mantissa_bits);
    double sign = bits >> 15 & 1 ? -1 : 1;

    if (exponent == (1 << exponent_bits) - 1)
        return mantissa > 0 ? NAN : sign * INFINITY;
    if (exponent == 0)
        return sign * ldexp(mantissa, 1 - bias);
    return sign * ldexp(1 + mantissa, exponent - bias);
}

uint64_t tensor_bits(const char *raw, size_t size)
{
    uint64_t bits = 0;

    for (size_t i = size; i > 0; i--)
        bits = bits << 8 | (unsigned char)raw[i - 1];
    return bits;
}

bool tensor_element(const struct tensor_type *type, const char *raw, size_t len,
                    size_t i, double *out)
{
    uint64_t bits;
    uint64_t sign;
    float single;

    if (type->size == 0 || (i + 1) * type->size > len)
        return false;
    raw += i * type->size;
    bits = tensor_bits(raw, type->size);
    sign = UINT64_C(1) << (8 * type->size - 1);
    if (type->kind == TENSOR_RAW) {
        *out = half_value(type->name[0] == 'B', bits);
    } else if (type->kind == TENSOR_SIGNED) {
        *out = (double)(int64_t)((bits ^ sign) - sign);
    } else if (type->kind != TENSOR_FLOAT) {
        *out = (double)bits;
    } else if (type->size == sizeof(single)) {
        memcpy(&single, raw, sizeof(single));
        *out = (double)single;
    } else {
        memcpy(out, raw, sizeof(*out));
    }
    return true;
}

/* ---- showing ---- */

/* Integers are shown with all 64 bits, which a double does not have. */
static void show_element(const struct tensor *t, int64_t i, const void *raw,
                         struct buf *out)
{
    size_t size = t->type->size;
    uint64_t bits = tensor_bits((const char *)raw + (size_t)i * size, size);
    uint64_t sign = size > 0 ? UINT64_C(1) << (8 * size - 1) : 0;
    int digits = size == sizeof(float) ? 9 : 17;
    double number = 0;

    switch (t->type->kind) {
    case TENSOR_BOOL:
        buf_adds(out, bits ? "true" : "false");
        break;
    case TENSOR_SIGNED:
        buf_addf(out, "%lld", (long long)((bits ^ sign) - sign));
        break;
    case TENSOR_UNSIGNED:
        buf_addf(out, "%llu", (unsigned long long)bits);
        break;
    default:
        tensor_element(t->type, raw, tensor_size(t), (size_t)i, &number);
        buf_addf(out, "%.*g", digits, number);
    }
}

void tensor_show_flat(const struct tensor *t, const char *raw, struct buf *out)
{
    tensor_put_flat_by(t, show_element, raw, out);
}

void tensor_show_nested(const struct tensor *t, const char *raw,
                        struct buf *out)
{
    tensor_put_nested_by(t, show_element, raw, out);
}

bool tensor_is_finite(const struct tensor *t, const char *raw)
{
    for (int64_t i = 0; i < t->n; i++) {
        double number = 0;

        tensor_element(t->type, raw, tensor_size(t), (size_t)i, &number);
        if (!isfinite(number))
            return false;
    }
    return true;
}
