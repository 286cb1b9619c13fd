#include "common/base/open_files.h"

#include <sys/resource.h>

#define LIKELY_LIMIT 1024 /* where it cannot be asked for */

int64_t files_raise_limit(void)
{
    struct rlimit limit;
    struct rlimit raised;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return LIKELY_LIMIT;
    raised = limit;
    raised.rlim_cur = raised.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0)
        limit = raised;
    return limit.rlim_cur < INT32_MAX ? (int64_t)limit.rlim_cur : INT32_MAX;
}
