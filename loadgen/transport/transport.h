/* transport.h - carries a request to the server and its answer back.
 *
 * A transport lives on one worker's event base and is called from that thread
 * only or, if it has a thread of its own, inside its handoff.  It fills in the
 * facts of a request and reports its end.
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

/* For connections of which less is known than stale_is() needs, such as HTTP/2
 * through libcurl: one that was closed while it was idle breaks within this
 * time of the next request.  If it breaks later, the server had the request. */
#define TRANSPORT_STALE_GRACE_NS (2 * NS_PER_MS)

/* What a transport is given; everything is borrowed. */
struct transport_env {
    struct event_base *base;
    const struct clk *clk;
    int64_t start_ns;                       /* facts count from here */
    const struct workload *workload;        /* what requests are like */
    const struct target_settings *settings; /* for the connections */
    int64_t max_connections;
    int64_t channels; /* gRPC: per address; 0: one */
    bool stamps_all;  /* kernel receive timestamps of every answer; else of
                         some */
    struct lane lane; /* whose requests it will carry */

    /* The request is over: outcome, detail and end are set.  The engine may
     * reuse it before this returns. */
    void (*ended)(void *arg, struct request *r);
    void *arg;

    /* Called with all HTTP bytes that are sent or received, for `run --show`;
     * NULL in a run. */
    void (*tap)(void *arg, bool is_sent, const char *data, size_t len);
};

struct transport_ops {
    const char *name; /* native, http2, curl, grpc, null */
    size_t state_size;
    bool connects_ahead; /* a run always calls preconnect(): connections are
                            few and stay open */

    /* Required. */
    int (*init)(void *self, const struct transport_env *env, struct err *err);

    /* Open n connections before the clock of the run starts; may block, and run
     * the event base.  ERR_IO if not all can be opened.  Optional. */
    int (*preconnect)(void *self, int64_t n, struct err *err);

    /* The handoff of a transport with a thread of its own: has_room(), start(),
     * cancel(), connections(), ended() and tap() are called inside, the other
     * hooks outside.  Optional. */
    struct handoff *(*handoff)(void *self);

    /* Can a request start without waiting for another to end?  Required. */
    bool (*has_room)(void *self);

    /* Send it; must not block.  May call ended() before it returns.  Required.
     */
    void (*start)(void *self, struct request *r);

    /* Give up a request that is in flight; ended() is not called, neither for
     * it nor for others.  Required unless start() ends every request. */
    void (*cancel)(void *self, struct request *r);

    /* How many connections are open.  Required. */
    int64_t (*connections)(void *self);

    /* What is known of the network path, over all connections so far.
     * Optional. */
    struct socket_path (*path)(void *self);

    /* CPU time of the transport's own thread.  Optional. */
    int64_t (*cpu_ns)(void *self);

    /* Safe after an init that failed.  Required. */
    void (*fini)(void *self);
};

extern const struct transport_ops transport_http1;
extern const struct transport_ops transport_http2;
extern const struct transport_ops transport_curl;
extern const struct transport_ops transport_grpc; /* if built with gRPC */
extern const struct transport_ops transport_null;

/* The transport that the settings name, or the first that can do what they ask
 * for; NULL with ERR_CONFIG if there is none. */
const struct transport_ops *transport_choose(const struct target_settings *s,
                                             const char *scheme,
                                             struct err *err);

/* An event base that fits the transport, or NULL.  The caller frees it. */
struct event_base *transport_base_new(const struct transport_ops *ops);

/* "7.88.1", of the library that is loaded. */
const char *transport_curl_version(void);

static inline int64_t transport_now(const struct transport_env *env)
{
    return clk_now(env->clk) - env->start_ns;
}

#endif
