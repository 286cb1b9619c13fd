#include <sys/resource.h>

#include "common/base/file.h"
#include "tests/support/test.h"

TEST(the_limit_goes_up_as_far_as_it_may)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_max = 512; /* for good, in this process */
    limit.rlim_cur = 64;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(files_raise_limit(), 512);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(limit.rlim_cur, 512);
    assert_int_equal(files_raise_limit(), 512);
}
