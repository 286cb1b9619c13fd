#include "study/launch/launchers.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/spec/shard_id.h"
#include "common/text/units.h"
#include "study/launchers/scripts.h"

/* A second attempt has more time before its start, on a busy machine too. */
#define SECOND_LEAD    3
#define SECOND_LEAD_NS (9 * NS_PER_S)

/* "4"; nothing is not a number. */
static int64_t count_given(const char *rest)
{
    struct err ignored = {0};
    int64_t n = 0;

    if (!rest)
        return 0;
    return units_parse_count(rest, &n, &ignored) || n < 1 ? -1 : n;
}

/* Inside an allocation, its number of tasks. */
static int64_t count_slurm(const char *rest)
{
    return count_given(rest ? rest : getenv("SLURM_NTASKS"));
}

/* A host takes one word of a shell; options of ssh belong into its
 * configuration. */
static int64_t count_hosts(const char *rest)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789.-_@:[]%";
    int64_t n = 0;

    while (rest && *rest) {
        size_t len = strspn(rest, allowed);

        if (len == 0 || *rest == '-')
            return -1;
        n++;
        rest += len;
        if (*rest == ',' && rest[1])
            rest++;
        else if (*rest)
            return -1;
    }
    return n > 0 ? n : -1;
}

static int64_t count_of_command(const char *rest)
{
    (void)rest;
    return 0;
}

/* Times from the launch to the start, or of resident processes from when all
 * are ready: a process of this machine is ready after
 * 20 to 300 ms, ssh and srun take up to a second to get there, mpirun 0.3 s,
 * and a pod must be scheduled and may have to load its image. */
static const struct launcher_ops launchers[] = {
    {.name = "local",
     .form = "local:N",
     .script = launcher_local,
     .lead_ns = NS_PER_S,
     .count = count_given},
    {.name = "ssh",
     .form = "ssh:HOST,HOST,...",
     .script = launcher_ssh,
     .lead_ns = 5 * NS_PER_S,
     .is_remote = true,
     .count = count_hosts},
    {.name = "srun",
     .form = "srun[:N]",
     .script = launcher_srun,
     .lead_ns = 5 * NS_PER_S,
     .is_remote = true,
     .count = count_slurm},
    {.name = "mpirun",
     .form = "mpirun:N",
     .script = launcher_mpirun,
     .lead_ns = 5 * NS_PER_S,
     .is_remote = true,
     .count = count_given},
    {.name = "mpi",
     .form = "mpi:N",
     .script = launcher_mpi,
     .lead_ns = 500 * NS_PER_MS,
     .is_resident = true,
     .is_remote = true,
     .count = count_given},
    {.name = "kubectl",
     .form = "kubectl:N",
     .script = launcher_kubectl,
     .file = launcher_job,
     .lead_ns = 60 * NS_PER_S,
     .is_remote = true,
     .count = count_given},
};

static const struct launcher_ops own_command = {.name = "command",
                                                .form = "COMMAND",
                                                .lead_ns = 10 * NS_PER_S,
                                                .count = count_of_command};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct launcher_ops *find(const char *text, const char **rest)
{
    for (size_t i = 0; i < COUNT(launchers); i++) {
        size_t len = strlen(launchers[i].name);

        if (strncmp(text, launchers[i].name, len) != 0 ||
            (text[len] != '\0' && text[len] != ':'))
            continue;
        *rest = text[len] ? text + len + 1 : NULL;
        return &launchers[i];
    }
    *rest = text;
    return &own_command;
}

static void list_forms(struct buf *out)
{
    for (size_t i = 0; i < COUNT(launchers); i++)
        buf_addf(out, "%s%s", i > 0 ? ", " : "", launchers[i].form);
}

bool launcher_is_resident(const char *text)
{
    const char *rest;

    return find(text, &rest)->is_resident;
}

int launcher_find(struct launcher *l, const struct launch_ask *ask,
                  struct err *err)
{
    const char *rest;
    const struct launcher_ops *ops = find(ask->text, &rest);
    int64_t n = ops->count(rest);
    int64_t lead_ns = ask->lead_ns > 0 ? ask->lead_ns : ops->lead_ns;
    struct buf forms;

    if (n < 0)
        return err_set(err, ERR_USAGE, "--launch: '%s': expected %s", ask->text,
                       ops->form);
    if (n > 0 && ask->shards > 0 && n != ask->shards)
        return err_set(err, ERR_USAGE,
                       "--launch %s has %lld shards, --shards %lld", ask->text,
                       (long long)n, (long long)ask->shards);
    if (n == 0)
        n = ask->shards;
    if (n == 0 && ops != &own_command)
        return err_set(err, ERR_USAGE,
                       "--launch %s does not say how many shards there are: "
                       "use %s:N or --shards N",
                       ask->text, ops->name);
    if (n == 0) {
        buf_init(&forms, 200);
        list_forms(&forms);
        err_set(err, ERR_USAGE,
                "--launch: '%.100s' is not a launcher (%s), and a command "
                "requires --shards N",
                ask->text, buf_text(&forms));
        buf_fini(&forms);
        return -1;
    }
    if (n > SHARD_ID_MAX)
        return err_set(err, ERR_USAGE,
                       "--launch: %lld shards are above the maximum of %d",
                       (long long)n, SHARD_ID_MAX);
    *l = (struct launcher){
        .ops = ops,
        .rest = rest ? rest : "",
        .n = n,
        .lead_ns = lead_ns,
        .second_lead_ns = SECOND_LEAD * lead_ns,
        .limit_ns = ask->limit_ns,
    };
    if (ask->lead_ns == 0 && l->second_lead_ns < SECOND_LEAD_NS)
        l->second_lead_ns = SECOND_LEAD_NS;
    return 0;
}

void launcher_script(const struct launcher *l, struct buf *out)
{
    if (!l->ops->script) {
        buf_adds(out, l->rest);
        return;
    }
    buf_adds(out, launcher_each);
    buf_adds(out, l->ops->script);
}
