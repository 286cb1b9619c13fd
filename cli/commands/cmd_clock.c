/* clock: how far the clock of another machine is off.  Without a command it is
 * the other end, which answers each line with its time. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "common/base/err.h"
#include "common/base/stop.h"
#include "study/launch/clock_exchange.h"

static int run(const char *const *argv, struct err *err)
{
    bool json = argv[0] && strcmp(argv[0], "--json") == 0;
    const char *const *command = argv + json;
    struct clock_offset found;
    char text[160];

    stop_ignore_write_signals();
    if (!command[0] && !json)
        return clock_answer(STDIN_FILENO, STDOUT_FILENO, err);
    if (!command[0] || command[0][0] == '-')
        return err_set(err, ERR_USAGE,
                       "clock requires a command that starts 'tailgate clock' "
                       "on the other machine, such as: ssh HOST tailgate "
                       "clock");
    if (clock_ask_command(command, &found, err))
        return -1;
    snprintf(text, sizeof(text),
             json ? "{\"offset_ns\": %lld, \"error_ns\": %lld, \"exchanges\": "
                    "%d}\n"
                  : "its clock minus ours: %lld ns, at most %lld ns off, the "
                    "best of %d exchanges\n",
             (long long)found.offset_ns, (long long)found.error_ns,
             found.exchanges);
    return cli_print(text, err) ? -1 : EXIT_YES;
}

const struct command cmd_clock = {
    .name = "clock",
    .usage = "[--json] COMMAND...",
    .help = "measure how far the clock of another machine is off",
    .run = run,
};
