/* rerun: a run whose settings are those of a recording, as they were used, with
 * its seeds and its nonce. */
#include "cli/cli.h"
#include "common/err.h"
#include "common/recording/dir.h"

static int run(const char *const *argv, struct err *err)
{
    for (size_t i = 0; argv[i]; i++) {
        if (recording_is_at(argv[i]))
            return cmd_run.run(argv, err);
    }
    return err_set(err, ERR_USAGE,
                   argv[0] ? "rerun repeats a recording, and '%s' is none"
                           : "rerun repeats a recording: which?",
                   argv[0]);
}

const struct command cmd_rerun = {
    .name = "rerun",
    .usage = "RECORDING [FLAGS as of run]",
    .help = "repeat a recording: the same requests, and what differs beside "
            "the numbers",
    .run = run,
};
