#include "common/spec/shard_id.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"

#define AUTO "auto"

/* How launchers tell a process its number and the number of processes.  A
 * size of NULL: they do not tell. */
static const struct launcher {
    const char *rank;
    const char *size;
} launchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"SLURM_PROCID", "SLURM_NTASKS"},
    {"PMIX_RANK", NULL},
    {"JOB_COMPLETION_INDEX", NULL},
};

/* Digits up to `end`; -1: not a number, or above SHARD_ID_MAX. */
static int64_t read_number(const char *text, char end)
{
    char *rest;
    long n;

    if (!text || !isdigit((unsigned char)*text))
        return -1;
    n = strtol(text, &rest, 10);
    return *rest == end && n <= SHARD_ID_MAX ? n : -1;
}

static const char *in_environment(const char *name)
{
    const char *value = name ? getenv(name) : NULL;

    return value && value[0] ? value : NULL;
}

static int read_environment(struct shard_id *out, struct err *err)
{
    for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
        const struct launcher *l = &launchers[i];
        const char *rank = in_environment(l->rank);
        const char *size = in_environment(l->size);

        if (!rank)
            continue;
        out->index = read_number(rank, '\0');
        if (out->index < 0)
            return err_set(err, ERR_CONFIG, "client.shard: %s is '%s'", l->rank,
                           rank);
        if (out->count == 0 && !size)
            return err_set(err, ERR_CONFIG,
                           "client.shard: %s does not say how many shards "
                           "there are; use " AUTO "/N",
                           l->rank);
        if (out->count == 0)
            out->count = read_number(size, '\0');
        return 0;
    }
    return err_set(err, ERR_CONFIG,
                   "client.shard: " AUTO " finds no number of this process in "
                   "the environment (%s, %s, %s or %s)",
                   launchers[0].rank, launchers[1].rank, launchers[2].rank,
                   launchers[3].rank);
}

int shard_id_check(const char *text, struct err *err)
{
    const char *slash = strchr(text, '/');
    size_t len = slash ? (size_t)(slash - text) : strlen(text);
    bool is_auto = len == strlen(AUTO) && strncmp(text, AUTO, len) == 0;
    int64_t count = slash ? read_number(slash + 1, '\0') : -1;
    int64_t index = read_number(text, '/');

    if (is_auto && (!slash || count > 0))
        return 0;
    if (!is_auto && count > 0 && index >= 0 && index < count)
        return 0;
    return err_set(err, ERR_CONFIG,
                   "'%s' is not a shard; write " AUTO ", " AUTO
                   "/N or I/N (I from "
                   "0 to N-1, N at most %d)",
                   text, SHARD_ID_MAX);
}

int shard_id_parse(const char *text, struct shard_id *out, struct err *err)
{
    const char *slash = text ? strchr(text, '/') : NULL;

    *out = (struct shard_id){.count = text ? 0 : 1};
    if (!text)
        return 0;
    if (shard_id_check(text, err))
        return err_context(err, "client.shard");
    if (slash)
        out->count = read_number(slash + 1, '\0');
    if (strncmp(text, AUTO, strlen(AUTO)) != 0)
        out->index = read_number(text, '/');
    else if (read_environment(out, err))
        return -1;
    if (out->count < 1 || out->index >= out->count)
        return err_set(err, ERR_CONFIG,
                       "client.shard: there is no shard %lld of %lld",
                       (long long)out->index, (long long)out->count);
    return 0;
}

struct shard_id shard_id_of(const char *text)
{
    struct err ignored = {0};
    struct shard_id id;

    if (shard_id_parse(text, &id, &ignored))
        id = (struct shard_id){.count = 1};
    return id;
}

/* The turn of a request among those of its shard and its peers. */
static int64_t turn_of(struct shard_layout l, int64_t seq)
{
    bool is_probe = l.probe_every > 0 && (seq + 1) % l.probe_every == 0;

    if (l.probe_every == 0)
        return seq;
    return is_probe ? seq / l.probe_every : seq - seq / l.probe_every;
}

int64_t shard_of_seq(struct shard_layout l, int64_t seq)
{
    if (l.probe_every > 0 && (seq + 1) % l.probe_every == 0)
        return l.count - 1;
    return turn_of(l, seq) % shard_peers(l, 0);
}

int64_t shard_place(struct shard_layout l, int64_t seq)
{
    return turn_of(l, seq) / shard_peers(l, shard_of_seq(l, seq));
}

int64_t shard_seq(struct shard_layout l, int64_t shard, int64_t place)
{
    int64_t first = shard_is_probe(l, shard) ? 0 : shard;

    return shard_turn_seq(l, shard, first + place * shard_peers(l, shard));
}

int64_t shard_share(struct shard_layout l, int64_t shard, int64_t total)
{
    int64_t probes = l.probe_every > 0 ? total / l.probe_every : 0;
    int64_t peers = shard_peers(l, shard);

    if (shard_is_probe(l, shard))
        return probes;
    return (total - probes) / peers + (shard < (total - probes) % peers);
}

const char *shard_id_print(struct shard_id id, char out[static SHARD_ID_TEXT])
{
    snprintf(out, SHARD_ID_TEXT, "%lld/%lld", (long long)id.index,
             (long long)id.count);
    return out;
}
