#include "common/spec/service.h"

#include <stdio.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/units.h"

static int parse_batch(const char *text, struct service *s, struct err *err)
{
    char base[24];
    char item[24];
    char extra[2];

    if (sscanf(text, "batch %23s %23s %1s", base, item, extra) != 2)
        return err_set(err, ERR_CONFIG,
                       "'%s' is not of the form 'batch 5ms 1ms' (base, per "
                       "item)",
                       text);
    s->kind = SERVICE_BATCH;
    if (units_parse_duration(base, &s->base_ns, err))
        return -1;
    return units_parse_duration(item, &s->per_item_ns, err);
}

int service_parse(const char *text, struct service *service, struct err *err)
{
    struct err why = {0};

    *service = (struct service){.kind = SERVICE_PLAIN};
    if (strcmp(text, "batch") == 0 || strncmp(text, "batch ", 6) == 0)
        return parse_batch(text, service, err);
    if (strcmp(text, "llm") == 0) {
        service->kind = SERVICE_LLM;
        return 0;
    }
    if (dist_parse(text, &service->dist, &why) == 0)
        return 0;
    return err_set(err, why.code,
                   "%.400s; or 'batch 5ms 1ms' (base, per item), or 'llm'",
                   why.msg);
}

int service_check(const char *text, struct err *err)
{
    struct service service;

    return service_parse(text, &service, err);
}
