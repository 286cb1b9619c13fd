#include "tests/support/settingstext.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/err.h"
#include "common/settings/settings.h"
#include "tests/support/tmpdir.h"

int load_text(struct settings *s, const char *text, struct err *err)
{
    return settings_load(s, tmpdir_write("s.yaml", text, strlen(text)), err);
}

void must_load(struct settings *s, const char *text)
{
    struct err err = {0};

    if (load_text(s, text, &err))
        fail_msg("%s", err.msg);
}

void must_assign(struct settings *s, const char *assignment)
{
    struct err err = {0};

    if (settings_assign(s, assignment, &err))
        fail_msg("%s", err.msg);
}
