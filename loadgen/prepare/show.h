/* show.h - sends one request and shows all bytes sent and received. */
#ifndef LOADGEN_PREPARE_SHOW_H
#define LOADGEN_PREPARE_SHOW_H

#include "loadgen/prepare/exchange.h"

struct err;
struct settings;

/* Bytes kept of each side. */
#define SHOW_KEPT ((size_t)64 << 10)

/* Query the server for what the settings leave open, and send the first request
 * of the run.  The bytes in *x contain no secrets.  ERR_CONFIG; ERR_IO if a
 * target does not answer at all; ERR_STOPPED.  The caller calls exchange_fini()
 * in any case. */
int show_request(const struct settings *asked, struct exchange *x,
                 struct err *err);

#endif
