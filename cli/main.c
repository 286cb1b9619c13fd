#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "analyzer/verdict/cost.h"
#include "cli/cli.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/stop.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "common/spec/prices.h"

const struct command *const commands[] = {
    &cmd_run,        &cmd_search,  &cmd_sweep,     &cmd_rerun,   &cmd_merge,
    &cmd_shard,      &cmd_clock,   &cmd_report,    &cmd_compare, &cmd_scale,
    &cmd_baseline,   &cmd_stub,    &cmd_calibrate, &cmd_init,    &cmd_validate,
    &cmd_completion, &cmd_version, &cmd_help,      NULL,
};

const struct command *command_find(const char *name)
{
    for (size_t i = 0; commands[i]; i++) {
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    }
    return NULL;
}

int command_refuse(const char *name, struct err *err)
{
    struct suggest s = {.word = name};
    char hint[64];

    for (size_t i = 0; commands[i]; i++)
        suggest_consider(&s, commands[i]->name);
    return err_set(err, ERR_USAGE, "unknown command '%s'%s", name,
                   suggest_text(&s, "", hint, sizeof(hint)));
}

/* A reader that has closed its end, such as head, has seen enough. */
static int write_out(const char *text, struct err *err)
{
    return (fputs(text, stdout) != EOF && fflush(stdout) != EOF) ||
                   errno == EPIPE
               ? 0
               : err_set(err, ERR_IO, "cannot write to standard output");
}

int cli_print(const char *text, struct err *err)
{
    char *shown = xstrdup(text);
    int rc;

    printable(shown, strlen(shown), "\n\t");
    rc = write_out(shown, err);
    free(shown);
    return rc;
}

bool cli_is_read(void)
{
    return !ferror(stdout);
}

int cli_print_report(const struct buf *out, int status, struct err *err)
{
    return cli_print(buf_text(out), err) ? -1 : status;
}

int cli_print_drawn(const struct buf *out, int status, struct err *err)
{
    return write_out(buf_text(out), err) ? -1 : status;
}

static int run_by_flags(const struct command *c, const char *const *argv,
                        struct err *err)
{
    struct opt_set set = {c->blocks[0], xcalloc(1, c->args_size)};
    struct strlist words = {0};
    int rc;

    opt_init(&set);
    rc = opt_parse_argv(&set, 1, argv, &words, err);
    if (rc == 0)
        rc = c->answer(set.base, &words, err);
    strlist_fini(&words);
    opt_fini(&set);
    free(set.base);
    return rc;
}

int cost_asked(struct cost_ask *ask, struct prices *table, const char *path,
               struct err *err)
{
    if (!path)
        return ask->machine
                   ? err_set(err, ERR_USAGE, "--machine requires --prices")
                   : 0;
    if (ask->usd_per_hour > 0)
        return err_set(err, ERR_USAGE,
                       "--prices cannot be combined with --usd-per-hour");
    if (prices_read(table, path, err))
        return err_context(err, "--prices");
    ask->prices = table;
    return 0;
}

static bool is_one_of(const char *word, const char *a, const char *b)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

/* tailgate --version and the like are what people type first. */
static int dispatch(const char *const *argv, struct err *err)
{
    const char *name = argv[0];
    const struct command *command;

    if (!name)
        return err_set(err, ERR_USAGE, "no command given; try 'tailgate help'");
    if (is_one_of(name, "--help", "-h"))
        name = "help";
    if (is_one_of(name, "--version", "-V"))
        name = "version";
    command = command_find(name);
    if (!command)
        return command_refuse(name, err);
    for (size_t i = 1; argv[i]; i++) {
        if (is_one_of(argv[i], "--help", "-h"))
            return cmd_help.run((const char *const[]){command->name, NULL},
                                err);
    }
    return command->run ? command->run(argv + 1, err)
                        : run_by_flags(command, argv + 1, err);
}

/* A standard descriptor that is closed would be taken by the next file or
 * socket, and our messages would go there.  On /dev/null, input is at its end,
 * messages are lost, and a report still cannot be written.
 *
 * Libraries open files before main(), so this runs before their constructors.
 * No sanitizer is ready by then. */
__attribute__((no_sanitize("address", "thread", "undefined"))) static void
open_standard_files(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (syscall(SYS_fcntl, fd, F_GETFD) < 0)
            syscall(SYS_openat, AT_FDCWD, "/dev/null",
                    fd == STDOUT_FILENO ? O_RDONLY : O_RDWR);
    }
}

__attribute__((section(".preinit_array"),
               used)) static void (*before_all)(void) = open_standard_files;

/* Every command takes --exit-undecided CODE, the exit status to use instead of
 * 4.  Remove it from the arguments; `status` stays as it is without it. */
static int take_exit_undecided(char **argv, int *status, struct err *err)
{
    static const char flag[] = "--exit-undecided";
    size_t kept = 1;

    for (size_t i = 1; argv[0] && argv[i]; i++) {
        size_t len = strlen(flag);
        const char *code = argv[i][len < strlen(argv[i]) ? len : 0] == '='
                               ? argv[i] + len + 1
                               : argv[i + 1];
        char *end;
        long number;

        if (strncmp(argv[i], flag, len) != 0 ||
            (argv[i][len] != '\0' && argv[i][len] != '=')) {
            argv[kept++] = argv[i];
            continue;
        }
        number = code ? strtol(code, &end, 10) : -1;
        if (!code || end == code || *end || number < 0 || number > 255)
            return err_set(err, ERR_USAGE,
                           "%s requires an exit status from 0 to 255", flag);
        *status = (int)number;
        i += argv[i][len] == '\0';
    }
    argv[argv[0] ? kept : 0] = NULL;
    return 0;
}

int main(int argc, char **argv)
{
    struct err err = {0};
    int undecided = EXIT_INVALID;
    int status;

    (void)argc;
    stop_ignore_write_signals();
    status = take_exit_undecided(argv, &undecided, &err);
    if (status == 0)
        status = dispatch((const char *const *)argv + 1, &err);
    if (status < 0) {
        log_error("%s", err.msg);
        status = exit_status_of_error(&err);
    }
    log_flush();
    return status == EXIT_INVALID ? undecided : status;
}
