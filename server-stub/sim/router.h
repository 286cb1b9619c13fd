/* router.h - routers: which replica a request goes to.  Pure. */
#ifndef SERVER_STUB_SIM_ROUTER_H
#define SERVER_STUB_SIM_ROUTER_H

#include <stddef.h>
#include <stdint.h>

struct rng;

struct router_ops {
    const char *name;
    const char *help;

    /* Returns the index of a replica, below n.  `outstanding` has the number of
     * unfinished requests of each, and `routed` counts the requests before this
     * one.  Required. */
    size_t (*pick)(const int64_t *outstanding, size_t n, uint64_t routed,
                   struct rng *rng);
};

/* The router of that name, or NULL. */
const struct router_ops *router_find(const char *name);

#endif
