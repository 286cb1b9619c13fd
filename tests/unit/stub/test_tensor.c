#include <jansson.h>

#include "common/base/buf.h"
#include "server-stub/api/stub_tensor.h"
#include "tests/support/test.h"

/* Values, the bytes that they are, and the values that those are. */
static const struct {
    const char *type;
    const char *json;
    int64_t n;
    const char *bytes;
    size_t len;
    const char *back; /* NULL: as `json` */
} good[] = {
    {"BOOL", "[true,false]", 2, "\1\0", 2, NULL},
    {"UINT8", "[0,255]", 2, "\0\377", 2, NULL},
    {"INT8", "[-128,127]", 2, "\200\177", 2, NULL},
    {"UINT16", "[258]", 1, "\2\1", 2, NULL},
    {"INT16", "[-2]", 1, "\376\377", 2, NULL},
    {"UINT32", "[4294967295]", 1, "\377\377\377\377", 4, NULL},
    {"INT32", "[-2147483648]", 1, "\0\0\0\200", 4, NULL},
    {"INT64", "[-1]", 1, "\377\377\377\377\377\377\377\377", 8, NULL},
    {"UINT64", "[9223372036854775807]", 1, "\377\377\377\377\377\377\377\177",
     8, NULL},
    {"FP32", "[0.5,1]", 2, "\0\0\0\77\0\0\200\77", 8, "[0.5,1.0]"},
    {"FP64", "[0.5]", 1, "\0\0\0\0\0\0\340\77", 8, NULL},
    {"BYTES", "[\"ab\",\"\"]", 2, "\2\0\0\0ab\0\0\0\0", 10, NULL},
    {"INT8", "[[1,2],[3,[4]]]", 4, "\1\2\3\4", 4, "[1,2,3,4]"},
    {"INT8", "[]", 0, "", 0, NULL},
};

TEST(values_and_bytes)
{
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        const struct tensor_type *type = tensor_type_find(good[i].type);
        json_t *json = json_loads(good[i].json, 0, NULL);
        json_t *want =
            json_loads(good[i].back ? good[i].back : good[i].json, 0, NULL);
        struct buf bytes;
        json_t *back;

        buf_init(&bytes, 100);
        assert_non_null(type);
        assert_true(tensor_encode(type, json, good[i].n, &bytes));
        assert_int_equal(bytes.len, good[i].len);
        assert_memory_equal(buf_text(&bytes), good[i].bytes, good[i].len);
        assert_true(
            tensor_is_whole(type, good[i].bytes, good[i].len, good[i].n));
        back = tensor_decode(type, good[i].bytes, good[i].len, good[i].n);
        assert_true(json_equal(back, want));
        json_decref(back);
        json_decref(want);
        json_decref(json);
        buf_fini(&bytes);
    }
}

static const struct {
    const char *type;
    const char *json;
    int64_t n;
} bad_values[] = {
    {"BOOL", "[1]", 1},           {"UINT8", "[256]", 1},
    {"UINT8", "[-1]", 1},         {"INT8", "[128]", 1},
    {"INT8", "[-129]", 1},        {"UINT32", "[4294967296]", 1},
    {"INT32", "[2147483648]", 1}, {"INT64", "[1.5]", 1},
    {"UINT64", "[-1]", 1},        {"FP32", "[\"1\"]", 1},
    {"BYTES", "[1]", 1},          {"FP16", "[1]", 1},
    {"BF16", "[1]", 1},           {"INT8", "[1,2]", 3},
    {"INT8", "[1,2]", 1},         {"INT8", "1", 1},
    {"INT8", "{\"a\":1}", 1},     {"INT8", "[null]", 1},
};

TEST(values_that_do_not_fit)
{
    for (size_t i = 0; i < sizeof(bad_values) / sizeof(bad_values[0]); i++) {
        json_t *json = json_loads(bad_values[i].json, JSON_DECODE_ANY, NULL);
        struct buf bytes;

        buf_init(&bytes, 100);
        assert_false(tensor_encode(tensor_type_find(bad_values[i].type), json,
                                   bad_values[i].n, &bytes));
        json_decref(json);
        buf_fini(&bytes);
    }
}

static const struct {
    const char *type;
    const char *bytes;
    size_t len;
    int64_t n;
} bad_bytes[] = {
    {"INT16", "\0", 1, 1},           {"INT16", "\0\0\0", 3, 1},
    {"BYTES", "\1\0\0", 3, 1},       {"BYTES", "\2\0\0\0a", 5, 1},
    {"BYTES", "\1\0\0\0ab", 6, 1},   {"BYTES", "\377\377\377\377a", 5, 1},
    {"BYTES", "\1\0\0\0\377", 5, 1}, /* no text */
    {"FP16", "\0\0", 2, 1},
};

TEST(bytes_that_are_no_values)
{
    for (size_t i = 0; i < sizeof(bad_bytes) / sizeof(bad_bytes[0]); i++)
        assert_null(tensor_decode(tensor_type_find(bad_bytes[i].type),
                                  bad_bytes[i].bytes, bad_bytes[i].len,
                                  bad_bytes[i].n));
}

TEST(numbers_that_json_lacks)
{
    json_t *big =
        tensor_decode(tensor_type_find("UINT64"), "\0\0\0\0\0\0\0\200", 8, 1);
    json_t *infinite =
        tensor_decode(tensor_type_find("FP32"), "\0\0\200\177", 4, 1);

    assert_true(json_real_value(json_array_get(big, 0)) == 0x1p63);
    assert_true(json_is_null(json_array_get(infinite, 0)));
    json_decref(big);
    json_decref(infinite);
}

TEST(shapes)
{
    static const struct {
        const char *json;
        int64_t want;
    } cases[] = {
        {"[]", 1},
        {"[3]", 3},
        {"[2,3,4]", 24},
        {"[0,5]", 0},
        {"[-1]", -1},
        {"[1.5]", -1},
        {"[\"1\"]", -1},
        {"3", -1},
        {"[4294967296]", 4294967296},
        {"[4294967296,2]", -1},
        {"[65536,65536,65536,65536,65536]", -1},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        json_t *json = json_loads(cases[i].json, JSON_DECODE_ANY, NULL);

        assert_int_equal(tensor_elements(json), cases[i].want);
        json_decref(json);
    }
    assert_int_equal(tensor_elements(NULL), -1);
    assert_null(tensor_type_find("FP8"));
    assert_null(tensor_type_find(NULL));
}
