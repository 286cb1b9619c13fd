#include "cli/cli.h"
#include "cli/commit.h" /* made by the build */
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/config.h"

#define MAX_TEXT 1024

static int run(const char *const *argv, struct err *err)
{
    struct buf out;
    int rc;

    if (argv[0])
        return err_set(err, ERR_USAGE, "version takes no arguments");
    buf_init(&out, MAX_TEXT);
    buf_addf(&out, "tailgate %s\n", TAILGATE_VERSION);
    if (TAILGATE_COMMIT[0])
        buf_addf(&out, "commit %s\n", TAILGATE_COMMIT);
    buf_addf(&out, "built %s gRPC, %s MPI\n", HAVE_GRPC ? "with" : "without",
             HAVE_MPI ? "with" : "without");
    buf_addf(&out, "libraries: %s\n", TAILGATE_LIBRARIES);
    rc = cli_print_report(&out, EXIT_YES, err);
    buf_fini(&out);
    return rc;
}

const struct command cmd_version = {
    .name = "version",
    .usage = "",
    .help = "print the version, the commit and the libraries it was built with",
    .run = run,
};
