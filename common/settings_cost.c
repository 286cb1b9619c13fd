/* The options of what the server costs. */
#include "common/settings.h"

#define AT(field) offsetof(struct settings, cost.field)

static const struct opt cost[] = {
    {.key = "usd_per_hour",
     .flag = "usd-per-hour",
     .type = &opt_number,
     .offset = AT(usd_per_hour),
     .help = "what one replica of the server costs an hour, for the cost of a "
             "good request"},
    {.key = "replicas",
     .flag = "replicas",
     .type = &opt_count,
     .offset = AT(replicas),
     .is_positive = true,
     .initial = "1",
     .help = "how many replicas there are, for the cost"},
};

const struct opt_block block_cost = {"cost", cost,
                                     sizeof(cost) / sizeof(cost[0])};
