/* block_contrasts.h - how two members differ, from rounds in which each of
 * several members was measured once.  Pure.
 *
 * A pair is compared within rounds, so what a round has in common (arrivals,
 * drift) cancels.  Its test is Student's, from its own differences alone.
 * Holm's procedure corrects for the number of pairs.
 *
 * An error that is pooled over all pairs (Tukey) would need fewer rounds, but
 * members differ in how much they vary: with three rounds and one member that
 * varies ten times as much as the others, it called 8 % of equal members
 * different, and the one member hid all differences between the others.
 */
#ifndef ANALYZER_STATS_BLOCK_CONTRASTS_H
#define ANALYZER_STATS_BLOCK_CONTRASTS_H

#include <stddef.h>

struct block_contrast {
    double mean;  /* of the differences */
    double error; /* its standard error; NAN with fewer than two rounds */
    double noise; /* that it has at least; 0: not known */
    size_t rounds;
};

/* Number of pairs, and the index of the pair a < b among them. */
size_t block_pairs(size_t n);
size_t block_pair(size_t n, size_t a, size_t b);

/* From the differences of two members in n rounds, on a scale on which they
 * mean something (for ratios: logarithms).  `noise` is the variance that each
 * of them has at least, as counts do; NULL: not known. */
struct block_contrast block_contrast(const double *differences,
                                     const double *noise, size_t n);

/* Probability of a difference at least as large if there is none; 1 with fewer
 * than two rounds. */
double block_p_value(const struct block_contrast *c);

/* Half the width of its interval, at 1 - (1 - confidence) / pairs.  INFINITY
 * with fewer than two rounds. */
double block_half_width(const struct block_contrast *c, size_t pairs,
                        double confidence);

/* Holm's procedure over n tests: how many tests each had to be corrected for.
 * A test whose p value is at most (1 - confidence) / corrected[i] shows
 * something, and all of these do so at this confidence together. */
void holm_correct(const double *p_values, size_t n, double confidence,
                  size_t *corrected);

/* How many rounds, more than there are, would show a difference as large as
 * this one with 80 % probability.  0: more than BLOCK_MAX_ROUNDS, or unknown.
 */
#define BLOCK_MAX_ROUNDS 1000
size_t block_rounds_needed(const struct block_contrast *c, size_t pairs,
                           double confidence);

#endif
