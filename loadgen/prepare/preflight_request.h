/* preflight_request.h - one request to each target before the clock starts.
 *
 * A wrong key, path or model makes a server refuse every request of a run; this
 * finds out before.  The request is the first one of the run, with a prompt of
 * its own, so that no cache knows the prompts of the run.  It is not recorded.
 */
#ifndef LOADGEN_PREPARE_PREFLIGHT_REQUEST_H
#define LOADGEN_PREPARE_PREFLIGHT_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct facts;
struct settings;
struct transport_ops;
struct workload;

/* Send a request of each class to each of its targets, one after the other; a
 * long answer is cut.  ERR_IO, with the message of the server, if one is
 * refused; ERR_STOPPED.  Anything else that goes wrong is a warning: the run
 * will measure it.  timeout_ns limits each request, in addition to
 * target.timeout and 30 s. */
int preflight_request(const struct workload *workload, const struct settings *s,
                      const struct transport_ops *transport, int64_t timeout_ns,
                      struct err *err);

/* Does this result mean that the server will refuse the other requests, too:
 * HTTP 401, 403, 404, 405, 415 or 422, or a gRPC status that means the same? */
bool preflight_is_refusal(const struct facts *f);

#endif
