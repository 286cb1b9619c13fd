/* Statuses of HTTP and codes of gRPC, one for the other. */

#include "server-stub/front/wire.h"
#include "tests/support/test.h"

static const struct {
    int http;
    int grpc;
} pairs[] = {
    {400, 3}, {401, 16}, {403, 7},  {404, 5},  {409, 6},  {412, 9}, {416, 11},
    {429, 8}, {499, 1},  {500, 13}, {501, 12}, {503, 14}, {504, 4},
};

TEST(test_there_and_back)
{
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        assert_int_equal(status_of_grpc(pairs[i].http), pairs[i].grpc);
        assert_int_equal(status_of_http(pairs[i].grpc), pairs[i].http);
    }
}

TEST(test_one_way)
{
    assert_int_equal(status_of_grpc(413), 8);
    assert_int_equal(status_of_grpc(502), 14);
    assert_int_equal(status_of_grpc(418), 2);
    assert_int_equal(status_of_grpc(200), 2); /* an error all the same */
    assert_int_equal(status_of_http(2), 500);
    assert_int_equal(status_of_http(15), 500);
    assert_int_equal(status_of_http(10), 409);
}

/* Every code has a status of an error, and what is of one's own kind stays. */
TEST(test_all)
{
    for (int code = 1; code <= 16; code++) {
        assert_int_equal(status_of_grpc(code), code);
        assert_in_range(status_of_http(code), 400, 599);
    }
    for (int status = 300; status < 600; status++) {
        assert_int_equal(status_of_http(status), status);
        assert_in_range(status_of_grpc(status), 1, 16);
    }
}
