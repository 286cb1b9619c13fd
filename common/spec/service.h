/* service.h - how long a simulated server takes, as people write it: a
 * distribution, "batch 5ms 1ms", or "llm". */
#ifndef COMMON_SPEC_SERVICE_H
#define COMMON_SPEC_SERVICE_H

#include <stdint.h>

#include "common/spec/dist.h"

struct err;

enum service_kind { SERVICE_PLAIN, SERVICE_BATCH, SERVICE_LLM };

struct service {
    enum service_kind kind;
    struct dist dist;    /* plain */
    int64_t base_ns;     /* batch */
    int64_t per_item_ns; /* batch */
};

int service_parse(const char *text, struct service *service, struct err *err);

/* For an option table. */
int service_check(const char *text, struct err *err);

#endif
