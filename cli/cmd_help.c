#include <string.h>

#include "cli/cli.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/settings/settings.h"

#define MAX_HELP 65536

static void put_overview(struct buf *out)
{
    buf_adds(out, "tailgate - load tests for model servers\n\nusage:\n");
    for (size_t i = 0; commands[i]; i++)
        buf_addf(out, "  tailgate %-9s %-24s %s\n", commands[i]->name,
                 commands[i]->usage, commands[i]->help);
    buf_adds(out,
             "\n'tailgate help COMMAND' lists its options, 'tailgate help "
             "settings' the keys\nof a settings file.\n"
             "\nexit status: 0 yes, 1 no (SLO missed, nothing succeeded), 2 "
             "wrong usage or\nsettings, 3 could not run, 4 invalid or "
             "undecided, 130/143 interrupted.\n");
}

static void put_command(const struct command *c, struct buf *out)
{
    buf_addf(out, "usage: tailgate %s %s\n\n%s\n", c->name, c->usage, c->help);
    for (size_t i = 0; c->blocks && c->blocks[i]; i++) {
        const struct opt_block *block = c->blocks[i];

        buf_addf(out, "\n%s:\n", block->name ? block->name : "general");
        opt_print_help(block, out);
    }
}

static void put_settings(struct buf *out)
{
    for (int b = 0; b < BLOCK_COUNT; b++) {
        const struct opt_block *block = settings_blocks[b];

        buf_addf(out, "%s%s:\n", b ? "\n" : "",
                 block->name ? block->name : "at the top");
        opt_print_keys(block, out);
    }
    buf_adds(
        out,
        "\nclasses, a list:\n"
        "  name: TEXT                         what the report calls it\n"
        "  weight: NUMBER                     its part of the sum of all "
        "weights is its share of the requests (default 1)\n"
        "  target:                            of the keys above url, api, "
        "model, body, method, headers, stream, ignore_eos, temperature, "
        "chunk_usage, success, extra_body\n"
        "  data:                              the keys above, but accuracy\n"
        "  slo: TEXT                          objective of its requests, "
        "beside that of the run\n"
        "  checks: TEXT                       instead of those of the run\n");
}

static int run(const char *const *argv, struct err *err)
{
    const struct command *c = argv[0] ? command_find(argv[0]) : NULL;
    bool is_settings = argv[0] && strcmp(argv[0], "settings") == 0;
    struct buf out;
    int rc;

    if (argv[0] && !c && !is_settings)
        return command_refuse(argv[0], err);
    buf_init(&out, MAX_HELP);
    if (c)
        put_command(c, &out);
    else if (is_settings)
        put_settings(&out);
    else
        put_overview(&out);
    rc = cli_print(buf_text(&out), err);
    buf_fini(&out);
    return rc;
}

const struct command cmd_help = {
    .name = "help",
    .usage = "[COMMAND|settings]",
    .help = "say what can be done, and how",
    .run = run,
};
