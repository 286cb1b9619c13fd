/* The option tables: every key, flag, default and help text there is. */
#include "common/settings.h"

#include "common/slo.h"
#include "common/stage.h"
#include "common/url.h"

#define AT(field) offsetof(struct settings, field)

const char *const scenario_names[] = {"auto", "server", "closed", NULL};
const char *const arrival_names[] = {
    [ARRIVAL_POISSON] = "poisson",
    [ARRIVAL_CONSTANT] = "constant",
    [ARRIVAL_GAMMA] = "gamma",
    [ARRIVAL_COUNT] = NULL,
};

static const struct opt top[] = {
    {.key = "name",
     .flag = "name",
     .type = &opt_text,
     .offset = AT(name),
     .help = "free text, shown in every report"},
    {.key = "slo",
     .flag = "slo",
     .type = &opt_list,
     .offset = AT(slo),
     .splits_commas = true,
     .check = slo_check_term,
     .help = "objective: 'e2e p99 < 200ms', 'errors < 0.1%'; repeats, takes "
             "commas"},
    {.key = "conditions",
     .flag = "label",
     .type = &opt_map,
     .offset = AT(conditions),
     .separator = '=',
     .help = "a condition of the run, such as hardware=1xL4; repeats"},
};

static const struct opt target[] = {
    {.key = "url",
     .flag = "url",
     .type = &opt_text,
     .offset = AT(target.url),
     .check = url_check,
     .help = "where to send requests"},
    {.key = "method",
     .flag = "method",
     .letter = 'X',
     .type = &opt_text,
     .offset = AT(target.method),
     .help = "HTTP method (GET, or POST with a body)"},
    {.key = "headers",
     .flag = "header",
     .letter = 'H',
     .type = &opt_map,
     .offset = AT(target.headers),
     .separator = ':',
     .help = "a request header; repeats"},
    {.key = "body",
     .flag = "body",
     .type = &opt_text,
     .offset = AT(target.body),
     .help = "request body, or @FILE"},
    {.key = "timeout",
     .flag = "timeout",
     .type = &opt_duration,
     .offset = AT(target.timeout_ns),
     .initial = "30s",
     .help = "deadline of a request, counted from when it was due"},
    {.key = "request_id",
     .flag = "request-id",
     .type = &opt_switch,
     .offset = AT(target.request_id),
     .help = "send x-tailgate-id, the request's place in the schedule"},
};

static const struct opt load[] = {
    {.key = "scenario",
     .flag = "scenario",
     .type = &opt_choice,
     .offset = AT(load.scenario),
     .names = scenario_names,
     .initial = "auto",
     .help = "server: open loop; closed: N clients in turn; auto: by --rate"},
    {.key = "arrival",
     .flag = "arrival",
     .type = &opt_choice,
     .offset = AT(load.arrival),
     .names = arrival_names,
     .initial = "poisson",
     .help = "arrival process of the open loop"},
    {.key = "rate",
     .flag = "rate",
     .letter = 'R',
     .type = &opt_rate,
     .offset = AT(load.rate_rps),
     .help = "requests a second in all: 50, 0.5, 2/m"},
    {.key = "stages",
     .flag = "stage",
     .type = &opt_list,
     .offset = AT(load.stages),
     .splits_commas = true,
     .check = stage_check,
     .help = "'50/s 30s', or '10/s..100/s 1m' for a ramp, instead of rate and "
             "duration; repeats"},
    {.key = "cv",
     .flag = "cv",
     .type = &opt_number,
     .offset = AT(load.cv),
     .initial = "1",
     .help = "coefficient of variation of gamma gaps; above 1 in clusters"},
    {.key = "burst_on",
     .flag = "burst-on",
     .type = &opt_duration,
     .offset = AT(load.burst_on_ns),
     .initial = "0s",
     .help = "send for this long ..."},
    {.key = "burst_off",
     .flag = "burst-off",
     .type = &opt_duration,
     .offset = AT(load.burst_off_ns),
     .initial = "0s",
     .help = "... and are silent for this long, at the same mean rate"},
    {.key = "exact",
     .flag = "exact",
     .type = &opt_switch,
     .offset = AT(load.exact),
     .help = "as many requests as the rate comes to, not more or less by "
             "chance"},
    {.key = "duration",
     .flag = "duration",
     .letter = 'd',
     .type = &opt_duration,
     .offset = AT(load.duration_ns),
     .help = "length of the measured window (10s if -n is not given either)"},
    {.key = "warmup",
     .flag = "warmup",
     .type = &opt_duration,
     .offset = AT(load.warmup_ns),
     .initial = "0s",
     .help = "time before the window, in addition, not measured"},
    {.key = "requests",
     .flag = "requests",
     .letter = 'n',
     .type = &opt_count,
     .offset = AT(load.requests),
     .help = "stop after this many requests"},
    {.key = "clients",
     .flag = "clients",
     .type = &opt_count,
     .offset = AT(load.clients),
     .help = "clients of the closed loop"},
    {.key = "seed",
     .flag = "seed",
     .type = &opt_seed,
     .offset = AT(load.seed),
     .initial = "1",
     .help = "same seed, same schedule"},
};

static const struct opt client[] = {
    {.key = "connections",
     .flag = "connections",
     .letter = 'c',
     .type = &opt_count,
     .offset = AT(client.connections),
     .initial = "0",
     .help = "cap on connections; without --rate the clients of a closed loop "
             "(0: as many as it takes)"},
    {.key = "spin",
     .flag = "spin",
     .type = &opt_duration,
     .offset = AT(client.spin_ns),
     .initial = "0s",
     .help = "poll instead of sleeping for the last of each wait: sharper "
             "sends for more CPU"},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const struct opt_block block_top = {NULL, top, COUNT(top)};
const struct opt_block block_target = {"target", target, COUNT(target)};
const struct opt_block block_load = {"load", load, COUNT(load)};
const struct opt_block block_client = {"client", client, COUNT(client)};

const struct opt_block *const settings_blocks[BLOCK_COUNT] = {
    [BLOCK_TOP] = &block_top,   [BLOCK_TARGET] = &block_target,
    [BLOCK_LOAD] = &block_load, [BLOCK_CLIENT] = &block_client,
    [BLOCK_STUB] = &block_stub,
};
