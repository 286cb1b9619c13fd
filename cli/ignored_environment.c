#include "cli/ignored_environment.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "common/base/log.h"
#include "common/settings/settings.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool is_set(const char *name)
{
    const char *value = getenv(name);

    return value && value[0];
}

void ignored_environment_note_proxy(const struct target_settings *target)
{
    static const char *const names[] = {"http_proxy",  "HTTP_PROXY",
                                        "https_proxy", "HTTPS_PROXY",
                                        "all_proxy",   "ALL_PROXY"};

    static const char *const exceptions[] = {"no_proxy", "NO_PROXY"};

    for (size_t i = 0; i < COUNT(names) && !target->proxy; i++) {
        if (is_set(names[i]))
            log_note("%s is set and ignored; use --proxy", names[i]);
    }
    for (size_t i = 0; i < COUNT(exceptions); i++) {
        if (is_set(exceptions[i]))
            log_note("%s is set and ignored", exceptions[i]);
    }
}
