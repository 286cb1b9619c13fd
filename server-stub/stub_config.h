/* stub_config.h - from the stub's settings to those of the simulation. */
#ifndef SERVER_STUB_STUB_CONFIG_H
#define SERVER_STUB_STUB_CONFIG_H

#include <stdbool.h>

#include "common/spec/dist.h"
#include "common/spec/fault.h"
#include "server-stub/sim/sim.h"

struct err;
struct stub_settings;

struct stub_config {
    struct sim_settings sim;
    struct fault_plan faults;
    bool has_eos;
    struct dist eos; /* tokens after which an answer ends by itself */
    unsigned sse;    /* style bits, common/wire/sse.h */
};

/* ERR_CONFIG "stub.<key>: ..." for settings that cannot be served. */
int stub_config(const struct stub_settings *s, struct stub_config *config,
                struct err *err);

/* Does gRPC use TLS, and must clients present a certificate? */
bool stub_has_tls(const struct stub_settings *s);
bool stub_asks_clients(const struct stub_settings *s);

#endif
