/* shard: one shard of a run that --launch starts, as the file that it wrote
 * says. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/plan.h"
#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/stop.h"
#include "common/spec/shard_id.h"
#include "loadgen/engine/run.h"
#include "study/child.h"
#include "study/launch/shard_plan.h"

struct shard_args {
    char *out;
    char *shard;
};

#define AT(field) offsetof(struct shard_args, field)

/* clang-format off */
static const struct opt opts[] = {
    {FLAG("out", text, out), .letter = 'o',
     .help = "directory in which the recording is made, as a directory with "
             "the number of the shard as its name"},
    {FLAG("shard", text, shard),
     .help = "I/N; default: I from the environment of mpirun, srun or an "
             "Indexed Job"},
};
/* clang-format on */

static const struct opt_block block = {"shard", opts,
                                       sizeof(opts) / sizeof(opts[0])};

static int find_shard(const struct shard_plan *p, const char *text,
                      struct shard_id *id, struct err *err)
{
    char of_plan[SHARD_ID_TEXT];

    snprintf(of_plan, sizeof(of_plan), "auto/%lld", (long long)p->shards);
    if (shard_id_parse(text ? text : of_plan, id, err))
        return -1;
    return id->count == p->shards
               ? 0
               : err_set(err, ERR_CONFIG,
                         "--shard %s: the plan has %lld shards", text,
                         (long long)p->shards);
}

static int shard(void *args, const struct strlist *words, struct err *err)
{
    const struct shard_args *a = args;
    struct shard_plan p;
    struct shard_id id;
    int rc;

    if (words->len != 1 || !a->out)
        return err_set(err, ERR_USAGE,
                       "shard requires the plan of a launch (- is standard "
                       "input) and -o DIR");
    log_set_level(LOG_QUIET);
    stop_catch_signals();
    rc = shard_plan_read(&p, words->items[0], err);
    if (rc == 0)
        rc = find_shard(&p, a->shard, &id, err);
    /* If its standard input ends, the connection to the machine that started it
     * is gone. */
    if (rc == 0 && strcmp(words->items[0], "-") == 0)
        rc = child_follow_input(err);
    if (rc == 0) {
        struct settings_file file = {.path = p.settings_file};
        const struct run_options how = {
            .start_at_ns = p.start_at_ns,
            .foresee = p.warns && id.index == 0 ? plan_warn : NULL,
            .foresee_arg = &file};

        rc = shard_run(&p, id, a->out, &how, err);
    }
    shard_plan_fini(&p);
    return rc < 0 ? -1 : EXIT_YES;
}

static const struct opt_block *const blocks[] = {&block, NULL};

const struct command cmd_shard = {
    .name = "shard",
    .usage = "PLAN -o DIR",
    .help = "send one shard of a run; started by the launchers of --launch",
    .answer = shard,
    .args_size = sizeof(struct shard_args),
    .blocks = blocks,
};
