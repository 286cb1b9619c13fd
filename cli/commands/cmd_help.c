#include <string.h>

#include "cli/cli.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/settings/settings.h"

#define MAX_HELP 131072

static const char *const headings[GROUP_COUNT] = {
    [GROUP_TARGET] = "target (where requests go)",
    [GROUP_LOAD] = "load (how many requests, and when)",
    [GROUP_DATA] = "requests (what is sent)",
    [GROUP_GOAL] = "objective",
    [GROUP_SERVER] = "simulated server",
    [GROUP_OUTPUT] = "output",
};

static void put_overview(struct buf *out)
{
    buf_adds(out, "tailgate - load tests for model servers\n\nusage:\n");
    for (size_t i = 0; commands[i]; i++)
        buf_addf(out, "  tailgate %s%s%s\n      %s\n", commands[i]->name,
                 commands[i]->usage[0] ? " " : "", commands[i]->usage,
                 commands[i]->help);
    buf_adds(out,
             "\n'tailgate help COMMAND' lists the common flags of a command, "
             "'tailgate help\nCOMMAND --all' all of them, and 'tailgate help "
             "settings' the keys of a settings\nfile.\n"
             "\nexit status: 0 success, 1 the SLO is missed or no request "
             "succeeded, 2 wrong\nusage or settings, 3 could not run, 4 the "
             "result is invalid or undecided,\n130/143 interrupted.\n");
}

/* Number of flags of a command that are under a heading, and not. */
struct counts {
    size_t common;
    size_t rest;
};

static struct counts count_flags(const struct command *c)
{
    struct counts n = {0};

    for (size_t b = 0; c->blocks && c->blocks[b]; b++) {
        for (size_t i = 0; i < c->blocks[b]->len; i++) {
            const struct opt *opt = &c->blocks[b]->opts[i];

            if (opt->flag && opt->group != GROUP_REST)
                n.common++;
            else if (opt->flag)
                n.rest++;
        }
    }
    return n;
}

/* The flags of a block that are in a group.  The heading is printed before the
 * first of them, and is NULL then. */
static void put_block(const struct opt_block *block, enum opt_group group,
                      bool is_brief, const char **heading, struct buf *out)
{
    for (size_t i = 0; i < block->len; i++) {
        const struct opt *opt = &block->opts[i];

        if (!opt->flag || opt->group != group)
            continue;
        if (*heading)
            buf_addf(out, "\n%s:\n", *heading);
        *heading = NULL;
        opt_print_flag(opt, is_brief, out);
    }
}

/* The flags of one group; those of GROUP_REST by block. */
static void put_group(const struct command *c, enum opt_group group,
                      bool is_brief, struct buf *out)
{
    const char *heading = headings[group];

    for (size_t b = 0; c->blocks[b]; b++) {
        const char *name = c->blocks[b]->name;

        if (group == GROUP_REST)
            heading = name ? name : "general";
        put_block(c->blocks[b], group, is_brief, &heading, out);
    }
}

static void put_command(const struct command *c, bool is_all, struct buf *out)
{
    const struct counts n = count_flags(c);

    buf_addf(out, "usage: tailgate %s %s\n\n%s\n", c->name, c->usage, c->help);
    for (int g = GROUP_REST + 1; n.common > 0 && g < GROUP_COUNT; g++)
        put_group(c, (enum opt_group)g, !is_all, out);
    if (n.rest > 0 && (is_all || n.common == 0))
        put_group(c, GROUP_REST, false, out);
    else if (n.rest > 0)
        buf_addf(out,
                 "\n'tailgate help %s --all' explains all flags in full, "
                 "with %zu that are\nnot listed here.\n",
                 c->name, n.rest);
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
        "  name: TEXT                  name of the class in reports\n"
        "  weight: NUMBER              its share of the requests, relative "
        "to the other\n"
        "                              weights (default 1)\n"
        "  target:                     these keys of target:");
    for (size_t i = 0; i < block_target.len; i++) {
        if (block_target.opts[i].is_per_class)
            buf_addf(out, " %s", block_target.opts[i].key);
    }
    buf_adds(out,
             "\n"
             "  data:                       all keys of data except accuracy\n"
             "  slo: TEXT                   objective of its requests, in "
             "addition to that of\n"
             "                              the run\n"
             "  checks: TEXT                replaces those of the run\n");
}

static int run(const char *const *argv, struct err *err)
{
    const struct command *c = argv[0] ? command_find(argv[0]) : NULL;
    bool is_settings = argv[0] && strcmp(argv[0], "settings") == 0;
    bool is_all = c && argv[1] && strcmp(argv[1], "--all") == 0;
    struct buf out;
    int rc;

    if (argv[0] && !c && !is_settings)
        return command_refuse(argv[0], err);
    buf_init(&out, MAX_HELP);
    if (c)
        put_command(c, is_all, &out);
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
    .usage = "[COMMAND [--all]|settings]",
    .help = "show commands, flags or settings keys",
    .run = run,
};
