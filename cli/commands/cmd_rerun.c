/* rerun: a run with the settings of a recording as they were used, with its
 * seeds and its nonce. */

#include "cli/cli.h"
#include "common/base/err.h"
#include "common/recording/dir.h"
#include "common/recording/studydir.h"

static int run(const char *const *argv, struct err *err)
{
    for (size_t i = 0; argv[i]; i++) {
        if (recording_is_at(argv[i]))
            return cmd_run.run(argv, err);
    }
    for (size_t i = 0; argv[i]; i++) {
        if (study_is_at(argv[i]))
            return study_refuse_as_run(argv[i], err);
    }
    if (!argv[0])
        return err_set(err, ERR_USAGE, "rerun requires a recording");
    if (argv[0][0] != '-')
        return recording_check(argv[0], err);
    return err_set(err, ERR_USAGE, "rerun requires a recording before %s",
                   argv[0]);
}

const struct command cmd_rerun = {
    .name = "rerun",
    .usage = "RECORDING [FLAGS of run]",
    .help =
        "repeat a recording with the same requests, and show the differences",
    .run = run,
};
