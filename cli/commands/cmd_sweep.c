#include "cli/cli.h"
#include "cli/record.h"
#include "cli/settings_args.h"
#include "cli/study_command.h"
#include "study/study.h"

static int run(const char *const *argv, struct err *err)
{
    return study_command_by_flags(&study_sweep, BLOCK_SWEEP, argv, err);
}

static const struct opt_block *const blocks[] = {
    &record_args_block, &block_sweep, &settings_args_block, &block_top,
    &block_target,      &block_load,  &block_trace,         &block_data,
    &block_client,      &block_study, &block_cost,          NULL,
};

const struct command cmd_sweep = {
    .name = "sweep",
    .usage = "URL|SETTINGS.yaml --rates LIST [FLAGS]",
    .help = "make a run at each of several loads and show where the server "
            "saturates",
    .run = run,
    .blocks = blocks,
};
