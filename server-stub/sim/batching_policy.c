#include "server-stub/sim/batching_policy.h"

#include <string.h>

static const struct policy_ops *const policies[] = {
    &policy_none,
    &policy_static,
    &policy_dynamic,
    &policy_continuous,
};

const struct policy_ops *policy_find(const char *name)
{
    for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
        if (strcmp(policies[i]->name, name) == 0)
            return policies[i];
    }
    return NULL;
}
