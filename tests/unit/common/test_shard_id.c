/* Which share of a run a machine has: said, or found in the environment. */
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/spec/shard_id.h"
#include "tests/support/test.h"

static const char *const names[] = {
    "OMPI_COMM_WORLD_RANK",
    "OMPI_COMM_WORLD_SIZE",
    "SLURM_PROCID",
    "SLURM_NTASKS",
    "PMIX_RANK",
    "JOB_COMPLETION_INDEX",
};

static void set_environment(const char *const *pairs)
{
    for (size_t i = 0; i < COUNT(names); i++)
        unsetenv(names[i]);
    for (size_t i = 0; pairs[i]; i += 2)
        setenv(pairs[i], pairs[i + 1], 1);
}

TEST(a_share_is_read)
{
    static const struct {
        const char *text;
        const char *environment[5];
        int64_t index;
        int64_t count;
    } cases[] = {
        {NULL, {NULL}, 0, 1},
        {"0/1", {NULL}, 0, 1},
        {"2/8", {NULL}, 2, 8},
        {"2/8", {"SLURM_PROCID", "1", "SLURM_NTASKS", "4"}, 2, 8},
        {"1023/1024", {NULL}, 1023, 1024},
        {"auto", {"SLURM_PROCID", "1", "SLURM_NTASKS", "4"}, 1, 4},
        {"auto/5", {"SLURM_PROCID", "1", "SLURM_NTASKS", "4"}, 1, 5},
        {"auto",
         {"OMPI_COMM_WORLD_RANK", "3", "OMPI_COMM_WORLD_SIZE", "4"},
         3,
         4},
        {"auto/4", {"PMIX_RANK", "2"}, 2, 4},
        {"auto/3", {"JOB_COMPLETION_INDEX", "0"}, 0, 3},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = {0};
        struct shard_id id;

        set_environment(cases[i].environment);
        assert_int_equal(shard_id_parse(cases[i].text, &id, &err), 0);
        assert_int_equal(id.index, cases[i].index);
        assert_int_equal(id.count, cases[i].count);
    }
}

TEST(what_is_no_share_is_refused)
{
    static const struct {
        const char *text;
        const char *environment[5];
        const char *want;
    } cases[] = {
        {"", {NULL}, "is not a shard; write"},
        {"2", {NULL}, "is not a shard; write"},
        {"8/8", {NULL}, "is not a shard; write"},
        {"-1/8", {NULL}, "is not a shard; write"},
        {"1/8x", {NULL}, "is not a shard; write"},
        {"0/0", {NULL}, "is not a shard; write"},
        {"0/1025", {NULL}, "N at most 1024"},
        {"auto/", {NULL}, "is not a shard; write"},
        {"auto/0", {NULL}, "is not a shard; write"},
        {"auto", {NULL}, "finds no number of this process"},
        {"auto", {"JOB_COMPLETION_INDEX", "0"}, "use auto/N"},
        {"auto", {"SLURM_PROCID", "x", "SLURM_NTASKS", "4"}, "is 'x'"},
        {"auto/2", {"PMIX_RANK", "2"}, "no shard 2 of 2"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = {0};
        struct shard_id id;

        set_environment(cases[i].environment);
        assert_int_equal(shard_id_parse(cases[i].text, &id, &err), -1);
        assert_int_equal(err.code, ERR_CONFIG);
        assert_non_null(strstr(err.msg, cases[i].want));
    }
}
