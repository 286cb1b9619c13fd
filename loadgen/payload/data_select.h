/* data_select.h - which sample of a data set a request carries.
 *
 * A pure function of the seed and the request's place in the schedule: any
 * thread knows it of any request, and nothing is shuffled or kept.
 */
#ifndef LOADGEN_PAYLOAD_DATA_SELECT_H
#define LOADGEN_PAYLOAD_DATA_SELECT_H

#include <stdint.h>

struct data_settings;

struct selection {
    int how; /* enum data_select */
    uint64_t seed;
    int64_t total; /* samples that there are, above 0 */
    int64_t n;     /* samples that are used, at most as many */
};

/* `limit` samples of `total`, 0 for all: in order the first of the file, else
 * the first of a shuffle of them all. */
struct selection selection_of(int how, uint64_t seed, int64_t total,
                              int64_t limit);

/* The sample's place in the file, from 0; seq is not negative. */
int64_t selection_at(const struct selection *s, int64_t seq);

/* Where the x-th of n goes, 0 <= x < n, in the permutation that the key names;
 * each place is taken once. */
int64_t select_permute(uint64_t key, int64_t n, int64_t x);

#endif
