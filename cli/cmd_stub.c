#include <stdio.h>

#include "cli/cli.h"
#include "common/err.h"
#include "common/settings.h"
#include "common/stop.h"
#include "server-stub/stub.h"

struct stub_args {
    char *truth;
};

static const struct opt opts[] = {
    {.flag = "truth",
     .type = &opt_text,
     .offset = offsetof(struct stub_args, truth),
     .help = "file to log arrival, start and finish of each request to"},
};

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

/* Flags stand over the file, so they are read again after it. */
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

static int run(const char *const *argv, struct err *err)
{
    struct stub_args a;
    struct opt_set own = {&block, &a};
    struct settings settings;
    int rc;

    opt_init(&own);
    settings_init(&settings);
    rc = configure(&settings, &own, argv, err);
    if (rc == 0) {
        struct stub_options options = {.truth_path = a.truth,
                                       .listening = say_listening};

        stop_catch_signals();
        rc = stub_run(&settings.stub, &options, err);
    }
    settings_fini(&settings);
    opt_fini(&own);
    return rc;
}

static const struct opt_block *const blocks[] = {&settings_blocks[BLOCK_STUB],
                                                 &block, NULL};

const struct command cmd_stub = {
    .name = "stub",
    .usage = "[SETTINGS] [FLAGS]",
    .help = "the bundled model server",
    .run = run,
    .blocks = blocks,
};
