#include "loadgen/transport/transport.h"

#include <string.h>

static const struct transport_ops *const transports[] = {
    &transport_http1,
    &transport_null,
};

const struct transport_ops *transport_find(const char *scheme)
{
    for (size_t i = 0; i < sizeof(transports) / sizeof(transports[0]); i++) {
        if (strcmp(transports[i]->name, scheme) == 0)
            return transports[i];
    }
    return NULL;
}
