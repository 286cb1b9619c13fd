#include "cli/ambient.h"

#include <stddef.h>
#include <stdlib.h>

#include "common/log.h"
#include "common/settings.h"

void ambient_note_proxy(const struct target_settings *target)
{
    static const char *const names[] = {"http_proxy",  "HTTP_PROXY",
                                        "https_proxy", "HTTPS_PROXY",
                                        "all_proxy",   "ALL_PROXY"};

    if (target->proxy)
        return;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = getenv(names[i]);

        if (value && value[0])
            log_note("%s is set and ignored; use --proxy", names[i]);
    }
}
