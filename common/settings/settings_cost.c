/* The options of what the server costs. */
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/settings/settings.h"
#include "common/spec/prices.h"

/* Is its first word one of these? */
static int check_first(const char *text, const char *const *known,
                       const char *shown, struct err *err)
{
    size_t len = strcspn(text, " ");

    for (size_t i = 0; known[i]; i++) {
        if (strlen(known[i]) == len && strncmp(known[i], text, len) == 0)
            return 0;
    }
    return err_set(err, ERR_CONFIG, "'%s' is none of: %s", text, shown);
}

static int check_memory(const char *text, struct err *err)
{
    static const char *const known[] = {"pid",  "group",  "cgroup",
                                        "stub", "server", NULL};

    return check_first(text, known, "pid N, group N, cgroup DIR, stub, server",
                       err);
}

static int check_energy(const char *text, struct err *err)
{
    static const char *const known[] = {"auto", "rapl", "nvml", "series", NULL};

    return check_first(text, known, "auto, rapl, nvml, series URL NAME", err);
}

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
    {.key = "prices",
     .flag = "prices",
     .type = &opt_text,
     .offset = AT(prices),
     .path = OPT_PATH,
     .help = "a CSV of machine,usd_per_hour to look the price of a replica up "
             "in, instead of usd_per_hour"},
    {.key = "machine",
     .flag = "machine",
     .type = &opt_text,
     .offset = AT(machine),
     .help = "the machine of one replica, as the prices name it, or 4xL4 for "
             "four of L4 (default: the condition 'hardware')"},
    {.key = "memory_of",
     .flag = "memory-of",
     .type = &opt_text,
     .offset = AT(memory_of),
     .check = check_memory,
     .help = "read the server's memory beside the run, on this host: 'pid N', "
             "'group N', 'cgroup DIR', stub or server; times of such a run are "
             "no baseline"},
    {.key = "energy",
     .flag = "energy",
     .type = &opt_text,
     .offset = AT(energy),
     .check = check_energy,
     .help = "read energy beside the run: auto, rapl, nvml or 'series URL "
             "NAME' of a Prometheus page"},
    {.key = "co2_g_per_kwh",
     .flag = "co2-g-per-kwh",
     .type = &opt_number,
     .offset = AT(co2_g_per_kwh),
     .help = "grams of CO2 that a kilowatt-hour costs, for the energy"},
};

const struct opt_block block_cost = {"cost", cost,
                                     sizeof(cost) / sizeof(cost[0])};

/* What was found stands in the place of where it was looked for, so that a
 * recording needs no file beside it. */
int settings_look_up_price(struct settings *s, struct err *err)
{
    struct prices prices;
    int rc;

    if (!s->cost.prices)
        return 0;
    if (s->cost.usd_per_hour > 0)
        return err_set(err, ERR_CONFIG,
                       "cost.prices: instead of cost.usd_per_hour, not beside "
                       "it");
    if (prices_read(&prices, s->cost.prices, err))
        return err_context(err, "cost.prices");
    rc = prices_apply(&prices, s, err);
    prices_fini(&prices);
    free(s->cost.prices);
    s->cost.prices = NULL;
    return rc ? err_context(err, "cost.prices") : 0;
}

int settings_check_cost(const struct settings *s, struct err *err)
{
    const char *of = s->cost.memory_of;

    if (of && strcmp(of, "stub") == 0 && !s->has_stub)
        return err_set(err, ERR_CONFIG,
                       "cost.memory_of: stub: there is none beside the run");
    if (of && strcmp(of, "server") == 0 && !s->server.start)
        return err_set(err, ERR_CONFIG,
                       "cost.memory_of: server goes with server.start");
    return 0;
}
