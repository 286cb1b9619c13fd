/* A transport without a network that answers every request at once: what
 * remains is the tool's own cost. */
#include "loadgen/engine/request.h"
#include "loadgen/transport/transport.h"

struct null_transport {
    const struct transport_env *env;
};

static int null_init(void *self, const struct transport_env *env,
                     struct err *err)
{
    struct null_transport *t = self;

    (void)err;
    t->env = env;
    return 0;
}

static bool null_has_room(void *self)
{
    (void)self;
    return true;
}

static void null_start(void *self, struct request *r)
{
    struct null_transport *t = self;
    int64_t now = transport_now(t->env);

    r->facts.sent = now;
    r->facts.head = now;
    r->facts.first = now;
    r->facts.last = now;
    r->facts.end = now;
    r->facts.outcome = OUTCOME_OK;
    t->env->ended(t->env->arg, r);
}

static int64_t null_connections(void *self)
{
    (void)self;
    return 0;
}

static void null_fini(void *self)
{
    (void)self;
}

const struct transport_ops transport_null = {
    .name = "null",
    .state_size = sizeof(struct null_transport),
    .init = null_init,
    .has_room = null_has_room,
    .start = null_start,
    .connections = null_connections,
    .fini = null_fini,
};
