/* coverage_compare.h - how often `compare` is wrong, and how often it finds
 * what is there, by its own decision on queues of which the truth is known. */
#ifndef BENCH_COVERAGE_COMPARE_H
#define BENCH_COVERAGE_COMPARE_H

/* Two sets of trials, for themselves and as pairs. */
void compare_trials(int runs);

/* One run a side, over its blocks. */
void compare_blocks(int runs);

#endif
