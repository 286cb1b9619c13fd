/* record_args.h - the flags of every command that records: where to, what is
 * shown meanwhile, and how an earlier one is gone on with. */
#ifndef CLI_RECORD_ARGS_H
#define CLI_RECORD_ARGS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/settings/option.h"

struct err;

struct record_args {
    char *out;
    bool force;
    bool resume;
    bool quiet;
    bool no_colour;
    bool json;
    int64_t wait_ready_ns;
};

extern const struct opt_block record_args_block;

/* May there be a --resume, with the other flags?  ERR_USAGE. */
int record_args_check_resume(const struct record_args *args, struct err *err);

/* Is there something to go on with?  If not though it is wanted, that is noted.
 */
bool record_args_resumes(bool is_wanted, const char *dir);

/* Where to: --out, or by the time and a name, which may be NULL; to be freed.
 */
char *record_args_dir(const struct record_args *args, const char *name);

#endif
