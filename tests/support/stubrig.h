/* stubrig.h - the stub's server behind a real front on a pair of sockets, in
 * time that passes as fast as there is nothing to do: one request, and the
 * bytes that came back.
 */
#ifndef TESTS_SUPPORT_STUBRIG_H
#define TESTS_SUPPORT_STUBRIG_H

#include <stddef.h>

#include "common/base/clk.h"
#include "common/settings/settings.h"
#include "server-stub/stub_config.h"
#include "tests/support/httpget.h"

struct stubrig {
    struct clk_fake clock;
    struct loop *loop;
    struct settings settings;
    struct stub_config config;
    struct server *server;
    struct front *front;
    int client;
};

/* Flags of `tailgate stub` up to a NULL; a client is connected. */
void stubrig_begin(struct stubrig *rig, const char *const *flags);
void stubrig_end(struct stubrig *rig);

#define STUBRIG_BEGIN(rig, ...)                                                \
    stubrig_begin(rig, (const char *const[]){__VA_ARGS__, NULL})

/* A request with a body of any bytes, and its answer; `headers` may be "". */
struct http_reply stubrig_post(struct stubrig *rig, const char *path,
                               const char *headers, const char *body,
                               size_t len);

#endif
