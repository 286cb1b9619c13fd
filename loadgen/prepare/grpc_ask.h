/* grpc_ask.h - questions to a gRPC server before a run: is it ready, and what
 * are the inputs of the model? */
#ifndef LOADGEN_PREPARE_GRPC_ASK_H
#define LOADGEN_PREPARE_GRPC_ASK_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/config.h"

struct settings;
struct target_settings;

#if HAVE_GRPC

/* Add the inputs that ModelMetadata reports to data.tensors; dimensions of
 * variable size become 1.  ERR_IO, ERR_STOPPED. */
int grpc_ask_tensors(struct settings *s, struct err *err);

/* Is the server of the first URL ready, and the model if one is named?  Asks
 * ServerReady and ModelReady, GetModelStatus or the gRPC health check,
 * depending on the API; a server that does not implement the method counts as
 * ready.  1: it is; 0: not yet, `seen` gets the reason; -1 with err: it cannot
 * be asked.
 */
int grpc_ask_ready(const struct target_settings *s, int64_t timeout_ns,
                   char *seen, size_t size, struct err *err);

#else /* the URL was refused before */

static inline int grpc_ask_tensors(struct settings *s, struct err *err)
{
    (void)s;
    return err_set(err, ERR_CONFIG, "target.url: built without gRPC");
}

static inline int grpc_ask_ready(const struct target_settings *s,
                                 int64_t timeout_ns, char *seen, size_t size,
                                 struct err *err)
{
    (void)s;
    (void)timeout_ns;
    (void)seen;
    (void)size;
    return err_set(err, ERR_CONFIG, "target.url: built without gRPC");
}

#endif

#endif
