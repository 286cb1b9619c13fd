/* mlperf_samples.h - which sample of a data set each request carries, as
 * MLPerf's LoadGen chooses them in performance mode, number for number as its
 * builds on libstdc++ (of GCC 11 and later) do: std::mt19937, std::shuffle and
 * std::uniform_int_distribution.
 *
 * The generator cannot be asked for its i-th number, so that what it gives is
 * drawn before the run and kept.  As of LoadGen 6.0.17, which shuffles the
 * first performance_sample_count samples; up to 6.0.5 it shuffled all and took
 * so many of them, which is the same where all are used.
 */
#ifndef LOADGEN_PAYLOAD_MLPERF_SAMPLES_H
#define LOADGEN_PAYLOAD_MLPERF_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

struct settings;

/* What LoadGen would be told. */
struct mlperf_choice {
    bool is_offline;
    bool is_equal_issue; /* sample_concatenate_permutation */
    bool is_single_stream;
    uint64_t qsl_seed;
    uint64_t index_seed;
    int64_t query_size;  /* samples_per_query of the multi-stream; else 1 */
    int64_t min_queries; /* min_query_count */
    int64_t queries;     /* that may be asked for */
};

struct mlperf_choice mlperf_choice_of(const struct settings *s);

/* Const once it is made. */
struct mlperf_samples {
    uint32_t *loaded; /* the set, in its order; owned */
    int64_t set;
    uint32_t *at; /* where in it each query begins; owned */
    int64_t len;  /* after so many they begin again */
    int64_t query_size;
};

/* Of `set` samples, LoadGen's performance_sample_count: 1 to 2^31. */
void mlperf_samples_make(struct mlperf_samples *m,
                         const struct mlperf_choice *c, int64_t set);
void mlperf_samples_fini(struct mlperf_samples *m);

/* The place in the file of the sample that request seq carries. */
int64_t mlperf_samples_at(const struct mlperf_samples *m, int64_t seq);

#endif
