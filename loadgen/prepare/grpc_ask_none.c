/* A build without gRPC: nobody gets here, the URL was refused before. */
#include "common/base/err.h"
#include "loadgen/prepare/grpc_ask.h"

int grpc_ask_tensors(struct settings *s, struct err *err)
{
    (void)s;
    return err_set(err, ERR_CONFIG, "target.url: built without gRPC");
}

int grpc_ask_ready(const struct target_settings *s, int64_t timeout_ns,
                   char *seen, size_t size, struct err *err)
{
    (void)s;
    (void)timeout_ns;
    (void)seen;
    (void)size;
    return err_set(err, ERR_CONFIG, "target.url: built without gRPC");
}
