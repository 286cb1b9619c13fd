#include "cli/cli.h"
#include "cli/plan.h"
#include "cli/settings_args.h"

static int run(const char *const *argv, struct err *err)
{
    struct settings_args a;
    int rc = settings_args_parse(&a, NULL, BLOCK_COUNT, argv, err);

    if (rc == 0)
        rc = plan_print(&a, err);
    settings_args_fini(&a);
    return rc;
}

static const struct opt_block *const blocks[] = {
    &settings_args_block, &block_top,  &block_target, &block_load,
    &block_trace,         &block_data, &block_client, &block_study,
    &block_cost,          NULL,
};

const struct command cmd_validate = {
    .name = "validate",
    .usage = "URL|SETTINGS.yaml [FLAGS]",
    .help = "check settings and print the plan, without sending anything",
    .run = run,
    .blocks = blocks,
};
