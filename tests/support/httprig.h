/* httprig.h - the HTTP transport against servers made of bare sockets, in one
 * thread and with a clock that stands. */
#ifndef TESTS_SUPPORT_HTTPRIG_H
#define TESTS_SUPPORT_HTTPRIG_H

#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/clk.h"
#include "common/settings/settings.h"
#include "loadgen/engine/request.h"
#include "loadgen/payload/workload.h"
#include "loadgen/prepare/target.h"
#include "loadgen/transport/transport.h"

#define HTTPRIG_SERVERS  2
#define HTTPRIG_MAX_SPIN 1000000
#define HTTPRIG_ANSWER   "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"

struct httprig {
    struct event_base *base;
    struct clk_fake clk; /* at 1000 */
    struct target_settings settings;
    struct targets targets;
    struct workload workload;
    struct transport_env env;
    const struct transport_ops *transport;
    void *self;
    int listeners[HTTPRIG_SERVERS]; /* -1: none */
    size_t n_servers;
    int ended;     /* calls */
    char why[100]; /* of the last of them */
};

struct httprig_setup {
    size_t body_len;
    size_t n_servers;        /* 0: 1; one target each */
    int64_t max_connections; /* 0: 8 */
    int64_t max_response;    /* 0: 1 GB */
    const char *method;      /* NULL: POST */
    const char *path;        /* NULL: the number of the server */
    const char *header[2];   /* name and value of one; NULL: none */
    bool has_id;
    bool has_no_body;                      /* not even one of length 0 */
    const struct transport_ops *transport; /* NULL: the native one */
};

struct httprig *httprig_new(const struct httprig_setup *setup);
void httprig_free(struct httprig *rig);

/* Connections there are refused from here on. */
void httprig_stop_server(struct httprig *rig, size_t i);

/* Connections there wait from here on.  The caller closes *filler. */
void httprig_fill_server(const struct httprig *rig, size_t i, int *filler);

/* The next one in the schedule. */
struct request httprig_request(const struct httprig *rig);

void httprig_start(struct httprig *rig, struct request *r);

/* Whatever is ready is done. */
void httprig_step(const struct httprig *rig);
void httprig_step_until_ended(const struct httprig *rig, int ended);

/* The i-th server's end of a new connection, once the request is on its way. */
int httprig_accept(const struct httprig *rig, size_t i,
                   const struct request *r);
void httprig_answer(int fd, const char *bytes);

/* It must be the one for the i-th server.  A socket that is closed with bytes
 * unread resets its peer. */
void httprig_read_request(const struct httprig *rig, size_t i, int fd);

/* The i-th server's end of a connection that has served one request and is
 * idle.  Whose turn it is must be known. */
int httprig_serve_one(struct httprig *rig, size_t i);

#endif
