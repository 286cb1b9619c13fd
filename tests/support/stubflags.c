#include "tests/support/stubflags.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/err.h"
#include "common/base/str.h"
#include "common/settings/option.h"
#include "common/settings/settings.h"

void stub_tell(struct settings *s, const char *const *flags)
{
    struct opt_set set = settings_set(s, BLOCK_STUB);
    struct strlist words = {0};
    struct err err = {0};

    if (opt_parse_argv(&set, 1, flags, &words, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(words.len, 0);
}
