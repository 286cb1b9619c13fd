/* data_select.h - which sample of a data set a request carries.
 *
 * Tailgate's own selection is a pure function of the seed and the request's
 * sequence number: any thread can compute it for any request, and nothing is
 * shuffled or stored.
 *
 * MLPerf LoadGen's selection is drawn before the run and stored, because its
 * generator cannot jump to its i-th number.
 */
#ifndef LOADGEN_PAYLOAD_DATA_SELECT_H
#define LOADGEN_PAYLOAD_DATA_SELECT_H

#include <stdbool.h>
#include <stdint.h>

struct settings;

struct selection {
    int how; /* enum data_select */
    uint64_t seed;
    int64_t total; /* samples in the file, above 0 */
    int64_t n;     /* samples that are used, up to total */
};

/* Use `limit` samples of `total`, 0 for all: in order, the first of the file;
 * otherwise the first of a shuffle of the whole file. */
struct selection selection_of(int how, uint64_t seed, int64_t total,
                              int64_t limit);

/* The sample's index in the file, from 0; seq must not be negative. */
int64_t selection_at(const struct selection *s, int64_t seq);

/* Where x goes in the permutation of 0 to n - 1 that the key defines. */
int64_t select_permute(uint64_t key, int64_t n, int64_t x);

/* ---- MLPerf ---- */

/* The settings of LoadGen. */
struct mlperf_choice {
    bool is_offline;
    bool is_equal_issue; /* sample_concatenate_permutation */
    bool is_single_stream;
    uint64_t qsl_seed;
    uint64_t index_seed;
    int64_t query_size;  /* samples_per_query of multi-stream; otherwise 1 */
    int64_t min_queries; /* min_query_count */
    int64_t queries;     /* maximum number of queries of the run */
};

struct mlperf_choice mlperf_choice_of(const struct settings *s);

/* The samples that LoadGen chooses in performance mode, identical to those of
 * builds with libstdc++ of GCC 11 or later: std::mt19937, std::shuffle and
 * std::uniform_int_distribution.  As LoadGen 6.0.17, which shuffles the first
 * performance_sample_count samples; up to 6.0.5 it shuffled all samples and
 * used the first of them, which is the same if all are used.  Const once made.
 */
struct mlperf_samples {
    uint32_t *loaded; /* the set, in its order; owned */
    int64_t set;
    uint32_t *at; /* where in it each query begins; owned */
    int64_t len;  /* after this many queries they repeat */
    int64_t query_size;
};

/* `set` is LoadGen's performance_sample_count: 1 to 2^31. */
void mlperf_samples_make(struct mlperf_samples *m,
                         const struct mlperf_choice *c, int64_t set);
void mlperf_samples_fini(struct mlperf_samples *m);

/* The index in the file of the sample that request seq carries. */
int64_t mlperf_samples_at(const struct mlperf_samples *m, int64_t seq);

#endif
