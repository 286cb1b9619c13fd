#include <stdio.h>

#include "cli/cli.h"
#include "common/base/err.h"
#include "common/config.h"

static int run(const char *const *argv, struct err *err)
{
    if (argv[0])
        return err_set(err, ERR_USAGE, "version takes no arguments");
    printf("tailgate %s\n", TAILGATE_VERSION);
    printf("built %s gRPC, %s MPI\n", HAVE_GRPC ? "with" : "without",
           HAVE_MPI ? "with" : "without");
    return EXIT_YES;
}

const struct command cmd_version = {
    .name = "version",
    .usage = "",
    .help = "print the version and what it was built with",
    .run = run,
};
