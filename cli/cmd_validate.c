#include "cli/cli.h"
#include "cli/plan.h"
#include "cli/settings_args.h"
#include "common/base/err.h"

static int read_variant(const char *const *argv, size_t i,
                        struct settings_args *a, struct err *err)
{
    int rc = settings_args_parse(a, NULL, argv, err);

    return rc ? rc : settings_args_resolve_variant(a, i, err);
}

static int run(const char *const *argv, struct err *err)
{
    struct settings_args a;
    int rc = settings_args_parse(&a, NULL, argv, err);

    if (rc == 0 && a.settings.variants.len > 0) {
        rc = plan_print_variants(a.settings.variants.len, read_variant, argv,
                                 err);
    } else if (rc == 0) {
        rc = settings_args_resolve(&a, err);
        if (rc == 0 && plan_print(&a, err))
            rc = settings_args_blame(&a, err);
    }
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
    .usage = "SETTINGS|URL [FLAGS]",
    .help = "check settings and print the plan, without sending anything",
    .run = run,
    .blocks = blocks,
};
