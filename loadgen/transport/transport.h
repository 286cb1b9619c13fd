/* transport.h - how a request gets to the server and its answer back.
 *
 * A transport lives on one worker's event base and is only ever called from
 * that thread or, if it has a gate, inside of that.  It fills in the facts of a
 * request and says when it is over; it judges nothing.
 */
#ifndef LOADGEN_TRANSPORT_TRANSPORT_H
#define LOADGEN_TRANSPORT_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/clk.h"
#include "loadgen/schedule/source.h"
#include "loadgen/transport/socket.h"

struct err;
struct event_base;
struct handoff;
struct workload;
struct request;
struct target_settings;

/* Where less is known than stale.h asks for, as of HTTP/2 through libcurl: a
 * connection that was closed while it was idle breaks within this time of the
 * next request.  Later than that the server had the request. */
#define TRANSPORT_STALE_GRACE_NS (2 * NS_PER_MS)

/* What a transport is given; everything is borrowed. */
struct transport_env {
    struct event_base *base;
    const struct clk *clk;
    int64_t start_ns;                       /* facts count from here */
    const struct workload *workload;        /* of what requests are like */
    const struct target_settings *settings; /* of the connections */
    int64_t max_connections;
    int64_t channels; /* of gRPC, to each place; 0: one */
    bool stamps_all; /* of every answer, when the kernel got it; else of some */
    struct lane lane; /* whose requests it will be given */

    /* The request is over: outcome, detail and end are set.  It is the
     * engine's again, and may be reused before this returns. */
    void (*ended)(void *arg, struct request *r);
    void *arg;

    /* Called with every byte of HTTP that is sent or received, as it passes;
     * NULL in a run. */
    void (*tap)(void *arg, bool is_sent, const char *data, size_t len);
};

struct transport_ops {
    const char *name; /* native, curl, grpc, null */
    size_t state_size;
    bool connects_ahead; /* connections are few and last: a run opens them
                            before its clock starts, asked to or not */

    /* Required. */
    int (*init)(void *self, const struct transport_env *env, struct err *err);

    /* Open n connections ahead of the requests, before the clock starts; may
     * block, and run the event base.  ERR_IO if not all can be had.
     * Optional. */
    int (*preconnect)(void *self, int64_t n, struct err *err);

    /* Of one that has a thread of its own, on which ended() and tap() are
     * called inside: has_room(), start(), cancel() and connections() are called
     * inside as well, the others outside.  Optional. */
    struct handoff *(*handoff)(void *self);

    /* Can a request start without waiting for another to end?  Required. */
    bool (*has_room)(void *self);

    /* Send it; must not block.  May call ended() before it returns.  Required.
     */
    void (*start)(void *self, struct request *r);

    /* Forget a request that is in flight; ended() is not called.  Required. */
    void (*cancel)(void *self, struct request *r);

    /* How many connections are open.  Required. */
    int64_t (*connections)(void *self);

    /* What is known of the network path, over every connection there was.
     * Optional. */
    struct socket_path (*path)(void *self);

    /* CPU time of a thread of its own that works for the caller's; optional. */
    int64_t (*cpu_ns)(void *self);

    /* Safe after an init that failed.  Required. */
    void (*fini)(void *self);
};

extern const struct transport_ops transport_http1;
extern const struct transport_ops transport_curl;
extern const struct transport_ops transport_grpc; /* if built with gRPC */
extern const struct transport_ops transport_null;

/* The one that was asked for, or that can do what was; NULL with ERR_CONFIG if
 * there is none. */
const struct transport_ops *transport_choose(const struct target_settings *s,
                                             const char *scheme,
                                             struct err *err);

/* A base that is fit for it.  The caller's; NULL if none can be had. */
struct event_base *transport_base_new(const struct transport_ops *ops);

/* "libcurl/7.88.1 OpenSSL/3.0.17 ...", as it is loaded. */
const char *transport_curl_version(void);

static inline int64_t transport_now(const struct transport_env *env)
{
    return clk_now(env->clk) - env->start_ns;
}

#endif
