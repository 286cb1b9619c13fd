/* The front of gRPC in a build without it, and the wire that is then not used.
 */
#include <stddef.h>

#include "common/base/err.h"
#include "server-stub/front/front_grpc.h"
#include "server-stub/front/wire.h"

const struct wire_ops wire_grpc = {0};

struct front_grpc *front_grpc_new(const struct front_grpc_env *env,
                                  struct err *err)
{
    (void)env;
    err_set(err, ERR_CONFIG,
            "stub.grpc_port: this tailgate was built without gRPC");
    return NULL;
}

void front_grpc_free(struct front_grpc *front)
{
    (void)front;
}

void front_grpc_take(struct front_grpc *front, int fd)
{
    (void)front;
    (void)fd;
}

const char *front_grpc_url(const struct front_grpc *front)
{
    (void)front;
    return NULL;
}
