/* metrics_dialect.h - whose metrics a page has, and what they come to.
 *
 * Every server has its own names for the same few things.  One table says
 * which series of which server is what; nothing else knows them.  Pure.
 */
#ifndef LOADGEN_OBSERVE_METRICS_DIALECT_H
#define LOADGEN_OBSERVE_METRICS_DIALECT_H

#include <stddef.h>

#include "common/recording/schema.h"
#include "common/wire/prometheus.h"

/* Read a page of metrics: what it says goes to *look, the rest of which is
 * absent.  Returns whose they are: vllm, sglang, tgi, triton, llamacpp or
 * stub; NULL if there is no series that we know. */
const char *metrics_dialect_read(const char *page, size_t len,
                                 struct server_scrape *look,
                                 struct prom_counts *counts);

/* Nothing is known. */
struct server_scrape server_look_none(void);

#endif
