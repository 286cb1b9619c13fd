/* router.h - which replica a request goes to.  Pure. */
#ifndef SERVER_STUB_SIM_ROUTER_H
#define SERVER_STUB_SIM_ROUTER_H

#include <stddef.h>
#include <stdint.h>

struct rng;

struct router_ops {
    const char *name;
    const char *help;

    /* An index below n, from what each replica has outstanding and how many
     * requests were routed before.  Required. */
    size_t (*pick)(const int64_t *outstanding, size_t n, uint64_t routed,
                   struct rng *rng);
};

/* NULL if there is none of that name. */
const struct router_ops *router_find(const char *name);

#endif
