#include "common/base/proxy_env.h"

#include <stddef.h>
#include <stdlib.h>

#include "common/base/str.h"

void proxyenv_find(struct strlist *names)
{
    static const char *const known[] = {
        "http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY",
        "all_proxy",  "ALL_PROXY",  "no_proxy",    "NO_PROXY"};

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        const char *value = getenv(known[i]);

        if (value && value[0])
            strlist_add(names, known[i]);
    }
}
