#include "cli/cli.h"
#include "cli/record.h"
#include "cli/settings_args.h"
#include "cli/study_command.h"
#include "study/study.h"

static int run(const char *const *argv, struct err *err)
{
    return study_command_by_flags(&study_search, BLOCK_SEARCH, argv, err);
}

static const struct opt_block *const blocks[] = {
    &record_args_block, &block_search, &settings_args_block, &block_top,
    &block_target,      &block_load,   &block_trace,         &block_data,
    &block_client,      &block_study,  &block_cost,          NULL,
};

const struct command cmd_search = {
    .name = "search",
    .usage = "URL|SETTINGS.yaml --slo TERM [FLAGS]",
    .help = "find the largest load that meets the SLO, with an interval",
    .run = run,
    .blocks = blocks,
};
