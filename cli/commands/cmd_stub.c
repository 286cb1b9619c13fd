#include <stdio.h>

#include "cli/cli.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/stop.h"
#include "common/settings/settings.h"
#include "server-stub/stub.h"

#define MAX_CONFIG 65536

struct stub_args {
    char *truth;
    bool print_config;
};

#define AT(field) offsetof(struct stub_args, field)

/* clang-format off */
static const struct opt opts[] = {
    {FLAG("truth", text, truth), .group = GROUP_OUTPUT,
     .help = "file to log the arrival, start and end of each request to"},
    {FLAG("print-config", switch, print_config), .group = GROUP_OUTPUT,
     .help = "print the effective settings as a settings file and exit"},
};
/* clang-format on */

static const struct opt_block block = {"log", opts,
                                       sizeof(opts) / sizeof(opts[0])};

static void say_listening(void *arg, const char *url)
{
    (void)arg;
    printf("listening on %s\n", url);
    fflush(stdout);
}

static int read_args(struct settings *s, const struct opt_set *own,
                     const char *const *argv, struct strlist *words,
                     struct err *err)
{
    struct opt_set sets[] = {settings_set(s, BLOCK_STUB), *own};

    return opt_parse_argv(sets, 2, argv, words, err);
}

/* Flags override the file, so they are read again after it. */
static int configure(struct settings *s, const struct opt_set *own,
                     const char *const *argv, struct err *err)
{
    struct strlist words = {0};
    int rc = read_args(s, own, argv, &words, err);

    if (rc == 0 && words.len > 1)
        rc = err_set(err, ERR_USAGE, "stub takes one settings file, not %zu",
                     words.len);
    if (rc == 0 && words.len == 1) {
        settings_fini(s);
        settings_init(s);
        rc = settings_load(s, words.items[0], err);
        if (rc == 0)
            rc = read_args(s, own, argv, &words, err);
    }
    strlist_fini(&words);
    return rc;
}

static int print_config(struct settings *settings, struct err *err)
{
    struct buf out;
    int rc = stub_check(&settings->stub, err);

    buf_init(&out, MAX_CONFIG);
    settings_print_block(settings, BLOCK_STUB, &out);
    if (rc == 0)
        rc = cli_print(buf_text(&out), err);
    buf_fini(&out);
    return rc;
}

static int run(const char *const *argv, struct err *err)
{
    struct stub_args a;
    struct opt_set own = {&block, &a};
    struct settings settings;
    int rc;

    opt_init(&own);
    settings_init(&settings);
    rc = configure(&settings, &own, argv, err);
    if (rc == 0 && a.print_config) {
        rc = print_config(&settings, err);
    } else if (rc == 0) {
        stop_catch_signals();
        rc = stub_run(&settings.stub,
                      &(struct stub_options){.truth_path = a.truth,
                                             .listening = say_listening},
                      err);
    }
    settings_fini(&settings);
    opt_fini(&own);
    return rc;
}

static const struct opt_block *const blocks[] = {&block_stub, &block, NULL};

const struct command cmd_stub = {
    .name = "stub",
    .usage = "[SETTINGS] [FLAGS]",
    .help = "run the simulated model server",
    .run = run,
    .blocks = blocks,
};
