/* metrics_dialect.h - reads a metrics page in the dialect of its server.
 *
 * Every kind of server has its own names for the same few quantities.  One
 * table says which series of which server is what; nothing else knows these
 * names.  Pure.
 */
#ifndef LOADGEN_OBSERVE_METRICS_DIALECT_H
#define LOADGEN_OBSERVE_METRICS_DIALECT_H

#include <stddef.h>

#include "common/recording/schema.h"
#include "common/wire/prometheus.h"

/* Read a metrics page into *look; values that are missing from the page are
 * absent.  Returns the kind of server: vllm, sglang, tgi, triton, llamacpp or
 * stub; NULL if no series is known. */
const char *metrics_dialect_read(const char *page, size_t len,
                                 struct server_scrape *look,
                                 struct prom_counts *counts);

/* All values absent. */
struct server_scrape server_look_none(void);

#endif
