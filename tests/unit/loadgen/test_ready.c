#include "loadgen/prepare/ready.h"
#include "tests/support/test.h"

TEST(any_answer_but_a_gateways_excuse)
{
    static const struct {
        int64_t status;
        bool is_ready;
    } cases[] = {
        {0, false},   {200, true},  {204, true}, {301, true}, {401, true},
        {404, true},  {405, true},  {500, true}, {501, true}, {502, false},
        {503, false}, {504, false}, {505, true},
    };

    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(ready_is(cases[i].status), cases[i].is_ready);
}
